"""Simultaneous tests of all pairs of systems, significance tiers and rank intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.types import Array, Ints, Mask

DRAWS = 20_000


@dataclass(frozen=True)
class AllPairs:
    """All pairs, systems × systems: row minus column, its standard error and its simultaneous p-value.

    Intervals of `reach` standard errors around every difference hold simultaneously at the requested level.
    """

    gap: Array
    error: Array
    p: Array
    reach: float

    @property
    def better(self) -> Mask:
        """Return where the row is significantly better than the column: the simultaneous interval is above 0."""
        return np.asarray(self.gap > self.reach * self.error)

    @property
    def ranks(self) -> tuple[Ints, Ints]:
        """Return the best and the worst rank each system can have."""
        return 1 + self.better.sum(axis=0), len(self.gap) - self.better.sum(axis=1)

    def tiers(self) -> Ints:
        """Return the smallest adjacent groups such that every system is significantly better than all of the next
        group.
        """
        order = np.argsort(-self.gap.mean(axis=1), kind="stable")
        above = self.better[np.ix_(order, order)]
        new = [above[:k, k:].all() for k in range(1, len(order))]
        tier = np.empty(len(order), np.int64)
        tier[order] = np.cumsum([1, *new])
        return tier


def deviations(covariance: Array, freedom: float, rng: np.random.Generator, draws: int = DRAWS) -> Array:
    """Draw errors of estimates with this covariance and degrees of freedom from a multivariate t distribution."""
    values, vectors = np.linalg.eigh(covariance)
    normal = rng.standard_normal((draws, len(values))) * np.sqrt(np.maximum(values, 0))
    return np.asarray(normal @ vectors.T * np.sqrt(freedom / rng.chisquare(freedom, (draws, 1))))


def all_pairs(
    values: Array, covariance: Array, errors: Array, level: float = 0.95, tested: Array | None = None
) -> AllPairs:
    """Test all differences of `values` simultaneously by the largest |t| (single step).

    `errors` are draws × values of the estimation errors. `tested`: the statistic of a pair (row above column) where the
    difference over its error is not valid, else NaN; the error of such a pair is the one that gives this statistic.

    >>> rng = np.random.default_rng(0)
    >>> made = all_pairs(np.array([2.0, 0.2, 0.0]), np.eye(3) / 9, deviations(np.eye(3) / 9, 49, rng))
    >>> made.tiers().tolist(), [r.tolist() for r in made.ranks]
    ([1, 2, 2], [[1, 2, 2], [1, 3, 3]])
    """
    gap = values[:, None] - values
    variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
    error = np.sqrt(np.maximum(variance, 0))
    largest, by_value = np.zeros(len(errors)), np.ascontiguousarray(errors.T)
    for i, j in zip(*np.triu_indices(len(values), 1), strict=True):
        if error[i, j] > 0:
            np.maximum(largest, np.abs(by_value[i] - by_value[j]) / error[i, j], out=largest)
    if tested is not None:
        with np.errstate(invalid="ignore", divide="ignore"):
            agreeing = np.where(tested * gap > 0, gap / tested, np.inf)
        error = np.where(np.isfinite(tested), agreeing, error)
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = np.where(error > 0, np.abs(gap) / error, 0.0)
    beyond = len(errors) - np.searchsorted(np.sort(largest), seen.ravel(), side="left").reshape(seen.shape)
    p = np.asarray((beyond + 1) / (len(errors) + 1), np.float64)
    np.fill_diagonal(p, np.nan)
    return AllPairs(gap, error, p, float(np.quantile(largest, level)))
