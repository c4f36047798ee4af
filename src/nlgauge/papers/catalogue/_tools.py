"""What the loaders share: reading the mirror's files, and long ratings from records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.files import read_bytes
from nlgauge.errors import DataError
from nlgauge.papers.catalogue import stored

Record = dict[str, Any]
Rating = tuple[str, str, str, str | None, float | None]


def records(path: Path) -> list[Record]:
    """The objects of a JSONL file, plain or gzipped."""
    rows = []
    for number, line in enumerate(read_bytes(stored(path)).split(b"\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise DataError(f"{path}, line {number}: is not JSON ({error}).") from None
    return rows


def csv_table(path: Path) -> pl.DataFrame:
    """A CSV file, plain or gzipped, every column read as text."""
    try:
        return pl.read_csv(read_bytes(stored(path)), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: cannot be read as a table ({str(error).splitlines()[0]}).") from None


def ratings(rows: Iterable[Rating]) -> pl.DataFrame:
    """Ratings as the Dataset wants them; missing values are left out."""
    return pl.DataFrame(list(rows), schema=Dataset.RATINGS, orient="row").drop_nulls("value")


def unpivot(frame: pl.DataFrame, aspects: Mapping[str, str], rater: str | None = None) -> pl.DataFrame:
    """Ratings from a wide frame: `aspects` maps a column to its aspect; one `rater` gave them all."""
    long = frame.select(
        *KEY, *(pl.col(c).cast(pl.Float64).fill_nan(None).alias(a) for c, a in aspects.items())
    )
    long = long.unpivot(index=KEY, variable_name="aspect", value_name="value").drop_nulls("value")
    return long.select(*KEY, "aspect", pl.lit(rater, pl.String).alias("rater"), "value")


def scores(samples: pl.DataFrame, rows: Sequence[Mapping[str, Any] | None], prefix: str = "") -> pl.DataFrame:
    """Metric columns from one mapping a sample; a sample without one has nulls."""
    names = list(dict.fromkeys(name for row in rows if row for name in row))
    columns = {prefix + name: [row.get(name) if row else None for row in rows] for name in names}
    return samples.select(KEY).with_columns(
        pl.Series(name, values, pl.Float64, strict=False).fill_nan(None) for name, values in columns.items()
    )


def numbers(frame: pl.DataFrame, columns: Iterable[str]) -> list[pl.Expr]:
    """The columns as floats, null where missing."""
    return [pl.col(c).cast(pl.Float64).fill_nan(None) for c in columns if c in frame.columns]
