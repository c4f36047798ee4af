"""Keep equal what is equal: means of the same ratings may differ in the last bit, which splits ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-12


def snap(
    x: NDArray[np.float64], axis: int | None = None, scale: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Make values exactly equal that lie closer together than 1e-12 of the largest magnitude.

    `axis=None` looks at the whole array, `axis=-1` at each row for itself. Missing values stay NaN.
    Each run of close values takes its smallest member. The tolerance is relative to the magnitude and not to
    the spread, because rounding errors of a mean grow with the size of what was added up. `scale` gives that size for
    each row where it is not the size of the values themselves: means of standard scores lie near 0.

    >>> x = np.array([0.1 + 0.2, 0.3, 0.5])
    >>> len(set(x.tolist())), len(set(snap(x).tolist()))
    (3, 2)
    """
    x = np.asarray(x, dtype=np.float64)
    if x.size == 0:
        return x.copy()
    if axis is None:
        return _snap_rows(x.reshape(1, -1), scale).reshape(x.shape)
    rows = np.moveaxis(x, axis, -1)
    snapped = _snap_rows(rows.reshape(-1, rows.shape[-1]), scale).reshape(rows.shape)
    return np.moveaxis(snapped, -1, axis)


def _snap_rows(x: NDArray[np.float64], size: NDArray[np.float64] | None) -> NDArray[np.float64]:
    order = np.argsort(x, axis=1, kind="stable")  # NaN goes last
    row = np.arange(len(x))[:, None]
    ordered = x[row, order]
    scale = np.where(np.isfinite(x), np.abs(x), 0.0).max(axis=1, keepdims=True)
    if size is not None:
        scale = np.maximum(scale, np.reshape(size, (-1, 1)))
    with np.errstate(invalid="ignore", over="ignore"):
        close = ordered[:, 1:] - ordered[:, :-1] <= TOLERANCE * scale
    if not close.any():
        return x.copy()
    # the index of the first member of each run: a running maximum over the places where a run begins
    begins = np.where(close, 0, np.arange(1, x.shape[1]))
    first = np.maximum.accumulate(np.concatenate([np.zeros((len(x), 1), np.intp), begins], axis=1), axis=1)
    snapped = np.empty_like(x)
    snapped[row, order] = ordered[row, first]
    return snapped
