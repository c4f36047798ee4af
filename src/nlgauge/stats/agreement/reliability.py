"""Calibration: scores read as probabilities of a human pass, their calibration error, and the map that corrects them.

The Brier score is the mean squared difference of score and label. The expected calibration error (ECE) is the
difference between the mean score and the pass rate, averaged over bins of equal width with weights by rows. The
calibration map is isotonic: the nondecreasing function of the score with the least squared error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.curves import FEWEST_PRECISION, checked, cluster_codes, lacking_rows
from nlgauge.stats.agreement.proportion import clustering, melded_interval, proportion_interval, student_effect
from nlgauge.stats.agreement.two_by_two import CLUSTERS, FEWEST, Figure
from nlgauge.types import Array, Ints, Mask

BINS = 10
PRIOR = 1  # weight of the binomial variance, in rows, relative to the observed variance
CLEAR = 2.5  # standard errors beyond which a bin's difference is taken as nonzero


class Bin(NamedTuple):
    """Rows whose scores fall into one bin."""

    low: float
    high: float
    score: float
    passed: Figure


class Map(NamedTuple):
    """Knots of a nondecreasing map from score to probability: linear between knots, constant beyond them."""

    scores: Array
    probabilities: Array

    def of(self, scores: ArrayLike) -> Array:
        """Return the probability for each score."""
        return np.asarray(np.interp(np.asarray(scores, np.float64), self.scores, self.probabilities))


def probabilities(score: ArrayLike) -> bool:
    """Return whether all scores are between 0 and 1."""
    x = np.asarray(score, np.float64)
    return bool(len(x) and x.min() >= 0 and x.max() <= 1)


def isotonic_map(score: ArrayLike, passed: ArrayLike) -> Map:
    """Fit the nondecreasing map that is nearest to the labels, by pooling adjacent violators (Barlow et al. 1972).

    >>> isotonic_map([1, 2, 3, 4], [False, True, False, True]).probabilities.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    x, z = checked(score, passed)
    if not len(x):
        raise DataError("a calibration map needs rows with a score and a verdict; found none")
    values, code = np.unique(x, return_inverse=True)
    rows = np.bincount(code.reshape(-1)).astype(np.float64)
    good = np.bincount(code.reshape(-1), weights=z)
    pools: list[list[float]] = []  # passed, rows, distinct scores
    for g, n in zip(good.tolist(), rows.tolist(), strict=True):
        pools.append([g, n, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    fitted = np.repeat([g / n for g, n, _ in pools], [int(k) for *_, k in pools])
    inner = np.r_[True, (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:]), True][: len(fitted)]
    return Map(values[inner], fitted[inner])


def reliability_bins(
    score: ArrayLike,
    passed: ArrayLike,
    clusters: Sequence[object] | None = None,
    *,
    bins: int = BINS,
    level: float = 0.95,
) -> list[Bin]:
    """Return mean score and pass rate of every nonempty bin, with an interval of the pass rate."""
    x, z = checked(score, passed)
    place = _bins(x, bins)
    code = np.arange(len(x)) if clusters is None else cluster_codes(clusters)
    results = []
    for b in np.unique(place):
        inside = place == b
        n, hits = int(inside.sum()), int(z[inside].sum())
        figure = Figure(hits / n, n=n, hits=hits, reason=_too_few(n, code[inside], clusters is not None))
        if not figure.reason:
            effect = 1.0
            if clusters is not None:
                kinds = [np.bincount(code[inside], weights=part[inside]) for part in (z, ~z)]
                table = np.asarray(np.stack(kinds, axis=1), np.float64)
                effect = clustering(table, _share, lambda c: c.sum(axis=-1), level).effect
            low, high = proportion_interval(hits / effect, n / effect, level)
            figure = Figure(hits / n, float(low), float(high), n, hits)
        results.append(Bin(b / bins, (b + 1) / bins, float(x[inside].mean()), figure))
    return results


def _too_few(n: int, code: Ints, clustered: bool) -> str:
    if n < FEWEST:
        return f"needs at least {FEWEST} rows, found {n}"
    groups = len(np.unique(code))
    return f"needs at least {CLUSTERS} clusters, found {groups}" if clustered and groups < CLUSTERS else ""


def _share(counts: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts[..., 0] / counts.sum(axis=-1))


def _bins(x: Array, bins: int) -> Ints:
    """Assign scores to bins of equal width that include their upper end; 0 belongs to the first."""
    return np.asarray(np.clip(np.ceil(x * bins) - 1, 0, bins - 1), np.int64)


def calibration_figures(
    score: ArrayLike,
    passed: ArrayLike,
    clusters: Sequence[object] | None = None,
    *,
    bins: int = BINS,
    level: float = 0.95,
) -> dict[str, Figure]:
    """Compute `brier` and `ece` with intervals, and `ece_by_chance`, the ECE that a calibrated judge would show by
    chance.

    Notes
    -----
    Brier score: melded from the pass rate and the mean squared errors of both labels, each treated as a proportion of
    the number of rows that has its variance. ECE: Student's t around the mean signed difference; the lower limit is
    lowered by what chance adds in bins whose true difference may be 0.
    """
    x, z = checked(score, passed)
    if not probabilities(x):
        raise DataError(f"scores must lie in 0 to 1 to be read as probabilities; found {x.min():g} to {x.max():g}")
    code = np.arange(len(x)) if clusters is None else cluster_codes(clusters)
    off = z - x
    n = len(x)
    brier = Figure(float((off**2).mean()), n=n, reason=lacking_rows(z, clusters))
    place = _bins(x, bins)
    gaps = np.bincount(place, weights=off, minlength=bins) / n
    chance = np.sqrt(np.bincount(place, weights=x * (1 - x), minlength=bins)) / n
    ece = Figure(float(np.abs(gaps).sum()), n=n, reason=lacking_rows(z, clusters, FEWEST_PRECISION))
    by_chance = Figure(float(chance.sum() * np.sqrt(2 / np.pi)), n=n)
    units = int(code.max()) + 1
    if not brier.reason:
        brier = _brier(brier, off, z, code, units, level)
    if not ece.reason:
        ece = _ece(ece, off, place, gaps, chance, code, units, level)
    return {"brier": brier, "ece": ece, "ece_by_chance": by_chance}


def _cluster_effect(d: Array, code: Ints, units: int) -> float:
    """Return the variance of a mean by clusters over that of independent rows, at least 1."""
    if units == len(d):
        return 1.0
    centered = d - d.mean()
    rows = float((centered**2).sum())
    whole = units / (units - 1) * float((np.bincount(code, weights=centered) ** 2).sum())
    return max(1.0, whole / rows) if rows > 0 else len(d) / units


def _brier(base: Figure, off: Array, z: Mask, code: Ints, units: int, level: float) -> Figure:
    d = off**2
    student = student_effect(units, level)
    effect = _cluster_effect(d, code, units)
    shares = [(z.sum() / effect, len(z) / effect)]
    for part in (z, ~z):
        mean, n = float(d[part].mean()), int(part.sum())
        most, seen = mean * (1 - mean), float(d[part].var(ddof=1))
        variance = (n * seen + PRIOR * max(seen, most)) / (n + PRIOR)
        worth = n * (most / variance if variance > 0 else 1.0) / effect / student
        shares.append((mean * worth, worth))
    ends = melded_interval(shares, lambda p, good, bad: p * good + (1 - p) * bad, level)
    return Figure(base.value, min(ends.low, base.value), max(ends.high, base.value), base.n)


def _ece(
    base: Figure, off: Array, place: Ints, gaps: Array, chance: Array, code: Ints, units: int, level: float
) -> Figure:
    from scipy.special import stdtrit

    n = len(off)
    signed = np.sign(gaps)[place] * off
    effect = _cluster_effect(signed, code, units)
    seen = np.sqrt(np.bincount(place, weights=off**2, minlength=len(gaps))) / n
    spread = np.maximum(chance, seen) * np.sqrt(effect)
    error = float(np.sqrt(max(float(signed.var(ddof=1)) / n * effect, float((chance**2).sum()) * effect)))
    # Where the true difference of a bin may be 0, chance can only add to it: it is folded normal, with a smaller
    # variance.
    unclear = np.abs(gaps) < CLEAR * spread
    added = float(spread[unclear].sum()) * np.sqrt(2 / np.pi)
    below = float(np.sqrt((spread**2 * np.where(unclear, 1 - 2 / np.pi, 1.0)).sum()))
    likely = float((_folded(np.abs(gaps), spread) - np.abs(gaps)).sum())
    t = float(stdtrit(units - 1, (1 + level) / 2))
    low, high = base.value - added - t * below, base.value - likely + t * error
    return Figure(base.value, float(np.clip(low, 0.0, base.value)), float(np.clip(high, base.value, 1.0)), base.n)


def _folded(mean: Array, spread: Array) -> Array:
    """Return the expected absolute value of a normal variable."""
    from scipy.special import erf

    ratio = mean / np.where(spread > 0, spread, 1.0)
    return np.asarray(
        np.where(
            spread > 0, spread * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + mean * erf(ratio / np.sqrt(2)), mean
        )
    )
