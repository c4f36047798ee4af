"""Means of several systems at once: differences, intervals that hold for all together, and ranks.

Systems that answer the same inputs are not independent: the influence of an input (or its cluster) on every mean gives
their covariance. All intervals hold together with the stated probability (largest Student's t among all, by draws
from that covariance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.estimation.means import MeanEstimate, Method, PartlyLabelled, mean_estimate

Floats = NDArray[np.float64]
DRAWS = 20_000


@dataclass(frozen=True)
class Systems:
    """Estimates of every system, of every pair (first less second), and the ranks that the pairs leave open."""

    each: list[MeanEstimate]  # intervals for one system alone
    together: list[MeanEstimate]  # intervals that hold for all systems at once
    pairs: list[tuple[int, int]]
    difference: Floats
    low: Floats  # of the differences, all at once
    high: Floats
    best_rank: NDArray[np.int64]
    worst_rank: NDArray[np.int64]


def compare_systems(
    samples: Sequence[PartlyLabelled],
    units: Sequence[NDArray[np.int64]],
    method: Method = "ppi++",
    level: float = 0.95,
    seed: int = 0,
) -> Systems:
    """`samples`: one per system; `units`: the input or cluster of each of its rows, one code for the same in all."""
    each, covariance = joint_means(samples, units, method, level)
    freedom = float(min(e.freedom for e in each))
    pairs = list(combinations(range(len(each)), 2))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    contrast = np.zeros((len(pairs), len(each)))
    contrast[np.arange(len(pairs)), first], contrast[np.arange(len(pairs)), second] = 1, -1
    rng = np.random.default_rng(seed)
    if not pairs:
        one = np.ones(1, np.int64)
        return Systems(each, each, [], np.empty(0), np.empty(0), np.empty(0), one, one)
    # A difference takes each end of the two means for itself.
    wide, for_pairs = (
        [mean_estimate(s, method, joint, equal_tails=pairs_too) for s in samples]
        for joint, pairs_too in (
            (_joint_level(covariance, c, freedom, level, rng), c is contrast) for c in (np.eye(len(each)), contrast)
        )
    )
    difference, low, high = _recovered(for_pairs, covariance, first, second)
    better, worse = np.zeros(len(each), np.int64), np.zeros(len(each), np.int64)
    np.add.at(better, first, high < 0)  # systems surely above each
    np.add.at(better, second, low > 0)
    np.add.at(worse, first, low > 0)
    np.add.at(worse, second, high < 0)
    return Systems(each, wide, pairs, difference, low, high, 1 + better, len(each) - worse)


def joint_means(
    samples: Sequence[PartlyLabelled], units: Sequence[NDArray[np.int64]], method: Method, level: float
) -> tuple[list[MeanEstimate], Floats]:
    """The mean of every system, and the covariance of all of them through the inputs that they share."""
    each = [mean_estimate(s, method, level) for s in samples]
    size = max(int(u.max()) for u in units) + 1
    sums = np.stack([_padded(e.influence, u, size) for e, u in zip(each, units, strict=True)])
    return each, sums @ sums.T


def _padded(influence: Floats, units: NDArray[np.int64], size: int) -> Floats:
    found = np.zeros(size)
    np.add.at(found, units, influence)
    return found


def _joint_level(covariance: Floats, contrast: Floats, freedom: float, level: float, rng: np.random.Generator) -> float:
    """The level of one interval at which all hold together: from the largest |t| among them."""
    from scipy.special import stdtr

    spread = contrast @ covariance @ contrast.T
    sd = np.sqrt(np.diag(spread))
    held = sd > 0
    if not held.any():
        return level
    correlation = spread[np.ix_(held, held)] / np.outer(sd[held], sd[held])
    values, vectors = np.linalg.eigh(correlation)
    # An eigenvector has no sign of its own; the order of the systems must not give it one.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    root = vectors * signs * np.sqrt(np.maximum(values, 0))
    drawn = np.abs(rng.standard_normal((DRAWS, len(values))) @ root.T).max(axis=1)
    drawn = drawn / np.sqrt(rng.chisquare(freedom, DRAWS) / freedom)
    return float(2 * stdtr(freedom, np.quantile(drawn, level)) - 1)


def _recovered(
    each: Sequence[MeanEstimate], covariance: Floats, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Intervals of differences from those of the two means and their correlation (Zou and Donner 2008), which keep
    what the interval of a share near 0 or 1 knows."""
    value, low, high = (np.array([float(getattr(e, name)) for e in each]) for name in ("value", "low", "high"))
    sd = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.nan_to_num(covariance[first, second] / (sd[first] * sd[second]))
    down, up = value - low, high - value
    difference = value[first] - value[second]

    def half(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(a**2 + b**2 - 2 * r * a * b, 0.0)))

    return difference, difference - half(down[first], up[second]), difference + half(up[first], down[second])
