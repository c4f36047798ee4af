"""Test of a zero correlation (Novikova et al. 2017, Tables 9-11, 13, 14), and of correlation between adjacent
inputs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array

MAX_INPUTS = 500  # maximum number of adjacent inputs tested
FIRST_DRAWS, MAX_DRAWS = 1000, 10_000


def zero_test(r: ArrayLike, n: ArrayLike, coefficient: str = "pearson") -> Array:
    """Compute the two-sided p-value that a correlation of `n` independent points is zero; NaN where n is too small.

    Pearson and Spearman by the t distribution with n - 2 degrees of freedom (as rcorr in R and scipy), Kendall by the
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
            raise NlgaugeError(
                f"a test of zero correlation is implemented for pearson, spearman and kendall; found {coefficient!r}"
            )
    return np.where(enough & ~np.isnan(value), p, np.nan)


def lag_one_correlation(values: ArrayLike) -> float:
    """Return the lag-1 autocorrelation of a sequence; NaN where it is constant.

    Parameters
    ----------
    values : array of shape (inputs,) or (series, inputs)
        A number or a vector per input, in order. Missing values count as the mean of their series.

    Examples
    --------
    >>> round(lag_one_correlation([1, 1, 2, 2, 3, 3, 4, 4]), 2)
    0.62
    """
    x = _centered(values)
    total = float((x**2).sum())
    return float((x[:, 1:] * x[:, :-1]).sum()) / total if total > 0 else np.nan


def adjacent_inputs_p(values: ArrayLike) -> float:
    """Test whether adjacent inputs are positively correlated.

    Parameters
    ----------
    values : array of shape (inputs,) or (series, inputs)
        A number or a vector per input, in the order of the file. Missing values count as the mean of their series.

    Returns
    -------
    float
        One-sided p; NaN with fewer than 4 inputs or constant values.

    Notes
    -----
    The statistic is the sum of the inner products of adjacent inputs, the numerator of the lag-1 autocorrelation (Wald
    and Wolfowitz 1943). Its distribution is that over random orders of the inputs with a fixed seed, which is exact for
    inputs that are exchangeable, whatever the values: 1,000 draws, and 10,000 where the first give p < .05. Beyond
    500 inputs, the first 500 are tested.

    Examples
    --------
    >>> adjacent_inputs_p([1, 1, 2, 2, 3, 3, 4, 4]) < 0.05, adjacent_inputs_p([1, 4, 2, 3, 1, 4, 2, 3]) > 0.5
    (True, True)
    """
    x = _centered(np.atleast_2d(np.asarray(values, np.float64))[:, :MAX_INPUTS])
    n = x.shape[1]
    if n < 4 or not x.any():
        return np.nan
    products = x.T @ x
    observed = np.trace(products, 1) - 1e-9 * np.trace(products)  # equal sums may differ in the last bits
    rng, count, draws = np.random.default_rng(0), 0, 0
    while draws < MAX_DRAWS and (not draws or count < 0.05 * draws):
        order = rng.permuted(np.tile(np.arange(n), (FIRST_DRAWS, 1)), axis=1)
        sums = products[order[:, 1:], order[:, :-1]].sum(axis=1)
        count, draws = count + int((sums >= observed).sum()), draws + FIRST_DRAWS
    return (count + 1) / (draws + 1)


def _centered(values: ArrayLike) -> Array:
    """Return series × inputs minus the mean of each series; missing values are 0."""
    x = np.atleast_2d(np.asarray(values, np.float64))
    there = np.isfinite(x)
    mean = np.where(there, x, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return np.where(there, x - mean[:, None], 0.0)
