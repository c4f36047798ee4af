"""check(): what a file or frame would be read as, column by column, before anything is computed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.card import card
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load, plain_table, understood
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.understanding import lines, rating_words, unused
from nlgauge.data.tables.values import is_label, numbers_in, worth_asked
from nlgauge.errors import NlgaugeError, code_of
from nlgauge.table import Row, Table, Title

SINGLE = ("system", "input", "output", "source", "context", "control", "rater")
LONG = ("aspect", "rating", "metric", "score")
TEXT = 24  # letters of an example


def check(data: Any, **options: Any) -> Table:
    """Every column with its role, why, a value and the words that change it; below, what is understood of the whole.

    Takes a file or frame and the options of `nlgauge.load`. A file that cannot be read yet is no error here: the last
    note says what is asked for.

    >>> import nlgauge as ng
    >>> rows = [{"llm": s, "doc": d, "coherence": c, "seed": 1} for s, d, c in [("A", 1, 4), ("B", 1, 2)]]
    >>> [(row["column"], row["role"]) for row in ng.check(rows)]
    [('llm', 'system'), ('doc', 'input'), ('coherence', 'rating of coherence'), ('seed', 'not used')]
    """
    name = options.get("name") or (Path(data).name if isinstance(data, str | Path) else "data")
    table, reader = plain_table(data, **options)
    if table is None:
        return read_whole(name, reader, load(data, **options))
    roles = understood(table, **options)
    rows = [{"column": column, **_facts(table, roles, column)} for column in table.frame.columns]
    rows += [
        {"column": c, "role": "rating records", "why": "a list of objects", "example": "", "correction": ""}
        for c in table.nested
    ]
    return Table(Title(name, "what is which"), rows, notes=_notes(data, options, table, roles), kind="check")


def read_whole(name: str, reader: str, data: Dataset) -> Table:
    """What is understood of data that a reader, or the loader of a published set, knows as a whole."""
    row = {"column": "all", "role": f"read by {reader}", "why": "the reader knows the whole, not column by column",
           "example": "", "correction": "--reader table"}  # fmt: skip
    return Table(Title(name, "what is which"), [row], notes=card(data), kind="check")


def _notes(data: Any, options: dict[str, Any], table: RawTable, roles: Roles) -> list[str]:
    size = f"{table.frame.height:,} rows, {table.frame.width + len(table.nested):,} columns"
    try:
        return [size, *card(load(data, **options))]
    except NlgaugeError as error:
        return [size, *lines(table, roles), f"cannot be read yet: {error}"]


def _facts(table: RawTable, roles: Roles, column: str) -> Row:
    role, change = next(iter(_roles(roles, column)), ("not used", ""))
    if role == "not used":
        change = _use(table, roles, column)
    why = roles.why.get(column, "")
    if role == "not used":
        why = unused(table, roles, column) or why
    found = numbers_in(table, column) if role.startswith(("rating", "metric")) else None
    if found is not None and found.how:
        why += f"; {found.how}"
    return {"role": role, "why": why, "example": _example(table.frame[column]), "correction": change}


def _roles(roles: Roles, column: str) -> Iterator[tuple[str, str]]:
    more = shlex.quote(f"+{column}")
    for role in SINGLE:
        if getattr(roles, role) == column:
            yield role, f"--{role} COLUMN"
    for role in LONG:
        if getattr(roles, role) == column:
            yield f"{role} (long table)", ""
    if column in roles.references:
        yield "reference", "--references COLUMN"
    if column in roles.sets:
        yield "data set", f"--by {shlex.quote(column)}"
    if column in roles.trials:
        yield "trial", f"--metric {more} or --human {more}"
    for aspect, pairs in roles.human.items():
        for who, of in pairs:
            if of == column:
                yield f"rating of {aspect}" + (f" by {who}" if who else ""), f"--metric {more}"
    for metric, of in roles.metrics.items():
        if of == column:
            yield "metric" if metric == column else f"metric {metric}", f"--human {more}"


def _use(table: RawTable, roles: Roles, column: str) -> str:
    series, name = table.frame[column], shlex.quote(column)
    if code_of(roles.why.get(column, "")) == "row_number":
        return f"--input {name}"
    if reason := unused(table, roles, column):
        if code_of(reason) == "declare":
            return f"--values {worth_asked(rating_words(series))}"
        more = shlex.quote(f"+{column}")
        return f"--metric {more} or --human {more}"
    if series.dtype != pl.String:
        return ""
    if not is_label(series):
        return f"--output {name} or --source {name}"
    wanted = [role for role in ("system", "input", "rater") if getattr(roles, role) is None]
    return " or ".join([*(f"--{role} {name}" for role in wanted), f"--by {name}"])


def _example(series: pl.Series) -> str:
    value = next((v for v in series.head(100).to_list() if v is not None and v != ""), None)
    text = "(empty)" if value is None else " ".join(str(value).split())
    return text if len(text) <= TEXT else text[: TEXT - 1] + "…"
