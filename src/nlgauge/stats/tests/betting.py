"""Confidence sequence for the mean of bounded values, valid at every time: hedged betting (Waudby-Smith and Ramdas
2023).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.types import Array

MAX_STAKE = 0.75  # maximum fraction of the capital that is bet on one value
GRID = 1001


def log_capital(values: ArrayLike, null: ArrayLike, alpha: float) -> Array:
    """Return the log capital after each value (first axis) of a bet that the mean of values in [0, 1] is not `null`.

    Under the null, the probability that the capital ever reaches 1/alpha is at most alpha.
    """
    x = np.asarray(values, np.float64)
    means = np.atleast_1d(np.asarray(null, np.float64))
    n = np.arange(1, len(x) + 1)
    centre = (0.5 + np.cumsum(x)) / (n + 1)
    spread = (0.25 + np.cumsum((x - centre) ** 2)) / (n + 1)
    before = np.concatenate([[0.25], spread[:-1]])  # a bet depends on earlier values only
    stake = np.sqrt(2 * np.log(2 / alpha) / (before * n * np.log(n + 1)))[:, None]
    off = x[:, None] - means
    with np.errstate(divide="ignore"):
        up = np.cumsum(np.log1p(np.minimum(stake, MAX_STAKE / means) * off), axis=0)
        down = np.cumsum(np.log1p(-np.minimum(stake, MAX_STAKE / (1 - means)) * off), axis=0)
    return np.asarray(np.maximum(up, down) - np.log(2))


def betting_interval(values: ArrayLike, bound: float, alpha: float) -> tuple[float, float]:
    """Return the means between −bound and bound that a confidence sequence does not exclude.

    >>> low, high = betting_interval([0.5, 0.0, 1.0, 0.5] * 50, 4.0, 0.05)
    >>> low < 0.5 < high, low > 0
    (True, True)
    """
    scaled = np.clip(np.asarray(values, np.float64) / bound / 2 + 0.5, 0.0, 1.0)
    grid = np.linspace(0, 1, GRID)[1:-1]
    inside = grid[log_capital(scaled, grid, alpha)[-1] < np.log(1 / alpha)] if len(scaled) else grid
    step = grid[0]
    if not len(inside):
        inside = np.array([scaled.mean()])
    # Extend to the next grid points: means between them may not be excluded.
    return float((2 * (inside[0] - step) - 1) * bound), float((2 * (inside[-1] + step) - 1) * bound)
