"""Correlation of a metric with human ratings over all rows, of which few are labeled.

A correlation needs labels, but it is nearly a mean over rows (of its jackknife pseudo-values on Fisher's z scale), and
the part of it that the metric's own score predicts is known for every row. It is therefore estimated like any other
mean: labeled rows are weighted by the inverse of their sampling probability, the predicted part is rectified (PPI++),
with strata, clusters and intervals by Student's t, and transformed back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.stats.estimation.means import MeanEstimate, PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.several_judges import cross_fitted

Floats = NDArray[np.float64]
Coefficient = Literal["pearson", "spearman", "kendall"]
COEFFICIENTS = ("pearson", "spearman", "kendall")
MAX_LABELS = 2000  # maximum number of labels: all pairs of them are in memory
FITTED = (
    3  # parameters fitted to the labels besides their mean: the coefficient, a linear and a quadratic term of the score
)
CUT = 1 - 1e-6  # limit of correlations before atanh


@dataclass(frozen=True)
class SparseCorrelation:
    """The coefficient over all rows, using the metric's scores of unlabeled rows, and from labeled rows alone."""

    value: float
    low: float
    high: float
    plain: float
    plain_low: float
    plain_high: float


def sparse_correlation(
    sample: PartlyLabeled, coefficient: Coefficient = "kendall", level: float = 0.95
) -> SparseCorrelation:
    """Estimate the correlation of `sample.score` with human ratings over all rows; NaN where one of them is constant.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> labels = np.where(np.arange(400) < 100, y, np.nan)
    >>> result = sparse_correlation(PartlyLabeled(labels, y + rng.normal(size=400)), "pearson")
    >>> bool(result.low < 2**-0.5 < result.high)
    True
    """
    result = fisher_estimates(sample, coefficient, level)
    if result is None:
        return SparseCorrelation(*[float("nan")] * 6)
    ends = [
        np.tanh([e.value, e.value - result.wider * (e.value - e.low), e.value + result.wider * (e.high - e.value)])
        for e in result.both
    ]
    return SparseCorrelation(*np.concatenate(ends).tolist())


class FisherEstimates(NamedTuple):
    """Estimates on Fisher's z scale using the scores of all rows, and of labeled rows alone; `wider`: factor of
    their errors.
    """

    both: list[MeanEstimate]
    wider: float


def fisher_estimates(sample: PartlyLabeled, coefficient: str, level: float) -> FisherEstimates | None:
    """Compute the estimates; None where scores or labels are constant."""
    if coefficient not in COEFFICIENTS:
        raise NlgaugeError(f"no coefficient '{coefficient}'; use {', '.join(COEFFICIENTS)}.")
    if sample.score is None:
        raise NlgaugeError("a correlation needs a score of every row.")
    held = sample.labeled
    if held.sum() > MAX_LABELS:
        raise NlgaugeError(f"more than {MAX_LABELS:,} labels: the correlation of the labeled rows needs no estimate.")
    if min(np.ptp(sample.score[held]), np.ptp(sample.labels[held])) == 0:
        return None
    weights = _weights(sample)
    pseudo = _pseudo_values(sample.score[held], sample.labels[held], weights[held], coefficient)
    if not np.isfinite(pseudo).all():  # constant without one row
        return None
    labels = np.full(held.shape, np.nan)
    labels[held] = pseudo
    standing = _standing(sample.score) if coefficient != "pearson" else sample.score
    off = (standing - standing.mean()) / standing.std()
    foretold = cross_fitted(labels, np.column_stack([off, off**2]), sample.clusters)
    mean = replace(sample, labels=labels, score=foretold, share=False, bounds=None)
    worth = weights.sum() ** 2 / (weights**2).sum()  # effective sample size (Kish)
    # A stratified mean already has a parameter per stratum.
    fitted = max(FITTED - (0 if sample.strata is None else int(sample.strata.max())), 0)
    wider = float(np.sqrt(worth / max(worth - fitted, 1.0)))
    return FisherEstimates([mean_estimate(mean, method, level) for method in ("ppi++", "labels")], wider)


def _weights(sample: PartlyLabeled) -> Floats:
    """Return the number of rows that each labeled row represents, up to a factor."""
    if sample.probability is not None:
        return np.asarray(np.where(sample.labeled, 1 / sample.probability, 0.0))
    if sample.strata is None:
        return sample.labeled.astype(np.float64)
    rows, labels = np.bincount(sample.strata), np.bincount(sample.strata, sample.labeled)
    return np.asarray(np.where(sample.labeled, (rows / np.maximum(labels, 1))[sample.strata], 0.0))


def _standing(score: Floats) -> Floats:
    """Return the relative rank of each score among all rows, ties at their mean."""
    ordered = np.sort(score)
    return np.asarray(np.searchsorted(ordered, score, "left") + np.searchsorted(ordered, score, "right"), np.float64)


def _pseudo_values(x: Floats, y: Floats, w: Floats, coefficient: str) -> Floats:
    """Compute jackknife pseudo-values on Fisher's z scale; their weighted mean is the bias-corrected coefficient."""
    w = w / w.sum()
    whole, without = _left_out(x, y, w, coefficient)
    z, z_without = (np.arctanh(np.clip(v, -CUT, CUT)) for v in (whole, without))
    return np.asarray(z + (z - z_without) * (1 - w) / w)


def _left_out(x: Floats, y: Floats, w: Floats, coefficient: str) -> tuple[Floats, Floats]:
    """Compute the weighted coefficient, and that without each row."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if coefficient == "pearson":
            rest = 1 - np.append(w, 0.0)
            moments = [w * x, w * y, w * x * y, w * x * x, w * y * y]
            a, b, ab, aa, bb = ((m.sum() - np.append(m, 0.0)) / rest for m in moments)
            result = (ab - a * b) / np.sqrt((aa - a * a) * (bb - b * b))
            return result[-1], result[:-1]
        above_x, above_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
        if coefficient == "kendall":
            parts = []
            for table in (above_x * above_y, np.abs(above_x), np.abs(above_y)):
                own = table @ w
                parts.append(w @ own - 2 * np.append(w * own, 0.0))
            result = parts[0] / np.sqrt(parts[1] * parts[2])
            return result[-1], result[:-1]
        # Spearman: ranks as weighted counts of rows below less rows above; without row k its column is taken away.
        n = len(x)
        keep = np.ones((n, n + 1))
        np.fill_diagonal(keep, 0.0)
        extra = np.zeros((n, 1))
        rank_x, rank_y = ((t @ w)[:, None] - np.concatenate([t * w, extra], axis=1) for t in (above_x, above_y))
        weight = keep * w[:, None]
        top = (weight * rank_x * rank_y).sum(axis=0)
        result = top / np.sqrt((weight * rank_x**2).sum(axis=0) * (weight * rank_y**2).sum(axis=0))
        return result[-1], result[:-1]
