"""Panels of LLM judges: correlation of their errors, all panels of a given size, and a cross-fitted choice.

Rows are outputs with a human label and a score of every judge. Arrays: labels n, scores judges × n, clusters n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nlgauge.types import Array, Ints, Mask

CLUSTERS = 10  # fewer give no interval
MOST_JURIES = 2000
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Alike:
    """Correlation of the judges' errors (judges × judges) with its interval, the mean, and the judges that remain."""

    value: Array
    low: Array
    high: Array
    mean: tuple[float, float, float]
    effective: tuple[float, float, float]


def effective_judges(mean: float, judges: int) -> float:
    """Return the number of judges with independent errors whose mean is as precise as that of correlated judges.

    >>> effective_judges(0.0, 5), effective_judges(1.0, 5), round(effective_judges(0.5, 5), 2)
    (5.0, 1.0, 1.67)
    """
    below = 1 + (judges - 1) * mean
    return judges / below if below > 0 else np.inf


def errors_alike(labels: Array, scores: Array, clusters: Ints, level: float = 0.95) -> Alike:
    """Compute the correlation of errors: of two judges' scores with the human label held fixed.

    The interval leaves out whole clusters in turn, on Fisher's z scale with Student's t.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400).astype(float)
    >>> result = errors_alike(y, y + rng.normal(size=(3, 400)), np.arange(400))
    >>> bool(result.mean[1] < 0 < result.mean[2])
    True
    """
    from scipy.special import stdtrit

    columns = np.vstack([np.ones_like(labels), labels, scores])
    groups = int(clusters.max()) + 1
    moments = np.zeros((groups, len(columns), len(columns)))
    np.add.at(moments, clusters, np.einsum("in,jn->nij", columns, columns))
    total = moments.sum(axis=0)
    k = len(scores)
    upper = np.triu_indices(k, 1)
    whole, without = _partial(total[None])[0], _partial(total[None] - moments)
    every = np.concatenate([without[:, *upper], without[:, *upper].mean(axis=1, keepdims=True)], axis=1)
    value = np.append(whole[upper], whole[upper].mean())
    z, left = np.arctanh(np.clip(value, -0.999999, 0.999999)), np.arctanh(np.clip(every, -0.999999, 0.999999))
    spread = np.sqrt((groups - 1) / groups * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    half = stdtrit(groups - 1, 0.5 + level / 2) * spread if groups >= CLUSTERS else np.full(len(z), np.nan)
    low, high = np.tanh(z - half), np.tanh(z + half)
    square = [np.eye(k) for _ in range(3)]
    for matrix, values in zip(square, (value, low, high), strict=True):
        matrix[upper] = matrix[upper[::-1]] = values[:-1]
    mean = (float(value[-1]), float(low[-1]), float(high[-1]))
    ends = (effective_judges(mean[0], k), effective_judges(mean[2], k), effective_judges(mean[1], k))
    return Alike(square[0], square[1], square[2], mean, ends)


def _partial(moments: Array) -> Array:
    """Compute partial correlations of the scores given 1 and the label, from moments … × (1, label, scores)."""
    valid, cross, own = moments[:, :2, :2], moments[:, :2, 2:], moments[:, 2:, 2:]
    rest = own - np.swapaxes(cross, 1, 2) @ np.linalg.pinv(valid) @ cross
    sd = np.sqrt(np.maximum(np.einsum("gii->gi", rest), 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(rest / (sd[:, :, None] * sd[:, None, :])))


def juries(costs: Sequence[float], budget: float | None, sizes: Sequence[int]) -> Mask:
    """List all panels of these sizes within the budget, panels × judges.

    Beyond 2,000 panels the largest sizes are left out first.

    >>> juries([1, 1, 5], 6, [1, 2]).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]]
    """
    k, result = len(costs), list[tuple[int, ...]]()
    for size in sizes:
        fits = [s for s in combinations(range(k), size) if budget is None or sum(costs[j] for j in s) <= budget + 1e-12]
        if len(result) + len(fits) > MOST_JURIES and result:
            break
        result += fits
    sets = np.zeros((len(result), k), bool)
    for index, members in enumerate(result):
        sets[index, list(members)] = True
    return sets


@dataclass(frozen=True, slots=True)
class Chosen:
    """The panel chosen on all rows, the one chosen without each fold, and the fold of each cluster."""

    jury: int
    in_folds: Ints
    fold: Ints


def choose(value: Callable[[Mask], Array], clusters: int, preference: Array, rng: np.random.Generator) -> Chosen:
    """Choose the best panel on all clusters, and again without each fold of clusters.

    `value` returns the value of every panel on the clusters that remain; `preference` (lower is better) breaks ties.
    """
    fold = rng.permutation(clusters) % FOLDS

    def best(kept: Mask) -> int:
        result = np.nan_to_num(value(kept), nan=-np.inf)
        near = np.flatnonzero(result >= result.max() - 1e-9)
        return int(near[np.argmin(preference[near])])

    return Chosen(best(np.ones(clusters, bool)), np.array([best(fold != k) for k in range(FOLDS)]), fold)
