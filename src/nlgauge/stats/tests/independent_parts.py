"""Permutation test for two correlations on different outputs: outputs are randomly reassigned to the two parts.

The parts are first put on one scale (standardized, or ranked within each part), because a shift between them would
create correlation. Ranks are not recomputed after reassignment: every draw is then a few sums, and all draws are one
matrix product.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.types import Array, Mask

BLOCK = 4_000_000  # maximum size of the mask matrix in memory


def dealt_tests(
    x: Array, z: Array, one: Mask, two: Mask, *, ranks: bool, draws: int, rng: np.random.Generator
) -> Array:
    """Compute p = (count + 1)/(draws + 1) of |r1 - r2| for K metrics (K × n) and ratings (n); `one` and `two` are the
    parts.

    NaN when a part is constant or has fewer than three points. Metrics with the same missing outputs share the draws,
    and all others start from the same seed: no metric's p-value depends on the other metrics. `ranks`: Spearman's
    correlations, otherwise Pearson's.
    """
    p = np.full(len(x), np.nan)
    alike: dict[bytes, list[int]] = {}
    there = np.isfinite(x) & np.isfinite(z)
    for k in range(len(x)):
        alike.setdefault(there[k].tobytes(), []).append(k)
    for members in alike.values():
        available = there[members[0]]
        first, second = available & one, available & two
        if draws > 0 and min(first.sum(), second.sum()) >= 3:
            parts = [(x[members][:, part], z[part]) for part in (first, second)]
            # The order of the parts must not affect the draws.
            parts.sort(key=lambda part: (len(part[1]), part[1].tobytes(), sorted(row.tobytes() for row in part[0])))
            p[members] = _tests(parts[0], parts[1], ranks, draws, deepcopy(rng))
    return p


def dealt_test(
    one: tuple[Array, Array], two: tuple[Array, Array], *, ranks: bool, draws: int, rng: np.random.Generator
) -> float:
    """Test one metric; each part is (scores, ratings) without missing values."""
    n, total = len(one[0]), len(one[0]) + len(two[0])
    x, z = (np.concatenate([one[k], two[k]]) for k in (0, 1))
    first = np.arange(total) < n
    return float(dealt_tests(x[None], z, first, ~first, ranks=ranks, draws=draws, rng=rng)[0])


def _tests(
    one: tuple[Array, Array], two: tuple[Array, Array], ranks: bool, draws: int, rng: np.random.Generator
) -> Array:
    x = np.concatenate([_alike(one[0], ranks), _alike(two[0], ranks)], axis=1)
    z = np.concatenate([_alike(one[1][None], ranks), _alike(two[1][None], ranks)], axis=1)[0]
    n, total = one[0].shape[1], x.shape[1]
    seen = _gap(x, z, _mask(n, total)[None])[0]
    hits, valid = np.zeros(len(x), np.int64), np.zeros(len(x), np.int64)
    left = draws
    while left:
        size = min(left, max(1, BLOCK // total))
        drawn = _gap(x, z, rng.permuted(np.broadcast_to(_mask(n, total), (size, total)), axis=1))
        valid += np.isfinite(drawn).sum(axis=0)
        hits += (drawn >= seen - 1e-10).sum(axis=0)
        left -= size
    return np.where(np.isnan(seen), np.nan, (hits + 1) / (valid + 1))


def _mask(n: int, total: int) -> Array:
    return np.where(np.arange(total) < n, 1.0, 0.0)


def _alike(values: Array, ranks: bool) -> Array:
    if ranks:
        return np.asarray((average_ranks(values, axis=1) - 0.5) / values.shape[1])
    spread = values.std(axis=1, keepdims=True)
    return np.asarray((values - values.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0))


def _gap(x: Array, z: Array, first: Array) -> Array:
    """Compute |r of the first part - r of the second|: draws × metrics."""
    terms = np.concatenate([np.ones((1, len(z))), z[None], z[None] ** 2, x, x**2, x * z]).T
    inside = first @ terms
    return np.asarray(np.abs(_pearson(inside, len(x)) - _pearson(terms.sum(axis=0) - inside, len(x))))


def _pearson(sums: Array, k: int) -> Array:
    n, z, zz = (sums[:, i, None] for i in range(3))
    x, xx, xz = (sums[:, 3 + i * k : 3 + (i + 1) * k] for i in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x / n) * (zz - z * z / n)
        return np.where(spread > 1e-12, (xz - x * z / n) / np.sqrt(spread), np.nan)
