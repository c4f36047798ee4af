"""The scores behind gao2025: 32 metrics on 30 sets of human ratings, and ten replies of each sampled judge.

The authors' files are on Google Drive, linked from the README of github.com/kite99520/NLGCorrEval. The layout is that
which their programs read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import csv_table, records
from nlgauge.errors import DataError

GROUP = ("dataset", "ori_dataset", "aspect")
COLUMNS = (*GROUP, "sys_id", "new_seg_id", "human_score")
RATING = "human_score"
REPLIES = "_all"  # columns of lists: the replies behind a score


def scores(folder: Path, entry: Entry) -> Dataset:
    """Load data.csv: an input is a segment of one set and aspect, so that a judge may score each aspect."""
    path = folder / entry.files[0].path
    frame = csv_table(path)
    metrics = [c for c in frame.columns if c not in COLUMNS and not c.startswith("Unnamed") and c]
    return _panels(entry, path, frame, frame.select(pl.col(metrics).cast(pl.Float64, strict=False)))


def replies(folder: Path, entry: Entry) -> Dataset:
    """Load data_all_rescaled.json: the replies of a judge are columns `NAME #1` … `NAME #10`."""
    path = folder / entry.files[0].path
    rows = _objects(records(path), path)
    frame = pl.DataFrame([{c: _text(row.get(c)) for c in COLUMNS} for row in rows], dict.fromkeys(COLUMNS, pl.String))
    numbers: list[dict[str, float | None]] = [dict(_flat(row["metric_scores"])) for row in rows]
    names = list(dict.fromkeys(name for row in numbers for name in row))
    columns = {name: [row.get(name) for row in numbers] for name in names}
    return _panels(entry, path, frame, pl.DataFrame(columns, dict.fromkeys(names, pl.Float64)))


def _objects(entries: Sequence[Mapping[str, Any]], path: Path) -> list[Mapping[str, Any]]:
    if not entries or any("metric_scores" not in row for row in entries):
        raise DataError(f"{path}: expected objects with 'metric_scores', as in the authors' data_all_rescaled.json.")
    return list(entries)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _flat(given: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    """Return scores by name; a list of replies becomes numbered columns."""
    pairs: list[tuple[str, float | None]] = []
    for name, value in given.items():
        if isinstance(value, list):
            pairs += [(f"{name.removesuffix(REPLIES)} #{k}", reply) for k, reply in enumerate(value, 1)]
        else:
            pairs.append((name, value))
    return pairs


def _panels(entry: Entry, path: Path, frame: pl.DataFrame, values: pl.DataFrame) -> Dataset:
    if absent := [c for c in COLUMNS if c not in frame.columns]:
        raise DataError(f"{path}: no column '{absent[0]}'. Columns: {', '.join(frame.columns)}.")
    group = [pl.col(c).fill_null("") for c in GROUP]
    keyed = frame.select(
        pl.col("sys_id").alias("system"),
        pl.concat_str(*group, pl.col("new_seg_id"), separator=" | ").alias("input"),
        *group,
        pl.col(RATING).cast(pl.Float64, strict=False),
    )
    if keyed.select(KEY).is_duplicated().any():
        raise DataError(f"{path}: a system has two rows for one segment of a set and aspect.")
    ratings = keyed.select(
        *KEY, pl.lit(None, pl.String).alias("rater"), pl.lit(RATING).alias("aspect"), pl.col(RATING).alias("value")
    )
    return Dataset.of(
        entry.name,
        keyed.select(*KEY, *GROUP),
        ratings=ratings.drop_nulls("value"),
        scores=pl.concat([keyed.select(KEY), values.fill_nan(None)], how="horizontal"),
        human_systems=(),
        notes=["an input is a segment of one set and aspect: columns dataset, ori_dataset and aspect name them"],
    )
