"""People's labels in another file than the outputs: joined by id; what matches nothing, repeats or conflicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, ROW, Dataset
from nlgauge.data.provenance import is_model
from nlgauge.data.tables.build import build
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.keys import name_text
from nlgauge.data.tables.raw import RawTable, Where
from nlgauge.data.tables.understanding import lines
from nlgauge.data.tables.values import LABEL, few_words, open_worth, parse_column
from nlgauge.data.tables.vocabulary import ASIDE, SETS, TRIALS, listed, plain
from nlgauge.data.units import TRIAL_OF, base_inputs
from nlgauge.errors import DataError, Note, code_of
from nlgauge.options import option
from nlgauge.stats.design.label_sampling import combined_probability

SHOWN = 5  # examples in a line
MADE_SYSTEM, MADE_INPUT = "__label_system__", "__label_row__"
# Columns that tell outputs of one id apart.
PARTS = (*SETS, *sorted(TRIALS), "turn")
# How a labelled row was drawn, as `nlgauge label` writes it.
PROBABILITY, STRATUM, ROUND = DRAWN = ("label_probability", "label_stratum", "label_round")
# The columns of the explorer's file of labels, to which rows are only added: an empty label takes one back.
LOG_COLUMNS = ("system", "input", "label", "annotator", "labeled_at")
UNNAMED = ["system"]  # the systems of a table without a system column


@dataclass(frozen=True)
class Labels:
    """What people said, and the columns of their file that may tell of which output.

    rows: row, aspect, rater, value. keys: row and every column that may be an id, as text.
    """

    source: str
    rows: pl.DataFrame
    keys: pl.DataFrame
    system: str | None
    input: str | None
    texts: dict[str, str]  # output and source → column, where there are such
    persons: bool
    notes: Sequence[str]


def joined_labels(files: Sequence[Dataset | RawTable]) -> Dataset | RawTable:
    """Labels of several files of one kind, one below the other: those of a first and a second draw."""
    if len(files) == 1:
        return files[0]
    datasets = [f for f in files if isinstance(f, Dataset)]
    tables = [f for f in files if isinstance(f, RawTable)]
    if datasets and tables:
        raise DataError(
            f"{option('labels')}: {datasets[0].name} is an export of a tool and {tables[0].where.source} a "
            "plain table; give "
            "files of one kind."
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
    """Return the labels that hold in a log of them: the last row of each output and annotator, unless it is empty."""
    if tuple(table.frame.columns) != LOG_COLUMNS:
        return table
    system, given_input, label, annotator, _ = (pl.col(c).cast(pl.String).fill_null("") for c in LOG_COLUMNS)
    rows = table.frame.with_columns(system, given_input, label, annotator).with_row_index(ROW)
    rows = rows.unique(["system", "input", "annotator"], keep="last", maintain_order=True).filter(pl.col("label") != "")
    places, where = rows[ROW].to_list(), table.where
    named = rows["annotator"] != ""
    left_out = ["labeled_at", *([] if named.any() else ["annotator"])]
    unnamed = pl.when(named).then("annotator").otherwise(pl.lit("(unnamed)")).alias("annotator")
    taken_back = table.frame.height - len(places)
    return replace(
        table,
        frame=rows.with_columns(unnamed).drop(ROW, *left_out),
        where=Where(where.source, where.word, lambda row: where.line_of(places[row])),
        notes=[
            *table.notes,
            *([f"rows replaced by a later label, or taken back: {taken_back:,}"] if taken_back else []),
        ],
    )


def labels_of_table(table: RawTable, roles: Roles, metrics: Collection[str], chosen: bool = False) -> Labels:
    """The labels of a plain table. Each column with values is people's, but for those that the data have as `metrics`.

    `chosen`: the user named the columns with labels.
    """
    roles = replace(roles, metrics={}) if chosen else _all_of_people(table, roles, metrics)
    roles = replace(roles, aside=tuple(c for c in roles.aside if c not in DRAWN))  # they are used, by `_with_design`
    made = table.frame.with_columns(pl.lit("labels").alias(MADE_SYSTEM), pl.int_range(pl.len()).alias(MADE_INPUT))
    keyed = replace(roles, system=MADE_SYSTEM, input=MADE_INPUT, output=None, source=None, context=None)
    keyed = replace(keyed, sets=(), trials=(), aside=())
    built = build(replace(table, frame=made), keyed, table.where.source)
    if built.ratings.is_empty():
        raise DataError(_no_labels(table, roles))
    rows = built.ratings.select(pl.col("input").cast(pl.Int64).alias(ROW), "aspect", "rater", "value")
    texts = {role: c for role in ("output", "source") if (c := getattr(roles, role)) is not None}
    flat = _flat(table.frame)
    keys = pl.DataFrame([pl.Series(ROW, range(table.frame.height)), *(name_text(table.frame[c]) for c in flat)])
    notes = [line for line in (*lines(table, roles), *built.notes) if code_of(line) != "roles"]
    return Labels(table.where.source, rows, keys, roles.system, roles.input, texts, built.persons, notes)


def labels_of_dataset(data: Dataset) -> Labels:
    """The ratings of a Dataset, as a reader of annotation tools makes it, as labels of other outputs."""
    if data.ratings.is_empty():
        data.aspect()  # says why there are none
    flat = _flat(data.samples)
    keys = pl.DataFrame([pl.Series(ROW, range(len(data))), *(name_text(data.samples[c]) for c in flat)])
    rows = data.ratings.join(keys.select(ROW, *KEY), on=KEY, how="left", maintain_order="left")
    system = None if data.systems == UNNAMED else "system"
    texts: dict[str, str] = {role: role for role in ("output", "source") if role in flat}
    notes = [note for note in data.notes if code_of(note) != "no_shared_input"]
    return Labels(
        data.name, rows.select(ROW, "aspect", "rater", "value"), keys, system, "input", texts, data.persons, notes
    )


def with_labels(data: Dataset, labels: Labels, ids: bool = True) -> Dataset:
    """The data with people's labels as ratings. `ids`: the inputs' names come from the data and are no row numbers."""
    system = _system_column(data, labels)
    column, mine = _joining_columns(data, labels, ids, system)
    keys, found = _matched(data, labels, column, mine, system)
    if found.is_empty():  # the ids are there, of other systems
        raise DataError(_no_match(data, labels, ids))
    rows = labels.rows.join(found.select(ROW, *KEY), on=ROW, how="inner", maintain_order="left")
    ratings, said = _settled(data, labels, rows)
    lost = keys.join(found, on=ROW, how="anti", maintain_order="left")
    by = f"'{column}'" + ("" if mine == "input" else f", which is '{mine}' of the outputs")
    notes = [
        Note(
            f"labels of people from {Path(labels.source).name}: "
            f"{listed(labels.rows['aspect'].unique(maintain_order=True).to_list())}, {found.height:,} rows joined by "
            f"{by}{f' and system ({system!r})' if system else ''}",
            "joined",
        ),
        *(f"labels: {note}" for note in labels.notes),
        *said,
    ]
    if lost.height:
        examples = _examples(lost["__id__"].fill_null("(empty)").to_list())
        notes.append(
            Note(
                f"labels that match no output, left out: {lost.height:,} of the rows of {Path(labels.source).name} "
                f"({examples})",
                "joined",
            )
        )
    samples, drawn = _with_design(data, labels, found)
    return replace(
        data,
        samples=samples,
        ratings=ratings,
        persons=data.persons or labels.persons,
        notes=(*data.notes, *notes, *drawn),
    )


def _with_design(data: Dataset, labels: Labels, found: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The samples with the columns that say how the labelled rows were drawn; several draws get one probability."""
    named = [c for c in DRAWN if c in labels.keys.columns]
    if not named:
        return data.samples, []
    drawn = found.select(ROW, *KEY).join(labels.keys.select(ROW, *named), on=ROW).unique(KEY, maintain_order=True)
    if PROBABILITY not in named:
        samples = data.samples.drop(named, strict=False).join(
            drawn.drop(ROW), on=KEY, how="left", maintain_order="left"
        )
        return samples, [f"how the labelled rows were drawn: {', '.join(named)}"]
    silent = labels.keys.filter(pl.col(PROBABILITY).is_not_null()).join(labels.rows, on=ROW, how="anti").height
    rows = len(data) - data.samples.filter(pl.col("system").is_in(sorted(data.people))).height
    each = drawn[PROBABILITY].cast(pl.Float64, strict=False)
    rounds = drawn[ROUND].cast(pl.Int64, strict=False) if ROUND in named else pl.Series([1] * drawn.height)
    notes = []
    if silent:
        notes.append(
            f"drawn to be labelled, but without a label: {silent:,} of {labels.keys[PROBABILITY].count():,} rows; the "
            "others are taken for a random part of them"
        )
    if unknown := each.null_count():
        notes.append(
            f"labels without {PROBABILITY} are taken as drawn at random before the others: {unknown:,} of {rows:,} "
            "outputs"
        )
    probability = each.fill_null(unknown / rows).to_numpy()
    order = rounds.fill_null(0).to_numpy()
    if len(set(order.tolist())) > 1:
        probability = combined_probability(probability, order)
        notes.append(f"labels of {len(set(order.tolist()))} draws: {PROBABILITY} is that of all draws together")
    design = [drawn.select(KEY), pl.DataFrame({PROBABILITY: probability, ROUND: rounds})]
    samples = data.samples.drop(DRAWN, strict=False)
    samples = samples.join(pl.concat(design, how="horizontal"), on=KEY, how="left", maintain_order="left")
    if STRATUM in named and (drawn[STRATUM] == drawn["system"]).fill_null(False).all():  # known of the other rows, too
        samples = samples.with_columns(pl.col("system").alias(STRATUM))
    return samples, [f"how the labelled rows were drawn: {', '.join(c for c in samples.columns if c in DRAWN)}", *notes]


def _settled(data: Dataset, labels: Labels, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Ratings with one value per output, aspect and rater; what repeats counts once, what conflicts is left out."""
    own = data.ratings.with_columns(pl.lit(-1, pl.Int64).alias(ROW))
    every = pl.concat([own.select(ROW, *Dataset.RATINGS), rows.select(ROW, *Dataset.RATINGS)])
    who = [*KEY, "aspect", "rater"]
    groups = every.group_by(who, maintain_order=True).agg(
        pl.col("value").first(), pl.len().alias("times"), pl.col("value").unique(maintain_order=True).alias("values")
    )
    conflict = groups.filter(pl.col("values").list.len() > 1)
    again = groups.filter((pl.col("values").list.len() == 1) & (pl.col("times") > 1))
    notes = []
    if again.height:
        n = int((again["times"] - 1).sum())
        shown = _examples(again["input"].to_list())
        notes.append(f"labels that repeat another, counted once: {n:,} ({shown})")
    if conflict.height:
        shown = _examples(
            [f"{i} ({' and '.join(f'{v:g}' for v in vs)})" for i, vs in conflict.select("input", "values").iter_rows()]
        )
        named = bool(labels.rows["rater"].null_count()) and f"; several people? {option('rater')} names their column"
        notes.append(f"outputs with labels that conflict, left out: {conflict.height:,} ({shown}){named or ''}")
    kept = groups.filter(pl.col("values").list.len() == 1).select(list(Dataset.RATINGS))
    if kept.is_empty():
        raise DataError(f"{labels.source}: no label is left. {notes[-1]}.")
    return kept, notes


# --- which rows are of which output -----------------------------------------------------------------------------------


def _system_column(data: Dataset, labels: Labels) -> str | None:
    """The labels' system column, where the data have systems of these names."""
    if labels.system is None:
        return None
    theirs = labels.keys[labels.system].drop_nulls().unique(maintain_order=True).to_list()
    if set(theirs) & set(data.systems):
        return labels.system
    if data.systems == UNNAMED and len(theirs) == 1:
        return None
    ours = (
        f"has no system column ({option('system')} names it)"
        if data.systems == UNNAMED
        else f"has {listed(data.systems, SHOWN)}"
    )
    raise DataError(
        f"{labels.source}: its systems ({listed(theirs, SHOWN)}, in column '{labels.system}') are none of "
        f"{data.name}, which {ours}."
    )


def _joining_columns(data: Dataset, labels: Labels, ids: bool, system: str | None) -> tuple[str, str]:
    """The column of the labels and that of the outputs whose values match: ids before other columns before texts."""
    for pairs in _pairs(data, labels, ids, system):
        matched = [(_matches(labels, theirs, _ids(data, ours)), theirs, ours) for theirs, ours in pairs]
        best = max(matched, key=lambda found: found[0], default=(0, "", ""))
        if best[0]:
            return best[1], best[2]
    raise DataError(_no_match(data, labels, ids))


def _no_match(data: Dataset, labels: Labels, ids: bool) -> str:
    ours = (
        f"'{data.samples['input'][0]}' (its first input)" if ids else "row numbers only: no column with ids was found"
    )
    rated = labels.keys.join(labels.rows, on=ROW, how="semi", maintain_order="left")
    likely = labels.input or next((c for c in rated.columns if c != ROW and _is_short(rated[c])), rated.columns[-1])
    shown = f"'{next(iter(rated[likely].drop_nulls()), '')}' (column '{likely}')"
    return (
        f"{labels.source}: no label matches an output of {data.name}. The labels have {shown}, the outputs {ours}; "
        f"{option('input')} names the column with the ids, under one name in both files."
    )


def _pairs(data: Dataset, labels: Labels, ids: bool, system: str | None) -> Iterator[list[tuple[str, str]]]:
    """Pairs (column of the labels, column of the outputs) to try, the likely ones first."""
    unique = ["system"] if system else []
    short = [
        c
        for c, kind in data.samples.schema.items()
        if c not in (*KEY, "output", "source", "context", "control", TRIAL_OF)
        and not kind.is_nested()
        and not kind.is_float()
        and _is_short(data.samples[c])
        and data.samples.select(*unique, c).is_unique().all()
    ]
    if labels.input is not None:
        if ids:
            yield [(labels.input, "input")]
        yield [(labels.input, c) for c in short]
    others = [
        c
        for c in labels.keys.columns
        if c not in (ROW, labels.input, labels.system, *labels.texts.values()) and _is_short(labels.keys[c])
    ]
    yield [(theirs, ours) for theirs in others for ours in short if plain(theirs) == plain(ours)]
    if ids:
        yield [(c, "input") for c in others if labels.keys[c].n_unique() > 1]
    yield [
        (column, role)
        for role, column in labels.texts.items()
        if role in data.samples.columns and data.samples.select(*unique, role).drop_nulls().is_unique().all()
    ]


def _flat(frame: pl.DataFrame) -> list[str]:
    """Columns that hold no lists."""
    return [c for c, kind in frame.schema.items() if not kind.is_nested()]


def _is_short(series: pl.Series) -> bool:
    longest = series.cast(pl.String, strict=False).str.len_chars().max()
    return isinstance(longest, int) and longest <= LABEL


def _matches(labels: Labels, column: str, ids: Sequence[pl.Series]) -> int:
    rated = labels.keys.join(labels.rows.select(ROW).unique(), on=ROW, how="semi")
    return int(rated[column].is_in(pl.concat(ids).drop_nulls().unique().to_list()).sum())


def _matched(
    data: Dataset, labels: Labels, column: str, mine: str, system: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The ids of all rows with labels, and the output of each row that has one. A label of several is of none."""
    more = {
        theirs: ours
        for theirs in labels.keys.columns
        for ours in _flat(data.samples)
        if plain(theirs) == plain(ours) and plain(ours) in PARTS and column != theirs
    }
    samples = data.samples.select(KEY).with_columns(
        *(name_text(data.samples[ours]).alias(f"__{ours}__") for ours in more.values())
    )
    samples = pl.concat([samples.with_columns(ids.alias("__id__")) for ids in _ids(data, mine)]).unique(
        maintain_order=True
    )
    keys = labels.keys.select(
        ROW,
        pl.col(column).alias("__id__"),
        *([pl.col(system).alias("system")] if system else []),
        *(pl.col(theirs).alias(f"__{ours}__") for theirs, ours in more.items()),
    )
    keys = keys.join(labels.rows.select(ROW).unique(), on=ROW, how="semi", maintain_order="left")
    on = ["__id__", *(["system"] if system else [])]
    for by in (on, [*on, *(f"__{ours}__" for ours in more.values())]):
        found = keys.join(samples, on=by, how="inner", maintain_order="left_right").select(ROW, "__id__", *KEY)
        if (twice := found.filter(pl.col(ROW).is_duplicated())).is_empty():
            return keys, found
    one = twice.filter(pl.col(ROW) == twice[ROW][0])
    several = one["system"].n_unique() > 1
    names = listed(one["system" if several else "input"].to_list(), SHOWN)
    raise DataError(
        f"{labels.source}: '{one['__id__'][0]}' has outputs of several systems in {data.name} ({names}), and the "
        f"labels have no system column; which one is labelled? Add the column, or name it with {option('system')}."
        if several
        else f"{labels.source}: '{one['__id__'][0]}' has several outputs in {data.name} ({names}); which one is "
        "labelled? Write these names, or add the column that tells them apart to the labels "
        f"({', '.join(c for c in data.samples.columns if plain(c) in PARTS) or 'an id'})."
    )


def _ids(data: Dataset, column: str) -> list[pl.Series]:
    """The names that an output may have: its own, and that without what only tells it apart ('qa: 7', '7 #2')."""
    names = name_text(data.samples[column])
    if column != "input":
        return [names]
    bare = base_inputs(data.samples)
    for part in (c for c in _flat(data.samples) if plain(c) in SETS):
        prefix = data.samples[part].cast(pl.String).fill_null("") + ": "
        frame = pl.DataFrame({"name": bare, "prefix": prefix})
        bare = frame.select(pl.col("name").str.strip_prefix(pl.col("prefix"))).to_series()
    return [names, bare]


# --- what the columns of a table of labels are ------------------------------------------------------------------------


def _all_of_people(table: RawTable, roles: Roles, metrics: Collection[str]) -> Roles:
    """Roles in which every column with values is people's; of what is the data's own or a model's a line says so."""
    human, notes = dict(roles.human), []
    answers = [
        c for c in roles.aside if (found := parse_column(table, c)) is not None and found.answers and not ASIDE.match(c)
    ]
    for name, column in [*roles.metrics.items(), *zip(answers, answers, strict=True)]:
        if column in metrics:
            notes.append(
                f"'{column}' is a score of the outputs, so no label ({option('human', column)} where it is one)"
            )
        elif is_model(column):
            notes.append(
                f"'{column}' is a model's by its name, so no label ({option('human', column)} where it is one)"
            )
        else:
            human[name] = ((None, column),)
    human = {name: pairs for name, pairs in human.items() if not {column for _, column in pairs} & set(DRAWN)}
    aside = [c for c in roles.aside if c not in answers]
    why = {**roles.why, **{c: "in a file of labels" for pairs in human.values() for _, c in pairs}}
    guesses = [g for g in roles.guesses if code_of(g) != "read_as_human"]
    return replace(roles, human=human, metrics={}, aside=tuple(aside), why=why, guesses=(*guesses, *notes))


def _no_labels(table: RawTable, roles: Roles) -> str:
    columns = table.frame.columns
    worded = [(c, words) for c in roles.aside if len(words := few_words(table.frame[c], recur=False)) > 1]
    asked = "; ".join(
        f"column '{c}' holds {listed(words)}: {option('values', open_worth(words))}" for c, words in worded[:3]
    )
    return (
        f"{table.where.source}: no column with labels found{f' ({asked})' if asked else ''}. Columns: "
        f"{listed(columns)}."
    )


def _examples(names: Sequence[str]) -> str:
    return ", ".join(str(n) for n in names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
