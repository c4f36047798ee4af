"""The ROUGE family (Lin 2004): n-grams, longest common subsequences, skip-bigrams; with precision, recall and F.

Values are those of rouge_score (`preset='rouge_score'`): tokens are lower-cased runs of a-z and 0-9, `stem=True` stems
words of more than three letters by Porter's rules, and of several references the one with the best F is taken.
`tokenize='words'` (or any tokenizer) for text that is not English. An empty output scores 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nlgauge.kernels.rouge import skip_bigrams, union_lcs, weighted_lcs
from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Component, Scores, Usable
from nlgauge.metrics.overlap.matches import common_subsequences, ngram_matches, tokenized_pairs, vocabulary_size
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array, Ints, Mask

CITE = "lin-2004-rouge"


@dataclass(frozen=True)
class Rouge(Metric):
    """Common part of the family: precision, recall or F from hits and sizes, over several references."""

    part: Component = "f"
    stem: bool = False
    beta: float | None = None
    references: MultiRef = "max"
    tokenize: str | None = None

    @property
    def signature(self) -> str:
        stem = "porter" if self.stem else "none"
        return signature(part=self.part, beta=self.recall, refs=self.references, tok=self.tokenizer, stem=stem)

    def usual(self) -> tuple[float, str]:
        """Return the default beta and tokenizer."""
        return 1.0, "rouge"

    @property
    def recall(self) -> float:
        """Weight of recall relative to precision in F."""
        return self.usual()[0] if self.beta is None else self.beta

    @property
    def tokenizer(self) -> str:
        """The tokenizer: the option, else the usual one."""
        return self.tokenize or self.usual()[1]

    @property
    def stems(self) -> str | None:
        """The name of the stemmer, if words are stemmed."""
        return "rouge" if self.stem else None

    def score(self, batch: Batch) -> Scores:
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, stem=self.stems)
        return pairs.scores(self._over(tokens, pairs, *self._parts(batch, tokens, pairs)))

    def _parts(self, batch: Batch, tokens: Tokens, pairs: Usable) -> tuple[Array, Array]:
        """Return precision and recall of each pair."""
        raise NotImplementedError

    def _over(self, tokens: Tokens, pairs: Usable, precision: Array, recall: Array) -> Array:
        f = f_measure(precision, recall, self.recall)
        wanted = {"f": f, "p": precision, "r": recall}[self.part]
        return over_references(pairs, wanted, self.references, rank=f, tokens=tokens)


def f_measure(precision: Array, recall: Array, beta: float) -> Array:
    """Return F from precision and recall, with recall weighted `beta` times; 0 where both are 0."""
    below = recall + beta**2 * precision
    below[below <= 0] = 1.0
    return (1 + beta**2) * precision * recall / below


def sizes(tokens: Tokens, pairs: Usable, less: int = 0) -> tuple[Ints, Ints]:
    """Return tokens of output and reference of each pair, or n-grams of order `less + 1`; at least 1."""
    both = np.maximum(tokens.length - less, 1)
    return both[pairs.output], both[pairs.reference]


@dataclass(frozen=True)
class RougeN(Rouge):
    """N-grams of one order that output and reference share."""

    order: ClassVar[int] = 1

    def _parts(self, batch: Batch, tokens: Tokens, pairs: Usable) -> tuple[Array, Array]:
        together = 2 if self.order <= 2 else 4  # one pass for ROUGE-1 and ROUGE-2
        hits = ngram_matches(batch, self.tokenizer, together, stem=self.stems)[0][:, self.order - 1]
        output, reference = sizes(tokens, pairs, self.order - 1)
        return hits / output, hits / reference


@metric("rouge-1", family="rouge", year=2004, cite=CITE)
class Rouge1(RougeN):
    """ROUGE-1: overlap of words between output and reference."""


@metric("rouge-2", family="rouge", year=2004, cite=CITE)
class Rouge2(RougeN):
    """ROUGE-2: overlap of word bigrams between output and reference."""

    order: ClassVar[int] = 2


@metric("rouge-3", family="rouge", year=2004, cite=CITE)
class Rouge3(RougeN):
    """ROUGE-3: overlap of word trigrams between output and reference."""

    order: ClassVar[int] = 3


@metric("rouge-4", family="rouge", year=2004, cite=CITE)
class Rouge4(RougeN):
    """ROUGE-4: overlap of word 4-grams between output and reference."""

    order: ClassVar[int] = 4


@metric("rouge-l", family="rouge", year=2004, cite=CITE, longest=200_000)
class RougeL(Rouge):
    """ROUGE-L: longest common subsequence of output and reference.

    `preset='coco'` (also `'e2e'`, the E2E challenge): as pycocoevalcap, beta 1.2, PTB-like tokens without punctuation,
    the best precision and the best recall over references taken apart, then their F.
    """

    preset: Literal["rouge_score", "coco", "e2e"] = "rouge_score"

    def usual(self) -> tuple[float, str]:
        return super().usual() if self.preset == "rouge_score" else (1.2, "coco")

    @property
    def signature(self) -> str:
        return f"rules:{self.preset}|{super().signature}"

    def _parts(self, batch: Batch, tokens: Tokens, pairs: Usable) -> tuple[Array, Array]:
        hits = common_subsequences(batch, self.tokenizer, stem=self.stems)
        output, reference = sizes(tokens, pairs)
        return hits / output, hits / reference

    def _over(self, tokens: Tokens, pairs: Usable, precision: Array, recall: Array) -> Array:
        if self.preset == "rouge_score":
            return super()._over(tokens, pairs, precision, recall)
        p, r = over_references(pairs, precision, "max"), over_references(pairs, recall, "max")
        return {"f": f_measure(p, r, self.recall), "p": p, "r": r}[self.part]


@metric("rouge-lsum", family="rouge", year=2004, cite=CITE, longest=200_000)
class RougeLsum(Rouge):
    """ROUGE-Lsum: union of longest common subsequences over the lines (sentences) of a summary.

    A sentence is a line, as in rouge_score: put a newline between sentences. Beyond 2^30 pairs of words: no value.
    """

    def _parts(self, batch: Batch, tokens: Tokens, pairs: Usable) -> tuple[Array, Array]:
        several = _lines(tokens, pairs.output) | _lines(tokens, pairs.reference)
        hits = common_subsequences(batch, self.tokenizer, stem=self.stems).astype(np.float64)
        result = union_lcs(
            tokens.ids,
            tokens.lines,
            tokens.start,
            tokens.length,
            pairs.output[several],
            pairs.reference[several],
            vocabulary_size(tokens),
        )
        hits[several] = np.where(result < 0, np.nan, result)
        output, reference = sizes(tokens, pairs)
        return hits / output, hits / reference


def _lines(tokens: Tokens, texts: Ints) -> Mask:
    """Return which texts have words on more than one line."""
    last = tokens.start[texts] + np.maximum(tokens.length[texts], 1) - 1
    lines = np.append(tokens.lines, np.int32(0))
    several: Mask = lines[last] > lines[tokens.start[texts]]
    return several & (tokens.length[texts] > 0)


@metric("rouge-w", family="rouge", year=2004, cite=CITE, longest=200_000)
class RougeW(Rouge):
    """ROUGE-W: longest common subsequence in which k consecutive words count k to the power `weight` (1.2)."""

    weight: float = 1.2

    @property
    def signature(self) -> str:
        return f"weight:{self.weight}|{super().signature}"

    def _parts(self, batch: Batch, tokens: Tokens, pairs: Usable) -> tuple[Array, Array]:
        result = weighted_lcs(tokens.ids, tokens.start, tokens.length, pairs.output, pairs.reference, self.weight)
        output, reference = sizes(tokens, pairs)
        return result ** (1 / self.weight) / output, result ** (1 / self.weight) / reference


@metric("rouge-s", family="rouge", year=2004, cite=CITE)
class RougeS(Rouge):
    """ROUGE-S: overlap of skip-bigrams, pairs of words with at most `gap` words between them (4; None: any number)."""

    gap: int | None = 4
    unigrams: ClassVar[bool] = False

    @property
    def signature(self) -> str:
        return f"gap:{'any' if self.gap is None else self.gap}|{super().signature}"

    def _parts(self, batch: Batch, tokens: Tokens, pairs: Usable) -> tuple[Array, Array]:
        reach = int(tokens.length.max(initial=1)) if self.gap is None else self.gap + 1
        result = skip_bigrams(tokens.ids, tokens.start, tokens.length, pairs.output, pairs.reference, reach)
        hits = np.where(result < 0, np.nan, result.astype(np.float64))
        many = []
        for text in (pairs.output, pairs.reference):
            n = np.maximum(tokens.length[text], 0).astype(np.float64)
            near = np.minimum(n, reach + 1)  # all pairs of the first ones, then `reach` for each further word
            many.append(near * (near - 1) / 2 + (n - near) * reach + (n if self.unigrams else 0.0))
        if self.unigrams:
            hits = hits + ngram_matches(batch, self.tokenizer, 2, stem=self.stems)[0][:, 0]
        return hits / np.maximum(many[0], 1), hits / np.maximum(many[1], 1)


@metric("rouge-su", family="rouge", year=2004, cite=CITE)
class RougeSU(RougeS):
    """ROUGE-S with unigrams added, so that an output without a common pair can score above 0."""

    unigrams: ClassVar[bool] = True
