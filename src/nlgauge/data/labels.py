"""Human labels in another file than the outputs: joined by ID; unmatched, repeated and conflicting labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, ROW, Dataset
from nlgauge.data.provenance import is_model
from nlgauge.data.tables.build import build, coded_aspects
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.keys import name_text
from nlgauge.data.tables.raw import RawTable, Where
from nlgauge.data.tables.understanding import lines
from nlgauge.data.tables.values import few_words, is_short, parse_column, values_to_fill
from nlgauge.data.tables.vocabulary import ASIDE, SETS, TRIALS, listed, plain
from nlgauge.data.units import TRIAL_OF, base_inputs, part_input
from nlgauge.errors import DataError, Note, code_of
from nlgauge.options import option
from nlgauge.stats.design.label_sampling import combined_probability
from nlgauge.types import AspectScale

MAX_EXAMPLES = 5  # in a message
ROW_SYSTEM, ROW_INPUT = "__label_system__", "__label_row__"
# Columns that distinguish outputs of one ID.
PARTS = (*SETS, *sorted(TRIALS), "turn")
# Sampling design of a labeled row, as `nlgauge label` writes it.
PROBABILITY, STRATUM, ROUND = DESIGN = ("label_probability", "label_stratum", "label_round")
# The columns of the explorer's append-only file of labels: an empty label withdraws an earlier one.
LOG_COLUMNS = ("system", "input", "label", "annotator", "labeled_at")
UNNAMED = ["system"]  # the systems of a table without a system column


@dataclass(frozen=True)
class Labels:
    """Human labels, and the columns of their file that may identify the output.

    rows: row, aspect, rater, value. keys: row and every column that may be an ID, as text.
    """

    source: str
    rows: pl.DataFrame
    keys: pl.DataFrame
    system: str | None
    input: str | None
    texts: dict[str, str]  # output and source → column, if there are any
    persons: bool
    notes: Sequence[str]
    scales: Mapping[str, AspectScale] = field(default_factory=dict)  # of aspects of classes


def joined_labels(files: Sequence[Dataset | RawTable]) -> Dataset | RawTable:
    """Concatenate the labels of several files of one kind, such as a first and a second draw."""
    if len(files) == 1:
        return files[0]
    datasets = [f for f in files if isinstance(f, Dataset)]
    tables = [f for f in files if isinstance(f, RawTable)]
    if datasets and tables:
        raise DataError(
            f"{option('labels')}: {datasets[0].name} is an export of a tool, {tables[0].where.source} a plain table; "
            "expected files of one kind."
        )
    if datasets:
        samples, ratings = (
            pl.concat([getattr(d, part) for d in datasets], how="diagonal_relaxed") for part in ("samples", "ratings")
        )
        notes = tuple(f"{d.name}: {note}" for d in datasets for note in d.notes)
        name = " and ".join(d.name for d in datasets)
        samples = samples.unique(KEY, maintain_order=True)
        return replace(datasets[0], name=name, samples=samples, ratings=ratings, notes=notes)
    places = [(table.where, row) for table in tables for row in range(table.frame.height)]
    return RawTable(
        pl.concat([table.frame for table in tables], how="diagonal_relaxed"),
        Where(
            " and ".join(Path(table.where.source).name for table in tables),
            tables[0].where.word,
            lambda row: places[row][0].line_of(places[row][1]),
        ),
        notes=[f"{table.where.source}: {note}" for table in tables for note in table.notes],
        worth=tables[0].worth,
    )


def current_labels(table: RawTable) -> RawTable:
    """Return the current labels in a log of labels: the last row per output and annotator, unless it is empty."""
    if tuple(table.frame.columns) != LOG_COLUMNS:
        return table
    system, given_input, label, annotator, _ = (pl.col(c).cast(pl.String).fill_null("") for c in LOG_COLUMNS)
    rows = table.frame.with_columns(system, given_input, label, annotator).with_row_index(ROW)
    rows = rows.unique(["system", "input", "annotator"], keep="last", maintain_order=True).filter(pl.col("label") != "")
    places, where = rows[ROW].to_list(), table.where
    named = rows["annotator"] != ""
    dropped = ["labeled_at", *([] if named.any() else ["annotator"])]
    annotator_names = pl.when(named).then("annotator").otherwise(pl.lit("(unnamed)")).alias("annotator")
    replaced = table.frame.height - len(places)
    return replace(
        table,
        frame=rows.with_columns(annotator_names).drop(ROW, *dropped),
        where=Where(where.source, where.word, lambda row: where.line_of(places[row])),
        notes=[*table.notes, *([f"labels replaced or withdrawn later: {replaced:,}"] if replaced else [])],
    )


def labels_of_table(table: RawTable, roles: Roles, metrics: Collection[str], chosen: bool = False) -> Labels:
    """Return the labels of a plain table: each column with values, except those that the data have as `metrics`.

    `chosen`: the user named the columns with labels.
    """
    roles = replace(roles, metrics={}) if chosen else _with_all_human(table, roles, metrics)
    roles = replace(roles, aside=tuple(c for c in roles.aside if c not in DESIGN))  # `_with_design` uses them
    by_row = table.frame.with_columns(pl.lit("labels").alias(ROW_SYSTEM), pl.int_range(pl.len()).alias(ROW_INPUT))
    keyed = replace(roles, system=ROW_SYSTEM, input=ROW_INPUT, output=None, source=None, context=None)
    keyed = replace(keyed, sets=(), trials=(), aside=(), part=None)
    built = build(replace(table, frame=by_row), keyed, table.where.source)
    if built.ratings.is_empty():
        raise DataError(_no_labels(table, roles))
    rows = built.ratings.select(pl.col("input").cast(pl.Int64).alias(ROW), "aspect", "rater", "value")
    texts = {role: c for role in ("output", "source") if (c := getattr(roles, role)) is not None}
    flat = _flat(table.frame)
    keys = pl.DataFrame([pl.Series(ROW, range(table.frame.height)), *(name_text(table.frame[c]) for c in flat)])
    if roles.part in flat and roles.input in flat:  # as the inputs of data in parts are named
        of_part = pl.format(part_input("{}", "{}"), roles.input, roles.part)
        keys = keys.with_columns(pl.coalesce(of_part, roles.input).alias(str(roles.input)))
    notes = [line for line in (*lines(table, roles), *built.notes) if code_of(line) != "roles"]
    scales = coded_aspects(table, roles, built.ratings)
    return Labels(table.where.source, rows, keys, roles.system, roles.input, texts, built.persons, notes, scales)


def labels_of_dataset(data: Dataset) -> Labels:
    """Return the ratings of a Dataset, as a reader of annotation tools gives them, as labels of other outputs."""
    if data.ratings.is_empty():
        data.aspect()  # raises an error with the reason
    flat = _flat(data.samples)
    keys = pl.DataFrame([pl.Series(ROW, range(len(data))), *(name_text(data.samples[c]) for c in flat)])
    rows = data.ratings.join(keys.select(ROW, *KEY), on=KEY, how="left", maintain_order="left")
    system = None if data.systems == UNNAMED else "system"
    texts: dict[str, str] = {role: role for role in ("output", "source") if role in flat}
    notes = [note for note in data.notes if code_of(note) != "no_shared_input"]
    return Labels(
        data.name,
        rows.select(ROW, "aspect", "rater", "value"),
        keys,
        system,
        "input",
        texts,
        data.persons,
        notes,
        data.scales,
    )


def with_labels(data: Dataset, labels: Labels, ids: bool = True) -> Dataset:
    """Return the data with human labels as ratings. `ids`: inputs have names from the data, not row numbers."""
    system = _system_column(data, labels)
    label_column, data_column = _joining_columns(data, labels, ids, system)
    keys, matched = _matched(data, labels, label_column, data_column, system)
    if matched.is_empty():  # the IDs exist, but for other systems
        raise DataError(_no_match(data, labels, ids))
    rows = labels.rows.join(matched.select(ROW, *KEY), on=ROW, how="inner", maintain_order="left")
    ratings, conflicts = _without_conflicts(data, labels, rows)
    unmatched = keys.join(matched, on=ROW, how="anti", maintain_order="left")
    by = f"'{label_column}'" + ("" if data_column == "input" else f" (column '{data_column}' of the outputs)")
    notes = [
        Note(
            f"human labels from {Path(labels.source).name}: "
            f"{listed(labels.rows['aspect'].unique(maintain_order=True).to_list())}, {matched.height:,} rows joined by "
            f"{by}{f' and system ({system!r})' if system else ''}",
            "joined",
        ),
        *(f"labels: {note}" for note in labels.notes),
        *conflicts,
    ]
    if unmatched.height:
        examples = _examples(unmatched["__id__"].fill_null("(empty)").to_list())
        note = f"labels that match no output, left out: {unmatched.height:,} rows of {Path(labels.source).name}"
        notes.append(Note(f"{note} ({examples})", "joined"))
    samples, design_notes = _with_design(data, labels, matched)
    return replace(
        data,
        samples=samples,
        ratings=ratings,
        persons=data.persons or labels.persons,
        scales={**data.scales, **labels.scales},
        notes=(*data.notes, *notes, *design_notes),
    )


def _with_design(data: Dataset, labels: Labels, matched: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the samples with the sampling design of the labeled rows; several draws get one inclusion probability."""
    named = [c for c in DESIGN if c in labels.keys.columns]
    if not named:
        return data.samples, []
    drawn = matched.select(ROW, *KEY).join(labels.keys.select(ROW, *named), on=ROW).unique(KEY, maintain_order=True)
    if PROBABILITY not in named:
        samples = data.samples.drop(named, strict=False).join(
            drawn.drop(ROW), on=KEY, how="left", maintain_order="left"
        )
        return samples, [f"sampling design of the labeled rows: {', '.join(named)}"]
    unlabeled = labels.keys.filter(pl.col(PROBABILITY).is_not_null()).join(labels.rows, on=ROW, how="anti").height
    rows = len(data) - data.samples.filter(pl.col("system").is_in(sorted(data.human_systems))).height
    each = drawn[PROBABILITY].cast(pl.Float64, strict=False)
    rounds = drawn[ROUND].cast(pl.Int64, strict=False) if ROUND in named else pl.Series([1] * drawn.height)
    notes = []
    if unlabeled:
        notes.append(
            f"rows drawn for labeling, but without a label: {unlabeled:,} of {labels.keys[PROBABILITY].count():,}; "
            "the labeled ones are treated as a random subset"
        )
    if unknown := each.null_count():
        notes.append(
            f"labels without {PROBABILITY}: {unknown:,} of {rows:,} outputs, treated as a random draw before the others"
        )
    probability = each.fill_null(unknown / rows).to_numpy()
    order = rounds.fill_null(0).to_numpy()
    if len(set(order.tolist())) > 1:
        probability = combined_probability(probability, order)
        notes.append(f"labels of {len(set(order.tolist()))} draws: {PROBABILITY} combines all draws")
    design = [drawn.select(KEY), pl.DataFrame({PROBABILITY: probability, ROUND: rounds})]
    samples = data.samples.drop(DESIGN, strict=False)
    samples = samples.join(pl.concat(design, how="horizontal"), on=KEY, how="left", maintain_order="left")
    if STRATUM in named and (drawn[STRATUM] == drawn["system"]).fill_null(False).all():  # so unlabeled rows have one
        samples = samples.with_columns(pl.col("system").alias(STRATUM))
    columns = ", ".join(c for c in samples.columns if c in DESIGN)
    return samples, [f"sampling design of the labeled rows: {columns}", *notes]


def _without_conflicts(data: Dataset, labels: Labels, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return ratings with one value per output, aspect and annotator: repeated labels count once, conflicts are
    dropped.
    """
    own = data.ratings.with_columns(pl.lit(-1, pl.Int64).alias(ROW))
    every = pl.concat([own.select(ROW, *Dataset.RATINGS), rows.select(ROW, *Dataset.RATINGS)])
    who = [*KEY, "aspect", "rater"]
    groups = every.group_by(who, maintain_order=True).agg(
        pl.col("value").first(), pl.len().alias("times"), pl.col("value").unique(maintain_order=True).alias("values")
    )
    conflict = groups.filter(pl.col("values").list.len() > 1)
    repeated = groups.filter((pl.col("values").list.len() == 1) & (pl.col("times") > 1))
    notes = []
    if repeated.height:
        n = int((repeated["times"] - 1).sum())
        notes.append(f"repeated labels, counted once: {n:,} ({_examples(repeated['input'].to_list())})")
    if conflict.height:
        shown = _examples(
            [f"{i} ({' and '.join(f'{v:g}' for v in vs)})" for i, vs in conflict.select("input", "values").iter_rows()]
        )
        unnamed = bool(labels.rows["rater"].null_count())
        fix = f"; if they are from several annotators: {option('rater')}" if unnamed else ""
        notes.append(f"outputs with conflicting labels, left out: {conflict.height:,} ({shown}){fix}")
    ratings = groups.filter(pl.col("values").list.len() == 1).select(list(Dataset.RATINGS))
    if ratings.is_empty():
        raise DataError(f"{labels.source}: no labels left: {notes[-1]}.")
    return ratings, notes


# --- matching rows with outputs ---------------------------------------------------------------------------------------


def _system_column(data: Dataset, labels: Labels) -> str | None:
    """Return the system column of the labels, if the data have systems with these names."""
    if labels.system is None:
        return None
    label_systems = labels.keys[labels.system].drop_nulls().unique(maintain_order=True).to_list()
    if set(label_systems) & set(data.systems):
        return labels.system
    if data.systems == UNNAMED and len(label_systems) == 1:
        return None
    systems = (
        f"has no system column (name it with {option('system')})"
        if data.systems == UNNAMED
        else f"has {listed(data.systems, MAX_EXAMPLES)}"
    )
    raise DataError(
        f"{labels.source}: the systems in column '{labels.system}' ({listed(label_systems, MAX_EXAMPLES)}) do not "
        f"match {data.name}, which {systems}."
    )


def _joining_columns(data: Dataset, labels: Labels, ids: bool, system: str | None) -> tuple[str, str]:
    """Return the columns of the labels and of the outputs whose values match.

    IDs are tried first, then other short columns, then texts.
    """
    for pairs in _pairs(data, labels, ids, system):
        matches = [(_matches(labels, column, _ids(data, other)), column, other) for column, other in pairs]
        best = max(matches, key=lambda match: match[0], default=(0, "", ""))
        if best[0]:
            return best[1], best[2]
    raise DataError(_no_match(data, labels, ids))


def _no_match(data: Dataset, labels: Labels, ids: bool) -> str:
    first_input = f"'{data.samples['input'][0]}' (first input)" if ids else "only row numbers, no column with IDs"
    rated = labels.keys.join(labels.rows, on=ROW, how="semi", maintain_order="left")
    likely = labels.input or next((c for c in rated.columns if c != ROW and is_short(rated[c])), rated.columns[-1])
    shown = f"'{next(iter(rated[likely].drop_nulls()), '')}' (column '{likely}')"
    return (
        f"{labels.source}: no label matches an output of {data.name}. The labels have {shown}, the outputs have "
        f"{first_input}; give the column of IDs the same name in both files and name it with {option('input')}."
    )


def _pairs(data: Dataset, labels: Labels, ids: bool, system: str | None) -> Iterator[list[tuple[str, str]]]:
    """Yield the pairs (column of the labels, column of the outputs) to try, the most likely ones first."""
    unique = ["system"] if system else []
    short = [
        c
        for c, kind in data.samples.schema.items()
        if c not in (*KEY, "output", "source", "context", "control", TRIAL_OF)
        and not kind.is_nested()
        and not kind.is_float()
        and is_short(data.samples[c])
        and data.samples.select(*unique, c).is_unique().all()
    ]
    if labels.input is not None:
        if ids:
            yield [(labels.input, "input")]
        yield [(labels.input, c) for c in short]
    others = [
        c
        for c in labels.keys.columns
        if c not in (ROW, labels.input, labels.system, *labels.texts.values()) and is_short(labels.keys[c])
    ]
    yield [(column, other) for column in others for other in short if plain(column) == plain(other)]
    if ids:
        yield [(c, "input") for c in others if labels.keys[c].n_unique() > 1]
    yield [
        (column, role)
        for role, column in labels.texts.items()
        if role in data.samples.columns and data.samples.select(*unique, role).drop_nulls().is_unique().all()
    ]


def _flat(frame: pl.DataFrame) -> list[str]:
    """Return the columns that are not nested."""
    return [c for c, kind in frame.schema.items() if not kind.is_nested()]


def _matches(labels: Labels, column: str, ids: Sequence[pl.Series]) -> int:
    rated = labels.keys.join(labels.rows.select(ROW).unique(), on=ROW, how="semi")
    return int(rated[column].is_in(pl.concat(ids).drop_nulls().unique().to_list()).sum())


def _matched(
    data: Dataset, labels: Labels, label_column: str, data_column: str, system: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the IDs of all rows with labels, and the output that matches each row; a label must not match several
    outputs.
    """
    parts = {
        column: other
        for column in labels.keys.columns
        for other in _flat(data.samples)
        if plain(column) == plain(other) and plain(other) in PARTS and label_column != column
    }
    samples = data.samples.select(KEY).with_columns(
        *(name_text(data.samples[part]).alias(f"__{part}__") for part in parts.values())
    )
    samples = pl.concat([samples.with_columns(ids.alias("__id__")) for ids in _ids(data, data_column)]).unique(
        maintain_order=True
    )
    keys = labels.keys.select(
        ROW,
        pl.col(label_column).alias("__id__"),
        *([pl.col(system).alias("system")] if system else []),
        *(pl.col(column).alias(f"__{part}__") for column, part in parts.items()),
    )
    keys = keys.join(labels.rows.select(ROW).unique(), on=ROW, how="semi", maintain_order="left")
    on = ["__id__", *(["system"] if system else [])]
    for by in (on, [*on, *(f"__{part}__" for part in parts.values())]):
        matched = keys.join(samples, on=by, how="inner", maintain_order="left_right").select(ROW, "__id__", *KEY)
        if (ambiguous := matched.filter(pl.col(ROW).is_duplicated())).is_empty():
            return keys, matched
    first = ambiguous.filter(pl.col(ROW) == ambiguous[ROW][0])
    several = first["system"].n_unique() > 1
    names = listed(first["system" if several else "input"].to_list(), MAX_EXAMPLES)
    raise DataError(
        f"{labels.source}: '{first['__id__'][0]}' has outputs of several systems in {data.name} ({names}), but the "
        f"labels have no system column. Add it, or name it with {option('system')}."
        if several
        else f"{labels.source}: '{first['__id__'][0]}' has several outputs in {data.name} ({names}). Use these names "
        "as IDs in the labels, or add the column that distinguishes them "
        f"({', '.join(c for c in data.samples.columns if plain(c) in PARTS) or 'an ID'})."
    )


def _ids(data: Dataset, column: str) -> list[pl.Series]:
    """Return the possible names of each output: its own, and the base name without task or trial ('qa: 7', '7 #2')."""
    names = name_text(data.samples[column])
    if column != "input":
        return [names]
    bare = base_inputs(data.samples)
    for part in (c for c in _flat(data.samples) if plain(c) in SETS):
        prefix = data.samples[part].cast(pl.String).fill_null("") + ": "
        frame = pl.DataFrame({"name": bare, "prefix": prefix})
        bare = frame.select(pl.col("name").str.strip_prefix(pl.col("prefix"))).to_series()
    return [names, bare]


# --- roles of the columns of a table of labels ------------------------------------------------------------------------


def _with_all_human(table: RawTable, roles: Roles, metrics: Collection[str]) -> Roles:
    """Return roles in which every column with values is human, except scores that the data already have and scores of
    models.
    """
    human, notes = dict(roles.human), []
    answers = [
        c
        for c in roles.aside
        if (parsed := parse_column(table, c)) is not None and parsed.answers and not ASIDE.match(c)
    ]
    for name, column in [*roles.metrics.items(), *zip(answers, answers, strict=True)]:
        if column in metrics or is_model(column):
            reason = "is a metric of the outputs" if column in metrics else "has the name of a model"
            notes.append(f"'{column}' {reason}, so it is not read as a label (if it is one: {option('human', column)})")
        else:
            human[name] = ((None, column),)
    human = {name: pairs for name, pairs in human.items() if not {column for _, column in pairs} & set(DESIGN)}
    aside = [c for c in roles.aside if c not in answers]
    why = {**roles.why, **{c: "in a file of labels" for pairs in human.values() for _, c in pairs}}
    guesses = [g for g in roles.guesses if code_of(g) != "read_as_human"]
    return replace(roles, human=human, metrics={}, aside=tuple(aside), why=why, guesses=(*guesses, *notes))


def _no_labels(table: RawTable, roles: Roles) -> str:
    columns = table.frame.columns
    words = [(c, values) for c in roles.aside if len(values := few_words(table.frame[c], recur=False)) > 1]
    fixes = "; ".join(
        f"to read '{c}' ({listed(values)}), map it to numbers with {option('values', values_to_fill(values))}"
        for c, values in words[:3]
    )
    return (
        f"{table.where.source}: no column with labels found{f' ({fixes})' if fixes else ''}. Columns: "
        f"{listed(columns)}."
    )


def _examples(names: Sequence[str]) -> str:
    return ", ".join(str(n) for n in names[:MAX_EXAMPLES]) + (", …" if len(names) > MAX_EXAMPLES else "")
