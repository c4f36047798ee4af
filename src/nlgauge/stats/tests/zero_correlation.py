"""Is a correlation different from zero? The p behind the stars of correlations (novikova2017, Tables 9-11, 13, 14)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array


def zero_test(r: ArrayLike, n: ArrayLike, coefficient: str = "pearson") -> Array:
    """Two-sided p that a correlation of `n` independent points is zero; NaN where n is too small.

    Pearson and Spearman by the t distribution with n - 2 degrees of freedom (as R's rcorr and scipy), Kendall by the
    normal distribution with the variance of untied data.

    >>> round(float(zero_test(0.3, 50)), 4)
    0.0343
    """
    value, points = np.broadcast_arrays(np.asarray(r, np.float64), np.asarray(n, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        if coefficient in ("pearson", "spearman"):
            free = points - 2
            t = np.abs(value) * np.sqrt(free / (1 - value**2))
            p = np.where(np.abs(value) >= 1, 0.0, 2 * stdtr(free, -t))
            enough = free > 0
        elif coefficient == "kendall":
            p = 2 * ndtr(-3 * np.abs(value) * np.sqrt(points * (points - 1) / (2 * (2 * points + 5))))
            enough = points > 3
        else:
            raise NlgaugeError(f"a test against zero is known for pearson, spearman and kendall; found {coefficient!r}")
    return np.where(enough & ~np.isnan(value), p, np.nan)
