"""What a metric is used for, as one probability each: .5 is chance, 1 is always right.

rank: of two systems that people rate differently, it puts the better one first.
choose: of two outputs of one input that people rate differently, it prefers the better one.
flag: of a bad and another output, it gives the bad one the lower score (area under the ROC curve).
A tie of the metric counts half. `times` (draws × inputs) weighs the inputs: resampled inputs give the spread.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.ties import snap

Floats = NDArray[np.float64]


def rank_right(metric: Floats, human: Floats, times: Floats) -> Floats:
    """Share of system pairs in people's order, for each draw; NaN where no two systems differ."""
    both = np.isfinite(metric) & np.isfinite(human)
    weight = both @ times.T  # systems × draws
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [snap((np.where(both, v, 0.0) @ times.T / weight).T, axis=-1) for v in (metric, human)]
    right, pairs = np.zeros(len(times)), np.zeros(len(times))
    for a, b in combinations(range(len(metric)), 2):
        m, h = (np.sign(v[:, a] - v[:, b]) for v in means)
        known = np.isfinite(m) & np.isfinite(h) & (h != 0)
        pairs += known
        right += np.where(known, 0.5 * (1 + m * h), 0.0)
    return _share(right, pairs)


def choose_right(metric: Floats, human: Floats, times: Floats) -> Floats:
    """Share of pairs of outputs of one input in people's order."""
    right, pairs = np.zeros(metric.shape[1]), np.zeros(metric.shape[1])
    for a, b in combinations(range(len(metric)), 2):
        m, h = (np.sign(v[a] - v[b]) for v in (metric, human))
        known = np.isfinite(m) & np.isfinite(h) & (h != 0)
        pairs += known
        right += np.where(known, 0.5 * (1 + m * h), 0.0)
    return _share(times @ right, times @ pairs)


def flag_right(metric: Floats, bad: NDArray[np.bool_], human: Floats, times: Floats) -> Floats:
    """Area under the ROC curve of the metric, turned, for bad outputs against the others that people rated."""
    known = np.isfinite(metric) & np.isfinite(human)
    inputs = np.broadcast_to(np.arange(metric.shape[1]), metric.shape)[known]
    values, is_bad = metric[known], bad[known]
    if not len(values):
        return np.full(len(times), np.nan)
    order = np.argsort(values, kind="stable")
    values, is_bad, weights = values[order], is_bad[order], times[:, inputs[order]]
    first = np.flatnonzero(np.r_[True, np.diff(values) > 0])
    bads, goods = (np.add.reduceat(weights * mask, first, axis=1) for mask in (is_bad, ~is_bad))
    above = goods.sum(axis=1, keepdims=True) - np.cumsum(goods, axis=1)
    right = (bads * (above + 0.5 * goods)).sum(axis=1)
    return _share(right, bads.sum(axis=1) * goods.sum(axis=1))


def _share(right: Any, all_: Any) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(all_ > 0, right / all_, np.nan), np.float64)
