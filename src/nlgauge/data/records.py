"""Nested records (JSON, JSON lines) with their location in the file, for error messages."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlgauge.data.files import check_letters, check_lines, decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.tables.separated import separator_of
from nlgauge.errors import DataError

KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true/false", int: "a number", float: "a number"}


@dataclass(frozen=True)
class Record:
    """One JSON object: `where` names it in error messages, `number` is its line or its index in the list."""

    where: str
    number: int
    values: dict[str, Any]
    place: str = ""  # location in the file: "line 3"

    def want(self, key: str, *kinds: type) -> Any:
        """Return the value of a required key."""
        if self.values.get(key) is None:
            keys = ", ".join(self.values) or "none"
            raise DataError(f"{self.where}: no value for key '{key}'. Keys: {keys}.")
        return self.maybe(key, *kinds)

    def maybe(self, key: str, *kinds: type) -> Any:
        """Return the value of a key, None if it is absent or null; refuse other types than `kinds`."""
        value = self.values.get(key)
        if value is not None and kinds and not isinstance(value, kinds):
            expected = " or ".join(dict.fromkeys(KINDS[k] for k in kinds))
            raise DataError(f"{self.where}, key '{key}': found {shown(value)}, expected {expected}.")
        return value

    def children(self, key: str) -> list[Record]:
        """Return the list of objects under a key as records; absent or null is an empty list."""
        items = self.maybe(key, list) or []
        for i, child in enumerate(items, 1):
            if not isinstance(child, dict):
                raise DataError(f"{self.where}, key '{key}', item {i}: found {shown(child)}, expected an object.")
        return [Record(f"{self.where}, key '{key}', item {i}", i, child) for i, child in enumerate(items, 1)]


def shown(value: Any) -> str:
    """Return the type and the beginning of a value for an error message.

    >>> shown(["a", "b"]), shown("four")
    ("a list (['a', 'b'])", "a text ('four')")
    """
    if value is None:
        return "null"
    text = repr(value)
    return f"{KINDS.get(type(value), type(value).__name__)} ({text if len(text) <= 40 else text[:37] + '...'})"


def number(where: str, value: Any) -> float | None:
    """Return a JSON value as a number; null, an empty text and NaN are missing, anything else is refused."""
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "none", "null", "nan", "n/a")):
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        parsed = float(value)
    except (ValueError, OverflowError):
        raise DataError(f"{where}: found {shown(value)}, expected a number (or null).") from None
    return parsed if abs(parsed) < float("inf") else None


def read_records(path: Path, encoding: str | None = None) -> list[Record]:
    """Return the objects of a JSON-lines file or of a JSON list."""
    text = decode(path, read_bytes(path), encoding)
    if text.lstrip()[:1] == "[":
        parsed = parse_json(str(path), text)
        if not isinstance(parsed, list):
            raise DataError(f"{path}: found {shown(parsed)}, expected a list of objects.")
        pairs = [(f"record {i}", i, value) for i, value in enumerate(parsed, 1)]
    else:
        check_lines(path, text)
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        pairs = [(f"line {i}", i, parse_json(f"{path}, line {i}", line)) for i, line in lines]
    if not pairs:
        raise DataError(f"{path}: the file has no records.")
    for place, _, value in pairs:
        if not isinstance(value, dict):
            raise DataError(f"{path}, {place}: found {shown(value)}, expected an object.")
    return [Record(f"{path}, {place}", i, value, place) for place, i, value in pairs]


def parse_json(where: str, text: str) -> Any:
    """Parse JSON; `where` locates the text in error messages."""
    check_letters(where, text)
    try:
        return json.loads(text)
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise DataError(f"{where}: invalid JSON ({error}); the file may be truncated.") from None


def read_object(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """Return the content of a file that is one JSON object."""
    parsed = parse_json(str(path), decode(path, read_bytes(path), encoding))
    if not isinstance(parsed, dict):
        raise DataError(f"{path}: found {shown(parsed)}, expected an object.")
    return parsed


def parse_object(where: str, line: str) -> dict[str, Any]:
    """Return the content of a line that is one JSON object."""
    parsed = parse_json(where, line)
    if not isinstance(parsed, dict):
        raise DataError(f"{where}: found {type(parsed).__name__}, expected one JSON object per line.")
    return parsed


def first_row(peek: Peek) -> dict[str, Any]:
    """Return the first record of a JSON, CSV, TSV or Parquet file, for the detection of its format."""
    if peek.record or peek.is_folder:
        return peek.record
    if peek.bytes[:4] == b"PAR1":
        import polars as pl

        try:
            return next(pl.read_parquet(peek.path, n_rows=1).iter_rows(named=True), {})
        except (Exception, pl.exceptions.PanicException):
            return {}
    head = peek.text[: 1 << 16]
    try:
        rows = csv.reader(io.StringIO(head), delimiter=separator_of(head))
        names, values = next(rows), next(rows)
    except (csv.Error, StopIteration):
        return {}
    return dict(zip((n.strip() for n in names), values, strict=False))


def option_map(option: str, declared: Mapping[str, Any] | str | None) -> dict[str, str]:
    """Return a reader's option that maps labels: a mapping, or a text such as 'good=3,bad=1'; in lower case.

    >>> option_map("values", "Good=3, bad=1")
    {'good': '3', 'bad': '1'}
    """
    if declared is None:
        return {}
    if isinstance(declared, str):
        pairs = [part.rpartition("=") for part in declared.split(",") if part.strip()]
        if any(not sign for _, sign, _ in pairs):
            raise DataError(f"option {option}: found '{declared}', expected pairs such as 'good=3,bad=1'.")
        declared = {word: meaning for word, _, meaning in pairs}
    return {str(word).strip().lower(): str(meaning).strip() for word, meaning in declared.items()}


def option_numbers(option: str, declared: Mapping[str, Any] | str | None) -> dict[str, float]:
    """Return the numbers of labels as `label_values` does, without labels that are not mapped to a number."""
    return {label: value for label, value in label_values(option, declared).items() if not math.isnan(value)}


def label_values(option: str, declared: Mapping[str, Any] | str | None) -> dict[str, float]:
    """Return the numbers that labels are mapped to; NaN for missing.

    >>> label_values("values", "good=3, unsure=")
    {'good': 3.0, 'unsure': nan}
    """
    values = {w: number(f"option {option}, '{w}'", meaning) for w, meaning in option_map(option, declared).items()}
    return {word: math.nan if value is None else value for word, value in values.items()}
