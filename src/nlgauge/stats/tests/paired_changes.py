"""Scores before and after a perturbation of the text: how often they fall, by how much, and monotonicity in its amount.

Arrays are versions × outputs: one row for each amount, NaN without a score or a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.resampling.bootstrap_intervals import Interval, percentile_interval
from nlgauge.stats.resampling.draws import bootstrap_counts
from nlgauge.types import Array, Ints

ROUNDING = 1e-9  # relative tolerance: smaller changes are rounding errors


@dataclass(frozen=True)
class Moves:
    """Shares of pairs that fall, stay and rise (sum 1), the number of pairs, and their mean change."""

    falls: float
    ties: float
    rises: float
    pairs: int
    change: float


def signs(change: Array, threshold: float, scale: Array) -> Array:
    """Return −1 where the change is below −threshold, 1 above threshold, 0 between, NaN if missing (or without
    threshold).

    `scale` is the size of the scores that were subtracted, for the rounding error of the difference.
    """
    beyond = threshold + ROUNDING * scale
    with np.errstate(invalid="ignore"):
        result = (change > beyond).astype(np.float64) - (change < -beyond)
    return np.where(np.isfinite(change) & np.isfinite(beyond), result, np.nan)


def moves(change: ArrayLike, sign: ArrayLike) -> Moves:
    """Count and average the pairs.

    >>> moves([-1.0, -3.0, 0.0, 1.0], [-1, -1, 0, 1])
    Moves(falls=0.5, ties=0.25, rises=0.25, pairs=4, change=-0.75)
    """
    c, s = np.asarray(change, np.float64), np.asarray(sign, np.float64)
    there = np.isfinite(s)
    n = int(there.sum())
    if not n:
        return Moves(np.nan, np.nan, np.nan, 0, np.nan)
    falls, ties, rises = (float((s[there] == way).mean()) for way in (-1, 0, 1))
    return Moves(falls, ties, rises, n, float(c[there].mean()))


def mean_interval(
    values: ArrayLike, groups: ArrayLike, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Interval:
    """Compute the percentile bootstrap interval of the mean (any shape, NaN left out), resampling whole groups of
    outputs.

    `groups` numbers the last axis of the values: outputs of one input stay together, and so do all amounts of one
    perturbation.
    """
    array = np.atleast_2d(np.asarray(values, np.float64))
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    there = np.isfinite(array)
    total = np.bincount(number, np.where(there, array, 0.0).sum(axis=0))
    count = np.bincount(number, there.sum(axis=0))
    valid = count > 0
    if not valid.any():
        return Interval(np.asarray(np.nan), np.asarray(np.nan))
    order = np.lexsort(
        (total[valid], count[valid])
    )  # ordered by content, so that names of inputs do not affect the draws
    total, count = total[valid][order], count[valid][order]
    times = np.concatenate([inputs for _, inputs in bootstrap_counts("inputs", 1, len(total), draws, seed)])
    return percentile_interval((times @ total) / (times @ count), level)


def monotonicity(change: ArrayLike, kind: Ints, scale: ArrayLike) -> tuple[float, int]:
    """Return (mean over outputs, values) of tau-a between the amount and the fall of the score: 1 if more is always
    worse.

    Rows of `change` are in order of increasing amount. `kind` numbers the texts of each output (−1: none); two amounts
    with the same text are not compared. A tie of the metric counts 0.
    """
    c, size = np.asarray(change, np.float64), np.asarray(scale, np.float64)
    selected, pairs = np.zeros(c.shape[1]), np.zeros(c.shape[1])
    for a, b in combinations(range(len(c)), 2):
        step = np.where((kind[a] != kind[b]) & (kind[a] >= 0) & (kind[b] >= 0), c[b] - c[a], np.nan)
        sign = signs(step, 0.0, np.maximum(size[a], size[b]))
        pairs += np.isfinite(sign)
        selected -= np.nan_to_num(sign)
    able = pairs > 0
    return (float((selected[able] / pairs[able]).mean()) if able.any() else np.nan), int(able.sum())
