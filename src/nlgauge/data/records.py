"""Nested records (JSON, JSON lines) with the place where each stands, so that every complaint can name it."""

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
    """One JSON object: `where` names it for errors, `number` is its line or its place in the list."""

    where: str
    number: int
    values: dict[str, Any]
    place: str = ""  # where it is in its file: "line 3"

    def want(self, key: str, *kinds: type) -> Any:
        """The value of a key that must be there."""
        if self.values.get(key) is None:
            known = ", ".join(self.values) or "none"
            raise DataError(f"{self.where}: no value for key '{key}'. Keys found: {known}.")
        return self.maybe(key, *kinds)

    def maybe(self, key: str, *kinds: type) -> Any:
        """The value of a key, None when it is absent or null; another kind of value is refused."""
        value = self.values.get(key)
        if value is not None and kinds and not isinstance(value, kinds):
            expected = " or ".join(dict.fromkeys(KINDS[k] for k in kinds))
            raise DataError(f"{self.where}, key '{key}': found {shown(value)}, expected {expected}.")
        return value

    def children(self, key: str) -> list[Record]:
        """A list of objects under a key, as records; absent or null is an empty list."""
        found = self.maybe(key, list) or []
        for i, child in enumerate(found, 1):
            if not isinstance(child, dict):
                raise DataError(f"{self.where}, key '{key}', item {i}: found {shown(child)}, expected an object.")
        return [Record(f"{self.where}, key '{key}', item {i}", i, child) for i, child in enumerate(found, 1)]


def shown(value: Any) -> str:
    """A value for an error message: its kind and its beginning.

    >>> shown(["a", "b"]), shown("four")
    ("a list (['a', 'b'])", "a text ('four')")
    """
    if value is None:
        return "null"
    text = repr(value)
    return f"{KINDS.get(type(value), type(value).__name__)} ({text if len(text) <= 40 else text[:37] + '...'})"


def number(where: str, value: Any) -> float | None:
    """A JSON value as a number; null, an empty text and NaN are missing, anything else is refused."""
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "none", "null", "nan", "n/a")):
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        found = float(value)
    except (ValueError, OverflowError):
        raise DataError(f"{where}: found {shown(value)}, expected a number (or null).") from None
    return found if abs(found) < float("inf") else None


def read_records(path: Path, encoding: str | None = None) -> list[Record]:
    """The objects of a JSON-lines file or of a JSON list."""
    text = decode(path, read_bytes(path), encoding)
    if text.lstrip()[:1] == "[":
        found = parse_json(str(path), text)
        if not isinstance(found, list):
            raise DataError(f"{path}: found {shown(found)}, expected a list of objects.")
        pairs = [(f"record {i}", i, value) for i, value in enumerate(found, 1)]
    else:
        check_lines(path, text)
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        pairs = [(f"line {i}", i, parse_json(f"{path}, line {i}", line)) for i, line in lines]
    if not pairs:
        raise DataError(f"{path}: the file holds no records.")
    for place, _, value in pairs:
        if not isinstance(value, dict):
            raise DataError(f"{path}, {place}: found {shown(value)}, expected an object.")
    return [Record(f"{path}, {place}", i, value, place) for place, i, value in pairs]


def parse_json(where: str, text: str) -> Any:
    """Parse JSON; the error says where the text comes from."""
    check_letters(where, text)
    try:
        return json.loads(text)
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deeply to be read.") from None
    except ValueError as error:
        raise DataError(f"{where}: is not JSON ({error}); is the file cut off?") from None


def read_object(path: Path, encoding: str | None = None) -> dict[str, Any]:
    """A file that is one JSON object."""
    found = parse_json(str(path), decode(path, read_bytes(path), encoding))
    if not isinstance(found, dict):
        raise DataError(f"{path}: found {shown(found)}, expected an object.")
    return found


def parse_object(where: str, line: str) -> dict[str, Any]:
    """A line that is one JSON object."""
    found = parse_json(where, line)
    if not isinstance(found, dict):
        raise DataError(f"{where}: found {type(found).__name__}, expected one JSON object a line.")
    return found


def first_row(peek: Peek) -> dict[str, Any]:
    """The first record of a JSON, CSV, TSV or Parquet file, for a reader that wants to recognize it."""
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


def option_map(option: str, said: Mapping[str, Any] | str | None) -> dict[str, str]:
    """A reader's option that maps words: a mapping, or a text such as 'good=3,bad=1'; keys lose their case.

    >>> option_map("values", "Good=3, bad=1")
    {'good': '3', 'bad': '1'}
    """
    if said is None:
        return {}
    if isinstance(said, str):
        pairs = [part.rpartition("=") for part in said.split(",") if part.strip()]
        if any(not sign for _, sign, _ in pairs):
            raise DataError(f"option {option}: found '{said}', expected pairs such as 'good=3,bad=1'.")
        said = {word: meaning for word, _, meaning in pairs}
    return {str(word).strip().lower(): str(meaning).strip() for word, meaning in said.items()}


def option_numbers(option: str, said: Mapping[str, Any] | str | None) -> dict[str, float]:
    """As `option_map`, for words that stand for numbers."""
    return {word: value for word, value in option_worth(option, said).items() if not math.isnan(value)}


def option_worth(option: str, said: Mapping[str, Any] | str | None) -> dict[str, float]:
    """What words are worth; NaN where they stand for nothing.

    >>> option_worth("values", "good=3, unsure=")
    {'good': 3.0, 'unsure': nan}
    """
    found = {w: number(f"option {option}, '{w}'", meaning) for w, meaning in option_map(option, said).items()}
    return {word: math.nan if value is None else value for word, value in found.items()}
