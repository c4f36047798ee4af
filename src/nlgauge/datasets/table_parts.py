"""Helpers of the loaders: read the files, and make the tables of a Dataset from their records."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.files import read_bytes
from nlgauge.data.records import read_records
from nlgauge.datasets.catalog import stored
from nlgauge.errors import DataError

Record = dict[str, Any]
Given = tuple[str, str | None, float | None]  # aspect, rater, value


def records(path: Path) -> list[Record]:
    """Return the objects of a JSONL file, plain or gzipped."""
    return [record.values for record in read_records(stored(path))]


def csv_table(path: Path) -> pl.DataFrame:
    """Read a CSV file, plain or gzipped, with every column as text."""
    try:
        return pl.read_csv(read_bytes(stored(path)), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: cannot be read as a table ({str(error).splitlines()[0]}).") from None


def parquet_table(path: Path) -> pl.DataFrame:
    """Read a Parquet file."""
    return pl.read_parquet(io.BytesIO(read_bytes(path)))


def samples(rows: Sequence[Record], **columns: str | Callable[[Record], Any]) -> pl.DataFrame:
    """Return one sample per record; each column is a key of the record, or a function of it. Inputs are texts."""
    by_column = {
        name: [r[value] for r in rows] if isinstance(value, str) else [value(r) for r in rows]
        for name, value in columns.items()
    }
    by_column["input"] = [str(value) for value in by_column["input"]]
    empty = {name: pl.String for name, values in by_column.items() if all(value is None for value in values)}
    return pl.DataFrame(by_column, schema_overrides=empty)


def ratings(table: pl.DataFrame, rows: Sequence[Record], given: Callable[[Record], Iterable[Given]]) -> pl.DataFrame:
    """Return the ratings that `given` extracts from each record, without missing ones."""
    keys = table.select(KEY).iter_rows()
    return long_ratings((*key, *one) for key, row in zip(keys, rows, strict=True) for one in given(row))


def long_ratings(rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    """Return ratings as a table, one row per rating; those without a value are left out."""
    return pl.DataFrame(list(rows), schema=Dataset.RATINGS, orient="row").drop_nulls("value")


def unpivot(frame: pl.DataFrame, aspects: Mapping[str, str], rater: str | None = None) -> pl.DataFrame:
    """Return the ratings of a wide frame: `aspects` maps columns to aspects; `rater` is a name or in a column."""
    who = pl.col("rater") if "rater" in frame.columns else pl.lit(rater, pl.String).alias("rater")
    long = frame.select(*KEY, who, *(pl.col(c).cast(pl.Float64).fill_nan(None).alias(a) for c, a in aspects.items()))
    long = long.unpivot(index=[*KEY, "rater"], variable_name="aspect", value_name="value")
    return long.drop_nulls("value").select(list(Dataset.RATINGS))


def scores(table: pl.DataFrame, rows: Sequence[Mapping[str, Any] | None], prefix: str = "") -> pl.DataFrame:
    """Return metric columns from one mapping per sample; a sample without one has nulls."""
    names = list(dict.fromkeys(name for row in rows if row for name in row))
    columns = {prefix + name: [row.get(name) if row else None for row in rows] for name in names}
    return table.select(KEY).with_columns(
        pl.Series(name, values, pl.Float64, strict=False).fill_nan(None) for name, values in columns.items()
    )


def numbers(frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Return the keys and the columns as floats, null if missing."""
    return frame.select(*KEY, *(pl.col(c).cast(pl.Float64).fill_nan(None) for c in columns if c in frame.columns))
