"""A table file in batches of rows, in bounded memory: JSONL, CSV and TSV (also gzipped), and Parquet.

A batch is parsed when somebody looks into it, so that batches which are done already cost little more than reading them.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from nlgauge.data.files import MAX_LINE
from nlgauge.data.rawtable import SUFFIXES, RawTable, from_object
from nlgauge.errors import DataError

KINDS = ("jsonl", "csv", "tsv", "parquet")
BLOCK = 1 << 22  # characters of a CSV file at a time
SLICE = (
    200_000  # rows of a Parquet file at a time: whole row groups are unpacked, however few rows are wanted
)
QUOTED_FIELD = re.compile(r'(^|\t)"[^\t\n]*"(\t|\n|$)', re.MULTILINE)


class Rows(ABC):
    """Consecutive rows of a file: `first` counts from 1; `done` says how much of the file is read after them."""

    first: int
    done: int

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
    first: int
    done: int
    lines: list[str]
    numbers: list[int]  # of the lines in the file

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]]
        try:
            found = json.loads(f"[{','.join(self.lines)}]")  # one call for all is quicker
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
    first: int
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


@dataclass(frozen=True)
class Source:
    """A file that can be read in batches."""

    path: Path
    encoding: str | None = None

    @property
    def kind(self) -> str:
        suffixes = [s.lower() for s in self.path.suffixes if s.lower() not in (".gz", ".gzip")]
        return SUFFIXES.get(suffixes[-1] if suffixes else "", "")

    def check(self) -> None:
        if not self.path.is_file():
            raise DataError(f"{self.path}: no such file.")
        if self.kind not in KINDS:
            raise DataError(
                f"{self.path}: only JSONL, CSV, TSV and Parquet can be scored in batches; `nlgauge convert` writes them."
            )

    @cached_property
    def total(self) -> int:
        """What `done` comes to: bytes, or rows of a Parquet file."""
        if self.kind == "parquet":
            return int(self._scan().select(pl.len()).collect().item())
        return self.path.stat().st_size

    def batches(self, size: int, only: Sequence[str] | None = None) -> Iterator[Rows]:
        """`only`: the columns that will be looked at, where the file lets others be passed over."""
        if self.kind == "parquet":
            return self._parquet(size, only)
        return self._json_lines(size) if self.kind == "jsonl" else self._separated(size)

    @contextmanager
    def _text(self, newline: str | None) -> Iterator[tuple[IO[bytes], IO[str]]]:
        """The file as bytes, which says how far one is, and as text."""
        with self.path.open("rb") as raw:
            head = raw.read(2)
            raw.seek(0)
            encoding = self.encoding or ("utf-16" if head in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
            plain: Any = gzip.GzipFile(fileobj=raw) if head == b"\x1f\x8b" else raw
            try:
                yield raw, io.TextIOWrapper(plain, encoding, newline=newline)
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{self.path}, near byte {raw.tell():,}: is not {error.encoding}; "
                    "save the file as UTF-8, or name its encoding (--encoding latin-1)."
                ) from None
            except (EOFError, gzip.BadGzipFile) as error:
                raise DataError(
                    f"{self.path}: the gzip file is cut off or damaged ({error}); fetch it again."
                ) from None

    # --- JSON lines ---

    def _json_lines(self, size: int) -> Iterator[Rows]:
        with self._text("\n") as (raw, text):
            lines = self._lines(text)
            first = 1
            while found := list(islice(lines, size)):
                numbers, kept = (list(column) for column in zip(*found, strict=True))
                yield JsonRows(self.path, first, raw.tell(), kept, numbers)
                first += len(kept)

    def _lines(self, text: IO[str]) -> Iterator[tuple[int, str]]:
        number = 0
        while line := text.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE and not line.endswith("\n"):
                raise DataError(f"{self.path}, line {number}: is longer than {MAX_LINE >> 20} MiB.")
            if line := line.strip():
                yield number, line

    # --- CSV and TSV ---

    def _separated(self, size: int) -> Iterator[Rows]:
        first, have, parts = 1, 0, list[bytes]()
        head = b""
        with self._text(None) as (raw, text):
            for head, separator, quoted, chunk, starts, ends in self._chunks(text):
                at = 0
                while at < len(ends):
                    some = min(size - have, len(ends) - at)
                    parts.append(_bytes(chunk, starts[at : at + some], ends[at : at + some]))
                    have, at = have + some, at + some
                    if have == size:
                        yield FrameRows(first, raw.tell(), have, _reader(head, parts, separator, quoted))
                        first, have, parts = first + have, 0, []
            if have:
                yield FrameRows(first, raw.tell(), have, _reader(head, parts, separator, quoted))

    def _chunks(self, text: IO[str]) -> Iterator[tuple[bytes, str, bool, bytes, Any, Any]]:
        """Whole records at a time, after the header: where each of them begins and ends."""
        rest, line, head, separator, quoted, width = b"", 1, b"", ",", True, 0
        for block in iter(lambda: text.read(BLOCK), None):
            data = rest + block.encode("utf-8", "surrogatepass")
            if not block and data and not data.endswith(b"\n"):
                data += b"\n"
            if not head:
                top = data.lstrip(b"\n").partition(b"\n")[0].decode("utf-8", "surrogatepass")
                separator = "\t" if self.kind == "tsv" else max(",\t;", key=top.count)
                quoted = separator != "\t" or QUOTED_FIELD.search(block) is not None
            starts, ends, lines, fields = _records(data, separator, quoted)
            if len(ends):
                rest = data[ends[-1] :]
                if not head:
                    head, width = data[starts[0] : ends[0]], int(fields[0])
                    starts, ends, lines, fields = starts[1:], ends[1:], lines[1:], fields[1:]
                if (wrong := np.flatnonzero(fields != width)).size:
                    raise DataError(
                        f"{self.path}, line {line + int(lines[wrong[0]])}: found {fields[wrong[0]]} fields, the header "
                        f"has {width}; a text that holds '{separator}' or a line break must stand in double quotes."
                    )
                yield head, separator, quoted, data, starts, ends
                line += data[: len(data) - len(rest)].count(b"\n")
            else:
                rest = data
            if not block:
                if rest.strip():
                    raise DataError(f"{self.path}, line {line}: a double quote is left open.")
                return
            if len(rest) > MAX_LINE:
                raise DataError(f"{self.path}, line {line}: is longer than {MAX_LINE >> 20} MiB.")

    # --- Parquet ---

    def _scan(self) -> pl.LazyFrame:
        try:
            return pl.scan_parquet(self.path)
        except Exception as error:
            raise DataError(
                f"{self.path}: the Parquet file is damaged ({str(error).splitlines()[0]})."
            ) from None

    def _parquet(self, size: int, only: Sequence[str] | None) -> Iterator[Rows]:
        scan = self._scan()
        if only is not None:
            roots = {name.split(".")[0] for name in only} | set(only)
            scan = scan.select([c for c in scan.collect_schema().names() if c in roots])
        step = max(1, SLICE // size) * size
        for at in range(0, self.total, step):
            part = _Slice(scan, at, min(step, self.total - at))
            for k in range(0, part.size, size):
                many = min(size, part.size - k)
                yield FrameRows(at + k + 1, at + k + many, many, partial(part.rows, k, many))


@dataclass
class _Slice:
    scan: pl.LazyFrame
    at: int
    size: int

    @cached_property
    def frame(self) -> pl.DataFrame:
        return from_object(self.scan.slice(self.at, self.size).collect()).frame

    def rows(self, first: int, many: int) -> pl.DataFrame:
        return self.frame[first : first + many]


def _records(data: bytes, separator: str, quoted: bool) -> tuple[Any, Any, Any, Any]:
    """Begin and end of every record that is complete and not blank, its line, and its number of fields."""
    signs = np.frombuffer(data, np.uint8)
    outside = np.ones(len(signs), np.bool_)
    if quoted:
        outside = (np.cumsum(signs == ord('"')) & 1) == 0
    newline = signs == ord("\n")
    ends = np.flatnonzero(newline & outside) + 1
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)]
    filled = ends - starts > 1
    starts, ends = starts[filled], ends[filled]
    cuts = np.concatenate([[0], np.cumsum((signs == ord(separator)) & outside)])
    lines = np.concatenate([[0], np.cumsum(newline)])
    return starts, ends, lines[starts], cuts[ends] - cuts[starts] + 1


def _bytes(data: bytes, starts: Any, ends: Any) -> bytes:
    """Those records, without blank lines between them."""
    if (starts[1:] == ends[:-1]).all():
        return data[starts[0] : ends[-1]]
    return b"".join(data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True))


def _reader(head: bytes, parts: list[bytes], separator: str, quoted: bool) -> Callable[[], pl.DataFrame]:
    def read() -> pl.DataFrame:
        sign = '"' if quoted else None
        return pl.read_csv(b"".join([head, *parts]), separator=separator, infer_schema=False, quote_char=sign)

    return read
