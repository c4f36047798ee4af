"""Quantization of metric scores to the number of levels of the human ratings (Novikova et al. 2017, section 7.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge import NlgaugeError
from nlgauge_papers.common import Array

MOST_LEVELS = 101  # a slider from 0 to 100; finer ratings count as continuous


def scale_levels(ratings: ArrayLike) -> int:
    """Return the number of levels of the rating scale, from the smallest difference of two ratings.

    Medians of ratings from 1 to 6 are half points, so eleven levels.

    >>> scale_levels([1, 2, 2.5, 6])
    11
    """
    values = np.asarray(ratings, np.float64)
    distinct = np.unique(np.round(values[np.isfinite(values)], 6))
    if len(distinct) < 2:
        return 1
    span, gap = distinct[-1] - distinct[0], np.diff(distinct).min()
    return int(min(round(span / gap) + 1, MOST_LEVELS))


def quantize(scores: ArrayLike, levels: int, ends: tuple[float, float] | None = None) -> Array:
    """Return the number of the bin, 0 to levels - 1, for bins of equal width over the range of the scores.

    A score on an edge belongs to the lower bin. `ends` is the range when the scores are part of a larger set.

    >>> quantize([0.0, 0.1, 0.5, 1.0], 2).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    if levels < 1:
        raise NlgaugeError(f"scores need at least one level; found {levels}")
    x = np.asarray(scores, np.float64)
    available = x[np.isfinite(x)]
    if not len(available):
        return np.full(x.shape, np.nan)
    low, high = ends or (float(available.min()), float(available.max()))
    edges = np.linspace(low, high, levels + 1)[1:-1]
    return np.where(np.isfinite(x), np.searchsorted(edges, x, side="left"), np.nan)
