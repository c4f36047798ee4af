"""A table file in batches of rows, in bounded memory: JSONL, CSV and TSV (also gzipped), and Parquet.

A batch is parsed when somebody looks into it, so that batches which are done already cost little more than reading them.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl

from nlgauge.data.files import MAX_LINE, check_letters
from nlgauge.data.tables.raw import SUFFIXES, RawTable, from_object
from nlgauge.data.tables.separated import has_quotes, record_bounds, separator_of, wrong_width
from nlgauge.errors import DataError
from nlgauge.types import Ints

KINDS = ("jsonl", "csv", "tsv", "parquet")
BLOCK = 1 << 22  # characters of a CSV file at a time
SLICE = (
    200_000  # rows of a Parquet file at a time: whole row groups are unpacked, however few rows are wanted
)
Records = list[dict[str, Any]]


class Place(NamedTuple):
    """Where a batch stands in its file: enough to read it, and no other, on another machine."""

    number: int  # of the batch, from 0
    first: int  # its first row, from 1
    mark: int = 0  # of the text, as its tell() says
    skip: int = 0  # bytes of UTF-8 behind the mark that belong to the rows before
    line: int = 0  # lines before it


@dataclass
class TableRows:
    """Consecutive rows of a file; `done` says how much of the file is read after them."""

    place: Place
    done: int
    size: int
    parse: Callable[[], Records]
    lines: list[str] | None = None  # of a JSONL file

    def __len__(self) -> int:
        return self.size

    @cached_property
    def records(self) -> Records:
        return self.parse()

    def values(self, column: str) -> list[Any]:
        """What a column holds; None where a row does not have it."""
        if "." not in column or any(column in record for record in self.records):
            return [record.get(column) for record in self.records]
        return [_inside(record, column) for record in self.records]

    def json_lines(self) -> list[str]:
        """The rows as JSON objects: as they stand in a JSONL file."""
        return self.lines or [json.dumps(row, ensure_ascii=False, default=str) for row in self.records]

    def table(self, rows: int) -> RawTable:
        """The first ones as a table, for a look at its columns."""
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


@dataclass(frozen=True)
class TableFile:
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
            with self._undamaged():
                return int(pl.scan_parquet(self.path).select(pl.len()).collect().item())
        return self.path.stat().st_size

    def batches(
        self, size: int, only: Sequence[str] | None = None, start: Place | None = None
    ) -> Iterator[TableRows]:
        """From the first batch on, or from the one at `start`, without reading what is before it.

        `only`: the columns that will be looked at, where the file lets others be passed over.
        """
        start = start or Place(0, 1)
        if self.kind == "parquet":
            return self._parquet(size, only, start)
        return self._json_lines(size, start) if self.kind == "jsonl" else self._separated(size, start)

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
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise DataError(
                    f"{self.path}: the gzip file is cut off or damaged ({error}); fetch it again."
                ) from None

    # --- JSON lines ---

    def _json_lines(self, size: int, place: Place) -> Iterator[TableRows]:
        with self._text("\n") as (raw, text):
            text.seek(place.mark)
            lines = self._lines(text, place.line)
            while found := list(islice(lines, size)):
                parse = partial(self._json_records, found)
                yield TableRows(place, raw.tell(), len(found), parse, [line for _, line in found])
                place = Place(place.number + 1, place.first + len(found), text.tell(), line=found[-1][0])

    def _lines(self, text: IO[str], number: int) -> Iterator[tuple[int, str]]:
        while line := text.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE and not line.endswith("\n"):
                raise self._too_long(number)
            if line := line.strip():
                yield number, line

    def _json_records(self, lines: list[tuple[int, str]]) -> Records:
        together = f"[{','.join(line for _, line in lines)}]"
        if "\\ud" in together or "\\uD" in together:
            for number, line in lines:
                check_letters(f"{self.path}, line {number}", line)
        try:
            found: Records = json.loads(together)  # one call for all is quicker
        except (ValueError, RecursionError):
            found = []
        if len(found) != len(lines) or not all(type(record) is dict for record in found):
            found = [self._json_record(number, line) for number, line in lines]
        return found

    def _json_record(self, number: int, line: str) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.path}, line {number}: is not JSON ({error}).") from None
        if not isinstance(record, dict):
            raise DataError(
                f"{self.path}, line {number}: found {type(record).__name__}, expected one JSON object a line."
            )
        return record

    def _too_long(self, line: int) -> DataError:
        return DataError(f"{self.path}, line {line}: is longer than {MAX_LINE >> 20} MiB.")

    # --- CSV and TSV ---

    def _separated(self, size: int, place: Place) -> Iterator[TableRows]:
        have, parts = 0, list[bytes]()
        with self._text(None) as (raw, text):
            form, body = self._header(text)
            for chunk in self._chunks(text, form, place if place.mark or place.skip else body):
                at = 0
                while at < len(chunk.ends):
                    if have == 0:
                        place = chunk.place(at, place.number, place.first)
                    some = slice(at, at + min(size - have, len(chunk.ends) - at))
                    parts.append(_bytes(chunk.data, chunk.starts[some], chunk.ends[some]))
                    have, at = have + some.stop - at, some.stop
                    if have == size:
                        yield TableRows(
                            place, raw.tell(), have, partial(self._csv_records, form, parts, place)
                        )
                        place, have, parts = Place(place.number + 1, place.first + have), 0, []
            if have:
                yield TableRows(place, raw.tell(), have, partial(self._csv_records, form, parts, place))

    def _csv_records(self, form: _Form, parts: list[bytes], place: Place) -> Records:
        sign = '"' if form.quoted else None
        content = b"".join([form.head, *parts])
        try:
            frame = pl.read_csv(content, separator=form.separator, infer_schema=False, quote_char=sign)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(
                f"{self.path}, line {place.line + 1} or behind: the double quotes do not match ({said})."
            ) from None
        return frame.to_dicts()

    def _header(self, text: IO[str]) -> tuple[_Form, Place]:
        """How the fields are separated, and where the first row begins."""
        seen = ""
        while True:
            block = text.read(BLOCK)
            seen += block
            data = _ended(seen.encode("utf-8", "surrogatepass"), last=not block)
            separator = "\t" if self.kind == "tsv" else separator_of(seen)
            quoted = has_quotes(seen, separator)
            starts, ends, _, fields = record_bounds(data, separator, quoted)
            if len(ends):
                form = _Form(separator, quoted, data[starts[0] : ends[0]], int(fields[0]))
                return form, Place(0, 1, 0, int(ends[0]), data[: ends[0]].count(b"\n"))
            if not block:
                if data.strip():
                    raise DataError(f"{self.path}, line 1: a double quote is left open.")
                return _Form(separator, quoted, b"", 0), Place(0, 1, 0, len(data))

    def _chunks(self, text: IO[str], form: _Form, start: Place) -> Iterator[_Chunk]:
        """Whole records at a time: where each of them begins and ends."""
        text.seek(start.mark)
        rest, line, before = b"", start.line + 1, start.skip
        mark = skip = 0  # where in the file the rest begins
        while True:
            here, block = text.tell(), text.read(BLOCK)
            fresh = block.encode("utf-8", "surrogatepass")
            used = min(before, len(fresh))
            before -= used
            if not rest:
                mark, skip = here, used
            data = _ended(rest + fresh[used:], last=not block)
            starts, ends, lines, fields = record_bounds(data, form.separator, form.quoted)
            if len(ends):
                if (wrong := np.flatnonzero(fields != form.width)).size:
                    at = line + int(lines[wrong[0]])
                    raise wrong_width(self.path, at, int(fields[wrong[0]]), form.width, form.separator)
                yield _Chunk(data, starts, ends, lines + line - 1, mark, skip)
                read = int(ends[-1])
                fits = read >= len(rest)
                mark, skip = (here, used + read - len(rest)) if fits else (mark, skip + read)
                line += data[:read].count(b"\n")
                data = data[read:]
            rest = data
            if not block:
                if rest.strip():
                    raise DataError(f"{self.path}, line {line}: a double quote is left open.")
                return
            if len(rest) > MAX_LINE:
                raise self._too_long(line)

    # --- Parquet ---

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(f"{self.path}: the Parquet file is damaged ({said}).") from None

    def _parquet(self, size: int, only: Sequence[str] | None, start: Place) -> Iterator[TableRows]:
        with self._undamaged():
            scan = pl.scan_parquet(self.path)
            names = scan.collect_schema().names()
        if only is not None:
            roots = {name.split(".")[0] for name in only} | set(only)
            scan = scan.select([c for c in names if c in roots])
        # Somebody who begins in the middle wants this batch, and maybe no other.
        step = size if start.number else max(1, SLICE // size) * size
        number = start.number
        for at in range(start.first - 1, self.total, step):
            part = _Slice(self, scan.slice(at, step))
            for first in range(at, min(at + step, self.total), size):
                many = min(size, self.total - first)
                yield TableRows(
                    Place(number, first + 1), first + many, many, partial(part.records, first - at, many)
                )
                number += 1


class _Form(NamedTuple):
    """How a separated file is written."""

    separator: str
    quoted: bool
    head: bytes
    width: int


class _Chunk(NamedTuple):
    """Records of a separated file: bytes, where each begins and ends, and the lines before it."""

    data: bytes
    starts: Ints
    ends: Ints
    lines: Ints
    mark: int  # where in the file the bytes begin
    skip: int

    def place(self, at: int, number: int, first: int) -> Place:
        return Place(number, first, self.mark, self.skip + int(self.starts[at]), int(self.lines[at]))


@dataclass
class _Slice:
    """Rows of a Parquet file that several batches share; read when the first of them is looked into."""

    file: TableFile
    scan: pl.LazyFrame

    @cached_property
    def frame(self) -> pl.DataFrame:
        with self.file._undamaged():
            return from_object(self.scan.collect()).frame

    def records(self, first: int, many: int) -> Records:
        return self.frame[first : first + many].to_dicts()


def _bytes(data: bytes, starts: Ints, ends: Ints) -> bytes:
    """Those records, without blank lines between them."""
    if (starts[1:] == ends[:-1]).all():
        return data[starts[0] : ends[-1]]
    return b"".join(data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True))


def _ended(data: bytes, last: bool) -> bytes:
    """The last line of a file may lack its end."""
    return data + b"\n" if last and data and not data.endswith(b"\n") else data
