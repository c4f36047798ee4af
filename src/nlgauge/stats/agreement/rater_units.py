"""The common shape for statistics of annotators: annotators × units, NaN where a rating is missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.types import Array


def as_units(ratings: ArrayLike) -> Array:
    """Return ratings as annotators × units; annotators × systems × inputs is flattened to one unit per output.

    >>> as_units([[1, 2], [1, np.nan]]).shape
    (2, 2)
    """
    array = np.asarray(ratings, dtype=np.float64)
    if array.ndim not in (2, 3) or array.shape[0] < 1:
        shape = " × ".join(map(str, array.shape)) or "a single number"
        raise DataError(f"ratings must be raters × units or raters × systems × inputs; found {shape}")
    if np.isinf(array).any():
        raise DataError("ratings must be finite numbers, or NaN where missing; found infinite values")
    return array.reshape(array.shape[0], -1)


def mean_of_raters(ratings: ArrayLike) -> Array:
    """Return the mean over the annotators who rated a unit; NaN for unrated units. The shape of the units is
    preserved.
    """
    array = np.asarray(ratings, dtype=np.float64)
    given = ~np.isnan(array)
    count = given.sum(axis=0)
    total = np.where(given, array, 0.0).sum(axis=0)
    mean = np.full(total.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean
