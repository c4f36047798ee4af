"""Conversion of plain arrays of scores and ratings into a Dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.errors import NlgaugeError


def from_arrays(scores: Any, ratings: Any) -> Dataset:
    """Make a Dataset of metric scores and human ratings of the same outputs.

    Parameters
    ----------
    scores : array-like, or mapping of metric names to array-likes
    ratings : array-like
        One-dimensional for the outputs of one system; two-dimensional for systems × inputs.

    Examples
    --------
    >>> data = from_arrays([0.1, 0.4, 0.3, 0.9], [1, 3, 2, 5])
    >>> data.metrics, len(data)
    (['scores'], 4)
    """
    z = np.asarray(ratings, np.float64)
    named = scores if isinstance(scores, Mapping) else {"scores": scores}
    columns = {str(name): np.asarray(values, np.float64) for name, values in named.items()}
    wrong = {name: values.shape for name, values in columns.items() if values.shape != z.shape}
    if wrong or z.ndim not in (1, 2):
        shown = ", ".join(f"{name} {shape}" for name, shape in (wrong | {"ratings": z.shape}).items())
        raise NlgaugeError(f"scores and ratings must have one shape, (outputs,) or (systems, inputs); got {shown}.")
    systems, inputs = np.indices(np.atleast_2d(z).shape)
    keys = {"system": systems.ravel(), "input": inputs.ravel()}
    frame = pl.DataFrame({name: [str(k + 1) for k in values] for name, values in keys.items()})
    values = [pl.Series(name, each.ravel(), nan_to_null=True) for name, each in {"rating": z, **columns}.items()]
    return load(frame.with_columns(values), name="arrays", human=["rating"], metrics=list(columns))
