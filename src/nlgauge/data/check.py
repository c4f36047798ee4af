"""check(): the inferred role of every column of a file, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.card import card
from nlgauge.data.dataset import Dataset
from nlgauge.data.declared import Declared
from nlgauge.data.load import LabelFile, Opened, dataset_of_table, open_data, resolve_roles
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.understanding import lines, rating_words, unused
from nlgauge.data.tables.values import is_label, parse_column, values_to_fill
from nlgauge.errors import NlgaugeError, code_of
from nlgauge.options import ROLES, option
from nlgauge.table import Row, Table, Title

SINGLE = ("system", "input", "output", "source", "context", "control", "rater")
LONG = ("aspect", "rating", "metric", "score")
MAX_EXAMPLE = 24  # characters


def check(data: Any, **options: Any) -> Table:
    """Show each column's inferred role, the reason, a value, and what overrides it.

    Parameters
    ----------
    data : path, data frame, rows or name of a published set
        A file that cannot be read is not an error here: the last note says what is missing.
    **options
        Those of `nlgauge.load`.

    Returns
    -------
    Table
        One row per column.

    Examples
    --------
    >>> rows = [{"llm": s, "doc": d, "coherence": c, "seed": 1} for s, d, c in [("A", 1, 4), ("B", 1, 2)]]
    >>> [(row["column"], row["role"]) for row in check(rows)]
    [('llm', 'system'), ('doc', 'input'), ('coherence', 'rating of coherence'), ('seed', 'not used')]
    """
    name = options.pop("name", None)
    labels, columns = options.pop("labels", None), options.pop("columns", None)
    declared = Declared.of(columns, {role: options.pop(role) for role in ROLES if role in options}, data)
    label_file = None if labels is None else LabelFile.of(labels, declared)
    opened = open_data(data, declared, label_file, options)
    title = name or (Path(data).name if isinstance(data, str | Path) else "data")
    if opened.reader:
        return read_whole(title, opened.reader_name, opened.dataset(name))
    table, roles = opened.table, resolve_roles(opened)
    rows = [{"column": column, **_facts(table, roles, column)} for column in table.frame.columns]
    rows += [
        {"column": c, "role": "rating records", "why": "a list of objects", "example": "", "correction": ""}
        for c in table.nested
    ]
    return Table(Title(title, "roles of the columns"), rows, notes=_notes(opened, roles, name), kind="check")


def read_whole(name: str, reader: str, data: Dataset) -> Table:
    """Return the reading summary of data in a known format or of a published set."""
    row = {
        "column": "all",
        "role": f"read by {reader}",
        "why": "the file format determines all columns",
        "example": "",
        "correction": option("reader", "table"),
    }
    return Table(Title(name, "roles of the columns"), [row], notes=card(data), kind="check")


def _notes(opened: Opened, roles: Roles, name: str | None) -> list[str]:
    table = opened.table
    size = f"{table.frame.height:,} rows, {table.frame.width + len(table.nested):,} columns"
    try:
        return [size, *card(dataset_of_table(opened, roles, name))]
    except NlgaugeError as error:
        return [size, *lines(table, roles), f"cannot be read: {error}"]


def _facts(table: RawTable, roles: Roles, column: str) -> Row:
    role, change = next(iter(_roles(roles, column)), ("not used", ""))
    if role == "not used":
        change = _use(table, roles, column)
    why = roles.why.get(column, "")
    if role == "not used":
        why = unused(table, roles, column) or why
    numbers = parse_column(table, column) if role.startswith(("rating", "metric")) else None
    if numbers is not None and numbers.how:
        why += f"; {numbers.how}"
    return {"role": role, "why": why, "example": _example(table.frame[column]), "correction": change}


def _roles(roles: Roles, column: str) -> Iterator[tuple[str, str]]:
    """Yield each role of a column and the option that changes it."""
    more = [f"+{column}"]
    for role in SINGLE:
        if getattr(roles, role) == column:
            yield role, option(role)
    for role in LONG:
        if getattr(roles, role) == column:
            yield f"{role} (long table)", ""
    if column in roles.references:
        yield "reference", option("references")
    if column in roles.sets:
        yield "data set", option("by", column)
    if column in roles.trials:
        yield "trial", f"{option('metrics', more)} or {option('human', more)}"
    for aspect, pairs in roles.human.items():
        for who, of in pairs:
            if of == column:
                yield f"rating of {aspect}" + (f" by {who}" if who else ""), option("metrics", more)
    for metric, of in roles.metrics.items():
        if of == column:
            yield "metric" if metric == column else f"metric {metric}", option("human", more)


def _use(table: RawTable, roles: Roles, column: str) -> str:
    series = table.frame[column]
    if code_of(roles.why.get(column, "")) == "row_number":
        return option("input", column)
    if reason := unused(table, roles, column):
        if code_of(reason) == "declare":
            return option("values", values_to_fill(rating_words(series)))
        more = [f"+{column}"]
        return f"{option('metrics', more)} or {option('human', more)}"
    if series.dtype != pl.String:
        return ""
    if not is_label(series):
        return f"{option('output', column)} or {option('source', column)}"
    missing_roles = [role for role in ("system", "input", "rater") if getattr(roles, role) is None]
    return " or ".join([*(option(role, column) for role in missing_roles), option("by", column)])


def _example(series: pl.Series) -> str:
    value = next((v for v in series.head(100).to_list() if v is not None and v != ""), None)
    text = "(empty)" if value is None else " ".join(str(value).split())
    return text if len(text) <= MAX_EXAMPLE else text[: MAX_EXAMPLE - 1] + "…"
