"""Means of repeated values that preserve ties."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from nlgauge.stats.correlation.ties import snap


def means_by(
    frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str], coded: Collection[str] = ()
) -> pl.DataFrame:
    """Compute the mean of each column per key, in order of appearance.

    Different values of a `coded` column give a missing value, because codes of classes have no mean.

    (x + x + x) / 3 need not equal x, and the order of a sum changes its last bit; both would break ties. Therefore a
    value that only repeats is not averaged, and means that differ only by rounding errors are made equal.
    """
    # By index: polars could read a column's name as a pattern.
    bare = frame.select(*keys, *(frame[c].alias(f"__{i}__") for i, c in enumerate(columns)))
    each = [
        (pl.col(f"__{i}__"), pl.lit(None) if c in coded else pl.col(f"__{i}__").mean()) for i, c in enumerate(columns)
    ]
    means = bare.group_by(keys, maintain_order=True).agg(
        pl.when(e.min() == e.max()).then(e.min()).otherwise(mean) for e, mean in each
    )
    return means.select(keys).with_columns(_tied(means[f"__{i}__"], name) for i, name in enumerate(columns))


def mean_ratings(ratings: pl.DataFrame, coded: Collection[str]) -> pl.DataFrame:
    """Compute one value per output, aspect and annotator; different codes of a `coded` aspect give no value."""
    keys, value = ["system", "input", "aspect", "rater"], ["value"]
    of_classes = pl.col("aspect").is_in(list(coded))
    means = means_by(ratings.filter(~of_classes), keys, value)
    return pl.concat([means, means_by(ratings.filter(of_classes), keys, value, value).drop_nulls("value")])


def _tied(series: pl.Series, name: str) -> pl.Series:
    values = series.cast(pl.Float64).to_numpy()
    return pl.Series(name, snap(np.asarray(values, np.float64)), pl.Float64, nan_to_null=True)
