"""Small Datasets for the tests of analyses that take more than one aspect."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load


def dataset(ratings: dict[str, Any], metrics: dict[str, Any], **more: Any) -> Dataset:
    """Arrays systems × inputs as a Dataset; one lone rating an output and aspect."""
    systems, inputs = np.shape(next(iter(ratings.values())))
    rows = [
        {"system": f"s{i}", "input": f"i{j}", **{k: v[i][j] for k, v in {**ratings, **metrics}.items()}}
        for i in range(systems)
        for j in range(inputs)
    ]
    return load(pl.DataFrame(rows), human=list(ratings), metrics=list(metrics), name="test", **more)
