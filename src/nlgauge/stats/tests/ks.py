"""Kolmogorov-Smirnov distance of two samples (Ni'mah et al. 2023, Eq. 1), and a permutation test for repeated
ratings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array, Mask


@dataclass(frozen=True)
class KS:
    """The largest difference between the two distribution functions, with the sample sizes."""

    value: float
    p: float
    n: int
    m: int


def ks_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Compute sup |P1(s) − P2(s)|, between 0 (same distribution) and 1 (no overlap). Missing values are left out.

    >>> round(ks_distance([1, 2, 3], [2, 3, 4]), 3)
    0.333
    """
    x, y = _present(a), _present(b)
    if not len(x) or not len(y):
        return float("nan")
    index = np.concatenate([x, y])
    gap = np.searchsorted(x, index, "right") / len(x) - np.searchsorted(y, index, "right") / len(y)
    return float(np.abs(gap).max())


def ks(a: ArrayLike, b: ArrayLike, p: Literal["auto", "exact", "asymp"] = "auto") -> KS:
    """Compute the distance with its two-sided p-value, for samples of independent values.

    Rows of several annotators that repeat one score are not independent: use `ks_permutation` for them.
    """
    x, y = _present(a), _present(b)
    if not len(x) or not len(y):
        return KS(float("nan"), float("nan"), len(x), len(y))
    if p not in ("auto", "exact", "asymp"):
        raise NlgaugeError(f"the p-value of KS is exact, asymp or auto; found {p!r}")
    from scipy.stats import ks_2samp

    return KS(ks_distance(x, y), float(ks_2samp(x, y, method=p).pvalue), len(x), len(y))


def ks_weighted(scores: Array, low: Array, high: Array) -> Array:
    """Compute the Kolmogorov-Smirnov distance of each metric between two samples of outputs.

    Parameters
    ----------
    scores : array of K × outputs
        NaN where missing.
    low, high : array of outputs
        Count of each output in the first and in the second sample, for example one per annotator.

    Returns
    -------
    array of K
        Between 0 (same distribution) and 1 (no overlap); NaN where a sample is empty.

    Notes
    -----
    sup |P1(s) − P2(s)|, Eq. 1 of Nimah et al. (2023).
    """
    result = np.full(len(scores), np.nan)
    for k, row in enumerate(scores):
        selected = np.isfinite(row) & (low + high > 0)
        gaps = _gaps(low[selected], high[selected])
        if len(gaps):
            order = np.argsort(row[selected], kind="stable")
            result[k] = np.abs(np.cumsum(gaps[order])[_ends(row[selected][order])]).max()
    return result


def ks_permutation(scores: Array, low: Array, high: Array, *, draws: int = 499, seed: int = 0) -> tuple[Array, Array]:
    """Compute KS of each metric as `ks_weighted`, and p = (count+1)/(draws+1) over random permutations of scores and
    outputs.

    The ratings of one output stay together, so three annotators do not count as three independent outputs.
    """
    observed = ks_weighted(scores, low, high)
    p = np.full(len(scores), np.nan)
    drawn: tuple[bytes, Array, Array] | None = None  # metrics with the same missing outputs share their draws
    for k, row in enumerate(scores):
        if np.isnan(observed[k]):
            continue
        selected = np.isfinite(row) & (low + high > 0)
        if drawn is None or drawn[0] != selected.tobytes():
            walks = _walks(low[selected], high[selected], draws, seed)
            drawn = selected.tobytes(), walks, walks.max(axis=0)
        count = _reached(drawn[2], observed[k])
        # Ties only reduce the distance of a draw, so they are handled only where a draw reached the observed distance.
        if count and not (ends := _ends(np.sort(row[selected]))).all():
            count = _reached(drawn[1][ends].max(axis=0), observed[k])
        p[k] = (count + 1) / (draws + 1)
    return observed, p


def ks_chance(low: Array, high: Array, *, draws: int = 499, seed: int = 0) -> float:
    """Compute the mean KS distance of scores that are independent of the samples.

    Parameters
    ----------
    low, high : array of outputs
        Count of each output in the first and in the second sample.
    draws : int, default 499
    seed : int, default 0

    Returns
    -------
    float
        Above 0, and large for small samples; NaN where one is empty.
    """
    selected = low + high > 0
    if not low.sum() or not high.sum():
        return float("nan")
    return float(_walks(low[selected], high[selected], draws, seed).max(axis=0).mean())


def _reached(drawn: Array, observed: float) -> int:
    return int((drawn >= observed - 1e-12).sum())


def _present(values: ArrayLike) -> Array:
    x = np.asarray(values, np.float64).ravel()
    return np.sort(x[~np.isnan(x)])


def _gaps(low: Array, high: Array) -> Array:
    """Return the step of P1 − P2 at each output; zeros when a sample is empty."""
    if not low.sum() or not high.sum():
        return np.empty(0)
    return np.asarray(low / low.sum() - high / high.sum())


def _ends(ordered: Array) -> Mask:
    """Return the last positions of runs of equal values, where the distribution functions are evaluated."""
    return np.append(ordered[1:] != ordered[:-1], True)


def _walks(low: Array, high: Array, draws: int, seed: int) -> Array:
    """Return |P1 − P2| after each output, outputs × draws, for outputs in random order."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    shuffled = rng.permuted(np.tile(_gaps(low, high)[:, None], draws), axis=0)
    return np.asarray(np.abs(np.cumsum(shuffled, axis=0)))
