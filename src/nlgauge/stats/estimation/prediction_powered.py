"""Prediction-powered inference as its authors define it: mean, quantile, logistic regression (PPI and PPI++).

Labelled and other rows are two samples, intervals are normal. `lam` None tunes λ (PPI++), 1 is PPI, 0 labels only.
Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023; Angelopoulos, Duchi and Zrnic 2023.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
GRID = 5000  # values at which the distribution of a quantile is looked at
STEPS = 100  # of Newton's method


class Powered(NamedTuple):
    """Value, interval and the λ used."""

    value: Any
    low: Any
    high: Any
    lam: float


def ppi_mean(
    labels: ArrayLike, scores: ArrayLike, others: ArrayLike, lam: float | None = None, level: float = 0.95
) -> Powered:
    """Mean of people's labels: `scores` of the labelled rows, `others` of the rows without label.

    >>> found = ppi_mean([1, 0, 1, 1], [0.9, 0.2, 0.8, 0.6], [0.9, 0.1, 0.7, 0.3, 0.5, 0.6], lam=1)
    >>> round(float(found.value), 3)
    0.642
    """
    y, f, u = (np.asarray(a, np.float64) for a in (labels, scores, others))
    if lam is None:
        lam = _tuned(y[:, None], f[:, None], u[:, None], np.eye(1))
    value = lam * u.mean() + (y - lam * f).mean()
    se = np.sqrt((lam * u).var() / len(u) + (y - lam * f).var() / len(y))
    half = _normal(level) * se
    return Powered(float(value), float(value - half), float(value + half), lam)


def ppi_quantile(
    labels: ArrayLike, scores: ArrayLike, others: ArrayLike, q: float, level: float = 0.95, grid: int | None = GRID
) -> Powered:
    """The value below which a share q of people's labels lies; `grid` None looks at every value that occurs."""
    from scipy.special import ndtr

    y, f, u = (np.asarray(a, np.float64) for a in (labels, scores, others))
    every = np.concatenate([y, f, u])
    at = np.sort(every) if grid is None else np.linspace(every.min(), every.max(), grid)
    below, below_se = _share_below(u, at)
    off = (y[:, None] <= at).astype(float) - (f[:, None] <= at)
    share = below + off.mean(axis=0)
    se = np.maximum(np.sqrt(below_se**2 + off.var(axis=0) / len(y)), 1e-16)
    inside = at[2 * ndtr(-np.abs(share - q) / se) > 1 - level]
    low, high = (inside[0], inside[-1]) if len(inside) else (np.nan, np.nan)
    return Powered(float(at[np.argmin(np.abs(share - q))]), float(low), float(high), 1.0)


def _share_below(values: Floats, at: Floats) -> tuple[Floats, Floats]:
    share = np.searchsorted(np.sort(values), at, side="right") / len(values)
    return share, np.sqrt(share * (1 - share) / len(values))


def ppi_logistic(
    labelled: tuple[ArrayLike, ArrayLike, ArrayLike],
    others: tuple[ArrayLike, ArrayLike],
    lam: float | None = None,
    level: float = 0.95,
) -> Powered:
    """Coefficients of a logistic regression of people's pass and fail on columns of the rows.

    labelled: (columns, labels, scores); others: (columns, scores) of the rows without label. A column of ones is the
    intercept; scores are between 0 and 1.
    """
    x, y, f = (np.asarray(a, np.float64) for a in labelled)
    xu, u = (np.asarray(a, np.float64) for a in others)
    if lam is None:
        lam = _tuned(*_gradients(_logistic_root(x, y, f, xu, u, 1.0), x, y, f, xu, u))
    theta = _logistic_root(x, y, f, xu, u, lam)
    grads, grads_f, grads_u, inverse = _gradients(theta, x, y, f, xu, u, use_others=lam != 0)
    size = x.shape[1]
    spread = lam**2 * np.cov(grads_u.T).reshape(size, size) / len(u)
    spread = spread + np.cov((grads - lam * grads_f).T).reshape(size, size) / len(y)
    half = _normal(level) * np.sqrt(np.diag(inverse @ spread @ inverse))
    return Powered(theta, theta - half, theta + half, lam)


def _logistic_root(x: Floats, y: Floats, f: Floats, xu: Floats, u: Floats, lam: float) -> Floats:
    """Where the gradient of the rectified loss is zero: Newton's steps, halved where the gradient would grow."""
    theta = np.zeros(x.shape[1])

    def gradient(t: Floats) -> Floats:
        p, pu = _expit(x @ t), _expit(xu @ t)
        return np.asarray(lam / len(u) * xu.T @ (pu - u) + x.T @ ((1 - lam) * p - y + lam * f) / len(y))

    found = gradient(theta)
    for _ in range(STEPS):
        p, pu = _expit(x @ theta), _expit(xu @ theta)
        curve = lam / len(u) * (xu.T * (pu * (1 - pu))) @ xu + (1 - lam) / len(y) * (x.T * (p * (1 - p))) @ x
        step = np.linalg.solve(curve, found)
        size = 1.0
        while size > 1e-6 and np.abs(gradient(theta - size * step)).max() > np.abs(found).max():
            size /= 2
        theta = theta - size * step
        found = gradient(theta)
        if np.abs(size * step).max() < 1e-14:
            break
    return theta


def _gradients(
    theta: Floats, x: Floats, y: Floats, f: Floats, xu: Floats, u: Floats, use_others: bool = True
) -> tuple[Floats, Floats, Floats, Floats]:
    """Gradients of the rows' losses with labels, with scores, of the other rows; and the inverse of the curvature."""
    p, pu = _expit(x @ theta), _expit(xu @ theta)
    curve = (x.T * (p * (1 - p))) @ x
    if use_others:
        curve = (curve + (xu.T * (pu * (1 - pu))) @ xu) / (len(y) + len(u))
    else:
        curve = curve / len(y)
    others = xu * (pu - u)[:, None] if use_others else np.zeros_like(xu)
    return x * (p - y)[:, None], x * (p - f)[:, None], others, np.asarray(np.linalg.inv(curve), np.float64)


def _tuned(grads: Floats, grads_f: Floats, grads_u: Floats, inverse: Floats) -> float:
    """λ of the least total variance, between 0 and 1."""
    n, others, size = len(grads), len(grads_u), grads.shape[1]
    cross = (grads - grads.mean(axis=0)).T @ (grads_f - grads_f.mean(axis=0)) / n
    own = np.cov(np.concatenate([grads_f, grads_u]).T).reshape(size, size)
    top = np.trace(inverse @ (cross + cross.T) @ inverse)
    over = 2 * (1 + n / others) * np.trace(inverse @ own @ inverse)
    return float(np.clip(top / over, 0.0, 1.0)) if over > 0 else 0.0


def _expit(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri((1 - level) / 2))
