"""NIST (Doddington 2002): n-gram precision in which rare n-grams weigh more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics._base import Array, Batch, Ints, Scores, metric, signature
from nlgauge.metrics._documents import documents
from nlgauge.metrics._matches import paired
from nlgauge.metrics._ngrams import Ngrams, ngrams
from nlgauge.metrics._references import Pairs, over_references
from nlgauge.metrics._tokens import Tokens

BETA = math.log(0.5) / math.log(1.5) ** 2  # the penalty is ½ at two thirds of the reference length


@metric(
    "nist", family="nist", bounds=(0.0, math.inf), year=2002, cite="doddington-2002-automatic", corpus=True
)
@dataclass(frozen=True)
class Nist:
    """Information in bits of the n-grams that output and references share, per n-gram of the output.

    An n-gram's information is how much rarer it is, in all references of the batch, than its first n−1 words
    (`weights='sample'`: in this sample's references only, as nltk's sentence_nist). References are pooled: the highest
    count of any, and their mean length, as mteval-v13a and the E2E challenge's script do (nltk's values for several
    references are something else). Tokens: 13a, lower-cased. An empty output scores 0.
    """

    order: int = 5
    tokenize: str = "13a"
    lowercase: bool = True
    weights: Literal["corpus", "sample"] = "corpus"

    def __post_init__(self) -> None:
        if self.weights not in ("corpus", "sample"):
            raise NlgaugeError(f"nist: weights must be corpus or sample. Got '{self.weights}' instead.")
        if self.order < 1:
            raise NlgaugeError(f"nist: order must be at least 1. Got {self.order} instead.")

    @property
    def corpus(self) -> bool:
        """Whether a value depends on the other samples."""
        return self.weights == "corpus"

    @property
    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return signature(order=self.order, refs="pooled", case=case, tok=self.tokenize, info=self.weights)

    def score(self, batch: Batch) -> Scores:
        _, pairs = paired(batch, self.tokenize, lowercase=self.lowercase)
        return pairs.scores(self.from_stats(self.stats(batch)))

    def stats(self, batch: Batch) -> Array:
        """Columns: information matched by order, n-grams of the output by order, output length, mean reference length."""
        from nlgauge.metrics.kernels.ngrams import matched_weight

        tokens, pairs = paired(batch, self.tokenize, lowercase=self.lowercase)
        grams = self._ngrams(batch, tokens, pairs)
        scored = np.flatnonzero(np.diff(pairs.start) > 0)
        start = np.append(pairs.start[scored], len(pairs.reference))
        texts = pairs.of_sample[scored]
        rows = np.zeros((len(pairs), 2 * self.order + 2))
        if self.weights == "corpus":
            info = self._information(batch, grams, tokens, pairs)
            rows[scored, : self.order] = matched_weight(
                grams.offsets, grams.grams, grams.counts, self.order, info, grams.place[texts],
                grams.place[pairs.reference], start,
            )  # fmt: skip
        else:
            rows[scored, : self.order] = self._own_information(grams, tokens, pairs, scored, start)
        length = np.maximum(tokens.length[pairs.of_sample], 0).astype(np.float64)
        rows[:, self.order : 2 * self.order] = np.maximum(length[:, None] - np.arange(self.order), 0)
        rows[:, -2] = length
        rows[:, -1] = over_references(pairs, tokens.length[pairs.reference].astype(np.float64), "mean")
        return pairs.filled(np.nan_to_num(rows))

    def from_stats(self, stats: Array) -> Array:
        rows = np.atleast_2d(np.asarray(stats, np.float64))
        info, many = rows[:, : self.order], rows[:, self.order : 2 * self.order]
        with np.errstate(divide="ignore", invalid="ignore"):
            gained = np.where(many > 0, info / many, 0.0).sum(axis=1)
            ratio = rows[:, -2] / rows[:, -1]
            penalty = np.where(ratio < 1, np.exp(BETA * np.log(ratio) ** 2), 1.0)
        return np.where(ratio > 0, gained * penalty, 0.0)

    def _ngrams(self, batch: Batch, tokens: Tokens, pairs: Pairs) -> Ngrams:
        return ngrams(
            batch,
            (self.tokenize, self.lowercase, None, "output+references"),
            tokens,
            self.order,
            pairs.of_sample,
            pairs.reference,
        )

    def _information(self, batch: Batch, grams: Ngrams, tokens: Tokens, pairs: Pairs) -> Array:
        """Of every n-gram, from the references of all samples; those of one input count once."""
        texts, start = documents(batch, pairs)
        count = grams.frequencies(texts, start)[1].astype(np.float64)
        before = np.where(grams.parent >= 0, count[grams.parent], float(tokens.length[texts].sum()))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(count > 0, np.log2(before / count), 0.0)

    def _own_information(
        self, grams: Ngrams, tokens: Tokens, pairs: Pairs, scored: Ints, start: Ints
    ) -> Array:
        """Matched by each output and order, with what an n-gram tells from its own references alone."""
        texts = pairs.of_sample[scored]
        owner, level, entry = grams.span(texts)
        count = grams.found_in(texts, pairs.reference, start, highest=False).astype(np.float64)
        gram = grams.grams[entry].astype(np.int64)
        size = len(grams.parent)
        key = owner * size + gram
        order = np.argsort(key)
        parent = np.searchsorted(key[order], owner * size + grams.parent[gram])
        words = np.add.reduceat(tokens.length[pairs.reference], start[:-1]) if len(scored) else np.empty(0)
        before = np.where(level > 0, count[order[np.minimum(parent, len(key) - 1)]], words[owner])
        with np.errstate(divide="ignore", invalid="ignore"):
            info = np.where(count > 0, np.log2(before / count), 0.0)
        hits = np.minimum(grams.counts[entry], grams.found_in(texts, pairs.reference, start, highest=True))
        return grams.sums(texts, owner, level, hits * info)
