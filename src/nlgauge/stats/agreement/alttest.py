"""The alternative annotator test (Calderon, Reichart and Dror 2025): can a metric replace a human annotator?

One annotator is left out at a time. On each unit, the test asks who is closer to the remaining annotators: the metric
or the annotator left out. The metric wins against that annotator if its advantage plus ε is significantly above 0
(one-sided t-test with Benjamini-Yekutieli correction over annotators). The metric passes if its winning rate ω is at
least one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.tests.corrections import benjamini_yekutieli
from nlgauge.types import Array, Mask

Closeness = Literal["rmse", "accuracy"]
Scale = Literal["raw", "ranks", "zscore"]


@dataclass(frozen=True, slots=True)
class AltTest:
    """Result: winning rate ω, mean advantage, and for each annotator the p-value, the decision and the units used."""

    winning_rate: float
    advantage: float
    passed: bool
    p: Array
    lost_to: Mask  # annotators against whom the metric wins significantly
    units: Array
    skipped_raters: int
    dropped_units: int
    reason: str
    method: str


def alt_test(
    ratings: ArrayLike,
    metric: ArrayLike,
    *,
    closeness: Closeness = "rmse",
    scale: Scale = "raw",
    epsilon: float = 0.2,
    q: float = 0.05,
    persons: bool = True,
    min_units: int = 30,
) -> AltTest:
    """Test whether a metric can replace a human annotator.

    Parameters
    ----------
    metric : array of units
        Or systems × inputs.
    ratings : array of annotators × units
        Or annotators × systems × inputs. Units with one annotator only, or without a score, are dropped and counted.
    epsilon : float
        Tolerance that accounts for the metric being cheaper: the authors use .2 for experts, .15 for skilled annotators
        and .1 for crowd workers.
    scale : {'raw', 'ranks', 'zscore'}
        A metric that is not on the annotators' scale needs `ranks` (all are ranked) or `zscore` (all are standardized).
    min_units : int
        Annotators with fewer usable units are skipped and counted.

    Returns
    -------
    AltTest

    Notes
    -----
    Calderon, Reichart and Dror (2025), The alternative annotator test for LLM-as-a-judge.
    """
    table = as_units(ratings)
    score = np.asarray(metric, dtype=np.float64).reshape(-1)
    if score.size != table.shape[1]:
        raise DataError(f"metric has {score.size} values for {table.shape[1]} rated units")
    usable = ((~np.isnan(table)).sum(axis=0) >= 2) & ~np.isnan(score)
    dropped = int((~usable).sum())
    table, score = _on_scale(table[:, usable], scale), _on_scale(score[None, usable], scale)[0]
    raters = len(table)
    advantage, p, units = (np.full(raters, np.nan) for _ in range(3))
    for left_out in range(raters):
        own = ~np.isnan(table[left_out])
        units[left_out] = own.sum()
        if persons and own.sum() >= min_units:
            others = np.delete(table[:, own], left_out, axis=0)
            m = _closeness(score[own], others, closeness)
            h = _closeness(table[left_out, own], others, closeness)
            advantage[left_out] = (m >= h).mean()
            p[left_out] = _p_less((h >= m).astype(np.float64) - (m >= h), epsilon)
    tested = ~np.isnan(p)
    beaten, lost_to = np.zeros((2, raters), dtype=np.bool_)
    reason = ""
    if tested.any():
        beaten[tested] = benjamini_yekutieli(p[tested]) <= q
        lost_to[tested] = benjamini_yekutieli(1 - p[tested]) <= q
    else:
        reason = f"no rater has {min_units} usable units" if persons else "raters have no identity"
    rate = float(beaten.sum() / tested.sum()) if tested.any() else np.nan
    return AltTest(
        winning_rate=rate,
        advantage=float(advantage[tested].mean()) if tested.any() else np.nan,
        passed=bool(rate >= 0.5),
        p=p,
        lost_to=lost_to,
        units=units,
        skipped_raters=int((~tested).sum()),
        dropped_units=dropped,
        reason=reason or _scale_warning(table, score, scale),
        method=f"alt-test, {closeness} to the other raters on {scale} values, ε = {epsilon:g}, one-sided "
        f"t-test, Benjamini-Yekutieli at {q:g}, raters with at least {min_units} units",
    )


def _closeness(candidate: Array, others: Array, how: Closeness) -> Array:
    """Compute how close one set of ratings is to the others on each unit; higher is closer."""
    given = ~np.isnan(others)
    if how == "accuracy":
        return np.asarray((others == candidate).sum(axis=0) / given.sum(axis=0))
    if how != "rmse":
        raise DataError(f"closeness must be rmse or accuracy; found {how!r}")
    # The mean square gives the same order as its root and keeps equal values equal.
    return np.asarray(-(np.where(given, others - candidate, 0.0) ** 2).sum(axis=0) / given.sum(axis=0))


def _p_less(difference: Array, epsilon: float) -> float:
    """Compute the one-sided t-test that the mean difference is below ε."""
    n = difference.size
    gap, spread = float(difference.mean()) - epsilon, float(difference.std(ddof=1))
    if spread == 0.0:
        return 0.0 if gap < 0.0 else 1.0
    return float(stdtr(n - 1, gap / (spread / np.sqrt(n))))


def _on_scale(table: Array, scale: Scale) -> Array:
    if scale == "raw":
        return table
    if scale == "ranks":
        ranks = average_ranks(table, axis=1)
        return np.asarray(ranks / (~np.isnan(table)).sum(axis=1, keepdims=True))
    if scale != "zscore":
        raise DataError(f"scale must be raw, ranks or zscore; found {scale!r}")
    spread = np.nanstd(table, axis=1, keepdims=True)
    centered = table - np.nanmean(table, axis=1, keepdims=True)
    return np.asarray(centered / np.where(spread > 0.0, spread, 1.0))


def _scale_warning(table: Array, score: Array, scale: Scale) -> str:
    if scale != "raw" or score.size == 0:
        return ""
    low, high = np.nanmin(table), np.nanmax(table)
    if score.min() >= low and score.max() <= high:
        return ""
    return (
        f"the metric runs from {score.min():.3g} to {score.max():.3g}, the raters from {low:.3g} to "
        f"{high:.3g}, which is not the same scale; use ranks or zscore"
    )
