"""Exact handling of ties: means of the same ratings can differ in the last bit, which must not break ties.

Distinct values must stay distinct: 1e-80 and 2e-80 are two scores, also next to .5. The tolerance is therefore relative
to each value, or to the numbers that were added to compute it, never to the largest value of a table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.kernels.shared import NEAR
from nlgauge.types import Array


def snap(x: ArrayLike, axis: int | None = None, scale: ArrayLike | None = None) -> Array:
    """Make values exactly equal that differ by rounding only, by at most 1e-12 of their size.

    `axis=None` uses the whole array, `axis=-1` each row by itself. Missing values stay NaN. Values that are linked
    through close ones are equal too; they take the smallest of them. `scale` is the size, with the shape of `x` or
    broadcastable to it: by default |x|; for a sum or mean the largest number added, because rounding errors grow with
    that number and not with what remains after cancellation; 1 for a correlation.

    >>> x = np.array([0.1 + 0.2, 0.3, 1e-80, 2e-80])
    >>> len(set(x.tolist())), len(set(snap(x).tolist()))
    (4, 3)
    """
    values = np.asarray(x, dtype=np.float64)
    if values.size == 0:
        return values.copy()
    size = np.abs(values) if scale is None else np.broadcast_to(np.asarray(scale, np.float64), values.shape)
    if axis is None:
        return _snap_rows(values.reshape(1, -1), size.reshape(1, -1)).reshape(values.shape)
    rows, sizes = np.moveaxis(values, axis, -1), np.moveaxis(size, axis, -1)
    width = rows.shape[-1]
    snapped = _snap_rows(rows.reshape(-1, width), sizes.reshape(-1, width)).reshape(rows.shape)
    return np.moveaxis(snapped, -1, axis)


def largest(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Return the largest absolute finite number along `axis`, 0 without any: the `scale` of a sum or mean."""
    finite = np.isfinite(values)
    if not finite.all():
        values = np.where(finite, values, 0.0)
    largest_sizes = np.maximum(values.max(axis=axis, initial=0.0), -values.min(axis=axis, initial=0.0))
    return np.asarray(np.abs(largest_sizes))


def _snap_rows(x: Array, size: Array) -> Array:
    order = np.argsort(x, axis=1, kind="stable")  # NaN goes last
    row = np.arange(len(x))[:, None]
    ordered, near = x[row, order], NEAR * size[row, order]
    with np.errstate(invalid="ignore", over="ignore"):
        # the rounding error of a sum may exceed the distance to its neighbors: two values are linked if one is within
        # the error of the other
        up = np.maximum.accumulate(ordered + near, axis=1)
        down = np.fmin.accumulate((ordered - near)[:, ::-1], axis=1)[:, ::-1]
        close = (up[:, :-1] >= ordered[:, 1:]) | (down[:, 1:] <= ordered[:, :-1])
    if not close.any():
        return x.copy()
    # the index of the first member of each run: a running maximum over the places where a run begins
    begins = np.where(close, 0, np.arange(1, x.shape[1]))
    first = np.maximum.accumulate(np.concatenate([np.zeros((len(x), 1), np.intp), begins], axis=1), axis=1)
    snapped = np.empty_like(x)
    snapped[row, order] = ordered[row, first]
    return snapped
