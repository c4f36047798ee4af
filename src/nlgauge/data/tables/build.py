"""Build a Dataset from a table and the roles of its columns: keys, trials, annotators, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from nlgauge.data.dataset import KEY, ROW, Dataset, check_metrics
from nlgauge.data.declared import Repeats
from nlgauge.data.provenance import Provenance, column_source
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.keys import ambiguous, inputs, label, name_text, shared, systems
from nlgauge.data.tables.long_tables import metrics_by_aspect, with_aspects
from nlgauge.data.tables.means import mean_ratings, means_by
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import is_number_list, numbers
from nlgauge.data.tables.vocabulary import NAMES, plain, quoted
from nlgauge.data.units import PART, PART_OF, PART_ORDER, TRIAL_OF, has_unique_keys, trials_text
from nlgauge.errors import DataError, Note, code_of
from nlgauge.options import option
from nlgauge.types import AspectScale

# Names of columns with records of ratings that do not name their annotators.
HUMAN_NAME = re.compile(r"rating|rated|annotat|judge?ment|human|people|worker|turker|expert|crowd|survey|votes?", re.I)
TEXT_PARTS = frozenset("text sentence span quote segment fact claim".split())
NUMERAL = re.compile(r"^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$", re.ASCII)


def build(table: RawTable, roles: Roles, name: str, repeats: Repeats = "auto") -> Dataset:
    """Return the Dataset of a table, as tidy frames keyed by (system, input)."""
    notes: list[str] = []
    frame = table.frame.select(pl.int_range(pl.len()).alias(ROW))
    frame = frame.with_columns(systems(table, roles, notes), inputs(table, roles, notes), *_texts(table, roles))
    frame = _with_parts(frame, table, roles)
    roles = with_aspects(frame, roles)
    if repeats == "auto" and not (roles.aspect or roles.metric) and (why := ambiguous(table, roles, frame)):
        raise DataError(why)
    notes += shared(frame, table, roles)
    # An attribute such as 'topic' also remains a column, for groups (`by`).
    extra = (*roles.sets, *roles.trials, *roles.aside, *([roles.control] if roles.control else ()))
    frame = frame.with_columns(table.frame[c] for c in extra if c not in frame.columns)
    check_metrics(table.where.source, roles.metrics)
    metrics = [numbers(table, column).alias(metric) for metric, column in roles.metrics.items()]
    ratings = _rating_columns(table, roles)
    frame = _number_repeats(frame, table, roles, repeats, metrics, ratings, notes)
    metrics, about = metrics_by_aspect(frame, metrics, table, roles, notes)
    scores = _one_value_a_sample(frame, metrics, table, roles, repeats, notes)
    if roles.metric and roles.score:
        scores = _pivot_scores(frame, table, roles, repeats, notes)
    nested: dict[str, Provenance] = {}
    long, persons = _ratings(frame, table, roles, ratings, notes, nested)
    samples = (frame if has_unique_keys(frame) else frame.unique(KEY, keep="first", maintain_order=True)).drop(ROW)
    sources = {**nested, **{a: s for a, s in roles.sources.items() if a not in nested or not s.assumed}}
    if "" in sources:  # a long table has one source for all aspects
        sources = dict.fromkeys(long["aspect"].unique(maintain_order=True), sources[""])
    made: dict[str, Any] = {"ratings": long, "scores": scores, "notes": notes, "sources": sources}
    return Dataset.of(name, samples, persons=persons, metric_aspects=about, **made)


def _texts(table: RawTable, roles: Roles) -> list[pl.Series]:
    texts = []
    for role in ("output", "source", "context", "control"):
        column = getattr(roles, role)
        if column is not None:
            series = table.frame[column]
            if isinstance(series.dtype, pl.List):
                series = series.cast(pl.List(pl.String)).list.join("\n", ignore_nulls=True)
            texts.append(series.cast(pl.String).alias(role))
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
        texts.append(joined.alias("references"))
    return texts


def _number_repeats(
    frame: pl.DataFrame,
    table: RawTable,
    roles: Roles,
    repeats: Repeats,
    metrics: list[pl.Series],
    ratings: list[tuple[str, str | None, pl.Series]],
    notes: list[str],
) -> pl.DataFrame:
    """Number different outputs of one system for one input as trials; equal rows count once.

    Rows of several raters (or of long tables) repeat a sample on purpose: there only another trial or a different
    output is a new one.
    """
    if has_unique_keys(frame):
        return _noted(frame, notes)
    if repeats != "mean" and (roles.trials or "output" in frame.columns or repeats == "number"):
        frame = _numbered(frame, roles, repeats)
        if TRIAL_OF in frame.columns and PART_OF not in frame.columns:
            notes.append(f"{trials_text(frame.unique(KEY))}: the trials of one input are one cluster")
        frame = _noted(_parts_of_trials(frame), notes)
    if roles.rater or roles.aspect or roles.metric or repeats == "mean":
        return frame
    values = frame.select(ROW, *KEY).with_columns(
        *(s.alias(f"m{i}") for i, s in enumerate(metrics)), *(s.alias(f"h{i}") for i, (_, _, s) in enumerate(ratings))
    )
    labels = [*(("metric", n) for n in roles.metrics), *(("aspect", a) for a, _, _ in ratings)]
    columns = [c for c in values.columns if c not in (ROW, *KEY)]
    clashes = [(clash, label) for c, label in zip(columns, labels, strict=True) if (clash := _clash(values, KEY, c))]
    if clashes:
        clash, (kind, label) = min(clashes, key=lambda entry: entry[0].one)
        raise DataError(
            f"{table.where.at(clash.two)}: repeats system '{clash.key[0]}', input '{clash.key[1]}' of "
            f"{table.where.word} {table.where.line_of(clash.one)} with another {kind} '{label}' ({clash.other:g}, "
            f"before {clash.value:g}){_apart(table, roles, clash.one, clash.two)}. If annotators differ: "
            f"{option('rater')}; if they are different outputs: {option('repeats', 'number')}; to average "
            f"them: {option('repeats', 'mean')}."
        )
    if extra := frame.height - frame.select(KEY).n_unique():
        apart = [
            c for c in roles.aside if c in frame.columns and frame.select([*KEY, c]).n_unique() > frame.height - extra
        ]
        but = (
            f" in all but {quoted(apart, 4)}, which {'is' if len(apart) == 1 else 'are'} not used: they"
            if apart
            else " and"
        )
        notes.append(Note(f"{extra} rows repeat another row{but} count once", "once"))
    return frame


def _with_parts(frame: pl.DataFrame, table: RawTable, roles: Roles) -> pl.DataFrame:
    """Name the parts of outputs 'input / part', with the name of the whole, the part and its place in the output."""
    if roles.part is None:
        return frame
    given = table.frame[roles.part]
    number = given.cast(pl.Float64, strict=False)
    names = name_text(given).fill_null("(none)")
    order = number if not number.null_count() else pl.int_range(frame.height, eager=True).cast(pl.Float64)
    frame = frame.with_columns(names.alias(PART), order.alias(PART_ORDER), pl.col("input").alias(PART_OF))
    frame = frame.with_columns(pl.col(PART_ORDER).rank("dense").over("system", PART_OF).cast(pl.Int64))
    return frame.with_columns(pl.format("{} / {}", PART_OF, PART).alias("input"))


def _parts_of_trials(frame: pl.DataFrame) -> pl.DataFrame:
    """Assign the number of a trial to the whole output, if parts of outputs have trials."""
    if TRIAL_OF not in frame.columns or PART_OF not in frame.columns:
        return frame
    number = pl.col("input").str.strip_prefix(pl.col(TRIAL_OF))
    return frame.with_columns((pl.col(PART_OF) + number).alias(PART_OF), pl.col(PART_OF).alias(TRIAL_OF))


def _noted(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Return the same frame, and add a note on the parts of outputs."""
    if PART_OF in frame.columns:
        notes.append(Note(f"{trials_text(frame.unique(KEY))}: the parts of one output count as one cluster", "parts"))
    return frame


def _numbered(frame: pl.DataFrame, roles: Roles, repeats: Repeats) -> pl.DataFrame:
    """Name further outputs of a system for an input 'input #2', …; `TRIAL_OF` has the base name of the input.

    Where the values of the columns of trials recur from input to input, 'q1 #3' is the same trial of every system;
    other outputs are counted in the order of the file.
    """
    texts = ["output"] if "output" in frame.columns else []
    if roles.trials:
        columns = [*roles.trials]
        if texts and frame.select((pl.col("output").n_unique().over([*KEY, *columns]) > 1).any()).item():
            columns += texts
    else:
        columns = texts if texts and (repeats != "number" or roles.rater) else [ROW]
    values = frame.group_by(columns, maintain_order=True).agg(pl.col(ROW).min().alias("__first__"))
    if columns == [*roles.trials] and all(frame[c].dtype.is_numeric() for c in columns):
        values = values.sort(columns)
    values = values.select(*columns, pl.int_range(pl.len()).alias("__value__"))
    frame = frame.join(values, on=columns, how="left", nulls_equal=True, maintain_order="left")
    if roles.trials:
        most = frame.group_by(KEY).agg(pl.col("__value__").n_unique())["__value__"].max()
        recur = values.height <= 2 * int(most or 0)  # type: ignore[arg-type]
        number = pl.col("__value__").rank("dense").over("input" if recur else KEY)
    else:
        number = pl.col(ROW).min().over([*KEY, "__value__"]).rank("dense").over(KEY)
    frame = frame.with_columns(number.alias("__number__"), pl.col("input").alias(TRIAL_OF))
    again = pl.when(pl.col("__number__") > 1).then(pl.format("{} #{}", "input", "__number__")).otherwise("input")
    named = frame.with_columns(again.alias("input")).drop("__value__", "__number__")
    return named if named["input"].n_unique() > frame["input"].n_unique() else named.drop(TRIAL_OF)


class _Clash(NamedTuple):
    """Two rows of one key with different values: the first row with a value, and the first with another."""

    key: tuple[str, ...]
    one: int
    two: int
    value: float
    other: float


def _clash(values: pl.DataFrame, keys: list[str], column: str) -> _Clash | None:
    """Return the first key whose rows differ in a column, ignoring missing values."""
    groups = values.drop_nulls(column).group_by(keys, maintain_order=True).agg(pl.col(column, ROW))
    apart = groups.filter(pl.col(column).list.n_unique() > 1)
    if not apart.height:
        return None
    *key, different, rows = apart.row(0)
    other = next(i for i, value in enumerate(different) if value != different[0])
    return _Clash(tuple(key), rows[0], rows[other], different[0], different[other])


def _apart(table: RawTable, roles: Roles, one: int, two: int) -> str:
    before, after = (table.frame.row(row, named=True) for row in (one, two))
    columns = [c for c in roles.aside if before[c] != after[c]]
    return f"; they differ in '{columns[0]}' (if that is the input: {option('input', columns[0])})" if columns else ""


def _one_value_a_sample(
    frame: pl.DataFrame, metrics: list[pl.Series], table: RawTable, roles: Roles, repeats: Repeats, notes: list[str]
) -> pl.DataFrame:
    """Return the metric values per sample; rows of several annotators must have the same value."""
    values = frame.select(ROW, *KEY).with_columns(metrics)
    names = [s.name for s in metrics]
    if has_unique_keys(values):
        return values.drop(ROW)
    grouped = values.group_by(KEY, maintain_order=True)
    if repeats == "mean":
        if names and not roles.rater:
            notes.append(
                f"{values.height - values.select(KEY).n_unique()} rows repeat a system and input; the means of "
                "their scores are used"
            )
        return means_by(values, KEY, names, [n for n in names if roles.metrics.get(n) in table.classes])
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
                    f"{table.where.line_of(row[ROW][0])}; expected one value per output and metric. "
                    f"If it is a rating, name it with {option('human')}; to average: {option('repeats', 'mean')}."
                )
    return grouped.agg(pl.col(names).drop_nulls().first())


def _pivot_scores(
    frame: pl.DataFrame, table: RawTable, roles: Roles, repeats: Repeats, notes: list[str]
) -> pl.DataFrame:
    """Pivot long scores to one column per metric, with one value per output."""
    assert roles.metric and roles.score
    long = frame.select(ROW, *KEY).with_columns(
        table.frame[roles.metric].cast(pl.String).alias("metric"), numbers(table, roles.score).alias("value")
    )
    long = long.drop_nulls("metric")
    check_metrics(table.where.source, long["metric"].unique().to_list())
    keys = [*KEY, "metric"]
    repeated = long.height - long.select(keys).n_unique()
    if repeated and repeats == "auto" and (clash := _clash(long, keys, "value")):
        system, given, metric = clash.key
        raise DataError(
            f"{table.where.at(clash.two, roles.score)}: system '{system}', input '{given}', metric '{metric}' has "
            f"another value in {table.where.word} {table.where.line_of(clash.one)} ({clash.other:g}, before "
            f"{clash.value:g}); to average: {option('repeats', 'mean')}."
        )
    if repeated:
        notes.append(
            f"{repeated} scores repeat the same output and metric: "
            f"{'their mean is used' if repeats != 'auto' else 'they count once'}"
        )
        long = means_by(long, keys, ["value"], ["value"] if roles.score in table.classes else ()).drop_nulls("value")
    return long.pivot("metric", index=KEY, values="value")


def _rating_columns(table: RawTable, roles: Roles) -> list[tuple[str, str | None, pl.Series]]:
    """Return (aspect, annotator or None, numbers) for every rating column with a single number per row."""
    return [
        (aspect, rater, numbers(table, column))
        for aspect, pairs in roles.human.items()
        for rater, column in pairs
        if not is_number_list(table.frame[column])
    ]


def _ratings(
    frame: pl.DataFrame,
    table: RawTable,
    roles: Roles,
    columns: list[tuple[str, str | None, pl.Series]],
    notes: list[str],
    sources: dict[str, Provenance],
) -> tuple[pl.DataFrame, bool]:
    """Return all ratings in long format, and whether annotator names identify persons."""
    keys = frame.select(KEY)
    persons = roles.rater is not None or roles.persons
    rater = None
    if roles.rater is not None:  # rows without ratings need no annotator
        by_rows = (
            [numbers(table, roles.rating)] if roles.rating else [value for _, who, value in columns if who is None]
        )
        rated = pl.DataFrame([v.is_not_null().alias(str(i)) for i, v in enumerate(by_rows)])
        rater = label(table, roles.rater, rated.select(pl.any_horizontal(pl.all())).to_series() if by_rows else None)
    parts: list[pl.DataFrame] = []

    def add(aspect: Any, who: Any, value: Any, of: pl.DataFrame = keys) -> None:
        part = of.with_columns(
            aspect if isinstance(aspect, pl.Series) else pl.lit(aspect, pl.String).alias("aspect"),
            who.alias("rater") if isinstance(who, pl.Series) else pl.lit(who, pl.String).alias("rater"),
            value.alias("value"),
        )
        parts.append(part)

    if roles.aspect and roles.rating:
        value = numbers(table, roles.rating)
        add(label(table, roles.aspect, value.is_not_null()).alias("aspect"), rater, value)
    elif roles.rating:
        add("rating", rater, numbers(table, roles.rating))
    for aspect, who, value in columns:
        add(aspect, rater if who is None else who, value)
    for aspect, pairs in roles.human.items():
        for _, column in pairs:
            if is_number_list(table.frame[column]):
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
    nested, nested_sources = _nested_ratings(frame, table, notes, sources)
    persons = persons or nested_sources
    parts += nested
    if not parts:
        return pl.DataFrame(schema=Dataset.RATINGS), persons
    long = pl.concat([p.select(list(Dataset.RATINGS)) for p in parts])
    long = long.with_columns(pl.col("value").fill_nan(None)).drop_nulls("value")
    if infinite := int(long["value"].is_infinite().sum()):  # in lists or records; columns are counted by `values`
        notes.append(f"{infinite} {'ratings are' if infinite > 1 else 'rating is'} infinite; left out")
        long = long.filter(pl.col("value").is_finite())
    return _settle(long, notes, coded_aspects(table, roles, long)), persons


def _settle(long: pl.DataFrame, notes: list[str], coded: Mapping[str, AspectScale]) -> pl.DataFrame:
    """Return one value per sample, aspect and annotator; averages are used only where individual
    ratings are missing.
    """
    who = [*KEY, "aspect"]
    if 0 < long["rater"].null_count() < long.height:
        long = long.with_columns(pl.col("rater").is_not_null().any().over(who).alias("__named__"))
        long = long.filter(pl.col("rater").is_not_null() | ~pl.col("__named__")).drop("__named__")
    keyed = [*who, "rater"]
    repeated = 0 if has_unique_keys(long, keyed) else long.height - long.select(keyed).n_unique()
    if repeated:
        same = long.select([*keyed, "value"]).n_unique() == long.height - repeated
        if not same:
            what = "those of different classes are left out" if coded else "their mean is used"
            notes.append(f"{repeated} ratings repeat the same annotator, output and aspect; {what}")
        elif "once" not in map(code_of, notes):
            notes.append(
                f"{repeated} ratings repeat the same annotator, output and aspect with the same value and count once"
            )
        long = mean_ratings(long, coded)
    return long


def coded_aspects(table: RawTable, roles: Roles, long: pl.DataFrame) -> dict[str, AspectScale]:
    """Map each aspect whose ratings are codes to its classes."""
    if roles.rating is not None and roles.rating in table.classes:
        return dict.fromkeys(long["aspect"].unique(maintain_order=True), table.classes[roles.rating].scale)
    columns = {aspect: pairs[0][1] for aspect, pairs in roles.human.items() if pairs}
    return {aspect: table.classes[c].scale for aspect, c in columns.items() if c in table.classes}


def scales_of_table(table: RawTable, roles: Roles, data: Dataset, ordinal: Sequence[str]) -> dict[str, Any]:
    """Return the fields `scales` and `metric_scales` of the Dataset: classes, and aspects declared as ordinal."""
    scales = coded_aspects(table, roles, data.ratings)
    for aspect in data.aspects:
        columns = {aspect, *(c for _, c in roles.human.get(aspect, ())), *([roles.rating] if roles.rating else [])}
        if columns & set(ordinal):
            scales[aspect] = AspectScale("ordinal", declared=True)
    of_metric = {}
    for metric in data.metrics:
        whole = metric if metric in roles.metrics else metric.rpartition(":")[0]
        column = roles.metrics.get(whole, roles.score if roles.metric else None)
        if column is not None and column in table.classes:
            of_metric[metric] = table.classes[column].scale
    return {"scales": scales, "metric_scales": of_metric}


def _nested_ratings(
    frame: pl.DataFrame, table: RawTable, notes: list[str], sources: dict[str, Provenance]
) -> tuple[list[pl.DataFrame], bool]:
    """Read columns with lists of rating records, such as `[{"annotator": "r1", "Natural": 3}, …]`,
    and fill `sources`.
    """
    parts, persons, several = [], False, len(table.nested) > 1
    for column, rows in table.nested.items():
        long_rows: list[tuple[str, str, str, str, float]] = []
        named = False
        for row, ((system, given), records) in enumerate(zip(frame.select(KEY).iter_rows(), rows, strict=True)):
            if records is not None and not (isinstance(records, list) and all(isinstance(r, dict) for r in records)):
                raise DataError(f"{table.where.at(row, column)}: expected a list of objects, as in other rows.")
            for slot, record in enumerate(records or (), 1):
                rater = next((str(v) for k, v in record.items() if plain(k) in NAMES["rater"] and v is not None), None)
                named = named or rater is not None
                rater = f"{column} {rater or slot}" if several else rater or str(slot)
                long_rows += [(system, given, aspect, rater, value) for aspect, value in _numbers_of(record)]
        if long_rows and not (named or HUMAN_NAME.search(column)):
            aspects = ", ".join(dict.fromkeys(aspect for _, _, aspect, _, _ in long_rows))
            notes.append(
                f"column '{column}' not read: its records have numbers ({aspects[:60]}), but may not be "
                "human; if they are, rename it to ratings, or add the annotator to each record"
            )
        elif long_rows and not named and _of_parts(frame, rows):
            notes.append(f"column '{column}' not read: its records are about parts of an output")
        elif long_rows:
            parts.append(pl.DataFrame(long_rows, schema=Dataset.RATINGS, orient="row"))
            who = f"the annotators named in '{column}'" if named else ""
            declared = column in table.declared
            of = column_source(column, table.frame.columns, None, declared=declared, annotators=who)
            sources |= dict.fromkeys((aspect for _, _, aspect, _, _ in long_rows), of)
        else:
            notes.append(f"column '{column}' not read: its nested records are not ratings")
        persons = persons or named
    return parts, persons


def _of_parts(frame: pl.DataFrame, rows: Iterable[Any]) -> bool:
    """Return whether every record has a text that is part of the output, such as a sentence or span."""
    if "output" not in frame.columns:
        return False
    texts = (
        (output or "", [v.strip() for k, v in record.items() if plain(k) in TEXT_PARTS and isinstance(v, str)])
        for output, records in zip(frame["output"], rows, strict=True)
        for record in records or ()
    )
    return all(any(text and text in output for text in parts) for output, parts in texts)


def _numbers_of(record: dict[str, Any]) -> Iterable[tuple[str, float]]:
    for key, value in record.items():
        if plain(key) in NAMES["rater"] or re.search(r"(^|[^a-z])id$", key, re.I):
            continue
        if isinstance(value, int | float):
            yield key, float(value) if abs(value) < 1e300 else math.inf
        elif isinstance(value, str) and NUMERAL.match(value):
            yield key, float(value)
