"""Optimal transport between two weighted bags of vectors, by POT (exact, network simplex)."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np

from nlgauge.errors import NeedsMissing


def ready(metric: str) -> None:
    if importlib.util.find_spec("ot") is None:
        raise NeedsMissing(
            f"'{metric}' needs the extra 'neural' (pot is not installed): pip install \"nlgauge[neural]\""
        )


def transport(a: Any, b: Any, cost: Any) -> float:
    """The least cost of turning bag a into bag b; weights are normalised here. NaN when a bag is empty."""
    import ot

    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not a.sum() or not b.sum():
        return math.nan
    return float(ot.emd2(a / a.sum(), b / b.sum(), np.ascontiguousarray(cost, np.float64)))


def euclidean(a: Any, b: Any) -> Any:
    """Distances between the rows of a and of b."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.sqrt(np.maximum(squared, 0.0))
