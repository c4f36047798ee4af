"""Outputs and their references as pairs, and what several references make of one value.

`references=` of a metric says how:
  max        the best reference (the smallest value where lower is better)
  mean       the mean over references
  jackknife  the mean, over leaving each reference out once, of the best of the others (Lin 2004); one alone is itself
  closest    the reference whose length is nearest to the output's, the shorter of two (BLEU: all n-grams of all
             references count, and that length)
A reference without a single token is left out; a sample that has no other gets no value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Scores
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array, Ints

MultiRef = Literal["max", "mean", "jackknife", "closest"]


@dataclass(frozen=True)
class Pairs:
    """Output and reference of each pair as text numbers; sample s has the pairs `start[s]:start[s + 1]`, maybe none."""

    output: Ints  # of each pair
    reference: Ints
    sample: Ints
    start: Ints
    of_sample: Ints  # the output of each sample, 0 where there is none
    reasons: dict[int, str]
    notes: dict[int, str]

    def __len__(self) -> int:
        return len(self.start) - 1

    def scores(self, values: Array) -> Scores:
        """Values of samples with the reasons of those that have none."""
        values = np.asarray(values, np.float64).copy()
        values[list(self.reasons)] = np.nan
        return Scores(values, dict(self.reasons), dict(self.notes))

    def filled(self, stats: Array) -> Array:
        """Rows of samples without a value as zeros."""
        stats = np.asarray(stats, np.float64).copy()
        stats[list(self.reasons)] = 0.0
        return stats


def pair_up(batch: Batch, tokens: Tokens) -> Pairs:
    """The pairs of a batch under a tokenizer, with a reason for every sample that cannot be scored."""
    length = tokens.length
    sample = np.repeat(np.arange(len(batch)), np.diff(batch.start))
    good = (batch.output[sample] >= 0) & (length[batch.reference] > 0)
    reference, sample = batch.reference[good], sample[good]
    start = np.searchsorted(sample, np.arange(len(batch) + 1))
    reasons = {}
    for s in np.flatnonzero(start[1:] == start[:-1]).tolist():
        if batch.output[s] < 0:
            reasons[s] = "no output"
        else:
            reasons[s] = "empty reference" if batch.start[s + 1] > batch.start[s] else "no reference"
    of_sample = np.maximum(batch.output, 0)
    empty = (length[of_sample] == 0) & (batch.output >= 0)
    notes = {s: "empty output" for s in np.flatnonzero(empty).tolist() if s not in reasons}
    return Pairs(of_sample[sample], reference, sample, start.astype(np.int64), of_sample, reasons, notes)


def check_how(how: str, allowed: tuple[str, ...] = ("max", "mean", "jackknife", "closest")) -> None:
    if how not in allowed:
        raise NlgaugeError(f"references must be one of {', '.join(allowed)}. Got '{how}' instead.")


def over_references(
    pairs: Pairs, values: Array, how: str, *, rank: Array | None = None, tokens: Tokens | None = None
) -> Array:
    """One value (or row) per sample from one per pair; NaN where there is no pair.

    The best reference is the one with the highest `rank` (default: the value); ties go to the first.
    """
    found = np.full((len(pairs), *values.shape[1:]), np.nan)
    there = pairs.start[1:] > pairs.start[:-1]
    first, many = pairs.start[:-1][there], np.diff(pairs.start)[there]
    if not len(first):
        return found
    if len(first) == len(values) and how != "closest":  # one reference each
        found[there] = values
        return found
    if how == "mean":
        sums = np.add.reduceat(values, first, axis=0)
        found[there] = sums / (many if values.ndim == 1 else many[:, None])
        return found
    if how == "closest":
        if tokens is None:
            raise ValueError("the closest reference needs lengths")
        size = tokens.length[pairs.reference]
        rank = -(np.abs(size - tokens.length[pairs.output]) * (size.max() + 1.0) + size)
    rank = values if rank is None else rank
    order = np.lexsort((np.arange(len(rank)), -rank, pairs.sample))
    best = values[order[first]]
    if how == "jackknife":
        second = values[order[first + (many > 1)]]
        share = many if values.ndim == 1 else many[:, None]
        best = ((share - 1) * best + second) / share
    found[there] = best
    return found
