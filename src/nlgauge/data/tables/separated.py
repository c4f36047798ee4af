"""CSV and TSV before they are read: what separates the fields, and where each record starts."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import DataError
from nlgauge.types import Ints

SEPARATORS = ",\t;|"
QUOTED_FIELD = re.compile(r'(^|\t)"[^\t\n]*"(\t|\n|$)', re.MULTILINE)


def separator_of(text: str) -> str:
    """The most frequent of the header's signs, not counting those in quotes: a question may hold commas."""
    header = re.sub(r'"[^"]*"', "", text.lstrip("\n").split("\n", 1)[0])
    return max(SEPARATORS, key=header.count)


def has_quotes(text: str, separator: str) -> bool:
    """Tab files written by hand or by WMT tools hold bare quotes; those written by pandas quote whole fields."""
    return separator != "\t" or QUOTED_FIELD.search(text) is not None


def record_bounds(data: bytes, separator: str, quoted: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """Begin and end of every record that is complete and not blank, the lines before it, and its number of fields."""
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


def wrong_width(path: Path, line: int, fields: int, width: int, separator: str) -> DataError:
    return DataError(
        f"{path}, line {line}: found {fields} fields, the header has {width}; "
        f"a text that holds '{separator}' or a line break must stand in double quotes."
    )


def record_lines(path: Path, text: str, separator: str, quoted: bool) -> list[int]:
    """The line on which each record starts, header included; a record with a wrong number of fields is refused.

    polars fills short lines with nulls in silence, so the fields are counted here: on bytes at once, and only when
    something looks wrong record by record with the csv module, which is slow but exact about quotes.
    """
    data = text.encode() + (b"" if text.endswith("\n") else b"\n")
    _, _, lines, fields = record_bounds(data, separator, quoted)
    open_quote = quoted and data.count(b'"') % 2
    if np.unique(fields).size > 1 or open_quote:
        return _exactly(path, text, separator, quoted)
    return [int(n) + 1 for n in lines]


def _exactly(path: Path, text: str, separator: str, quoted: bool) -> list[int]:
    csv.field_size_limit(1 << 30)
    rules: dict[str, Any] = {"quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, "strict": quoted}
    reader = csv.reader(io.StringIO(text), delimiter=separator, **rules)
    starts: list[int] = []
    width, line = 0, 1
    try:
        for record in reader:
            if record:
                width = width or len(record)
                if len(record) != width:
                    raise wrong_width(path, line, len(record), width, separator)
                starts.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {line}: {error}; is a double quote left open?") from None
    return starts
