"""Diversity of outputs: within each output (distinct-n, repetition) and between outputs (self-BLEU)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores, usable
from nlgauge.text.batch import Batch
from nlgauge.text.ngrams import Ngrams, ngrams
from nlgauge.text.tokens import Tokens, tokens
from nlgauge.types import Array, Ints

LI = "li-etal-2016-diversity"
MAX_ORDER = 4
Order = Literal[1, 2, 3, 4]


@dataclass(frozen=True)
class Tokenized(Metric):
    """How texts are split into words: options, and the signature that names them."""

    tokenize: str = "13a"
    lowercase: bool = True

    @property
    def signature(self) -> str:
        return signature(case="lc" if self.lowercase else "mixed", tok=self.tokenize)


class OutputNgrams(Tokenized):
    """Base class of counts in the output alone."""

    def _grams(self, batch: Batch) -> tuple[Tokens, Ngrams, Ints]:
        result = tokens(batch, self.tokenize, batch.output, lowercase=self.lowercase)
        grams = ngrams(batch, (self.tokenize, self.lowercase, None, "output"), result, MAX_ORDER, batch.output)
        return result, grams, np.flatnonzero(batch.output >= 0)

    def _kinds(self, batch: Batch, order: int) -> tuple[Array, Array]:
        """Return the numbers of distinct n-grams and of all n-grams of each output; NaN for missing outputs."""
        result, grams, there = self._grams(batch)
        distinct, many = np.full(len(batch), np.nan), np.full(len(batch), np.nan)
        index = grams.place[batch.output[there]] * MAX_ORDER + order - 1
        distinct[there] = grams.offsets[index + 1] - grams.offsets[index]
        many[there] = np.maximum(result.length[batch.output[there]] - order + 1, 0)
        return distinct, many

    def _scores(self, batch: Batch, order: int, repeated: bool) -> Scores:
        distinct, many = self._kinds(batch, order)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(many > 0, distinct / many, np.nan)
        result = usable(batch, ("output",), may_be_empty=("output",))
        values = (1 - values if repeated else values)[result.places]
        return result.scattered(values, f"output has fewer than {order} words")


@dataclass(frozen=True)
class Distinct(OutputNgrams):
    """Distinct n-grams of one order per n-gram (Li et al. 2016)."""

    order: ClassVar[int] = 1

    def score(self, batch: Batch) -> Scores:
        return self._scores(batch, self.order, False)

    def pooled(self, batch: Batch) -> float:
        """Compute the distinct n-grams of all outputs together divided by their n-grams, the corpus value of Li et al.
        (2016).
        """
        _, grams, there = self._grams(batch)
        _, level, entry = grams.span(batch.output[there])
        own_mask = level == self.order - 1
        many = float(grams.counts[entry[own_mask]].sum())
        return len(np.unique(grams.grams[entry[own_mask]])) / many if many else float("nan")


@metric("distinct-1", family="diversity", needs=(), year=2016, cite=LI)
class Distinct1(Distinct):
    """Distinct words per word of the output."""


@metric("distinct-2", family="diversity", needs=(), year=2016, cite=LI)
class Distinct2(Distinct):
    """Distinct pairs of words per pair of the output."""

    order: ClassVar[int] = 2


@metric("distinct-3", family="diversity", needs=(), year=2016, cite=LI)
class Distinct3(Distinct):
    """Distinct runs of three words per run of the output."""

    order: ClassVar[int] = 3


@metric("repetition", family="diversity", needs=(), lower=True, year=2020, cite="welleck-etal-2020-neural")
class Repetition(OutputNgrams):
    """Share of the output's n-grams (of four words) that repeat an earlier one."""

    order: Order = 4

    @property
    def signature(self) -> str:
        return f"order:{self.order}|{super().signature}"

    def score(self, batch: Batch) -> Scores:
        return self._scores(batch, self.order, True)


@metric("self-bleu", family="diversity", needs=(), lower=True, year=2018, cite="zhu-etal-2018-texygen", corpus=True)
class SelfBleu(OutputNgrams):
    """BLEU of an output with all other outputs of its system as references (0 to 1); lower values mean more diversity.

    As nltk's sentence_bleu with smoothing method 1, which Texygen uses. Where systems are not known all outputs of the
    batch are compared. An output alone in its system has no value.
    """

    order: Order = 4

    @property
    def signature(self) -> str:
        return f"order:{self.order}|refs:other outputs|smooth:method1[0.1]|{super().signature}"

    def score(self, batch: Batch) -> Scores:
        result, grams, there = self._grams(batch)
        group = np.zeros(len(there), np.int64) if batch.system is None else batch.system[there]
        owner, level, entry = grams.span(batch.output[there])
        count = grams.counts[entry]
        others = _highest_elsewhere(group[owner] * max(len(grams.parent), 1) + grams.grams[entry], count)
        hits = grams.sums(batch.output[there], owner, level, np.minimum(count, others))[:, : self.order]
        length = result.length[batch.output[there]].astype(np.float64)
        values = np.full(len(batch), np.nan)
        near = _nearest_length(length, group)
        many = np.maximum(length[:, None] - np.arange(self.order), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.exp(np.log(np.where(hits > 0, hits, 0.1) / many).mean(axis=1))
            brevity = np.where(length > near, 1.0, np.exp(1 - near / length))
        available = np.where((hits[:, 0] > 0) & (length > 0), brevity * share, 0.0)
        values[there] = np.where(np.isnan(near), np.nan, available)
        alone = "no other output of this system"
        return usable(batch, ("output",), may_be_empty=("output",)).scattered(values[there], alone)


def _highest_elsewhere(key: Any, count: Any) -> Any:
    """Return for each entry the highest count with the same key in another entry; 0 without one."""
    order = np.lexsort((-count, key))
    sorted_key, sorted_count = key[order], count[order]
    new = np.append(True, sorted_key[1:] != sorted_key[:-1])[: len(key)]
    first = np.maximum.accumulate(np.where(new, np.arange(len(key)), 0))
    second = np.append(np.where(new[1:], 0, sorted_count[1:]), 0)[: len(key)]
    result = np.empty(len(key), count.dtype)
    result[order] = np.where(new, second, sorted_count[first])
    return result


def _nearest_length(length: Array, group: Ints) -> Array:
    """Return the nearest length among the others of a group, the shorter of two; NaN without others."""
    order = np.lexsort((length, group))
    size, whose = length[order], group[order]
    near = np.full(len(length), np.nan)
    below = np.append(np.nan, np.where(whose[1:] == whose[:-1], size[:-1], np.nan))[: len(length)]
    above = np.append(np.where(whose[1:] == whose[:-1], size[1:], np.nan), np.nan)[: len(length)]
    take_below = np.isnan(above) | (size - below <= above - size)
    near[order] = np.where(take_below, below, above)
    return near
