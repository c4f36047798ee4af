"""Average ranks as scipy.stats.rankdata, without the second that importing scipy.stats takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.types import Array


def average_ranks(values: ArrayLike, axis: int | None = None) -> Array:
    """Return ranks from 1 with ties at their mean; missing values (NaN) have no rank and do not affect the others.

    >>> average_ranks([3.0, 1.0, 3.0, np.nan]).tolist()
    [2.5, 1.0, 2.5, nan]
    """
    x = np.asarray(values, np.float64)
    if not x.size:
        return np.empty(x.shape)
    rows = x.reshape(1, -1) if axis is None else np.moveaxis(x, axis, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    n = flat.shape[1]
    order = np.argsort(flat, axis=1, kind="stable")  # NaN goes last
    ordered = np.take_along_axis(flat, order, axis=1)
    place = np.arange(n)
    begins = np.ones(flat.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    ends = np.ones(flat.shape, bool)
    ends[:, :-1] = begins[:, 1:]
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, place, n)[:, ::-1], axis=1)[:, ::-1]
    out = np.empty(flat.shape)
    np.put_along_axis(out, order, (first + last) / 2 + 1, axis=1)
    out[np.isnan(flat)] = np.nan
    shaped = out.reshape(rows.shape)
    return shaped.reshape(x.shape) if axis is None else np.moveaxis(shaped, -1, axis)
