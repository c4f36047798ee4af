"""NIST (Doddington 2002): n-gram precision weighted by the information of n-grams."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts, Metric, metric, signature
from nlgauge.metrics.batch import Scores, Usable
from nlgauge.metrics.overlap._documents import documents
from nlgauge.metrics.overlap.matches import tokenized_pairs
from nlgauge.metrics.references import over_references
from nlgauge.text.batch import Batch
from nlgauge.text.ngrams import Ngrams, ngrams
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array, Ints

BETA = math.log(0.5) / math.log(1.5) ** 2  # the brevity penalty is ½ at two thirds of the reference length


@metric("nist", family="nist", bounds=(0.0, math.inf), year=2002, cite="doddington-2002-automatic", corpus=True)
class Nist(Metric):
    """NIST: n-gram precision weighted by the information of n-grams in bits, with a brevity penalty.

    An n-gram's information is how much rarer it is, in all references of the batch, than its first n−1 words
    (`weights='sample'`: in this sample's references only, as nltk's sentence_nist). References are pooled: the highest
    count of any, and their mean length, as mteval-v13a and the E2E challenge's script do (nltk's values for several
    references are something else). Tokens: 13a, lower-cased. An empty output scores 0.
    """

    order: int = 5
    tokenize: str = "13a"
    lowercase: bool = True
    weights: Literal["corpus", "sample"] = "corpus"

    def check(self) -> None:
        if self.order < 1:
            raise NlgaugeError(f"nist: order must be at least 1. Got {self.order} instead.")

    def own_facts(self, facts: Facts) -> Facts:
        return replace(facts, corpus=self.weights == "corpus")

    @property
    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return signature(order=self.order, refs="pooled", case=case, tok=self.tokenize, info=self.weights)

    def score(self, batch: Batch) -> Scores:
        _, pairs = tokenized_pairs(batch, self.tokenize, lowercase=self.lowercase)
        return pairs.scores(self.from_stats(self.stats(batch)))

    def stats(self, batch: Batch) -> Array:
        """Return the columns: matched information by order, n-grams of the output by order, length, mean reference
        length.
        """
        tokens, pairs = tokenized_pairs(batch, self.tokenize, lowercase=self.lowercase)
        scored = np.flatnonzero(np.diff(pairs.start) > 0)
        start = np.append(pairs.start[scored], len(pairs.reference))
        rows = np.zeros((len(pairs), 2 * self.order + 2))
        rows[scored, : self.order] = self._matched(batch, tokens, pairs, pairs.of_sample[scored], start)
        length = np.maximum(tokens.length[pairs.of_sample], 0).astype(np.float64)
        rows[:, self.order : 2 * self.order] = np.maximum(length[:, None] - np.arange(self.order), 0)
        rows[:, -2] = length
        rows[:, -1] = over_references(pairs, tokens.length[pairs.reference].astype(np.float64), "mean")
        return pairs.zeroed(np.nan_to_num(rows))

    def from_stats(self, stats: Array) -> Array:
        rows = np.atleast_2d(np.asarray(stats, np.float64))
        info, many = rows[:, : self.order], rows[:, self.order : 2 * self.order]
        with np.errstate(divide="ignore", invalid="ignore"):
            gained = np.where(many > 0, info / many, 0.0).sum(axis=1)
            ratio = rows[:, -2] / rows[:, -1]
            penalty = np.where(ratio < 1, np.exp(BETA * np.log(ratio) ** 2), 1.0)
        return np.where(ratio > 0, gained * penalty, 0.0)

    def _matched(self, batch: Batch, tokens: Tokens, pairs: Usable, texts: Ints, start: Ints) -> Array:
        """Return the information of matched n-grams by output and order."""
        key = (self.tokenize, self.lowercase, None, "output+references")
        grams = ngrams(batch, key, tokens, self.order, pairs.of_sample, pairs.reference)
        owner, level, entry = grams.span(texts)
        hits = np.minimum(grams.counts[entry], grams.found_in(texts, pairs.reference, start, highest=True))
        if self.weights == "corpus":
            info = self._corpus_information(batch, tokens, pairs, grams)[grams.grams[entry]]
        else:
            info = self._sample_information(tokens, pairs, grams, texts, start)
        return grams.sums(texts, owner, level, hits * info)

    def _corpus_information(self, batch: Batch, tokens: Tokens, pairs: Usable, grams: Ngrams) -> Array:
        """Return that of every n-gram, from the references of all samples; those of one input count once."""
        corpus, _ = documents(batch, pairs)
        count = grams.occurrences(corpus).astype(np.float64)
        return _bits(np.where(grams.parent >= 0, count[grams.parent], float(tokens.length[corpus].sum())), count)

    def _sample_information(self, tokens: Tokens, pairs: Usable, grams: Ngrams, texts: Ints, start: Ints) -> Array:
        """Return that of the n-grams of each output, from the sample's own references."""
        owner, level, entry = grams.span(texts)
        count = grams.found_in(texts, pairs.reference, start, highest=False).astype(np.float64)
        gram = grams.grams[entry].astype(np.int64)
        size = len(grams.parent)
        key_of = owner * size + gram
        order = np.argsort(key_of)
        parent = np.searchsorted(key_of[order], owner * size + grams.parent[gram])
        words = np.add.reduceat(tokens.length[pairs.reference], start[:-1]) if len(texts) else np.empty(0)
        before = np.where(level > 0, count[order[np.minimum(parent, len(order) - 1)]], words[owner])
        return _bits(before, count)


def _bits(before: Array, count: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(count > 0, np.log2(before / count), 0.0)
