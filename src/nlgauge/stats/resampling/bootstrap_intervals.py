"""Intervals from a bootstrap distribution: percentile, and bias-corrected and accelerated (BCa, Efron 1987)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array

SAME = 1e-10  # tolerance within which a resampled value equals the estimate


class Interval(NamedTuple):
    """Lower and upper limit; NaN without an interval (no defined draw; for BCa: all draws on one side)."""

    low: Array
    high: Array


def percentile_interval(samples: Array, level: float = 0.95) -> Interval:
    """Return quantiles of the defined draws (last axis), as `np.percentile`.

    >>> low, high = percentile_interval(np.arange(101.0), level=0.5)
    >>> float(low), float(high)
    (25.0, 75.0)
    """
    tail = _tail(level)
    return _quantiles(samples, np.full(samples.shape[:-1], tail), np.full(samples.shape[:-1], 1 - tail))


def bca_interval(samples: Array, value: Array, leave_one_out: Sequence[Array], level: float = 0.95) -> Interval:
    """Compute the BCa interval around `value`; `leave_one_out` has one array (… × units) for each side that was
    resampled.

    When systems *and* inputs are resampled, both are left out one at a time, and the acceleration is that of several
    independent samples: sums over both of the third and second powers of the influences.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        defined = np.isfinite(samples).sum(axis=-1)
        below = (samples < value[..., None] - SAME).sum(axis=-1)
        upto = (samples <= value[..., None] + SAME).sum(axis=-1)
        bias = ndtri((below + upto) / 2 / defined)
        third, second = 0.0, 0.0
        for left in leave_one_out:
            n = np.isfinite(left).sum(axis=-1)
            pull = (n[..., None] - 1) * (_nanmean(left)[..., None] - left)
            third = third + np.nansum(pull**3, axis=-1) / n**3
            second = second + np.nansum(pull**2, axis=-1) / n**2
        speed = np.where(second > 0, third / (6 * np.power(np.where(second > 0, second, 1.0), 1.5)), 0.0)
        z = ndtri(_tail(level))
        ends = [ndtr(bias + (bias + side) / (1 - speed * (bias + side))) for side in (z, -z)]
    ends = [np.where(np.isfinite(bias) & np.isfinite(value), e, np.nan) for e in ends]
    return _quantiles(samples, *ends)


def _tail(level: float) -> float:
    if not 0 < level < 1:
        raise NlgaugeError(f"the confidence level must lie between 0 and 1; found {level}")
    return (1 - level) / 2


def _nanmean(a: Array) -> Array:
    total, n = np.nansum(a, axis=-1), np.isfinite(a).sum(axis=-1)
    out: Array = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return out


def _quantiles(samples: Array, low: Array, high: Array) -> Interval:
    flat = samples.reshape(-1, samples.shape[-1])
    ends = np.full((2, len(flat)), np.nan)
    for i, (row, a, b) in enumerate(zip(flat, low.reshape(-1), high.reshape(-1), strict=True)):
        selected = row[np.isfinite(row)]
        if len(selected) and np.isfinite(a) and np.isfinite(b):
            ends[:, i] = np.percentile(selected, (100 * a, 100 * b))
    return Interval(ends[0].reshape(low.shape), ends[1].reshape(low.shape))
