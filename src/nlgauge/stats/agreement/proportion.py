"""Confidence intervals of proportions and of functions of proportions, for small counts and for clustered rows.

A proportion x / n has a shortened Clopper-Pearson interval: each tail includes .7 of the probability of the observed
count (Clopper and Pearson include all of it, mid-P half). With .7, the 95% interval covers proportions from .02 to .98
with a probability of at least .933 for every n from 5 (mid-P: .91). For a function of several independent proportions
(kappa, balanced accuracy, ...), the ends are quantiles over the confidence distributions of the proportions (melding,
Fay, Proschan and Brittain 2015, with mid-P distributions). Neither draws random numbers. Clusters (several rows of one
conversation) divide the counts by the design effect (Korn and Graubard 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array

Kind = Literal["lean", "midp", "wilson", "exact"]
KINDS = {
    "lean": "Clopper-Pearson with weight 0.7 on the probability of the observed count",
    "midp": "mid-P (Clopper-Pearson with half of the count's own probability in each tail)",
    "wilson": "Wilson's score interval",
    "exact": "Clopper-Pearson (at least the stated level, often more)",
}
OWN = {"lean": 0.7, "midp": 0.5, "exact": 1.0}  # share of the count's own probability in each tail
POINTS = 4096  # points of the confidence distributions when proportions are melded
TAIL_POINTS = 20  # points beyond a limit of a melded interval; high levels use more points, up to MAX_POINTS
MAX_POINTS = 65_536
GRID = 161  # exact quantiles of each; the others are interpolated
STEPS = 20  # iterations of Newton's method


class Ends(NamedTuple):
    """Lower and upper limit of an interval."""

    low: Any
    high: Any


class Clustering(NamedTuple):
    """Effect of clusters on an interval: rows per effective row, and degrees of freedom."""

    effect: float
    freedom: float


def proportion_interval(
    x: ArrayLike, n: ArrayLike, level: float = 0.95, kind: Kind = "lean", *, one_tail: bool = False
) -> Ends:
    """Compute the confidence interval of the proportion x / n.

    Counts may be fractions (rows divided by a design effect); n must be above 0.

    `one_tail`: a limit uses the error rate of both tails where the other limit cannot miss, because no count is so
    small that its upper limit is below a proportion near 0. The interval is then shorter near 0 and 1, and each limit
    by itself misses at up to the whole error rate.

    >>> low, high = proportion_interval(37, 62)
    >>> round(float(low), 3), round(float(high), 3)
    (0.469, 0.716)
    """
    if kind not in KINDS:
        raise NlgaugeError(f"no interval '{kind}' of a proportion; use {', '.join(KINDS)}.")
    if not 0 < level < 1:
        raise NlgaugeError(f"the confidence level must lie between 0 and 1; found {level}")
    hits, of = (np.asarray(a, np.float64) for a in np.broadcast_arrays(x, n))
    tail = (1 - level) / 2
    if kind == "wilson":
        return _wilson(hits, of, tail)
    # The upper limit of hits is 1 minus the lower limit of misses: one call for both.
    counts, rows = np.stack([hits, of - hits]), np.stack([of, of])
    low, missed = ends = _lower(counts, rows, tail, OWN[kind])
    if one_tail:
        largest = 1 - (tail / OWN[kind]) ** (1 / rows)  # largest proportion inside the interval of a count of 0
        low, missed = np.clip(largest, ends, _lower(counts, rows, 2 * tail, OWN[kind]))
    return Ends(low[()], (1 - missed)[()])


def _lower(x: Array, n: Array, tail: float, own: float) -> Array:
    outer = _exact(x, n, tail)
    return outer if own == 1 else _leaner(x, n, tail, outer, own)


def _wilson(x: Array, n: Array, tail: float) -> Ends:
    from scipy.special import ndtri

    z = -float(ndtri(tail))
    p, stretch = x / n, 1 + z * z / n
    centre = (p + z * z / (2 * n)) / stretch
    half = z / stretch * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # Without hits the limit is exactly 0.
    return Ends(np.where(x <= 0, 0.0, centre - half)[()], np.where(x >= n, 1.0, centre + half)[()])


def _exact(x: Array, n: Array, tail: float) -> Array:
    """Compute the lower limit of Clopper and Pearson."""
    from scipy.special import betaincinv

    return np.where(x > 0, betaincinv(np.where(x > 0, x, 1.0), n - x + 1, tail), 0.0)


def _leaner(x: Array, n: Array, tail: float, outer: Array, own: float) -> Array:
    """Compute the lower limit at which P(more than x) + own P(x) = tail, which is between Clopper and Pearson's for x
    and x + 1.

    Newton's method on the logarithm of the tail, which is concave; bisection where a step leaves the bracket.
    """
    from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

    some, full = np.where(x > 0, x, 1.0), np.where(x < n, n - x, 1.0)
    low, high = outer, np.where(x < n, betaincinv(x + 1, full, tail), 1.0)
    scale = betaln(some, n - some + 1)
    index = (low + high) / 2
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for _ in range(STEPS):
            density = np.exp(xlogy(some - 1, index) + xlog1py(n - some, -index) - scale)  # of P(x or more)
            of_count = density * index / some  # P(x)
            result = betainc(some, n - some + 1, index) - (1 - own) * of_count
            slope = density - (1 - own) * of_count * (some / index - (n - some) / (1 - index))
            below = result < tail
            low, high = np.where(below, index, low), np.where(below, high, index)
            step = index - np.log(result / tail) * result / slope
            # At the root a step may leave the bracket by a rounding error.
            index = np.where((step > low - 1e-14) & (step < high + 1e-14), step, (low + high) / 2)
    return np.where(x > 0, index, 0.0)


def melded_interval(shares: Sequence[tuple[float, float]], figure: Callable[..., Array], level: float = 0.95) -> Ends:
    """Compute the interval of `figure(p, q, ...)` for independent proportions p, q, ..., each given as (x, n).

    >>> low, high = melded_interval([(45, 50), (30, 40)], lambda p, q: (p + q) / 2)
    >>> round(float(low), 2), round(float(high), 2)
    (0.73, 0.89)
    """
    points = POINTS
    while points * (1 - level) / 2 < TAIL_POINTS and points < MAX_POINTS:
        points *= 2
    drawn = [_confidence(float(x), float(n), k, len(shares), points) for k, (x, n) in enumerate(shares)]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = figure(*drawn)
    values = values[np.isfinite(values)]
    if not len(values):
        return Ends(np.nan, np.nan)
    low, high = np.quantile(values, ((1 - level) / 2, (1 + level) / 2))
    return Ends(float(low), float(high))


@lru_cache(maxsize=512)
def _confidence(x: float, n: float, place: int, shares: int, points: int) -> Array:
    """Return points of the mid-P confidence distribution of a proportion: the mean of Clopper and Pearson's two.

    Its quantiles are interpolated between those of the two on the normal scale, on which they are nearly straight
    lines.
    """
    from scipy.special import betainc, betaincinv, ndtr, ndtri

    grid = ndtr(np.linspace(-4, 4, GRID))
    available = [np.zeros(1)]
    available += [betaincinv(x, n - x + 1, grid)] if x > 0 else []
    available += [betaincinv(x + 1, n - x, grid)] if x < n else []
    p = np.unique(np.concatenate(available))
    lower = betainc(x, n - x + 1, p) if x > 0 else np.ones(len(p))
    upper = betainc(x + 1, n - x, p) if x < n else np.zeros(len(p))
    z, first = np.unique(np.clip(ndtri((lower + upper) / 2), -9, 9), return_index=True)
    return np.interp(_even_points(shares, points)[:, place], z, p[first], right=1.0 if x >= n else p[-1])


@lru_cache(maxsize=8)
def _even_points(dimensions: int, points: int) -> Array:
    """Return normal scores of points that fill the unit cube evenly (Halton sequence, one prime per dimension)."""
    from scipy.special import ndtri

    columns = []
    for prime in (2, 3, 5)[:dimensions]:
        left, share, value = np.arange(1, points + 1), 1.0, np.zeros(points)
        while left.any():
            share /= prime
            value += share * (left % prime)
            left //= prime
        columns.append(value)
    return np.asarray(ndtri(np.stack(columns, axis=1)))


def clustering(
    counts: Array, figure: Callable[[Array], Array], used: Callable[[Array], Array], level: float = 0.95
) -> Clustering:
    """Compute the design effect of a function of cell counts: its variance by clusters over its variance by rows.

    `counts` is clusters × cells; `used` is the number of rows among some counts that the function depends on. The
    effect is at least 1; where rows show no variance (a proportion of 0 or 1), the rows of a cluster count as one. The
    effect includes Student's t for few clusters.
    """
    held = used(counts)
    taken = counts[held > 0]
    clusters = len(taken)
    total = taken.sum(axis=0)
    rows = float(used(total))
    if clusters == rows:  # rows are not clustered
        return Clustering(1.0, np.inf)
    by_cluster = _spread(figure(total - taken), np.ones(clusters))
    by_row = _spread(figure(total - np.eye(len(total))), np.where(total > 0, total, 0.0))
    alone = rows / clusters  # as if each cluster were one row
    effect = max(1.0, by_cluster / by_row) if by_row > 0 and np.isfinite(by_cluster) else alone
    return Clustering(effect * student_effect(clusters, level), clusters - 1)


def student_effect(clusters: int, level: float) -> float:
    """Return the factor by which the quantile of Student's t for few clusters widens a variance."""
    from scipy.special import ndtri, stdtrit

    return (float(stdtrit(clusters - 1, (1 + level) / 2)) / -float(ndtri((1 - level) / 2))) ** 2


def _spread(left: Array, times: Array) -> float:
    """Compute the jackknife variance of values with one unit left out, each of which occurs `times` times."""
    selected = (times > 0) & np.isfinite(left)
    if (times[~np.isfinite(left)] > 0).any():  # the value depends on one unit
        return np.nan
    n = times[selected].sum()
    mean = (times[selected] * left[selected]).sum() / n
    return float((n - 1) / n * (times[selected] * (left[selected] - mean) ** 2).sum())
