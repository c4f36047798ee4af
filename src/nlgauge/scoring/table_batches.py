"""A table file in batches of rows, in bounded memory: JSONL, CSV and TSV (also gzipped), and Parquet.

A batch is parsed when somebody looks into it, so that batches which are done already cost little more than reading them.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl

from nlgauge.data.files import MAX_LINE
from nlgauge.data.tables.raw import SUFFIXES, from_object
from nlgauge.errors import DataError
from nlgauge.scoring.table_rows import FrameRows, JsonRows, Place, Rows

KINDS = ("jsonl", "csv", "tsv", "parquet")
BLOCK = 1 << 22  # characters of a CSV file at a time
SLICE = (
    200_000  # rows of a Parquet file at a time: whole row groups are unpacked, however few rows are wanted
)
QUOTED_FIELD = re.compile(r'(^|\t)"[^\t\n]*"(\t|\n|$)', re.MULTILINE)


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
            with self._undamaged():
                return int(self._scan().select(pl.len()).collect().item())
        return self.path.stat().st_size

    def batches(
        self, size: int, only: Sequence[str] | None = None, start: Place | None = None
    ) -> Iterator[Rows]:
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

    def _json_lines(self, size: int, place: Place) -> Iterator[Rows]:
        with self._text("\n") as (raw, text):
            text.seek(place.mark)
            lines = self._lines(text, place.line)
            while found := list(islice(lines, size)):
                numbers, kept = (list(column) for column in zip(*found, strict=True))
                yield JsonRows(self.path, place, raw.tell(), kept, numbers)
                place = Place(place.number + 1, place.first + len(kept), text.tell(), line=numbers[-1])

    def _lines(self, text: IO[str], number: int) -> Iterator[tuple[int, str]]:
        while line := text.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE and not line.endswith("\n"):
                raise DataError(f"{self.path}, line {number}: is longer than {MAX_LINE >> 20} MiB.")
            if line := line.strip():
                yield number, line

    # --- CSV and TSV ---

    def _separated(self, size: int, place: Place) -> Iterator[Rows]:
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
                        yield FrameRows(place, raw.tell(), have, partial(self._frame, form, parts, place))
                        place, have, parts = Place(place.number + 1, place.first + have), 0, []
            if have:
                yield FrameRows(place, raw.tell(), have, partial(self._frame, form, parts, place))

    def _frame(self, form: _Form, parts: list[bytes], place: Place) -> pl.DataFrame:
        sign = '"' if form.quoted else None
        whole = b"".join([form.head, *parts])
        try:
            return pl.read_csv(whole, separator=form.separator, infer_schema=False, quote_char=sign)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(
                f"{self.path}, line {place.line + 1} or behind: the double quotes do not match ({said})."
            ) from None

    def _header(self, text: IO[str]) -> tuple[_Form, Place]:
        """How the fields are separated, and where the first row begins."""
        seen = ""
        while True:
            block = text.read(BLOCK)
            seen += block
            data = _ended(seen.encode("utf-8", "surrogatepass"), last=not block)
            top = data.lstrip(b"\n").partition(b"\n")[0].decode("utf-8", "surrogatepass")
            separator = "\t" if self.kind == "tsv" else max(",\t;", key=top.count)
            quoted = separator != "\t" or QUOTED_FIELD.search(seen) is not None
            starts, ends, _, fields = _records(data, separator, quoted)
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
            starts, ends, lines, fields = _records(data, form.separator, form.quoted)
            if len(ends):
                if (wrong := np.flatnonzero(fields != form.width)).size:
                    raise DataError(
                        f"{self.path}, line {line + int(lines[wrong[0]])}: found {fields[wrong[0]]} fields, the header "
                        f"has {form.width}; a text that holds '{form.separator}' or a line break must stand in double quotes."
                    )
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
                raise DataError(f"{self.path}, line {line}: is longer than {MAX_LINE >> 20} MiB.")

    # --- Parquet ---

    def _scan(self) -> pl.LazyFrame:
        with self._undamaged():
            scan = pl.scan_parquet(self.path)
            scan.collect_schema()
            return scan

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise DataError(f"{self.path}: the Parquet file is damaged ({said}).") from None

    def _parquet(self, size: int, only: Sequence[str] | None, start: Place) -> Iterator[Rows]:
        scan = self._scan()
        if only is not None:
            roots = {name.split(".")[0] for name in only} | set(only)
            scan = scan.select([c for c in scan.collect_schema().names() if c in roots])
        # Somebody who begins in the middle wants this batch, and maybe no other.
        step = size if start.number else max(1, SLICE // size) * size
        number = start.number
        for at in range(start.first - 1, self.total, step):
            part = _Slice(self, scan, at, min(step, self.total - at))
            for k in range(0, part.size, size):
                many = min(size, part.size - k)
                place = Place(number, at + k + 1)
                yield FrameRows(place, at + k + many, many, partial(part.rows, k, many))
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
    starts: Any
    ends: Any
    lines: Any
    mark: int  # where in the file the bytes begin
    skip: int

    def place(self, at: int, number: int, first: int) -> Place:
        return Place(number, first, self.mark, self.skip + int(self.starts[at]), int(self.lines[at]))


@dataclass
class _Slice:
    source: Source
    scan: pl.LazyFrame
    at: int
    size: int

    @cached_property
    def frame(self) -> pl.DataFrame:
        with self.source._undamaged():
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


def _ended(data: bytes, last: bool) -> bytes:
    """The last line of a file may lack its end."""
    return data + b"\n" if last and data and not data.endswith(b"\n") else data
