"""CSV and TSV files: separators, and the lines of each record."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from nlgauge.data.files import MAX_LINE, decode, read_bytes
from nlgauge.errors import DataError

SEPARATORS = ",\t;|"
STRANGE = ":~^，；"  # rare separators
QUOTED = re.compile(r'"[^"]*"')
QUOTED_FIELD = re.compile(r'(^|\t)"[^\t\n]*"(\t|\n|$)', re.MULTILINE)


def separator_of(text: str, likely: str = ",") -> str:
    """Return the most frequent separator in the header outside of quotes; a tab if the file is .tsv and has one."""
    header = QUOTED.sub("", text.lstrip("\n").partition("\n")[0])
    if likely == "\t" and likely in header:
        return likely
    return max(likely + SEPARATORS, key=header.count)


def blanks_to_tabs(text: str) -> str:
    """Replace spaces by tabs, as some WMT tools write them, if every line then has as many fields."""
    if len(text.partition("\n")[0].split()) < 2:
        return text
    lines = [line.split() for line in text.split("\n") if line.strip()]
    return text if len({len(line) for line in lines}) > 1 else "\n".join("\t".join(line) for line in lines)


def check_alone(path: Path, text: str) -> None:
    """Refuse a single column with a rare separator in every line."""
    lines = [line for line in text.split("\n") if line.strip()]
    for sign in STRANGE:
        many = {line.count(sign) for line in lines}
        if len(lines) > 1 and len(many) == 1 and many != {0}:
            raise DataError(
                f"{path}: one column, '{lines[0][:40]}', with '{sign}' in every line; separate the fields with "
                "commas, tabs, semicolons or |."
            )


def text_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a small CSV or TSV file as texts."""
    text = decode(path, read_bytes(path))
    return list(csv.DictReader(io.StringIO(text), delimiter=separator_of(text)))


def has_quotes(text: str, separator: str) -> bool:
    """Return whether quotes are special: in TSV files by WMT tools they are not, in those by pandas they are.

    A field with a tab in it shows only in the number of fields, which is equal in all lines where quotes are special.

    >>> has_quotes('a\\tb\\n"x\\ty"\\t1', "\\t"), has_quotes('a\\tb\\n5" nail\\t6" nail', "\\t")
    (True, False)
    """
    if separator != "\t" or QUOTED_FIELD.search(text):
        return True
    return '"' in text and len(_widths(text)) > 1 == len(_widths(QUOTED.sub("", text)))


def _widths(text: str) -> set[int]:
    """Return the numbers of tabs that lines have."""
    return {line.count("\t") for line in text.split("\n") if line}


def records(path: Path, text: IO[str], quoted: bool, line: int = 0) -> Iterator[tuple[int, str]]:
    """Yield every record (also blank ones) and the number of its first line.

    A record is a line, or several lines if a quotation mark is still open at the end of a line. `line` is the number of
    lines before the text. A record is yielded as soon as it is complete, so that the position in the text is the start
    of the next record.
    """
    parts, length, is_open = list[str](), 0, 0
    while part := text.readline(MAX_LINE):
        parts.append(part)
        length += len(part)
        if length >= MAX_LINE and not part.endswith("\n"):
            raise DataError(f"{path}, line {line + 1}: longer than the limit of {MAX_LINE >> 20} MiB.")
        is_open ^= quoted and part.count('"') & 1
        if not is_open:
            yield line + 1, part if len(parts) == 1 else "".join(parts)
            line, parts, length = line + len(parts), [], 0
    if parts:
        raise DataError(f"{path}, line {line + 1}: a double quote is not closed.")


def fields(record: str, separator: str, quoted: bool) -> int:
    """Count the fields of a record; separators between quotation marks do not count.

    >>> fields('a,"b,c",d', ",", quoted=True), fields('a,"b,c",d', ",", quoted=False)
    (3, 4)
    """
    if quoted and '"' in record:
        record = QUOTED.sub("", record)
    return record.count(separator) + 1


def wrong_width(path: Path, line: int, fields: int, width: int, separator: str) -> DataError:
    """Return the error for a line with more or fewer fields than the header."""
    return DataError(
        f"{path}, line {line}: found {fields} fields, the header has {width}; "
        f"put texts with '{separator}' or a line break in double quotes."
    )


def record_lines(path: Path, text: str, separator: str, quoted: bool) -> list[int]:
    """Return the line on which each record starts, with the header; refuse records with a wrong number of fields.

    polars fills short lines with nulls in silence, so the fields are counted here; when something looks wrong once more
    with the csv module, which is slow but exact about quotes.
    """
    if '"' not in text:  # a record is a line
        each = text.split("\n")
        if len({line.count(separator) for line in each if line}) == 1 and len(max(each, key=len)) < MAX_LINE:
            return [number for number, line in enumerate(each, 1) if line]
    if not (quoted and text.count('"') % 2):
        lines = [(line, record) for line, record in records(path, io.StringIO(text), quoted) if record != "\n"]
        if len({fields(record, separator, quoted) for _, record in lines}) == 1:
            return [line for line, _ in lines]
    csv.field_size_limit(1 << 30)
    rules: dict[str, Any] = {"quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, "strict": quoted}
    reader = csv.reader(io.StringIO(text), delimiter=separator, **rules)
    starts: list[int] = []
    width, line = 0, 1
    try:
        for row in reader:
            if row:
                width = width or len(row)
                if len(row) != width:
                    raise wrong_width(path, line, len(row), width, separator)
                starts.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {line}: {error}; a double quote may not be closed.") from None
    return starts
