"""Totals of rubrics: points per output, reliability of the total (alpha, omega), and what items contribute."""

from __future__ import annotations

import numpy as np

from nlgauge.types import Array, Ints

ROUNDS = 500  # of the factor model, which ends when the uniquenesses no longer change


def rubric_totals(met: Array, points: Array, outputs: Ints) -> Array:
    """Return the points of each output as a share of its largest total; NaN where an item is missing.

    Parameters
    ----------
    met : array
        1 where the item is met, 0 where it is not, NaN where nobody said.
    points : array
        Points of each item; below 0 for what an output should not do.
    outputs : array of int
        Output of each item, from 0 up.

    Notes
    -----
    Sum of the points of the items that are met, over the sum of the positive points (Arora et al. 2025). It can lie
    below 0, and is not clipped.

    Examples
    --------
    >>> rubric_totals(np.array([1.0, 0, 1, 1]), np.array([5.0, 5, 4, -2]), np.array([0, 0, 1, 1])).tolist()
    [0.5, 0.5]
    """
    many = int(outputs.max(initial=-1)) + 1
    reached = np.bincount(outputs, met * points, many)
    best = np.bincount(outputs, np.maximum(points, 0.0), many)
    return np.asarray(np.divide(reached, best, out=np.full(many, np.nan), where=best > 0))


def cronbach_alpha(scores: Array) -> float:
    """Return Cronbach's alpha (1951) of outputs × items; NaN with fewer than two items or no variance.

    >>> round(cronbach_alpha(np.array([[1.0, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1]])), 3)
    0.632
    """
    complete = scores[np.isfinite(scores).all(axis=1)]
    items = scores.shape[1]
    if items < 2 or len(complete) < 3:
        return float("nan")
    total = complete.sum(axis=1).var(ddof=1)
    return float(items / (items - 1) * (1 - complete.var(axis=0, ddof=1).sum() / total)) if total > 0 else float("nan")


def mcdonald_omega(scores: Array) -> float:
    """Return McDonald's omega total (1999) of outputs × items, from a model of one factor of their correlations.

    Notes
    -----
    Principal-axis factoring: the uniquenesses are iterated until they no longer change. Omega is the variance of the
    weighted total that the factor explains: (Σ λs)² / variance of the total, with the loadings λ on the scale of the
    items.
    """
    complete = scores[np.isfinite(scores).all(axis=1)]
    if scores.shape[1] < 3 or len(complete) < 5:
        return float("nan")
    spread = complete.std(axis=0, ddof=1)
    if not (spread > 0).all():
        return float("nan")
    related = np.asarray(np.corrcoef(complete.T), np.float64)
    loadings = one_factor(related)
    return float((loadings * spread).sum() ** 2 / complete.sum(axis=1).var(ddof=1))


def one_factor(related: Array) -> Array:
    """Return the loadings of one factor of a correlation matrix, by principal-axis factoring."""
    # Squared multiple correlations as the first communalities; a ridge where items repeat each other.
    ridge = related + 1e-6 * np.eye(len(related))
    common = 1 - 1 / np.diag(np.linalg.inv(ridge))
    loadings = np.zeros(len(related))
    for _ in range(ROUNDS):
        reduced = related - np.diag(1 - common)
        values, vectors = np.linalg.eigh(reduced)
        loadings = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
        now = np.clip(loadings**2, 0.0, 1.0)
        if np.abs(now - common).max() < 1e-8:
            break
        common = now
    return np.asarray(loadings if loadings.sum() >= 0 else -loadings)


def best_items(scores: Array, points: Array, most: int) -> list[int]:
    """Return items in the order in which they bring a shortened rubric nearest to the whole total.

    Each step adds the item with which the total of the chosen items correlates most with the total of all.
    """
    complete = scores[np.isfinite(scores).all(axis=1)] * points
    whole = complete.sum(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(most, scores.shape[1]):
        left = [k for k in range(scores.shape[1]) if k not in chosen]
        gains = [_related(complete[:, [*chosen, k]].sum(axis=1), whole) for k in left]
        chosen.append(left[int(np.nanargmax(gains))] if np.isfinite(gains).any() else left[0])
    return chosen


def _related(a: Array, b: Array) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else float("nan")
