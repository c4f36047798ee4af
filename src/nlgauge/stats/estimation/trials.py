"""Repeated trials of an input: pass@k, pass^k, and the agreement of two trials, with intervals over whole inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.classes import share_interval
from nlgauge.stats.agreement.proportion import proportion_interval
from nlgauge.stats.agreement.two_by_two import CLUSTERS, Figure
from nlgauge.stats.resampling.cluster_jackknife import jackknifed
from nlgauge.types import Array, Ints


def pass_at_k(trials: ArrayLike, passes: ArrayLike, k: int) -> Array:
    """Estimate the probability that at least one of k trials passes, without bias, for each input.

    Parameters
    ----------
    trials, passes : array_like
        Number of trials of each input, and of those that passed.
    k : int

    Returns
    -------
    ndarray
        1 - C(n - c, k) / C(n, k) for n trials and c passes; NaN where an input has fewer than k trials.

    Notes
    -----
    Chen et al. (2021), Evaluating large language models trained on code, equation 1.

    Examples
    --------
    >>> pass_at_k([5, 5, 1], [2, 0, 1], 2).round(3).tolist()
    [0.7, 0.0, nan]
    """
    n, c = np.asarray(trials, np.float64), np.asarray(passes, np.float64)
    return 1 - pass_hat_k(n, n - c, k)


def pass_hat_k(trials: ArrayLike, passes: ArrayLike, k: int) -> Array:
    """Estimate pass^k, the probability that all of k trials pass, without bias, for each input.

    Parameters
    ----------
    trials, passes : array_like
        Number of trials of each input, and of those that passed.
    k : int

    Returns
    -------
    ndarray
        C(c, k) / C(n, k) for n trials and c passes; NaN where an input has fewer than k trials.

    Notes
    -----
    Yao et al. (2024), tau-bench, section 4.

    Examples
    --------
    >>> pass_hat_k([5, 5, 1], [2, 5, 1], 2).round(3).tolist()
    [0.1, 1.0, nan]
    """
    if k < 1:
        raise DataError(f"k counts trials and must be at least 1; found {k}.")
    n, c = np.asarray(trials, np.float64), np.asarray(passes, np.float64)
    steps = np.arange(k)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.clip(c[..., None] - steps, 0, None) / (n[..., None] - steps)
    return np.where(n >= k, shares.prod(axis=-1), np.nan)


def trial_agreement(trials: ArrayLike, passes: ArrayLike) -> Array:
    """Estimate the probability that two trials of an input have the same verdict; NaN with fewer than two trials.

    >>> trial_agreement([5, 5], [5, 4]).round(3).tolist()
    [1.0, 0.6]
    """
    n, c = np.asarray(trials, np.float64), np.asarray(passes, np.float64)
    return pass_hat_k(n, c, 2) + pass_hat_k(n, n - c, 2)


def mean_share(shares: ArrayLike, clusters: Ints, most: float, *, level: float = 0.95) -> Figure:
    """Average shares of inputs, with an interval in which whole clusters are independent.

    Parameters
    ----------
    shares : array_like
        A value between 0 and 1 for each input; NaN is left out.
    clusters : array of int
        The unit of each input.
    most : float
        Rows behind the shares: the interval is never shorter than that of so many independent rows.
    level : float, default 0.95

    Returns
    -------
    Figure
        `n` counts inputs.

    Notes
    -----
    The interval is that of a share of as many independent rows as have the variance of the cluster means
    (Korn and Graubard 1998); where all inputs have the value 0 or 1, each cluster counts as one row.
    """
    values = np.asarray(shares, np.float64)
    there = np.isfinite(values)
    values, units = values[there], np.unique(clusters[there], return_inverse=True)[1].reshape(-1)
    n, groups = len(values), len(np.unique(units))
    if not n:
        return Figure(np.nan, reason="no input has enough trials")
    mean = float(values.mean())
    if groups < CLUSTERS:
        return Figure(mean, n=n, reason=f"needs at least {CLUSTERS} inputs or clusters, found {groups}")
    sums = np.bincount(units, values - mean)
    variance = float(groups / (groups - 1) * (sums**2).sum()) / n**2
    low, high = share_interval(mean, variance, most, groups, level)
    return Figure(mean, min(low, mean), max(high, mean), n=n)


def trial_icc(scores: ArrayLike, inputs: Ints, clusters: Ints, *, level: float = 0.95) -> Figure:
    """Compute the one-way intraclass correlation ICC(1) of the trials of one input: the reliability of a single trial.

    Parameters
    ----------
    scores : array_like
        One score per trial; NaN is left out, and so are inputs with a single trial.
    inputs, clusters : array of int
        The input of each trial, and the unit that is independent of others.
    level : float, default 0.95

    Returns
    -------
    Figure
        `n` counts inputs. The interval leaves out whole clusters in turn (Fisher's z of an ICC, Student's t).

    Notes
    -----
    Shrout and Fleiss (1979); for unequal numbers of trials with their k0.
    """
    y = np.asarray(scores, np.float64)
    there = np.isfinite(y)
    y, units = y[there], clusters[there]
    code = np.unique(inputs[there], return_inverse=True)[1].reshape(-1)
    size = np.bincount(code)
    several = size[code] > 1
    y, units = y[several], units[several]
    code = np.unique(code[several], return_inverse=True)[1].reshape(-1)
    if not len(y):
        return Figure(np.nan, reason="no input has two trials with a score")
    y = y - y.mean()
    size = np.bincount(code).astype(np.float64)
    total = np.bincount(code, y)
    rows = np.column_stack([np.ones(len(size)), size, size**2, total, np.bincount(code, y**2), total**2 / size])
    of_input = np.zeros(len(size), np.int64)
    of_input[code] = units
    n, groups = len(size), len(np.unique(units))
    scale = float(np.abs(y).max())
    if scale < 1e-12:
        return Figure(np.nan, n=n, reason="all scores are the same")
    result = jackknifed(rows, of_input, _one_way_icc)
    value = float(result.value[0])
    if groups < CLUSTERS:
        return Figure(value, n=n, reason=f"needs at least {CLUSTERS} inputs or clusters, found {groups}")
    if value >= 1 - 1e-9:
        return Figure(1.0, _lowest_perfect(y, groups, level), 1.0, n=n)
    k = len(y) / n
    wide = jackknifed(rows, of_input, lambda s: _fisher_z(_one_way_icc(s), k))
    center, half = float(wide.value[0]), float(wide.half(level)[0])
    low, high = (float(np.expm1(2 * z) / (np.expm1(2 * z) + k)) for z in (center - half, center + half))
    return Figure(value, low, high, n=n)


def _fisher_z(icc: Array, k: float) -> Array:
    """Apply Fisher's transformation for an ICC of k trials, which stabilizes the variance."""
    held = np.clip(icc, -1 / (k - 1) + 1e-6, 1 - 1e-9)
    return np.asarray(0.5 * np.log((1 + (k - 1) * held) / (1 - held)))


def _lowest_perfect(scores: Array, groups: int, level: float) -> float:
    """Return the lower limit of an ICC of exactly 1, where all trials of an input agree.

    A share of the inputs may have independent trials, which differ only where two random scores do.
    """
    share = 1 - float(proportion_interval(np.array([groups]), np.array([groups]), level, "lean")[0][0])
    same = float(((np.unique(scores, return_counts=True)[1] / len(scores)) ** 2).sum())
    return max(0.0, 1 - share / (1 - same))


def _one_way_icc(sums: Array) -> Array:
    """Compute ICC(1) from sums over inputs: 1, n, n², Σy, Σy², (Σy)² / n."""
    groups, rows, squares, total, square, between = np.moveaxis(sums, -1, 0)
    msb = (between - total**2 / rows) / (groups - 1)
    msw = np.clip(square - between, 0, None) / (rows - groups)
    k0 = (rows - squares / rows) / (groups - 1)
    return np.asarray((msb - msw) / (msb + (k0 - 1) * msw))[..., None]
