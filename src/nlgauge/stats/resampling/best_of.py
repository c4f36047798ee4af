"""The value of the best of several judges, when it was selected as the best on the same rows.

The best of many looks better than it is: among equals it is the luckiest one. Its upper limit is that of its own
interval, because luck only raises it. The lower limit is simultaneous over all judges that could have been selected:
from the largest of correlated normal errors (they were evaluated on the same rows). Judges clearly worse than the best
could not have been selected and do not count. docs/tuning.md has the coverage.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.agreement.two_by_two import Figure, counts_by_cluster, figure_of
from nlgauge.stats.agreement.verdict_changes import ADDED, VALUES
from nlgauge.stats.correlation.evaluate_groups import arrays, plan_measures
from nlgauge.stats.resampling.jackknife import generalizes_to, intervals, left_out
from nlgauge.types import Array, Ints, Mask

DRAWS = 8192
CLEARLY = 0.005  # part of the error rate that is used to exclude those clearly below the best
ALIKE = 1e-9  # a standard error of a difference below this is 0


class BestChoice(NamedTuple):
    """The best of several, those that could have been the best, and the level whose lower limit holds for all of
    them.
    """

    best: int
    contenders: Mask
    level: float


def choose(values: ArrayLike, covariance: ArrayLike, level: float = 0.95) -> BestChoice:
    """Return the highest of the values (the first of ties), given the covariance of their errors.

    >>> two = choose([0.8, 0.79], np.eye(2) * 0.03**2)
    >>> two.best, two.contenders.tolist(), round(two.level, 3)
    (0, [True, True], 0.976)
    >>> round(choose([0.8, 0.4], np.eye(2) * 0.03**2).level, 3)
    0.96
    """
    from scipy.special import ndtr

    y, errors = np.asarray(values, np.float64), np.asarray(covariance, np.float64)
    best = int(np.nanargmax(y))
    spread = np.sqrt(np.diag(errors))
    apart = np.sqrt(np.maximum(np.diag(errors) + errors[best, best] - 2 * errors[best], 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(apart > ALIKE, (y[best] - y) / apart, np.where(y[best] > y, np.inf, 0.0))
    valid = np.isfinite(y) & (spread > 0)
    # Differences to the best share its error; treating them as independent is conservative.
    contenders = valid & (gap <= _largest(np.eye(max(int(valid.sum()) - 1, 1)), CLEARLY))
    contenders[best] = True
    correlation = errors[np.ix_(contenders, contenders)] / np.outer(spread[contenders], spread[contenders])
    several = contenders.sum() < valid.sum()
    tail = (1 - level) / 2 - (CLEARLY if several else 0.0)
    return BestChoice(best, contenders, float(2 * ndtr(_largest(correlation, tail)) - 1))


def _largest(correlation: Array, tail: float) -> float:
    """Return the quantile of the largest of correlated normal errors."""
    from scipy.special import ndtri

    if len(correlation) == 1:
        return float(-ndtri(tail))
    weights, axes = np.linalg.eigh(correlation)
    drawn = _normals(len(correlation)) @ (axes * np.sqrt(np.maximum(weights, 0.0))).T
    return float(np.quantile(drawn.max(axis=1), 1 - tail))


@lru_cache(maxsize=32)
def _normals(k: int) -> Array:
    """Return fixed draws with both signs of each, so that the result depends on the data alone."""
    half = np.random.default_rng(20).standard_normal((DRAWS // 2, k))
    return np.concatenate([half, -half])


class BestOf(NamedTuple):
    """The value of every judge, and the interval of the best one without and with correction for the selection."""

    values: Array
    chosen: BestChoice
    own: Figure
    honest: Figure


def best_verdicts(
    people: ArrayLike, judges: ArrayLike, figure: str, clusters: ArrayLike | None = None, level: float = 0.95
) -> BestOf:
    """Find the judge (judges × rows, True is pass) with the highest statistic, with a selection-corrected interval."""
    z, x = np.asarray(people, bool), np.asarray(judges, bool)
    code = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1)
    cell = 2 * z.astype(np.int64) + x
    counts = [counts_by_cluster(c, 4, code) for c in cell]
    values = np.array([float(VALUES[figure](c.sum(axis=0))) for c in counts])
    moved, spread = zip(*(_moves(c, row.sum(axis=0), figure) for c, row in zip(cell, counts, strict=True)), strict=True)
    by_unit = np.stack([m if code is None else np.bincount(code, m) for m in moved])
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.sqrt((by_unit**2).sum(axis=1))
        correlation = np.nan_to_num(by_unit @ by_unit.T / np.outer(length, length))
    np.fill_diagonal(correlation, 1.0)
    errors = np.array(spread)
    if code is not None:  # rows of one cluster count as fewer
        with np.errstate(invalid="ignore", divide="ignore"):
            alone = np.sqrt((np.stack(moved) ** 2).sum(axis=1))
            errors *= np.where(alone > 0, np.maximum(length / alone, 1.0), 1.0)
    chosen = choose(values, correlation * np.outer(errors, errors), level)
    own, strict = (
        figure_of(counts[chosen.best], figure, clustered=code is not None, level=index)
        for index in (level, chosen.level)
    )
    return BestOf(values, chosen, own, replace(own, low=strict.low))


def best_correlation(
    x: ArrayLike, z: ArrayLike, measure: str, clusters: ArrayLike | None = None, level: float = 0.95
) -> BestOf:
    """Do the same for a correlation with human ratings: metrics × systems × inputs, over the outputs that all
    scored.
    """
    metrics, human = arrays(x, z)
    human = np.where(np.isfinite(metrics).all(axis=0), human, np.nan)
    over = generalizes_to("auto", len(human))
    want = plan_measures([measure])
    whole = left_out(metrics, human, want, over, clusters)
    left = whole.transform(want.fisher_z)
    without = np.where(
        np.isfinite(left.inputs[:, 0]), left.inputs[:, 0], left.value
    )  # undefined without one: no change
    by_unit = np.nan_to_num(without - without.mean(axis=-1, keepdims=True))
    length = np.sqrt((by_unit**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.nan_to_num(by_unit @ by_unit.T / np.outer(length, length))
    np.fill_diagonal(correlation, 1.0)
    errors = np.sqrt(np.nan_to_num(left.spread().variance[:, 0]))
    chosen = choose(left.value[:, 0], correlation * np.outer(errors, errors), level)
    one = metrics[chosen.best : chosen.best + 1]
    results = [intervals(one, human, [measure], clusters=clusters, level=index) for index in (level, chosen.level)]
    value, low, high = (float(a[0, 0]) for a in (results[0].value, results[0].low, results[0].high))
    n = int(np.isfinite(human).sum())
    own = Figure(value, low, high, n, reason=results[0].reason[0, 0] or "")
    return BestOf(whole.value[:, 0], chosen, own, replace(own, low=float(results[1].low[0, 0])))


def _moves(cell: Ints, total: Array, figure: str) -> tuple[Array, float]:
    """Return the change of the statistic without each row, and its standard error with one half added to each cell."""
    of = VALUES[figure]
    more = total + ADDED
    left = of(more - np.eye(4) * np.minimum(more, 1.0))
    mean = (more * left).sum() / more.sum()
    error = (more.sum() - 1) / more.sum() * (more * (left - mean) ** 2).sum()
    return np.asarray(left - mean)[cell], float(np.sqrt(error))
