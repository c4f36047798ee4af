"""What was understood of a plain table, and the lines that say so: every guess, and every number that is not used."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import polars as pl

from nlgauge.data.columns import NAMED, Roles
from nlgauge.data.rating_columns import is_aspect
from nlgauge.data.rawtable import RawTable
from nlgauge.data.values import blank_to_null, few_words, is_number_list, numbers, numbers_in, worth_asked
from nlgauge.data.vocabulary import plain

KEYS = ("system", "input", "output", "rater", "aspect", "rating", "metric", "score")
MOST = 8  # names in a line


def lines(table: RawTable, roles: Roles) -> list[str]:
    """For the card: which columns are what (where their names differ), how values were read, what is not used."""
    return [*table.notes, *_found(roles), *_read(table, roles), *roles.guesses, *_unused(table, roles)]


def check_words(table: RawTable, roles: Roles) -> None:
    """Ratings in words nobody knows the worth of are refused where there are no others."""
    if roles.human or roles.rating or table.nested:
        return
    for column in roles.aside:
        if is_aspect(column) and few_words(table.frame[column]):
            numbers(table, column)  # refuses, with the words


def _found(roles: Roles) -> Iterator[str]:
    found = [
        f"{role} = '{column}'"
        for role in KEYS
        if (column := getattr(roles, role)) and plain(column) != role and roles.why.get(column) == NAMED
    ]
    if found:
        yield f"by their names: {', '.join(found)} (`nlgauge check` shows all columns and how to correct them)"


def used_numbers(roles: Roles) -> list[str]:
    """Columns whose numbers become ratings or scores."""
    of_people = [c for pairs in roles.human.values() for _, c in pairs]
    more = [c for c in (roles.rating, roles.score) if c is not None]
    return [*of_people, *more, *roles.metrics.values()]


def _read(table: RawTable, roles: Roles) -> Iterator[str]:
    ways: dict[str, list[str]] = {}
    infinite: dict[str, int] = {}
    for column in used_numbers(roles):
        found = numbers_in(table, column)
        if found is not None and found.how:
            ways.setdefault(found.how, []).append(column)
        if found is not None and found.infinite:
            infinite[column] = found.infinite
    for how, columns in ways.items():
        yield f"read in {quoted(columns)}: {how}"
    if infinite:
        n = sum(infinite.values())
        yield f"{n} {'values are' if n > 1 else 'value is'} inf: left out (in {quoted(list(infinite))})"


def _unused(table: RawTable, roles: Roles) -> Iterator[str]:
    """Nothing numeric is dropped without a line."""
    reasons: dict[str, list[str]] = {}
    for column in roles.aside:
        if reason := unused(table, roles, column):
            reasons.setdefault(reason, []).append(column)
    for reason, columns in reasons.items():
        more = shlex.quote(",".join(f"+{c}" for c in columns[:MOST]))
        use = (
            ""
            if "--" in reason
            else f"; to use {'them' if len(columns) > 1 else 'it'}: --metric {more} (or --human)"
        )
        yield f"not used: {quoted(columns)} ({reason}){use}"


def unused(table: RawTable, roles: Roles, column: str) -> str:
    """Why a column of numbers, or of what may be numbers, is not used; empty for texts."""
    series = table.frame[column]
    if is_number_list(series) or numbers_in(table, column) is not None:
        return roles.why[column]
    if series.dtype != pl.String:
        return ""
    if is_aspect(column) and (words := few_words(series)):
        return f"holds words; say what they are worth: --values {worth_asked(words)}"
    filled = blank_to_null(series).drop_nulls()
    read = int(filled.cast(pl.Float64, strict=False).is_not_null().sum())
    if len(filled) and 0.2 * len(filled) < read:
        word = filled.filter(filled.cast(pl.Float64, strict=False).is_null())[0]
        return f"{read} of {len(filled)} values are numbers, others not, e.g. '{word[:20]}'"
    return ""


def quoted(names: Sequence[str]) -> str:
    """
    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(f"'{name}'" for name in names[:MOST])
    return f"{shown}, … ({len(names):,} in all)" if len(names) > MOST else shown
