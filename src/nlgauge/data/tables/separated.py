"""CSV and TSV before they are read: what separates the fields, and on which line each record starts."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import DataError

SEPARATORS = ",\t;|"


def separator_of(text: str) -> str:
    """The most frequent of the header's signs, not counting those in quotes: a question may hold commas."""
    header = re.sub(r'"[^"]*"', "", text.lstrip("\n").split("\n", 1)[0])
    return max(SEPARATORS, key=header.count)


def record_lines(path: Path, text: str, separator: str, quoted: bool) -> list[int]:
    """The line on which each record starts, header included; a record with a wrong number of fields is refused.

    polars fills short lines with nulls in silence, so the fields are counted here: on bytes at once, and only when
    something looks wrong record by record with the csv module, which is slow but exact about quotes.
    """
    data = np.frombuffer(text.encode(), np.uint8)
    inside = (np.cumsum(data == ord('"')) & 1).astype(bool) if quoted else np.zeros(len(data), bool)
    newline = data == ord("\n")
    ends = np.flatnonzero(newline & ~inside)
    if not len(ends) or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    commas = np.concatenate([[0], np.cumsum((data == ord(separator)) & ~inside)])
    fields = commas[np.minimum(ends, len(data))] - commas[starts] + 1
    filled = ends > starts  # blank lines do not count
    line_numbers = np.concatenate([[0], np.cumsum(newline)])[starts] + 1
    if np.unique(fields[filled]).size > 1 or (quoted and len(data) and inside[-1]):
        return _exactly(path, text, separator, quoted)
    return [int(n) for n in line_numbers[filled]]


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
                    raise DataError(
                        f"{path}, line {line}: found {len(record)} fields, the header has {width}; "
                        f"a text that holds '{separator}' or a line break must stand in double quotes."
                    )
                starts.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {line}: {error}; is a double quote left open?") from None
    return starts
