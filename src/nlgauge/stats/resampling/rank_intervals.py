"""Confidence intervals of a rank correlation between independent points (system means), from its value and their
number.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, stdtrit

CUT = 1 - 1e-6  # limit of correlations before atanh


def perfect(units: int, level: float) -> float:
    """Return the lower limit of a correlation of exactly 1 over that many systems or inputs, which shows no spread.

    >>> round(perfect(8, 0.95), 2), round(perfect(16, 0.95), 2)
    (0.74, 0.94)
    """
    return kendall_interval(1.0, units, level)[0]


def kendall_interval(tau: float, units: int, level: float = 0.95, extra: float = 0.0) -> tuple[float, float]:
    """Compute the interval of Kendall's tau between independent points, for example system means.

    The wider of two: the variance of Bonett and Wright (2000) on Fisher's z scale with Student's t, which is accurate
    for intermediate values; and the exact interval of a Poisson count of discordant pairs, which is accurate near 1,
    where few pairs are discordant and the former is too short. `extra` is a variance on Fisher's z scale that the
    points share (clusters of inputs).

    >>> [round(end, 2) for end in kendall_interval(0.5, 12)]
    [0.03, 0.79]
    """
    if units < 6 or np.isnan(tau):
        return np.nan, np.nan
    tail, pairs = (1 - level) / 2, units * (units - 1) / 2
    half = float(stdtrit(units - 2, 1 - tail)) * np.sqrt(0.437 / (units - 4) + extra)
    middle = np.arctanh(np.clip(tau, -CUT, CUT))
    wrong = pairs * (1 - abs(tau)) / 2
    most = float(gammaincinv(wrong + 1, 1 - tail))
    least = float(gammaincinv(wrong, tail)) if wrong > 0 else 0.0
    near = 1 - 2 * most / pairs, 1 - 2 * least / pairs
    low, high = near if tau >= 0 else (-near[1], -near[0])
    low, high = min(low, np.tanh(middle - half)), max(high, np.tanh(middle + half))
    return float(max(-1.0, low)), float(min(1.0, high))


def spearman_interval(
    rho: float, tau: float, units: int, level: float = 0.95, extra: float = 0.0
) -> tuple[float, float]:
    """Compute the interval of Spearman's rho between independent points: the wider of that of Bonett and Wright
    (2000) and that of Kendall's tau, transformed as for normal scores.
    """
    if units < 6 or np.isnan(rho):
        return np.nan, np.nan
    half = float(stdtrit(units - 2, 0.5 + level / 2)) * np.sqrt((1 + rho**2 / 2) / (units - 3) + extra)
    middle = np.arctanh(np.clip(rho, -CUT, CUT))
    ends = [6 / np.pi * np.arcsin(np.sin(np.pi / 2 * end) / 2) for end in kendall_interval(tau, units, level, extra)]
    return float(min(np.tanh(middle - half), ends[0])), float(max(np.tanh(middle + half), ends[1]))
