"""Rows of the exports of tracing tools: CSV, Parquet, JSON lines, JSON lists, and pages of an HTTP API."""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.records import Record, first_row, parse_json
from nlgauge.data.tables.separated import separator_of
from nlgauge.errors import DataError

PAGES = ("data", "rows", "runs", "feedback", "traces", "spans", "annotations", "calls", "content", "results", "events")
ROW = {"id", "span_id", "run_id", "context", "input", "inputs"}  # keys that a row has, and no page


def read_rows(path: Path, encoding: str | None = None) -> list[Record]:
    """Return the objects of a file; those of a page (`{"data": [...]}`) are the objects in its lists."""
    raw = read_bytes(path)
    if raw[:4] == b"PAR1":
        rows = list(enumerate(_parquet(path), 1))
        return [Record(f"{path}, row {i}", i, row, f"row {i}") for i, row in rows]
    text = decode(path, raw, encoding)
    if text.lstrip()[:1] not in ("{", "["):
        return _separated(path, text)
    records = list(_objects(path, text))
    if not records:
        raise DataError(f"{path}: the file holds no records.")
    return records


def first_of(peek: Peek) -> dict[str, Any]:
    """Return the first row of a file or of its first page; {} if there is none."""
    first = first_row(peek)
    rows = next(filter(None, _lists(first)), [first])
    return rows[0] if isinstance(rows[0], dict) else {}


def dig(values: Mapping[str, Any], name: str) -> Any:
    """Return a value by its dotted name, whether the row is flat or nested.

    >>> dig({"result.score": 1}, "result.score"), dig({"result": {"score": 2}}, "result.score"), dig({}, "a.b")
    (1, 2, None)
    """
    if name in values:
        return values[name]
    head, dot, rest = name.partition(".")
    inner = values.get(head) if dot else None
    return dig(inner, rest) if isinstance(inner, Mapping) else None


def pick(values: Mapping[str, Any], *names: str) -> Any:
    """Return the first value under these dotted names that is not empty; None if there is none.

    >>> pick({"id": "", "trace": {"id": 3}}, "id", "trace.id")
    3
    """
    return next((value for name in names if (value := dig(values, name))), None)


def below(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the value under a name in a flat or nested row.

    >>> below({"scores.a": 1, "scores.b": 2}, "scores"), below({"scores": {"a": 1}}, "scores")
    ({'a': 1, 'b': 2}, {'a': 1})
    """
    inner = values.get(name)
    found = dict(inner) if isinstance(inner, Mapping) else {}
    start = f"{name}."
    return found | {key.removeprefix(start): value for key, value in values.items() if key.startswith(start)}


def object_in(value: Any) -> Any:
    """Parse a CSV cell with an object or list in JSON or Python notation; return other values unchanged.

    >>> object_in('{"a": 1}'), object_in("{'a': None}"), object_in("plain"), object_in("{not this")
    ({'a': 1}, {'a': None}, 'plain', '{not this')
    """
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value


def _separated(path: Path, text: str) -> list[Record]:
    try:
        rows = list(csv.DictReader(io.StringIO(text), delimiter=separator_of(text), strict=True))
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as CSV ({error}).") from None
    found = [{key.strip(): object_in(value) if value else None for key, value in row.items() if key} for row in rows]
    return [Record(f"{path}, row {i}", i, row, f"row {i}") for i, row in enumerate(found, 1)]


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    import polars as pl

    try:
        yield from pl.read_parquet(path).iter_rows(named=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]}).") from None


def _objects(path: Path, text: str) -> Iterator[Record]:
    """Yield the records of one JSON document, or of one document per line; objects in the lists of
    a page are its rows.
    """
    try:
        found = [("", parse_json(str(path), text))]
    except DataError:
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2:
            raise
        found = [(f"line {i}", parse_json(f"{path}, line {i}", line)) for i, line in lines]
    number = 0
    for place, value in found:
        lists = [value] if isinstance(value, list) else _lists(value)
        rows = [row for rows in lists for row in rows] if lists else [value]
        for i, row in enumerate(rows, 1):
            number += 1
            where = place if len(rows) == 1 and place else ", ".join(filter(None, (place, f"record {i}")))
            if not isinstance(row, dict):
                raise DataError(f"{path}, {where}: found {type(row).__name__}, expected an object.")
            yield Record(f"{path}, {where}", number, row, where)


def _lists(value: Any) -> list[list[Any]]:
    """Return the lists of a page; a row may have a list under a name that pages use, too."""
    if not isinstance(value, dict) or ROW & set(value):
        return []
    return [value[key] for key in PAGES if isinstance(value.get(key), list)]
