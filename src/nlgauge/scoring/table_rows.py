"""Consecutive rows of a table file, parsed when somebody looks into them, and where in the file they stand."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nlgauge.data.files import check_letters
from nlgauge.data.tables.raw import RawTable, from_object
from nlgauge.errors import DataError


class Place(NamedTuple):
    """Where a batch stands in its file: enough to read it, and no other, on another machine."""

    number: int  # of the batch, from 0
    first: int  # its first row, from 1
    mark: int = 0  # of the text, as its tell() says
    skip: int = 0  # bytes of UTF-8 behind the mark that belong to the rows before
    line: int = 0  # lines before it


class Rows(ABC):
    """Consecutive rows of a file; `done` says how much of the file is read after them."""

    place: Place
    done: int

    @property
    def first(self) -> int:
        return self.place.first

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def values(self, column: str) -> list[Any]:
        """What a column holds; None where a row does not have it."""

    @abstractmethod
    def json_lines(self) -> list[str]:
        """The rows as JSON objects."""

    @abstractmethod
    def table(self, rows: int) -> RawTable:
        """The first ones as a table, for a look at its columns."""


@dataclass
class JsonRows(Rows):
    path: Path
    place: Place
    done: int
    lines: list[str]
    numbers: list[int]  # of the lines in the file

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]]
        together = f"[{','.join(self.lines)}]"
        if "\\ud" in together or "\\uD" in together:
            for line, number in zip(self.lines, self.numbers, strict=True):
                check_letters(f"{self.path}, line {number}", line)
        try:
            found = json.loads(together)  # one call for all is quicker
        except (ValueError, RecursionError):
            found = []
        if len(found) != len(self.lines) or not all(type(record) is dict for record in found):
            found = [self._one(line, n) for line, n in zip(self.lines, self.numbers, strict=True)]
        return found

    def _one(self, line: str, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.path}, line {number}: is not JSON ({error}).") from None
        if not isinstance(record, dict):
            raise DataError(
                f"{self.path}, line {number}: found {type(record).__name__}, expected one JSON object a line."
            )
        return record

    def values(self, column: str) -> list[Any]:
        if any(column in record for record in self.records) or "." not in column:
            return [record.get(column) for record in self.records]
        return [_inside(record, column) for record in self.records]

    def json_lines(self) -> list[str]:
        return self.lines

    def table(self, rows: int) -> RawTable:
        return from_object(self.records[:rows])


def _inside(record: Any, column: str) -> Any:
    """The value under a dotted name; a name with dots of its own wins."""
    if not isinstance(record, dict) or column in record:
        return record.get(column) if isinstance(record, dict) else None
    parts = column.split(".")
    for k in range(1, len(parts)):
        found = _inside(record.get(".".join(parts[:k])), ".".join(parts[k:]))
        if found is not None:
            return found
    return None


@dataclass
class FrameRows(Rows):
    place: Place
    done: int
    size: int
    make: Callable[[], pl.DataFrame]

    def __len__(self) -> int:
        return self.size

    @cached_property
    def frame(self) -> pl.DataFrame:
        return self.make()

    def values(self, column: str) -> list[Any]:
        return self.frame[column].to_list() if column in self.frame.columns else [None] * self.size

    def json_lines(self) -> list[str]:
        return [json.dumps(row, ensure_ascii=False, default=str) for row in self.frame.iter_rows(named=True)]

    def table(self, rows: int) -> RawTable:
        return from_object(self.frame.head(rows))
