"""System and input of every row of a table, and what to declare if they cannot be inferred."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from nlgauge.data.names import changed_names, common_forms
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.pairs import find_pair
from nlgauge.data.tables.rating_columns import NAMED
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import is_label, is_short
from nlgauge.data.tables.vocabulary import ANSWERED, NAMES, listed, names_trial, plain, quoted
from nlgauge.data.units import has_unique_keys
from nlgauge.digests import digest
from nlgauge.errors import DataError, Note, code_of
from nlgauge.options import option


def systems(table: RawTable, roles: Roles, notes: list[str]) -> pl.Series:
    """Return the system of each row; without a system column, all rows are of one system."""
    if roles.system is not None:
        return label(table, roles.system).alias("system")
    single = roles.input is not None and _counts_rows(table, roles.input)  # then no column is needed
    likely = None if single else likely_system(table, roles)
    hint = f" (if '{likely}' is the system: {option('system', likely)})" if likely else ""
    notes.append(f"no system column: all rows are one system{hint}")
    return pl.Series("system", ["system"] * table.frame.height)


def inputs(table: RawTable, roles: Roles, notes: list[str]) -> pl.Series:
    """Return the input of each row, from its column, from the source texts, or by counting."""
    several = roles.system is not None and table.frame[roles.system].n_unique() > 1
    column, given = roles.input, roles.source or roles.context
    if column is not None:
        names = label(table, column)
    elif given is not None and table.frame[given].dtype in (pl.String, pl.List(pl.String)):
        notes.append(f"no input column: outputs with the same '{given}' are of one input")
        names = _one_text(table.frame[given]).map_elements(_short, return_dtype=pl.String)
    elif not several and not (roles.rater and _likely_input(table, roles)):
        names = pl.Series([str(i) for i in range(table.frame.height)])
        notes.append("no input column: each row is a separate input")
    elif roles.human and roles.metrics and not roles.rater and _counts_rows(table, roles.system or ""):
        names = pl.Series(["all"] * table.frame.height)
        notes.append(
            "no input column and one row per system: the values are read as system means, which only allow "
            "system-level agreement; provide one row per output for more"
        )
    else:
        likely = _likely_input(table, roles)
        hint = f"if it is '{likely}': {option('input', likely)}" if likely else f"name it with {option('input')}"
        what = "systems" if several else "annotators"
        raise DataError(
            f"{table.where.at()}: no input column found, but there are several {what}; {hint}. "
            f"Columns: {listed(table.frame.columns)}."
        )
    for name in roles.sets:
        if table.frame[name].n_unique() > 1:
            names = table.frame[name].cast(pl.String).fill_null("") + ": " + names
            each = option("by", name)
            notes.append(f"several data sets in column '{name}'; inputs are named 'set: input' ({each} separates them)")
    return names.alias("input")


def with_input(table: RawTable, roles: Roles) -> Roles:
    """Replace an inferred input column that numbers the rows, or that has several rows per system (documents)."""
    column = roles.input
    if column is None and roles.source is None and roles.context is None:
        return _input_of_trials(table, roles)
    several = roles.system is not None and table.frame[roles.system].n_unique() > 1
    if not several or column is None or code_of(roles.why.get(column, "")) != "named":
        return roles
    now: str | None
    others = [c for c in roles.aside if plain(c) in NAMES["input"] and not _counts_rows(table, c)]
    source = roles.source or roles.context
    if not _counts_rows(table, column):
        finer = [] if roles.aspect or roles.metric else [c for c in others if _is_unique_input(table, roles, c)]
        if not finer or _is_unique_input(table, roles, column):
            return roles
        now, reason = finer[0], "has several rows per system"
    elif others or (source is not None and not _counts_rows(table, source)):
        now, reason = others[0] if others else None, Note("numbers the rows", "row_number")
    else:
        return roles
    guess = f"'{column}' {reason}, so '{now or source}' is used as the input; if not: {option('input', column)}"
    aside = tuple(c for c in table.frame.columns if c == column or (c in roles.aside and c != now))
    why = {**roles.why, column: reason, **({now: NAMED} if now else {})}
    return replace(roles, input=now, aside=aside, why=why, guesses=(*roles.guesses, guess))


def _input_of_trials(table: RawTable, roles: Roles) -> Roles:
    """Infer the input from a column that numbers trials: together they identify the rows."""
    called = [c for c in roles.aside if names_trial(c) and 1 < table.frame[c].n_unique() < table.frame.height]
    if not called:
        return roles
    trial = called[0]
    others = [trial, *(c for c in (roles.system, roles.rater, *roles.sets) if c is not None)]
    now = _likely(table, [c for c in roles.aside if c != trial], others, names=False)
    if now is None:
        guess = (
            f"'{trial}' numbers trials, but there is no input column, so rows count as independent; name it with "
            f"{option('input')}"
        )
        return replace(roles, guesses=(*roles.guesses, guess))
    guess = f"'{now}' is used as the input, since '{trial}' numbers its trials; if not: {option('input')}"
    aside = tuple(c for c in roles.aside if c not in (now, trial))
    why = {**roles.why, now: f"identifies the rows together with '{trial}'", trial: f"numbers the trials of '{now}'"}
    return replace(
        roles, input=now, trials=(*roles.trials, trial), aside=aside, why=why, guesses=(*roles.guesses, guess)
    )


def _is_unique_input(table: RawTable, roles: Roles, column: str) -> bool:
    """Return whether each system and annotator have one row per value of the column."""
    keys = [c for c in (roles.system, column, roles.rater, *roles.sets, *roles.trials) if c is not None]
    return has_unique_keys(table.frame, keys)


def _counts_rows(table: RawTable, column: str) -> bool:
    series = table.frame[column]
    return not series.dtype.is_nested() and series.n_unique() == table.frame.height


def shared(frame: pl.DataFrame, table: RawTable, roles: Roles) -> list[str]:
    """Return a note if there are several systems and no two of them have an input in common."""
    if frame["system"].n_unique() < 2 or frame.height < 4:
        return []
    if frame.select("system", "input").hash_rows().n_unique() > frame["input"].n_unique():
        return []  # more distinct hashes than inputs are proof; otherwise the rows are counted below
    each = frame.group_by("input").agg(pl.col("system").n_unique())["system"]
    if each.max() != 1:
        return []
    likely = _likely_input(table, roles)
    hint = f"; if '{likely}' is the input: {option('input', likely)}" if likely else f"; name it with {option('input')}"
    return [Note(f"no two systems share an input ('{roles.input or 'none'}'){hint}", "no_shared_input")]


def label(table: RawTable, column: str, needed: pl.Series | None = None) -> pl.Series:
    """Return the column as names; every row must have one, or those that are `needed`."""
    series = table.frame[column]
    if series.dtype.is_nested():
        raise DataError(f"{table.where.at(None, column)}: found lists, expected a name.")
    text = name_text(series)
    missing = (text.is_null() if needed is None else text.is_null() & needed).arg_true()
    if len(missing):
        raise DataError(f"{table.where.at(missing[0], column)}: is empty, expected a name.")
    return text


def name_text(series: pl.Series) -> pl.Series:
    """Return values as normalized names: 3.0 is '3', names are stripped, empty names are null."""
    if series.dtype.is_float() and ((series == series.round()) & (series.abs() < 2**53)).all():
        series = series.cast(pl.Int64)
    return common_forms(series.cast(pl.String))


def read_names(table: RawTable, roles: Roles) -> None:
    """Normalize the columns of names, with a note on what changed."""
    columns = (roles.system, roles.input, roles.rater, roles.aspect, roles.metric, *roles.sets)
    for column in dict.fromkeys(c for c in columns if c is not None and table.frame.schema.get(c) == pl.String):
        if changed := changed_names(table.frame[column], column):
            table.notes += changed
            table.frame = table.frame.with_columns(common_forms(table.frame[column]).alias(column))


def _one_text(series: pl.Series) -> pl.Series:
    """Return the texts of a column; the turns of a conversation are joined."""
    text = series if series.dtype == pl.String else series.list.eval(pl.element().fill_null("")).list.join("\n")
    return text.fill_null("")


def _short(text: str) -> str:
    """Return a text as a key: the text itself if it is short, otherwise its beginning and a hash."""
    if len(text) <= 80:
        return text
    return f"{text[:60]}… {digest(text, 4).hex()}"


# --- suggestions ------------------------------------------------------------------------------------------------------


def likely_system(table: RawTable, roles: Roles) -> str | None:
    """Return the column of few names that identifies rows together with the input and leaves the fewest cells empty."""
    others = [c for c in (roles.input, roles.rater, roles.aspect, roles.metric, *roles.trials) if c is not None]
    columns = [*roles.aside, *roles.sets]
    if roles.input is None:  # a column with distinct values names the row
        columns = [c for c in columns if not _counts_rows(table, c)]
    return _likely(table, columns, others, names=True)


def _likely_input(table: RawTable, roles: Roles) -> str | None:
    others = [c for c in (roles.system, roles.rater, roles.aspect, roles.metric, *roles.sets) if c is not None]
    text_columns = [c for c in (roles.source, roles.context) if c is not None]
    return _likely(table, [*text_columns, *roles.aside], others, names=False)


def _likely(table: RawTable, columns: list[str], others: list[str], names: bool) -> str | None:
    frame, best = table.frame, (0, "")
    for column in columns[:200]:
        series = frame[column]
        if (
            plain(column) in ANSWERED
            or series.dtype.is_nested()
            or series.dtype.is_float()
            or series.dtype == pl.Boolean
            or series.null_count()
        ):
            continue
        distinct = series.n_unique()
        # Without a known input, names must recur.
        if not 2 <= distinct <= (frame.height if names and others else frame.height - 1):
            continue
        if names and not (is_label(series) or (others and is_short(series))):
            continue
        if others and not frame.select([column, *others]).is_unique().all():
            continue
        if names and not series.cast(pl.String).str.contains(r"\p{L}").any():
            continue  # plain numbers are not names of systems
        cells = distinct * (frame[others[0]].n_unique() if others else 1)
        score = (cells if others else distinct, column)
        if not best[1] or score[0] < best[0]:
            best = score
    return best[1] or None


def ambiguous(table: RawTable, roles: Roles, frame: pl.DataFrame) -> str | None:
    """Return why rows cannot be read without a system column, if an input is in several of them."""
    if roles.system is not None:
        return None
    two = find_pair(table.frame.columns).systems
    if two and all(table.frame[c].dtype == pl.String for c in two):
        return (
            f"{table.where.at()}: two systems per row ({quoted(two)}), but no column with the preference. Add a column "
            f"winner with the values {quoted(two)} and tie, or write one row per output with a column system. "
            f"Columns: {listed(table.frame.columns)}."
        )
    keys = ["input", *({"rater": roles.rater} if roles.rater else {}), *roles.trials]
    rows = frame.select("input").with_columns(
        *([table.frame[roles.rater].cast(pl.String).alias("rater")] if roles.rater else []),
        *(table.frame[c] for c in roles.trials),
    )
    if rows.select(keys).is_unique().all():
        return None
    places = rows.with_row_index("row").group_by(keys, maintain_order=True).agg(pl.col("row"))
    first = places.filter(pl.col("row").list.len() > 1).row(0, named=True)
    one, two = first["row"][0], first["row"][1]
    if table.frame.drop([c for c in table.frame.columns if c == roles.input])[[one, two]].is_duplicated().all():
        return None  # the same row twice
    likely = likely_system(table, roles)
    if likely is None and roles.output and frame.select("input", "output").is_unique().all():
        return None  # several outputs of one system for an input: no other column can be the system
    hint = f"if it is '{likely}': {option('system', likely)}" if likely else f"name it with {option('system')}"
    return (
        f"{table.where.at(two)}: no system column found, and input '{first['input']}' is already in {table.where.word} "
        f"{table.where.line_of(one)}; {hint}. If one system made all outputs: {option('repeats', 'number')}. "
        f"Columns: {listed(table.frame.columns)}."
    )
