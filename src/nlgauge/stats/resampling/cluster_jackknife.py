"""Cluster jackknife: standard error of a smooth function of sums over rows; whole clusters (inputs) are left out in
turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nlgauge.types import Array, Ints


@dataclass(frozen=True)
class Jackknifed:
    """Values and their standard errors; `freedom` of Student's t is the number of clusters minus one."""

    value: Array
    se: Array
    freedom: int

    def half(self, level: float = 0.95) -> Array:
        """Return half the width of the interval."""
        from scipy.special import stdtrit

        return np.asarray(stdtrit(max(1, self.freedom), (1 + level) / 2) * self.se)

    def p(self) -> Array:
        """Return the two-sided p-value that each value is 0; 1 where it is 0 without error."""
        from scipy.special import stdtr

        apart = np.abs(self.value)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = 2 * stdtr(max(1, self.freedom), -apart / self.se)
        return np.where(self.se > 0, p, np.where(apart > 0, 0.0, 1.0))


def jackknifed(rows: Array, clusters: Ints, figures: Callable[[Array], Array]) -> Jackknifed:
    """Compute `figures` of sums of `rows` by cluster, with jackknife standard errors.

    `rows` × quantities are summed by cluster (codes from 0); `figures` maps sums (… × quantities) to … × values.

    >>> rows = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]])
    >>> result = jackknifed(rows, np.array([0, 1, 2]), lambda s: s[..., 1:] / s[..., :1])
    >>> result.value.tolist(), result.se.round(4).tolist()
    ([4.0], [1.1547])
    """
    names, code = np.unique(clusters, return_inverse=True)
    many = len(names)
    order = np.argsort(code, kind="stable")
    sums = np.add.reduceat(rows[order], np.searchsorted(code[order], np.arange(many)), axis=0)
    total = sums.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        left = figures(total - sums)
        error = np.sqrt((many - 1) / many * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
        return Jackknifed(figures(total[None])[0], error, many - 1)
