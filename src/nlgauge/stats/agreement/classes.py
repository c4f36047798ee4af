"""Agreement on unordered classes: coefficients of a confusion matrix, their intervals over clusters of rows.

A coefficient 1 - observed / expected disagreement gets the interval of a share, that of the observed disagreement, with
as many rows as give its jackknife variance over clusters. So it is right for few disagreements, too, where a normal
interval has no width. Means of shares over classes (macro recall, macro F1) are treated alike; their variance is never
below that of the smoothed shares, because a class with few rows may show none by chance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.agreement.proportion import clustering, proportion_interval, student_effect
from nlgauge.stats.agreement.two_by_two import CLUSTERS, FEWEST, Figure
from nlgauge.types import Array, Ints

MOST_CELLS = 20_000_000  # of clusters × classes × classes


def confusion_counts(human: ArrayLike, judge: ArrayLike, classes: int, clusters: Ints | None = None) -> Array:
    """Count the rows of each pair of classes: clusters × human × judge; rows are clusters of their own by default.

    >>> confusion_counts([0, 1, 1], [0, 1, 0], 2).sum(axis=0).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    z, x = np.asarray(human, np.int64), np.asarray(judge, np.int64)
    code = np.arange(len(z)) if clusters is None else np.unique(clusters, return_inverse=True)[1].reshape(-1)
    many = int(code.max(initial=-1)) + 1
    if many * classes * classes > MOST_CELLS:  # neighbors share a cluster: still far more than any interval needs
        code = code // -(-many * classes * classes // MOST_CELLS)
        many = int(code.max()) + 1
    cells = (code * classes + z) * classes + x
    counts = np.bincount(cells, minlength=many * classes * classes).reshape(many, classes, classes)
    return counts.astype(np.float64)


def disagreement_parts(counts: Array, coefficient: str) -> tuple[Array, Array]:
    """Return observed and expected disagreement (… each) from counts (… × classes × classes).

    Parameters
    ----------
    counts : array
    coefficient : {'kappa', 'alpha', 'ac1'}
        Cohen's kappa (chance from both margins), Krippendorff's alpha (from their pool, small-sample form), Gwet's AC1.
    """
    n = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        rows, columns = counts.sum(axis=-1) / n[..., None], counts.sum(axis=-2) / n[..., None]
        observed = 1 - np.trace(counts, axis1=-2, axis2=-1) / n
        pool = (rows + columns) / 2
        if coefficient == "kappa":
            expected = 1 - (rows * columns).sum(axis=-1)
        elif coefficient == "alpha":
            expected = (1 - (pool**2).sum(axis=-1)) * 2 * n / (2 * n - 1)
        else:
            expected = 1 - (pool * (1 - pool)).sum(axis=-1) / (counts.shape[-1] - 1)
    return observed, expected


def chance_corrected(counts: Array, coefficient: str, level: float = 0.95) -> Figure:
    """Return kappa, alpha or AC1 of a judge with its interval, from counts by cluster (clusters × classes × classes).

    >>> result = chance_corrected(confusion_counts([0, 1, 2] * 20, [0, 1, 2] * 19 + [1, 2, 0], 3), "kappa")
    >>> round(result.value, 3), round(result.low, 2), round(result.high, 2)
    (0.925, 0.79, 0.98)
    """
    total = counts.sum(axis=0)
    n = int(total.sum())

    def parts(sums: Array) -> tuple[Array, Array]:
        return disagreement_parts(sums, coefficient)

    return of_disagreement(parts, counts, n, float(n), level)


def of_disagreement(
    parts: Callable[[Array], tuple[Array, Array]], sums: Array, n: int, rows: float, level: float = 0.95
) -> Figure:
    """Return 1 - observed / expected disagreement with its interval.

    Parameters
    ----------
    parts : callable
        From sums (… as one entry of `sums`) to observed and expected disagreement.
    sums : array
        One entry per cluster.
    n : int
        Number of rows, for the report.
    rows : float
        Rows that count as independent at most; infinite where several annotators share a row.
    level : float
    """
    total = sums.sum(axis=0)
    observed, expected = (float(v) for v in parts(total))
    if not expected > 1e-12:
        return Figure(np.nan, n=n, reason="all values are one class: no disagreement is expected")
    with np.errstate(invalid="ignore", divide="ignore"):
        seen, chance = parts(total - sums)
        left = seen / chance
    low, high, reason = disagreement_interval(observed, expected, left, rows, level)
    return Figure(1 - observed / expected, low, high, n, reason=reason)


def disagreement_interval(
    observed: float, expected: float, left: Array, rows: float = float("inf"), level: float = 0.95
) -> tuple[float, float, str]:
    """Return the interval of 1 - observed / expected disagreement, or NaN and the reason why there is none.

    Parameters
    ----------
    observed, expected : float
        Disagreement, at most 1.
    left : array
        Their ratio without each cluster in turn.
    rows : float
        Rows that count as independent at most.
    level : float
    """
    clusters = len(left)
    if clusters < CLUSTERS:
        return np.nan, np.nan, too_few_clusters(clusters)
    if not np.isfinite(left).all():
        return np.nan, np.nan, "it hangs on one output"
    variance = (clusters - 1) / clusters * ((left - left.mean()) ** 2).sum() * expected**2
    low, high = share_interval(observed, variance, rows, clusters, level)
    return 1 - high / expected, min(1.0, 1 - low / expected), ""


def share_interval(share: float, variance: float, rows: float, clusters: int, level: float) -> tuple[float, float]:
    """Return the interval of a share with this jackknife variance over clusters: that of as many independent rows.

    Where the variance is 0, each cluster counts as one row. `rows`: the most that count as independent.
    """
    share = min(max(share, 0.0), 1.0)
    effective = share * (1 - share) / variance if variance > 1e-15 else float(clusters)
    effective = min(effective, rows) if variance > 1e-15 else min(float(clusters), rows)
    effective = max(effective / student_effect(clusters, level), 1.0)
    low, high = proportion_interval(share * effective, effective, level)
    return float(low), float(high)


def too_few_clusters(clusters: int) -> str:
    """Return the reason why so few clusters have no interval."""
    return f"{clusters} independent outputs; an interval needs {CLUSTERS}"


# --- shares of one class ----------------------------------------------------------------------------------------------


def class_share(hits: Array, below: Array, level: float = 0.95, f1: bool = False) -> Figure:
    """Return a share of rows with its interval, given both counts by cluster; `f1`: F1 from the Jaccard share.

    Rows with fewer than 5 below the line, or fewer than 10 clusters where rows share them, have no interval.
    """
    n, x = float(below.sum()), float(hits.sum())
    if not n:
        return Figure(np.nan, reason="no row")
    value = x / n
    shown = 2 * value / (1 + value) if f1 else value
    if n < FEWEST:
        return Figure(shown, n=int(n), hits=int(x), reason=f"{int(n)} rows; an interval needs {FEWEST}")
    cells = np.stack([hits, below - hits], axis=-1)
    cells = cells[below > 0]
    if len(cells) < n and len(cells) < CLUSTERS:
        return Figure(shown, n=int(n), hits=int(x), reason=too_few_clusters(len(cells)))

    def figure(counts: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(counts[..., 0] / counts.sum(axis=-1))

    effect = clustering(cells, figure, lambda counts: counts.sum(axis=-1), level).effect
    low, high = proportion_interval(x / effect, n / effect, level)
    ends = np.array([float(low), float(high)])
    low, high = 2 * ends / (1 + ends) if f1 else ends
    return Figure(shown, float(low), float(high), int(n), int(x))


def macro(hits: Array, below: Array, level: float = 0.95, f1: bool = False) -> Figure:
    """Return the mean over classes of a share (recall) or of F1 with its interval.

    Parameters
    ----------
    hits, below : array
        Clusters × classes; of F1, true positives and rows that have the class with the human or the judge.
    level : float
    f1 : bool

    Notes
    -----
    Classes without a row are left out, as in scikit-learn where they do not occur. No interval where a class has fewer
    than 5 rows below the line: such a class decides as much as one with thousands.
    """

    def mean(x: Array, n: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            share = x / n
            return np.asarray(np.nanmean(2 * share / (1 + share) if f1 else share, axis=-1))

    hits, below = hits[:, below.sum(axis=0) > 0], below[:, below.sum(axis=0) > 0]
    x, n = hits.sum(axis=0), below.sum(axis=0)
    rows = int(n.sum())
    if not len(n):
        return Figure(np.nan, reason="no row")
    value = float(mean(x, n))
    clusters = len(hits)
    if n.min() < FEWEST:
        few = int((n < FEWEST).sum())
        return Figure(value, n=rows, reason=f"{few} of {len(n)} classes have fewer than {FEWEST} rows")
    if clusters < CLUSTERS:
        return Figure(value, n=rows, reason=too_few_clusters(clusters))
    left = mean(x - hits, n - below)
    variance = float((clusters - 1) / clusters * ((left - left.mean()) ** 2).sum())
    scale = len(n)
    size = n * (1 + x / n) / 2 if f1 else n  # of F1: tp + (fp + fn) / 2
    smooth = (x + 1) / (size + 2)
    floor = float((smooth * (1 - smooth) / (size + 2)).sum()) / scale**2
    low, high = share_interval(value, max(variance, floor), float("inf"), clusters, level)
    return Figure(value, low, high, rows)


def paired_gain(right: Array, baseline: Array, level: float = 0.95) -> Figure:
    """Return the difference of two shares of the same rows with its interval, given both and rows by cluster.

    `right` and `baseline`: clusters × (hits, rows).
    """
    from scipy.special import stdtrit

    n = right[:, 1].sum()
    value = float((right[:, 0].sum() - baseline[:, 0].sum()) / n)
    clusters = len(right)
    if clusters < CLUSTERS:
        return Figure(value, n=int(n), reason=too_few_clusters(clusters))
    deviations = right[:, 0] - baseline[:, 0] - value * right[:, 1]
    variance = float(clusters / (clusters - 1) * (deviations**2).sum() / n**2)
    # One discordant row of either kind more, as Agresti and Min (2005): no width of zero where none is seen.
    variance = max(variance, 2 / (n + 2) ** 2)
    half = float(stdtrit(clusters - 1, (1 + level) / 2)) * variance**0.5
    return Figure(value, max(-1.0, value - half), min(1.0, value + half), int(n))
