"""A table file in batches of rows, in bounded memory: JSONL, CSV and TSV (also gzipped), and Parquet.

A batch is parsed on first use, so that batches which are done already cost little more than reading them.
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

import polars as pl

from nlgauge.data.files import check_regular, parquet, refuse_packed
from nlgauge.data.records import parse_object
from nlgauge.data.tables.raw import SUFFIXES, RawTable, from_object
from nlgauge.data.tables.separated import fields, has_quotes, records, separator_of, wrong_width
from nlgauge.errors import DataError, first_line
from nlgauge.options import option

FORMATS = ("jsonl", "csv", "tsv", "parquet")
BLOCK = 1 << 22  # characters of a CSV file read to infer its dialect
SLICE = 200_000  # rows of a Parquet file at a time: whole row groups are always unpacked
Records = list[dict[str, Any]]


class BatchPlace(NamedTuple):
    """The position of a batch in its file, with which another machine can read it."""

    number: int  # of the batch, from 0
    first: int  # its first row, from 1
    mark: int = 0  # of the text, as its tell() says; 0: the beginning of the file
    line: int = 0  # lines before it


@dataclass
class TableRows:
    """Consecutive rows of a file; `done` is how much of the file has been read after them."""

    place: BatchPlace
    done: int
    size: int
    parse: Callable[[], Records]
    lines: list[str] | None = None  # of a JSONL file

    def __len__(self) -> int:
        return self.size

    @cached_property
    def records(self) -> Records:
        """The rows as dictionaries, parsed on first use."""
        return self.parse()

    def values(self, column: str) -> list[Any]:
        """Return the values of a column; None where a row does not have it."""
        if "." not in column or any(column in record for record in self.records):
            return [record.get(column) for record in self.records]
        return [_inside(record, column) for record in self.records]

    def json_lines(self) -> list[str]:
        """Return the rows as JSON objects, those of a JSONL file unchanged."""
        return self.lines or [json.dumps(row, ensure_ascii=False, default=str) for row in self.records]

    def table(self, rows: int) -> RawTable:
        """Return the first rows as a table, from which the roles of columns are inferred."""
        return from_object(self.records[:rows])


def _inside(record: Any, column: str) -> Any:
    """Return the value under a dotted name; an exact key takes precedence."""
    if not isinstance(record, dict) or column in record:
        return record.get(column) if isinstance(record, dict) else None
    parts = column.split(".")
    for k in range(1, len(parts)):
        value = _inside(record.get(".".join(parts[:k])), ".".join(parts[k:]))
        if value is not None:
            return value
    return None


@dataclass(frozen=True)
class TableFile:
    """A file that can be read in batches."""

    path: Path
    encoding: str | None = None

    @property
    def kind(self) -> str:
        """The format by the file's suffix; '' for an unknown one."""
        suffixes = [s.lower() for s in self.path.suffixes if s.lower() not in (".gz", ".gzip")]
        return SUFFIXES.get(suffixes[-1] if suffixes else "", "")

    def check(self) -> None:
        """Refuse a file that does not exist or cannot be read in batches."""
        check_regular(self.path)
        if not self.path.is_file():
            raise DataError(f"{self.path}: no such file.")
        with self.path.open("rb") as file:
            refuse_packed(self.path, file.read(8))
        if self.kind not in FORMATS:
            raise DataError(
                f"{self.path}: only JSONL, CSV, TSV and Parquet can be scored in batches; `nlgauge data convert` "
                "writes them."
            )

    @cached_property
    def total(self) -> int:
        """The value of `done` at the end: bytes, or rows of a Parquet file."""
        if self.kind == "parquet":
            with parquet(self.path):
                return int(pl.scan_parquet(self.path).select(pl.len()).collect().item())
        return self.path.stat().st_size

    def batches(
        self, size: int, only: Sequence[str] | None = None, start: BatchPlace | None = None
    ) -> Iterator[TableRows]:
        """Yield the batches from the first, or from the one at `start` without reading those before it.

        `only`: the columns that are used; of a Parquet file no others are read.
        """
        start = start or BatchPlace(0, 1)
        return self._parquet(size, only, start) if self.kind == "parquet" else self._lines(size, start)

    @contextmanager
    def _text(self, newline: str | None) -> Iterator[tuple[IO[bytes], IO[str]]]:
        """Open the file as bytes, which tell the position, and as text."""
        with self.path.open("rb") as raw:
            head = raw.read(2)
            raw.seek(0)
            encoding = self.encoding or ("utf-16" if head in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
            plain: Any = gzip.GzipFile(fileobj=raw) if head == b"\x1f\x8b" else raw
            try:
                yield raw, io.TextIOWrapper(plain, encoding, newline=newline)
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{self.path}, near byte {raw.tell():,}: not valid {error.encoding}; "
                    f"save the file as UTF-8, or name its encoding ({option('encoding', 'latin-1')})."
                ) from None
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise DataError(
                    f"{self.path}: the gzip file is truncated or damaged ({error}); download it again."
                ) from None

    # --- JSON lines, CSV and TSV ---

    def _lines(self, size: int, place: BatchPlace) -> Iterator[TableRows]:
        form = None if self.kind == "jsonl" else self._form()
        with self._text("\n" if form is None else None) as (raw, text):
            text.seek(place.mark)
            parsed = self._records(text, place.line, form)
            if form is not None and not place.mark:
                next(parsed, None)  # the header
            while some := list(islice(parsed, size)):
                if form is None:
                    lines = [line for _, line in some]
                    yield TableRows(place, raw.tell(), len(some), partial(self._json_records, some), lines)
                else:
                    yield TableRows(place, raw.tell(), len(some), partial(self._csv_records, form, some))
                line, last = some[-1]
                read = line - 1 + max(1, last.count("\n"))
                place = BatchPlace(place.number + 1, place.first + len(some), text.tell(), read)

    def _records(self, text: IO[str], line: int, form: _Form | None) -> Iterator[tuple[int, str]]:
        """Yield every record that is not blank, with the number of its first line."""
        for place, record in records(self.path, text, form is not None and form.quoted, line):
            if form is None:
                if stripped := record.strip():
                    yield place, stripped
            elif record != "\n":
                if form.width and (width := fields(record, form.separator, form.quoted)) != form.width:
                    raise wrong_width(self.path, place, width, form.width, form.separator)
                yield place, record

    def _json_records(self, lines: list[tuple[int, str]]) -> Records:
        together = f"[{','.join(line for _, line in lines)}]"
        halves = "\\ud" in together or "\\uD" in together  # possible lone surrogates; `parse_object` checks them
        try:
            records: Records = [] if halves else json.loads(together)  # one call for all is faster
        except (ValueError, RecursionError):
            records = []
        if len(records) != len(lines) or not all(type(record) is dict for record in records):
            records = [parse_object(f"{self.path}, line {number}", line) for number, line in lines]
        return records

    def _form(self) -> _Form:
        """Detect the separator of the fields, and read the header."""
        with self._text(None) as (_, text):
            seen = text.read(BLOCK)
            text.seek(0)
            top = next((line for line in iter(text.readline, "") if line != "\n"), "")
            text.seek(0)
            separator = separator_of(top, likely="\t" if self.kind == "tsv" else ",")
            form = _Form(separator, has_quotes(seen, separator))
            _, head = next(self._records(text, 0, form), (0, ""))
            return form._replace(head=head, width=fields(head, separator, form.quoted))

    def _csv_records(self, form: _Form, some: list[tuple[int, str]]) -> Records:
        sign = '"' if form.quoted else None
        content = form.head + "".join(record for _, record in some)
        try:
            frame = pl.read_csv(
                content.encode("utf-8", "surrogatepass"), separator=form.separator, infer_schema=False, quote_char=sign
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            where = f"{self.path}, line {some[0][0]} or later"
            raise DataError(f"{where}: the double quotes do not match ({first_line(error)}).") from None
        return frame.to_dicts()

    # --- Parquet ---

    def _parquet(self, size: int, only: Sequence[str] | None, start: BatchPlace) -> Iterator[TableRows]:
        with parquet(self.path):
            scan = pl.scan_parquet(self.path)
            names = scan.collect_schema().names()
        if only is not None:
            roots = {name.split(".")[0] for name in only} | set(only)
            scan = scan.select([c for c in names if c in roots])
        # A reader that begins in the middle may need only this batch.
        step = size if start.number else max(1, SLICE // size) * size
        number = start.number
        for first_row in range(start.first - 1, self.total, step):
            part = _Slice(self, scan.slice(first_row, step))
            for first in range(first_row, min(first_row + step, self.total), size):
                many = min(size, self.total - first)
                yield TableRows(
                    BatchPlace(number, first + 1), first + many, many, partial(part.records, first - first_row, many)
                )
                number += 1


class _Form(NamedTuple):
    """The dialect of a CSV or TSV file."""

    separator: str
    quoted: bool
    head: str = ""
    width: int = 0  # fields of the header; 0: unknown


@dataclass
class _Slice:
    """Rows of a Parquet file that several batches share; read when the first of them is used."""

    file: TableFile
    scan: pl.LazyFrame

    @cached_property
    def frame(self) -> pl.DataFrame:
        with parquet(self.file.path):
            return from_object(self.scan.collect()).frame

    def records(self, first: int, many: int) -> Records:
        return self.frame[first : first + many].to_dicts()
