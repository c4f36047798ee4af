"""Notes on how a plain table was read: inferred roles, parsed values, and columns that are not used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from nlgauge.data.provenance import is_model, tool_of
from nlgauge.data.tables._classes import class_lines
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.rating_columns import called_rating, levels
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import (
    LARGEST,
    Numbers,
    blank_to_null,
    few_words,
    is_number_list,
    parse_column,
    read_numbers,
    values_to_fill,
)
from nlgauge.data.tables.vocabulary import ASPECTS, NAMES, PROGRAMS, plain, quoted
from nlgauge.errors import Note, code_of
from nlgauge.options import option

KEYS = ("system", "input", "output", "rater", "aspect", "rating", "metric", "score")
MAX_NAMES = 8  # in a note
MAX_VERDICT_WORDS = 3
MAX_SCALE_LEVELS = 11  # of a rating, 0 to 10


def lines(table: RawTable, roles: Roles) -> list[str]:
    """Return notes for the summary: inferred roles, how values were read, what is not used."""
    return [
        *table.notes,
        *_found(roles),
        *_read(table, roles),
        *class_lines(table),
        *roles.guesses,
        *(Note(line, "declare") for line in _no_ratings(table, roles)),
        *_unused(table, roles),
    ]


def _found(roles: Roles) -> Iterator[str]:
    inferred = [
        f"{role} = '{column}'"
        for role in KEYS
        if (column := getattr(roles, role)) and plain(column) != role and code_of(roles.why.get(column, "")) == "named"
    ]
    if inferred:
        text = f"inferred from column names: {', '.join(inferred)}"
        yield Note(text, "roles")


def _no_ratings(table: RawTable, roles: Roles) -> Iterator[str]:
    """Yield notes on columns that may be ratings, for tables without recognized ratings."""
    if roles.human or roles.rating or table.nested or roles.labels_external or tool_of(table.frame.columns):
        return
    rated = [c for c in roles.metrics.values() if 1 < len(levels(table, c) or ()) <= MAX_SCALE_LEVELS]
    likely = [c for c in rated if code_of(roles.why.get(c, "")) != "said" and not _of_program(c)]
    if systems := _systems_in_names(table, roles):
        yield (
            f"{quoted(systems)} look like one column per system; write one row per output with columns system and input"
        )
    elif roles.system is None and sum(map(is_model, rated)) > 1 and len(rated) == len(roles.metrics):
        yield (
            f"{quoted(rated)} look like one column per system or per judge. For systems, write one row per output with "
            f"columns system and input; for judges, human ratings are missing ({option('labels')})"
        )
    elif likely:
        several = f" (as annotators of one aspect: {option('human.rating', likely)})" if len(likely) > 1 else ""
        yield (f"no column is named like a rating; if {quoted(likely)} are human: {option('human', likely)}{several}")
    elif words := _of_words(table, roles):
        open_values = values_to_fill(list(dict.fromkeys(word for each in words.values() for word in each)))
        first = next(iter(words))
        yield (
            f"not used: {quoted(list(words))} (labels); if they are human: {option('human', first)} and "
            f"{option('values', open_values)}"
        )


def _of_program(column: str) -> bool:
    """Return whether a name is that of a model or program: `gpt4_score`, `FactCC`, `judge 1`."""
    return is_model(column) or (bool(PROGRAMS.match(plain(column))) and not plain(column).startswith("score"))


def _of_words(table: RawTable, roles: Roles) -> dict[str, list[str]]:
    """Return unused columns with few labels: two or three, or the same labels as another column."""
    named = [c for c in roles.aside if plain(c) not in NAMES["aspect"]]  # names of aspects are not verdicts
    texts = [c for c in named if table.frame[c].dtype == pl.String and parse_column(table, c) is None]
    few = {c: words for c in texts if len(words := few_words(table.frame[c])) > 1}
    if any(map(called_rating, few)):  # noted elsewhere
        return {}
    shared = {c for c in few if sum(set(few[c]) == set(other) for other in few.values()) > 1}
    return {c: words for c, words in few.items() if c in shared or (len(words) <= MAX_VERDICT_WORDS and not shared)}


def _systems_in_names(table: RawTable, roles: Roles) -> list[str]:
    """Return columns such as `t5_coherence`, `bart_coherence`, `t5_bleu`, `bart_bleu` in a table without systems."""
    if roles.system is not None:
        return []
    for cut in (str.partition, str.rpartition):
        for mark in "_ .-":
            parts = [p for c in roles.metrics.values() if (p := cut(c, mark))[1]]
            for system, what in ((0, 2), (2, 0)):
                names, kinds = {p[system] for p in parts}, {p[what] for p in parts}
                rated = {k for k in kinds if plain(k) in ASPECTS}
                if rated and len(names) > 1 and kinds - rated and len(parts) == len(names) * len(kinds):
                    return ["".join(p) for p in parts]
    return []


def with_lists_of_words(table: RawTable) -> RawTable:
    """Return the table with lists of rating words (`["good", "bad"]`) converted to lists of numbers, if their values
    are known.
    """
    for column, kind in table.frame.schema.items():
        if kind != pl.List(pl.String) or not called_rating(column):
            continue
        series = table.frame[column]
        words = series.explode(empty_as_null=True, keep_nulls=True)
        numbers = read_numbers(words, table.worth)
        if numbers is None or numbers.doubt or numbers.wrong is not None:
            continue
        rows = pl.Series("row", range(len(series))).repeat_by(series.list.len().fill_null(0).clip(1)).explode()
        lists = pl.DataFrame({"row": rows, "value": numbers.values}).group_by("row", maintain_order=True).agg("value")
        table = replace(
            table,
            frame=table.frame.with_columns(lists["value"].alias(column)),
            notes=[*table.notes, f"read in '{column}': {numbers.how or 'numbers'}"],
        )
    return table


def used_numbers(roles: Roles) -> list[str]:
    """Return the columns whose numbers become ratings or scores."""
    human_named = [c for pairs in roles.human.values() for _, c in pairs]
    more = [c for c in (roles.rating, roles.score) if c is not None]
    return [*human_named, *more, *roles.metrics.values()]


def _read(table: RawTable, roles: Roles) -> Iterator[str]:
    ways: dict[str, list[str]] = {}
    excluded: dict[str, dict[str, int]] = {"inf": {}, f"beyond {LARGEST:g}": {}}
    for column in used_numbers(roles):
        numbers = parse_column(table, column)
        if numbers is not None and (numbers.how or numbers.missing):
            how = "; ".join(part for part in (numbers.how, numbers.missing) if part)
            ways.setdefault(how, []).append(column)
        if numbers is not None:
            for counts, n in zip(excluded.values(), (numbers.infinite, numbers.large), strict=True):
                counts.update({column: n} if n else {})
    for how, columns in ways.items():
        yield f"read in {quoted(columns)}: {how}"
    for what, counts in excluded.items():
        if n := sum(counts.values()):
            yield f"{n} {'values are' if n > 1 else 'value is'} {what}: left out (in {quoted(list(counts))})"


def _unused(table: RawTable, roles: Roles) -> Iterator[str]:
    """Yield notes on numeric columns that are not used."""
    reasons: dict[str, list[str]] = {}
    for column in roles.aside:
        if reason := unused(table, roles, column):
            reasons.setdefault(reason, []).append(column)
    for reason, columns in sorted(reasons.items(), key=lambda item: code_of(item[0]) != "declare"):
        if columns == [""]:
            yield f"not used: the column without a name ({reason})"
            continue
        more = [f"+{c}" for c in columns[:MAX_NAMES]]
        them = "them" if len(columns) > 1 else "it"
        use = (
            "" if code_of(reason) == "declare" else f"; to use {them}: {option('metrics', more)} (or {option('human')})"
        )
        if code_of(reason) == "answers" and all(table.frame[c].dtype == pl.String for c in columns):
            use += _reverse(parse_column(table, columns[0]))
        yield Note(f"not used: {quoted(columns)} ({reason}){use}", code_of(reason))


def _reverse(numbers: Numbers | None) -> str:
    """Return the option that reverses yes and no; empty for other labels."""
    word_of = {value: word for word, value in numbers.answers.items()} if numbers else {}
    if set(word_of) != {0, 1}:
        return ""
    return f", and {option('values', {word_of[1]: 0, word_of[0]: 1})} if {word_of[1]} is bad"


def rating_words(series: pl.Series) -> list[str]:
    """Return the few different words of a column of texts or of lists of texts."""
    lists = series.dtype == pl.List(pl.String)
    return few_words(series.explode(empty_as_null=True, keep_nulls=True) if lists else series)


def unused(table: RawTable, roles: Roles, column: str) -> str:
    """Return why a numeric column, or one that may be numeric, is not used; empty for texts."""
    series = table.frame[column]
    if code_of(roles.why[column]) == "row_number":  # noted with the input
        return ""
    if is_number_list(series) or parse_column(table, column) is not None:
        return roles.why[column]
    if series.dtype == pl.List(pl.String) and called_rating(column):
        words = rating_words(series)
        return Note(f"lists of labels; map them: {option('values', values_to_fill(words))}", "declare") if words else ""
    if series.dtype != pl.String:
        return ""
    if called_rating(column) and len(words := few_words(series)) > 1:
        return Note(f"labels; map them to numbers with {option('values', values_to_fill(words))}", "declare")
    filled = blank_to_null(series).drop_nulls()
    read = int(filled.cast(pl.Float64, strict=False).is_not_null().sum())
    if len(filled) and 0.2 * len(filled) < read:
        word = filled.filter(filled.cast(pl.Float64, strict=False).is_null())[0]
        return f"{read} of {len(filled)} values are numbers, others are not, such as '{word[:20]}'"
    return ""
