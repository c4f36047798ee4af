"""Fisher's z: the interval of one correlation, and the test for two correlations on different outputs.

Variances after Bonett and Wright (2000): 1/(n−3) for Pearson, (1 + r²/2)/(n−3) for Spearman, .437/(n−4) for Kendall.
They assume independent points, so they hold for `global` only if outputs are independent; for `input` and `item` (means
of many correlations) the interval is that of a single group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array


def fisher_interval(
    r: ArrayLike, n: ArrayLike, coefficient: str = "pearson", level: float = 0.95
) -> tuple[Array, Array]:
    """Return lower and upper limit; NaN where n is too small.

    >>> low, high = fisher_interval(0.5, 30)
    >>> round(float(low), 3), round(float(high), 3)
    (0.17, 0.729)
    """
    if not 0 < level < 1:
        raise NlgaugeError(f"the confidence level must lie between 0 and 1; found {level}")
    values = np.asarray(r, np.float64)
    half = ndtri(0.5 + level / 2) * np.sqrt(_variance(values, np.asarray(n, np.float64), coefficient))
    with np.errstate(divide="ignore"):
        z = np.arctanh(values)
    return np.tanh(z - half), np.tanh(z + half)


def fisher_test(r1: ArrayLike, n1: ArrayLike, r2: ArrayLike, n2: ArrayLike, coefficient: str = "pearson") -> Array:
    """Return the two-sided p-value that two correlations measured on *different* outputs are equal.

    >>> round(float(fisher_test(0.6, 100, 0.3, 100)), 4)
    0.0075
    """
    a, b = np.asarray(r1, np.float64), np.asarray(r2, np.float64)
    variance = _variance(a, np.asarray(n1, np.float64), coefficient)
    variance = variance + _variance(b, np.asarray(n2, np.float64), coefficient)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (np.arctanh(a) - np.arctanh(b)) / np.sqrt(variance)
    return np.asarray(2 * ndtr(-np.abs(z)))


def _variance(r: Array, n: Array, coefficient: str) -> Any:
    if coefficient in ("pearson", "spearman"):
        above, lost = (np.ones_like(r) if coefficient == "pearson" else 1 + r**2 / 2), 3
    elif coefficient == "kendall":
        above, lost = np.full_like(r, 0.437), 4
    else:
        raise NlgaugeError(f"Fisher's z is implemented for pearson, spearman and kendall; found {coefficient!r}")
    return np.where(n > lost, above / np.where(n > lost, n - lost, 1.0), np.nan)
