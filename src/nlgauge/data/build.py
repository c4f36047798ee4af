"""From a raw table and the roles of its columns to a Dataset: keys, repeats, raters, numbers."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any, Literal

import polars as pl

from nlgauge.data.columns import NAMES, Roles, plain
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.rawtable import RawTable
from nlgauge.errors import DataError

Repeats = Literal["auto", "number", "mean"]
BLANKS = ["", "na", "n/a", "nan", "none", "null", "-", "?", ".", "<na>", "#n/a"]
ROW = "__row__"


def is_number_column(series: pl.Series) -> bool:
    """Mostly numbers? A column of numbers with a stray word is still a number column: the word is then an error."""
    if series.dtype.is_numeric():
        return series.null_count() < len(series)
    if series.dtype != pl.String:
        return isinstance(series.dtype, pl.List) and series.dtype.inner.is_numeric()  # type: ignore[union-attr]
    filled = _blank_to_null(series).drop_nulls()
    parsed = filled.cast(pl.Float64, strict=False).drop_nulls()
    return len(parsed) > 0 and len(parsed) >= 0.8 * len(filled)


def _blank_to_null(series: pl.Series) -> pl.Series:
    stripped = series.str.strip_chars()
    return stripped.set(stripped.str.to_lowercase().is_in(BLANKS), None)


def numbers(table: RawTable, column: str) -> pl.Series:
    """The column as floats, null where missing; a word among numbers is refused with its line."""
    series = table.frame[column]
    if series.dtype == pl.String:
        clean = _blank_to_null(series)
        values = clean.cast(pl.Float64, strict=False)
        if (
            (bad := (values.is_null() & clean.is_not_null()).arg_max()) is not None
            and clean[bad] is not None
            and values[bad] is None
        ):
            found = series[bad] if len(series[bad]) < 40 else series[bad][:37] + "..."
            hint = (
                " Use a decimal point." if found.count(",") == 1 and found.replace(",", "").isdigit() else ""
            )
            raise DataError(
                f"{table.where.at(bad, column)}: found '{found}', expected a number (or leave it empty).{hint}"
            )
        series = values
    elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise DataError(f"{table.where.at(None, column)}: found {series.dtype}, expected numbers.")
    series = series.cast(pl.Float64).fill_nan(None)
    return series.set(series.is_infinite().fill_null(False), None)


def build(table: RawTable, roles: Roles, name: str, repeats: Repeats = "auto") -> Dataset:
    """Everything that a table says, as tidy frames keyed by (system, input)."""
    notes: list[str] = []
    frame = table.frame.select(pl.int_range(pl.len()).alias(ROW))
    frame = frame.with_columns(
        _system(table, roles, notes), _input(table, roles, notes), *_texts(table, roles)
    )
    frame = frame.with_columns(table.frame[c] for c in (*roles.sets, *roles.aside) if c not in frame.columns)
    metrics = [numbers(table, column).alias(metric) for metric, column in roles.metrics.items()]
    ratings = _rating_columns(table, roles)
    frame = _number_repeats(frame, table, roles, repeats, metrics, ratings, notes)
    scores = _one_value_a_sample(frame, metrics, table, roles, repeats)
    if roles.metric and roles.score:
        scores = _pivot_scores(frame, table, roles)
    long, persons = _ratings(frame, table, roles, ratings, notes)
    samples = frame.unique(KEY, keep="first", maintain_order=True).drop(ROW)
    return Dataset.of(name, samples, ratings=long, scores=scores, persons=persons, notes=notes)


# --- keys ---------------------------------------------------------------------------------------------------------


def _system(table: RawTable, roles: Roles, notes: list[str]) -> pl.Series:
    if roles.system is None:
        notes.append("no system column: all rows are read as one system")
        return pl.Series("system", ["system"] * table.frame.height)
    return _label(table, roles.system).alias("system")


def _input(table: RawTable, roles: Roles, notes: list[str]) -> pl.Series:
    several = roles.system is not None and table.frame[roles.system].n_unique() > 1
    column, given = roles.input, roles.source or roles.context
    if (
        column in ("id", "i", "ID")
        and several
        and given
        and table.frame[column].n_unique() == table.frame.height
    ):
        column = None  # a row number: it cannot say which outputs belong together
    if column is not None:
        inputs = _label(table, column)
    elif given is not None and table.frame[given].dtype == pl.String:
        notes.append(f"no input column: outputs with the same '{given}' belong to one input")
        inputs = table.frame[given].fill_null("").map_elements(_short, return_dtype=pl.String)
    elif not several:
        inputs = pl.Series([str(i) for i in range(table.frame.height)])
        notes.append("no input column: every row is its own input")
    else:
        raise DataError(
            f"{table.where.at()}: no column says which input an output belongs to, and there are several systems; "
            f"name it with --input. Columns found: {', '.join(table.frame.columns)}."
        )
    for name in roles.sets:
        if table.frame[name].n_unique() > 1:
            inputs = table.frame[name].cast(pl.String).fill_null("") + ": " + inputs
            notes.append(
                f"several data sets in column '{name}' (their inputs are kept apart; --by {name} splits them)"
            )
    return inputs.alias("input")


def _label(table: RawTable, column: str) -> pl.Series:
    series = table.frame[column]
    if series.dtype.is_nested():
        raise DataError(f"{table.where.at(None, column)}: found lists, expected a name.")
    if series.dtype.is_float() and ((series == series.round()) & (series.abs() < 2**53)).all():
        series = series.cast(pl.Int64)
    text = series.cast(pl.String).str.strip_chars()
    missing = (text.is_null() | (text == "")).arg_true()
    if len(missing):
        raise DataError(f"{table.where.at(missing[0], column)}: is empty, expected a name.")
    return text


def _short(text: str) -> str:
    """A text as a key: itself when short, otherwise its beginning and a hash."""
    if len(text) <= 80:
        return text
    return f"{text[:60]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _texts(table: RawTable, roles: Roles) -> list[pl.Series]:
    found = []
    for role in ("output", "source", "context", "control"):
        column = getattr(roles, role)
        if column is not None:
            series = table.frame[column]
            if isinstance(series.dtype, pl.List):
                series = series.cast(pl.List(pl.String)).list.join("\n", ignore_nulls=True)
            found.append(series.cast(pl.String).alias(role))
    if roles.references:
        parts = []
        for column in roles.references:
            series = table.frame[column]
            as_list = isinstance(series.dtype, pl.List)
            parts.append(
                series.cast(pl.List(pl.String))
                if as_list
                else series.cast(pl.String).to_frame().select(pl.concat_list(pl.all())).to_series()
            )
        joined = (
            pl.DataFrame([p.alias(str(i)) for i, p in enumerate(parts)])
            .select(pl.concat_list(pl.all().fill_null([])).list.drop_nulls())
            .to_series()
        )
        found.append(joined.alias("references"))
    return found


# --- repeats ------------------------------------------------------------------------------------------------------


def _number_repeats(
    frame: pl.DataFrame, table: RawTable, roles: Roles, repeats: Repeats, metrics: list[pl.Series],
    ratings: list[tuple[str, str | None, pl.Series]], notes: list[str],
) -> pl.DataFrame:  # fmt: skip
    """Different outputs of one system for one input are occurrences 1, 2, …; equal rows count once.

    Rows of several raters (or of long tables) repeat a sample on purpose: there only a different output is a new one.
    """
    if frame.select(KEY).is_unique().all():
        return frame
    if "output" in frame.columns or repeats == "number":
        what = (
            pl.col("output")
            if "output" in frame.columns and (repeats != "number" or roles.rater)
            else pl.col(ROW)
        )
        frame = frame.with_columns(what.rank("dense").over(KEY).alias("__what__"),
                                   what.n_unique().over(KEY).alias("__many__"))  # fmt: skip
        first = pl.col(ROW).min().over([*KEY, "__what__"])
        frame = frame.with_columns(first.rank("dense").over(KEY).alias("occurrence"))
        samples = frame.filter(pl.col("__many__") > 1).select([*KEY, "__what__"]).unique()
        if samples.height:
            further = samples.height - samples.select(KEY).n_unique()
            notes.append(
                f"{further} further outputs of the same system for the same input: occurrences are numbered"
            )
            again = (
                pl.when(pl.col("occurrence") > 1)
                .then(pl.format("{} #{}", "input", "occurrence"))
                .otherwise(pl.col("input"))
            )
            frame = frame.with_columns(again.alias("input"))
        frame = frame.drop("__what__", "__many__")
    if roles.rater or roles.aspect or roles.metric or repeats == "mean":
        return frame
    values = frame.select(ROW, *KEY).with_columns(
        *(s.alias(f"m{i}") for i, s in enumerate(metrics)),
        *(s.alias(f"h{i}") for i, (_, _, s) in enumerate(ratings)),
    )
    labels = [*(("metric", n) for n in roles.metrics), *(("aspect", a) for a, _, _ in ratings)]
    columns = [c for c in values.columns if c not in (ROW, *KEY)]
    clash = values.group_by(KEY, maintain_order=True).agg(
        pl.col(columns).drop_nulls().n_unique(), pl.col(ROW)
    )
    clash = clash.filter(pl.any_horizontal(pl.col(columns) > 1)) if columns else clash.clear()
    if clash.height:
        row = clash.row(0, named=True)
        column = next(c for c in columns if row[c] > 1)
        kind, label = labels[columns.index(column)]
        one, two = (
            row[ROW][0],
            next(r for r in row[ROW][1:] if values[column][r] != values[column][row[ROW][0]]),
        )
        raise DataError(
            f"{table.where.at(two)}: repeats system '{row['system']}', input '{row['input']}' of "
            f"{table.where.word} {table.where.line_of(one)} with another {kind} '{label}' "
            f"({values[column][two]:g}, before {values[column][one]:g}). If the rows are raters, name their column "
            "(--rater); if they are separate outputs, pass --repeats number; to average them, --repeats mean."
        )
    extra = frame.height - frame.select(KEY).n_unique()
    if extra:
        notes.append(f"{extra} rows repeat another row and count once")
    return frame


def _one_value_a_sample(
    frame: pl.DataFrame, metrics: list[pl.Series], table: RawTable, roles: Roles, repeats: Repeats
) -> pl.DataFrame:
    """Metric values per sample; rows of several raters must repeat the same value."""
    values = frame.select(ROW, *KEY).with_columns(metrics)
    names = [s.name for s in metrics]
    if values.select(KEY).is_unique().all():
        return values.drop(ROW)
    grouped = values.group_by(KEY, maintain_order=True)
    if repeats == "mean":
        return grouped.agg(pl.col(names).mean())
    if names:
        spread = grouped.agg(
            (pl.col(names).max() - pl.col(names).min()) > 1e-9 * pl.col(names).abs().max(), pl.col(ROW)
        )
        for name in names:
            if (bad := spread.filter(pl.col(name))).height:
                row = bad.row(0, named=True)
                raise DataError(
                    f"{table.where.at(row[ROW][-1], roles.metrics[name])}: system '{row['system']}', input "
                    f"'{row['input']}' has different values here and in {table.where.word} "
                    f"{table.where.line_of(row[ROW][0])}; a metric gives one value to one output. "
                    "If it is a rating, name it with --human; to average, --repeats mean."
                )
    return grouped.agg(pl.col(names).drop_nulls().first())


def _pivot_scores(frame: pl.DataFrame, table: RawTable, roles: Roles) -> pl.DataFrame:
    assert roles.metric and roles.score
    long = frame.select(KEY).with_columns(
        table.frame[roles.metric].cast(pl.String).alias("metric"), numbers(table, roles.score).alias("value")
    )
    return long.drop_nulls("metric").pivot("metric", index=KEY, values="value", aggregate_function="mean")


# --- ratings ------------------------------------------------------------------------------------------------------


def _rating_columns(table: RawTable, roles: Roles) -> list[tuple[str, str | None, pl.Series]]:
    """(aspect, rater or None, numbers) for every single-number rating column."""
    return [
        (aspect, rater, numbers(table, column))
        for aspect, pairs in roles.human.items()
        for rater, column in pairs
        if not _is_number_list(table.frame[column])
    ]


def _is_number_list(series: pl.Series) -> bool:
    return isinstance(series.dtype, pl.List) and series.dtype.inner.is_numeric()


def _ratings(
    frame: pl.DataFrame,
    table: RawTable,
    roles: Roles,
    columns: list[tuple[str, str | None, pl.Series]],
    notes: list[str],
) -> tuple[pl.DataFrame, bool]:
    """All ratings, long; and whether a rater's name is one person throughout."""
    keys = frame.select(KEY)
    persons = roles.rater is not None
    rater = _rater(table, roles.rater)
    parts: list[pl.DataFrame] = []

    def add(aspect: Any, who: Any, value: Any, of: pl.DataFrame = keys) -> None:
        part = of.with_columns(
            aspect if isinstance(aspect, pl.Series) else pl.lit(aspect, pl.String).alias("aspect"),
            who.alias("rater") if isinstance(who, pl.Series) else pl.lit(who, pl.String).alias("rater"),
            value.alias("value"),
        )
        parts.append(part)

    if roles.aspect and roles.rating:
        add(table.frame[roles.aspect].cast(pl.String).alias("aspect"), rater, numbers(table, roles.rating))
    elif roles.rating:
        add("rating", rater, numbers(table, roles.rating))
    for aspect, who, value in columns:
        add(aspect, rater if who is None else who, value)
    for aspect, pairs in roles.human.items():
        for _, column in pairs:
            if _is_number_list(table.frame[column]):
                lists = keys.with_columns(table.frame[column].alias("value"), pl.lit(aspect).alias("aspect"))
                lists = lists.explode("value", empty_as_null=True, keep_nulls=True)
                slot = pl.int_range(pl.len()).over(KEY) + 1
                parts.append(
                    lists.select(
                        *KEY,
                        "aspect",
                        slot.cast(pl.String).alias("rater"),
                        pl.col("value").cast(pl.Float64).fill_nan(None),
                    )
                )
    nested, known = _nested_ratings(frame, table, notes)
    persons = persons or known
    parts += nested
    if not parts:
        return pl.DataFrame(schema=Dataset.RATINGS), persons
    long = pl.concat([p.select(list(Dataset.RATINGS)) for p in parts]).drop_nulls("value")
    return _settle(long, notes), persons


def _rater(table: RawTable, column: str | None) -> pl.Series | None:
    return None if column is None else _label(table, column)


def _settle(long: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """One value per sample, aspect and rater; an average given beside individual ratings only fills gaps."""
    who = [*KEY, "aspect"]
    long = long.with_columns(pl.col("rater").is_not_null().any().over(who).alias("__named__"))
    long = long.filter(pl.col("rater").is_not_null() | ~pl.col("__named__")).drop("__named__")
    keyed = [*who, "rater"]
    twice = long.height - long.select(keyed).n_unique()
    if twice:
        notes.append(f"{twice} ratings repeat the same rater, output and aspect: their mean is used")
        long = long.group_by(keyed, maintain_order=True).agg(pl.col("value").mean())
    return long


def _nested_ratings(
    frame: pl.DataFrame, table: RawTable, notes: list[str]
) -> tuple[list[pl.DataFrame], bool]:
    """Columns that hold a list of rating records, e.g. `[{"annotator": "r1", "Natural": 3}, …]`."""
    parts, persons, several = [], False, len(table.nested) > 1
    for column, rows in table.nested.items():
        found: list[tuple[str, str, str, str, float]] = []
        for row, ((system, given), records) in enumerate(
            zip(frame.select(KEY).iter_rows(), rows, strict=True)
        ):
            if records is not None and not _are_records(records):
                raise DataError(
                    f"{table.where.at(row, column)}: expected a list of objects, as in other rows."
                )
            for slot, record in enumerate(records or (), 1):
                who = next(
                    (str(v) for k, v in record.items() if plain(k) in NAMES["rater"] and v is not None), None
                )
                persons = persons or who is not None
                rater = f"{column} {who or slot}" if several else who or str(slot)
                found += [(system, given, aspect, rater, value) for aspect, value in _numbers_of(record)]
        if found:
            parts.append(pl.DataFrame(found, schema=Dataset.RATINGS, orient="row"))
        else:
            notes.append(f"column '{column}' holds nested records that are not ratings: left aside")
    return parts, persons


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(record, dict) for record in value)


def _numbers_of(record: dict[str, Any]) -> Iterable[tuple[str, float]]:
    for key, value in record.items():
        if (
            isinstance(value, int | float)
            and plain(key) not in NAMES["rater"]
            and not re.search(r"(^|[^a-z])id$", key, re.I)
        ):
            yield key, float(value) if abs(value) < 1e300 else math.inf
