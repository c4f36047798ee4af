"""Simple comparisons of output and reference: token F1, edit distance, length, divergence of word distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores, usable
from nlgauge.metrics.overlap.matches import edit_distances, ngram_matches, tokenized_pairs
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.text.ngrams import Ngrams, ngrams
from nlgauge.text.tokens import tokens
from nlgauge.types import Array, Ints


@metric("token-f1", family="overlap", year=2016, cite="rajpurkar-etal-2016-squad")
class TokenF1(Metric):
    """F1 of the words of output and reference, after SQuAD's normalization.

    Lower-cased, without punctuation and articles. An empty output scores 0; a reference of nothing but articles and
    punctuation is empty. `unit='char'` counts characters, blanks too, as the "F-1" of the USR paper does.
    """

    references: MultiRef = "max"
    tokenize: str = "squad"
    unit: Literal["word", "char"] = "word"

    @property
    def signature(self) -> str:
        tok = "char+space" if self.unit == "char" else self.tokenize
        return signature(refs=self.references, case="lc", tok=tok)

    def score(self, batch: Batch) -> Scores:
        name, spaces = ("char", True) if self.unit == "char" else (self.tokenize, False)
        result, pairs = tokenized_pairs(batch, name, lowercase=True, spaces=spaces)
        hits = ngram_matches(batch, name, 1, lowercase=True, spaces=spaces)[0][:, 0]
        values = 2.0 * hits / (result.length[pairs.output] + result.length[pairs.reference])
        return pairs.scores(over_references(pairs, values, self.references, tokens=result))


@metric("levenshtein", family="overlap", lower=True, year=1966, cite="levenshtein-1966-binary", longest=50_000)
class Levenshtein(Metric):
    """Edit distance between output and reference, per word (or `unit='char'`) of the longer one.

    `normalize=False` counts the edits themselves. An empty output scores 1 (every word is missing).
    """

    unit: Literal["word", "char"] = "word"
    normalize: bool = True
    lowercase: bool = False
    tokenize: str = "13a"
    references: MultiRef = "max"

    @property
    def signature(self) -> str:
        tok = "char+space" if self.unit == "char" else self.tokenize
        return signature(
            refs=self.references, case="lc" if self.lowercase else "mixed", tok=tok, normalized=self.normalize
        )

    def score(self, batch: Batch) -> Scores:
        name, spaces = ("char", True) if self.unit == "char" else (self.tokenize, False)
        result, pairs = tokenized_pairs(batch, name, lowercase=self.lowercase, spaces=spaces)
        values = edit_distances(batch, name, lowercase=self.lowercase, spaces=spaces).astype(np.float64)
        if self.normalize:
            values /= np.maximum(result.length[pairs.output], result.length[pairs.reference])
        return pairs.scores(over_references(pairs, values, self.references, rank=-values, tokens=result))


@metric("length-ratio", family="length", bounds=(0.0, math.inf), year=2002, cite="papineni-etal-2002-bleu")
class LengthRatio(Metric):
    """Length of the output in words divided by that of the reference; the best value is 1."""

    tokenize: str = "13a"
    references: MultiRef = "closest"

    @property
    def signature(self) -> str:
        return signature(refs=self.references, tok=self.tokenize)

    def score(self, batch: Batch) -> Scores:
        result, pairs = tokenized_pairs(batch, self.tokenize)
        values = result.length[pairs.output] / result.length[pairs.reference]
        return pairs.scores(over_references(pairs, values, self.references, tokens=result))


@dataclass(frozen=True)
class JensenShannon(Metric):
    """Divergence of the n-gram distributions of two texts, in bits."""

    stem: bool = False
    tokenize: str = "words"
    order: ClassVar[int] = 1

    @property
    def _stems(self) -> str | None:
        return "porter" if self.stem else None

    def _divergence(self, grams: Ngrams, one: Ints, other: Ints) -> Array:
        """Compute the Jensen–Shannon divergence ½ KL(p‖m) + ½ KL(q‖m); 1 if `one` has no n-gram, NaN if `other` has
        none.
        """
        start = np.arange(len(one) + 1)
        total = []
        bits = np.zeros(len(one))
        for a, b in ((one, other), (other, one)):
            owner, level, entry = grams.span(a)
            own_mask = level == self.order - 1
            owner, entry = owner[own_mask], entry[own_mask]
            result = grams.found_in(a, b, start, highest=True)[own_mask]
            # Sums are in the order of the counts, because the numbering of n-grams depends on the other samples.
            order = np.lexsort((result, grams.counts[entry], owner))
            owner, entry, result = owner[order], entry[order], result[order]
            sizes = [self._size(grams, text) for text in (a, b)]
            p = grams.counts[entry] / sizes[0][owner]
            q = result / np.maximum(sizes[1][owner], 1)
            bits += np.bincount(owner, weights=0.5 * p * np.log2(2 * p / (p + q)), minlength=len(one))
            total.append(sizes[0])
        bits = np.where(total[0] > 0, np.clip(bits, 0.0, 1.0), 1.0)
        return np.where(total[1] > 0, bits, np.nan)

    def _size(self, grams: Ngrams, texts: Ints) -> Array:
        index = grams.place[texts] * grams.order + self.order - 1
        sums = np.concatenate([[0], np.cumsum(grams.counts)])
        size: Array = (sums[grams.offsets[index + 1]] - sums[grams.offsets[index]]).astype(np.float64)
        return size


@dataclass(frozen=True)
class ReferenceDivergence(JensenShannon):
    """Divergence between output and references, the mean over references by default."""

    references: MultiRef = "mean"

    @property
    def signature(self) -> str:
        return signature(
            refs=self.references, case="lc", tok=self.tokenize, stem="porter" if self.stem else "none", log=2
        )

    def score(self, batch: Batch) -> Scores:
        result, pairs = tokenized_pairs(batch, self.tokenize, lowercase=True, stem=self._stems)
        grams = ngrams(
            batch, (self.tokenize, True, self._stems, "output+references"), result, 2, pairs.of_sample, pairs.reference
        )
        values = self._divergence(grams, pairs.output, pairs.reference)
        return pairs.scores(over_references(pairs, values, self.references, rank=-values, tokens=result))


@metric("js-1", family="js", lower=True, year=2009, cite="louis-nenkova-2009-automatically")
class Js1(ReferenceDivergence):
    """Jensen-Shannon divergence between the words of output and reference, in bits (0 to 1).

    Lower-cased runs of letters and digits, no stop words removed; the mean over references. (The tool of SummEval
    removes stop words, stems, and takes natural logarithms.) An empty output scores 1.
    """


@metric("js-2", family="js", lower=True, year=2009, cite="louis-nenkova-2009-automatically")
class Js2(ReferenceDivergence):
    """Jensen-Shannon divergence between the word pairs of output and reference, in bits (0 to 1)."""

    order: ClassVar[int] = 2


@metric("js-source", family="js", needs=("source",), lower=True, year=2009, cite="louis-nenkova-2009-automatically")
class JsSource(JensenShannon):
    """Jensen-Shannon divergence between the words of output and source, in bits: no reference needed."""

    @property
    def signature(self) -> str:
        return signature(case="lc", tok=self.tokenize, stem="porter" if self.stem else "none", log=2)

    def score(self, batch: Batch) -> Scores:
        result = tokens(batch, self.tokenize, batch.output, batch.source, lowercase=True, stem=self._stems)
        grams = ngrams(
            batch, (self.tokenize, True, self._stems, "output+source"), result, 2, batch.output, batch.source
        )
        pairs = usable(batch, self.facts.needs, may_be_empty=("output", "source"))
        there = pairs.places
        return pairs.scattered(self._divergence(grams, batch.output[there], batch.source[there]))
