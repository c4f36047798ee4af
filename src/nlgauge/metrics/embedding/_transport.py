"""Optimal transport between two weighted bags of vectors, by POT (exact, network simplex)."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge.errors import NeedsMissing

LARGEST = 16_000_000  # 4,000 tokens on both sides: minutes and a gigabyte for the exact solver
TOO_LONG = f"too long (more than {LARGEST:,} pairs of tokens)"
BLOCK = 8_000_000  # maximum number of similarities in memory


def ready(metric: str) -> None:
    """Raise an error if the package POT is missing."""
    if importlib.util.find_spec("ot") is None:
        raise NeedsMissing(
            f"'{metric}' needs the extra 'neural' (pot is not installed): pip install \"nlgauge[neural]\""
        )


def too_large(a: int, b: int) -> bool:
    """Return whether a table of a × b tokens would take too much time or memory."""
    return a * b > LARGEST


def transport(a: Any, b: Any, cost: Any) -> float:
    """Return the minimum cost of transporting bag a to bag b; weights are normalized here. NaN when a bag is empty."""
    import ot

    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not a.sum() or not b.sum():
        return math.nan
    return float(ot.emd2(a / a.sum(), b / b.sum(), np.ascontiguousarray(cost, np.float64)))


def euclidean(a: Any, b: Any) -> Any:
    """Compute the Euclidean distances between the rows of a and of b."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.sqrt(np.maximum(squared, 0.0))


def best_of_each(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the highest product of each row of a with a row of b, and vice versa, in limited memory.

    >>> [part.tolist() for part in best_of_each(np.eye(2), np.array([[3.0, 1.0]]))]
    [[3.0, 1.0], [3.0]]
    """
    of_a, of_b = best_of_parts(a, b, [0])
    return of_a[:, 0], of_b


def best_of_parts(a: Any, b: Any, firsts: Sequence[int]) -> tuple[Any, Any]:
    """Do the same where b is several stacked tables that begin at `firsts`: rows of a × tables, and rows of b.

    One large product instead of many small ones: on a busy machine each of them waits for its threads.
    """
    step = max(1, BLOCK // max(1, len(b)))
    of_a, of_b = np.empty((len(a), len(firsts)), a.dtype), np.full(len(b), -np.inf, b.dtype)
    for index in range(0, len(a) if len(b) else 0, step):
        near = a[index : index + step] @ b.T
        of_a[index : index + step] = np.maximum.reduceat(near, firsts, axis=1)
        np.maximum(of_b, near.max(axis=0), out=of_b)
    return of_a, of_b
