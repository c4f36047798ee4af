"""Find the rows of a JSON file: a list of objects, a list per column, or nested below names."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nlgauge.data.tables.vocabulary import NAMES, plain, quoted
from nlgauge.errors import DataError
from nlgauge.options import option

Rows = list[dict[str, Any]]


def is_json_lines(text: str) -> bool:
    """Return whether a text has several lines, the first of which is a JSON object."""
    first, _, rest = text.strip().partition("\n")
    try:
        return bool(rest) and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def json_rows(source: str, content: Any, named: bool = False) -> tuple[Rows, list[str]]:
    """Return the rows and notes on how they were found. `named`: the user declares columns.

    >>> json_rows("a.json", {"system": {"0": "A", "1": "B"}, "bleu": {"0": 0.3, "1": 0.2}})
    ([{'system': 'A', 'bleu': 0.3}, {'system': 'B', 'bleu': 0.2}], [])
    """
    notes: list[str] = []
    if isinstance(content, dict):
        content, notes = _rows_below(source, content, named)
    if not isinstance(content, list) or not content or not all(isinstance(r, dict) for r in content):
        raise DataError(f"{source}: expected a JSON list of objects (one per row), or an object of equally long lists.")
    return content, notes


def _rows_below(source: str, content: dict[str, Any], named: bool) -> tuple[Any, list[str]]:
    if from_pandas := _of_pandas(content):
        return from_pandas, []
    lists = {name: v for name, v in content.items() if isinstance(v, list)}
    tables = {name: v for name, v in lists.items() if v and all(isinstance(r, dict) for r in v)}
    if len(tables) == 1:
        (rows,) = tables.values()
        _refuse_log(source, content, rows, named)
        return rows, []
    if len(lists) == len(content) and not tables and len({len(v) for v in lists.values()}) == 1:  # one list per column
        names, notes = _of_one(list(lists))
        return [dict(zip(names, row, strict=True)) for row in zip(*lists.values(), strict=True)], notes
    if from_pandas := _keyed_records(content):
        return from_pandas, []
    *_, second, first = sorted([("", []), ("", []), *tables.items()], key=lambda table: len(table[1]))
    if len(first[1]) > len(second[1]):  # other lists describe the rows
        _refuse_log(source, content, first[1], named)
        others = ", ".join(f"'{name}' ({len(v)})" for name, v in tables.items() if name != first[0])
        return first[1], [f"the rows are the {len(first[1])} records of '{first[0]}'; not read: {others}"]
    return content, []


def _of_one(names: list[str]) -> tuple[list[str], list[str]]:
    """Rename lists with plural names (`responses`) to columns with singular names (`response`).

    >>> _of_one(["responses", "bleus"])
    (['response', 'bleus'], ["lists named 'responses' are read as columns 'response'"])
    """
    text_names = {word for role in ("system", "output", "source", "context") for word in NAMES[role]}
    text_names -= {plain(name) for name in names}
    of_one = {
        n: n[:-1] for n in names if n.endswith("s") and plain(n) not in text_names and plain(n[:-1]) in text_names
    }
    if not of_one:
        return names, []
    note = f"lists named {quoted(list(of_one))} are read as columns {quoted(list(of_one.values()))}"
    return [of_one.get(name, name) for name in names], [note]


def _of_pandas(content: Mapping[str, Any]) -> Rows:
    """Return the rows of `DataFrame.to_json()`: the default layout, {column: {"0": value}}, or orient="split"."""
    names, data = content.get("columns"), content.get("data")
    if isinstance(names, list) and isinstance(data, list) and set(content) <= {"columns", "index", "data"}:
        fit = all(isinstance(row, list) and len(row) == len(names) for row in data)
        return [dict(zip(map(str, names), row, strict=True)) for row in data] if fit else []
    columns = list(content.values())
    if not columns or not isinstance(columns[0], dict) or all(name.isdigit() for name in content):
        return []
    rows = [str(i) for i in range(len(columns[0]))]
    if not all(isinstance(column, dict) and list(column) == rows for column in columns):
        return []
    return [{name: column[row] for name, column in content.items()} for row in rows]


def _keyed_records(content: Mapping[str, Any]) -> Rows:
    """Return records nested below names: {id: record}, {set: [record, …]} or {set: {id: record}}; otherwise none.

    The names become the columns `id` and `dataset`, if the records have no columns with these names.

    The names become columns, `id` and `dataset`, where the records have none so called.
    """

    def objects(values: Collection[Any]) -> bool:
        return bool(values) and all(isinstance(v, dict) and v for v in values)

    if all(isinstance(part, list) and objects(part) for part in content.values()):
        return [{"dataset": name, **record} for name, part in content.items() for record in part]
    if not objects(content.values()):
        return []
    if all(objects(part.values()) for part in content.values()):
        return [
            {"dataset": name, "id": key, **record} for name, part in content.items() for key, record in part.items()
        ]
    fields = [set(record) for record in content.values()]
    alike = len(content) > 1 and len(set.intersection(*fields)) >= 2
    return [{"id": key, **record} for key, record in content.items()] if alike else []


def _refuse_log(source: str, whole: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], named: bool) -> None:
    """Refuse objects around a list of nested records: the log of a tool, which is not a table."""
    around = [key for key, value in whole.items() if isinstance(value, dict) and value]
    nested = [
        key
        for row in rows[:20]
        for key, value in row.items()
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict))
    ]
    if around and nested and not named:
        raise DataError(
            f"{source}: looks like the log of an unknown tool (objects {', '.join(around[:4])} around nested records); "
            "`nlgauge data formats` lists the known formats. Write a table of its records, or declare "
            f"columns ({option('system')}, {option('metrics')} …) to read the file as a table."
        )
