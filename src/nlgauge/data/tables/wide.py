"""A Dataset as one wide table (CSV or Parquet) for other programs: one row per output and rater.

`nlgauge.load` reads it back. It contains less than the tidy format; `write_wide` returns the omitted parts.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.tables.directions import lower_by_name
from nlgauge.data.tables.values import is_number_column
from nlgauge.data.tables.vocabulary import ASIDE, NAMES, SETS, SOFT, plain
from nlgauge.errors import DataError
from nlgauge.options import option
from nlgauge.types import AspectScale, split_labels
from nlgauge.writing import whole

NOBODY = "anonymous"
TEXTS = ("output", "source", "context", "control", "references")


def write_wide(data: Dataset, path: str | Path) -> list[str]:
    """Write a .csv or .parquet file, and return a list of the omitted parts of the data."""
    path = Path(path)
    table, omitted = wide_table(data)
    with whole(path) as part, part.open("wb") as file:  # polars cannot open names that are not UTF-8
        if path.suffix.lower() == ".parquet":
            table.write_parquet(file)
        else:
            _flat(table).write_csv(file)
    return omitted


def wide_table(data: Dataset) -> tuple[pl.DataFrame, list[str]]:
    """Return the table and a list of the omitted parts of the data."""
    if not data.ratings.height and not data.metrics and data.comparisons.height:
        raise DataError(f"{data.name}: has only comparisons, which a wide table cannot represent; write it as .jsonl.")
    named = bool(data.raters)
    omitted = _lost(data, named)
    samples = _extras(data.samples, named)
    scores = data.scores.with_columns(class_names(data.scores[m], s) for m, s in data.metric_scales.items())
    scores = scores.rename({metric: f"metric.{metric}" for metric in data.metrics})
    table = samples.join(_ratings(data, named), on=KEY, how="left", maintain_order="left_right")
    table = table.join(scores, on=KEY, how="left", maintain_order="left")
    if named:
        table = table.with_columns(pl.col("rater").fill_null(NOBODY))
    first = [name for name in (*KEY, "rater", *TEXTS) if name in table.columns]
    return _bare_inputs(table.select(*first, pl.exclude(first))), omitted


def _lost(data: Dataset, named: bool) -> list[str]:
    omitted = []
    if data.comparisons.height:
        omitted.append(f"{data.comparisons.height} comparisons")
    if data.spans.height:
        omitted.append(f"{data.spans.height} error spans")
    if data.failures.height:
        omitted.append(f"the reasons of {data.failures.height} failed scores")
    if named and (nobody := data.ratings["rater"].null_count()):
        omitted.append(f"that {nobody} ratings have no annotator (written as '{NOBODY}')")
    if named and not data.persons:
        omitted.append("that annotator names do not identify persons")
    if data.rated_by != "humans":
        omitted.append(f"that the ratings were made by {data.rated_by}")
    if untold := sorted(m for m in data.metrics if (m in data.lower) != lower_by_name(m)):
        words = {True: "lower", False: "higher"}
        omitted += [
            f"that {word} is better for {', '.join(some)} (declare {option('lower' if less else 'higher')} when you "
            "read it)"
            for less, word in words.items()
            if (some := [m for m in untold if (m in data.lower) is less])
        ]
    return omitted


def _ratings(data: Dataset, named: bool) -> pl.DataFrame:
    if not data.ratings.height:
        return data.samples.select(KEY)
    by = [*KEY, "rater"] if named else KEY
    column = ("human." + pl.col("aspect")).alias("aspect")  # an aspect may have the name "system"
    filled = data.ratings.with_columns(pl.col("rater").fill_null(NOBODY), column)
    table = filled.pivot("aspect", index=by, values="value", aggregate_function="mean")
    names = {f"human.{aspect}": data.scales[aspect] for aspect in data.unordered}
    return table.with_columns(class_names(table[column], scale) for column, scale in names.items())


def class_names(codes: pl.Series, scale: AspectScale) -> pl.Series:
    """Convert codes to class names; sets of labels become JSON lists."""
    names = list(scale.names)
    if scale.kind == "multilabel":
        names = [json.dumps(split_labels(name), ensure_ascii=False) for name in names]
    by_code = dict(enumerate(names))
    return pl.Series(codes.name, [None if c is None else by_code.get(int(c)) for c in codes.to_list()], pl.String)


def _extras(samples: pl.DataFrame, named: bool) -> pl.DataFrame:
    """Rename other columns that would be read as metrics, annotators or texts."""
    taken = {"rater"} if named else set()
    free = [role for role in NAMES if role in ("aspect", "metric") or role not in (*samples.columns, *taken)]
    words = {name for role in free for name in (*NAMES[role], *SOFT.get(role, ()))}
    names = {}
    for column in samples.columns:
        if column in (*KEY, *TEXTS):
            continue
        if plain(column) in words or column == "rater":
            names[column] = f"{column} column"
        elif is_number_column(samples[column]) and not ASIDE.match(column):
            names[column] = f"_{column}"
    return samples.rename(names)


def _bare_inputs(table: pl.DataFrame) -> pl.DataFrame:
    """Remove the data set's name from the input, which is added when the table is read."""
    for name in reversed([c for c in table.columns if plain(c) in SETS and table[c].n_unique() > 1]):
        prefix = pl.col(name).cast(pl.String).fill_null("") + ": "
        if table.select(pl.col("input").str.starts_with(prefix).all()).item():
            table = table.with_columns(pl.col("input").str.strip_prefix(prefix))
    return table


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Convert lists for CSV: one column per reference, JSON for the others."""
    if "references" in table.columns and isinstance(table.schema["references"], pl.List):
        most = table.select(pl.col("references").list.len().max()).item() or 0
        one = pl.col("references").list
        many = [one.get(i, null_on_oob=True).alias(f"reference_{i + 1}") for i in range(most)]
        table = table.with_columns(many).drop("references")
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object):
            write = partial(json.dumps, ensure_ascii=False, default=str) if dtype.is_nested() else str
            texts = [None if value is None else write(value) for value in table[name].to_list()]
            table = table.with_columns(pl.Series(name, texts, pl.String))
    return table
