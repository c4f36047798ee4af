"""A file or frame as a plain table, before roles are given to its columns.

CSV, TSV, JSONL, JSON and Parquet (also gzipped), pandas, polars and Hugging Face `datasets` objects all become one
`RawTable`: a polars frame, list-of-record columns kept aside, and a `Where` that turns a row into file and line.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.files import check_lines, decode, most_bytes, read_bytes, refuse_patterns
from nlgauge.data.names import common_form
from nlgauge.data.records import parse_json, parse_object
from nlgauge.data.tables.frames import check_names, frame_columns
from nlgauge.data.tables.json_rows import is_json_lines, json_rows
from nlgauge.data.tables.separated import blanks_to_tabs, check_alone, has_quotes, record_lines, separator_of
from nlgauge.data.tables.sheets import is_workbook, read_sheet
from nlgauge.data.tables.vocabulary import NAMES, column_of, plain
from nlgauge.errors import DataError
from nlgauge.options import option

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip


MAX_COLUMNS = 5_000
PER_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9}
KEYS = ("system", "input", "rater", "output", "source")  # read even if only declared columns are read


@dataclass(frozen=True)
class Where:
    """Names a location in the source for error messages: `ratings.csv, line 214, column 'coherence'`."""

    source: str
    word: str = "row"
    line_of: Callable[[int], int] = field(default=lambda row: row + 1, repr=False)

    def at(self, row: int | None = None, column: str | None = None) -> str:
        """Return the name of a cell, a row or a column."""
        parts = [self.source]
        if row is not None:
            parts.append(f"{self.word} {self.line_of(row)}")
        if column is not None:
            parts.append(f"column '{column}'")
        return ", ".join(parts)


@dataclass
class RawTable:
    frame: pl.DataFrame
    where: Where
    nested: dict[str, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # on how it was read
    worth: Mapping[str, float] = field(default_factory=dict)  # numbers of labels, declared by the user
    known: dict[str, Any] = field(default_factory=dict, repr=False)  # columns as numbers, by `values.parse_column`
    classes: Mapping[str, Any] = field(default_factory=dict)  # columns of classes, by `classes.with_classes`
    declared: frozenset[str] = frozenset()  # nested columns declared as human
    in_settings: frozenset[str] = frozenset()  # names in nlgauge.toml

    def __post_init__(self) -> None:
        forms = Counter(map(common_form, self.frame.columns))
        changed = {c: form for c in self.frame.columns if (form := common_form(c)) != c and forms[form] == 1}
        if changed:  # headings that two columns would share are not changed, but reported
            self.frame = self.frame.rename(changed)
        refuse_patterns(self.where.source, (*self.frame.columns, *self.nested))

    def who_names(self, column: str) -> str:
        """Return where a column is named, for messages, if not by the caller."""
        return " (named in nlgauge.toml)" if column in self.in_settings else ""


def read_table(
    path: Path,
    encoding: str | None = None,
    sheet: str | None = None,
    mentioned: Collection[str] = (),
    whole: bytes | None = None,
) -> RawTable:
    """Read a table file; its kind is inferred from the suffix, else from its first bytes.

    Of a table with more than MAX_COLUMNS columns only the `wanted` ones are read. `whole`: the content of the file,
    where it was read already.
    """
    raw = read_bytes(path, whole)
    if is_workbook(path, raw):
        frame, lines, notes = read_sheet(path, raw, sheet)
        return RawTable(frame, Where(str(path), "row", lines.__getitem__), notes=notes)
    if sheet is not None:
        raise DataError(f"{path}: {option('sheet')} is for Excel files.")
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in (".gz", ".gzip")]
    kind = SUFFIXES.get(suffixes[-1] if suffixes else "", "")
    if raw[:4] == b"PAR1":
        size = len(raw)
        source: Path | io.BytesIO = path if size == path.stat().st_size else io.BytesIO(raw)
        del raw  # as large as the table
        return _read_parquet(path, source, size, mentioned)
    if kind == "parquet":
        raise DataError(f"{path}: has the suffix .parquet, but is not a Parquet file.")
    text = decode(path, raw, encoding)
    if not kind or kind == "json":
        head = text.lstrip()[:1]
        kind = "csv" if head not in "[{" else kind or "jsonl"
        if head == "{":  # .json files with one object per line are common
            kind = "jsonl" if is_json_lines(text) else "json"
        elif head == "[":
            kind = "json"
    if kind != "json":
        check_lines(path, text)
    if kind == "json":
        return _read_json(path, text, mentioned)
    if kind == "jsonl":
        return _read_jsonl(path, text, mentioned)
    return _read_separated(path, text, separator_of(text, likely="\t" if kind == "tsv" else ","), mentioned)


def from_object(data: Any, mentioned: Collection[str] = ()) -> RawTable:
    """Return the table of a data frame (through narwhals), a Hugging Face `datasets.Dataset`, columns or rows."""
    kind, room = type(data).__name__, type(data).__module__.split(".")[0]
    where = Where(
        "rows" if isinstance(data, list) else "columns" if isinstance(data, dict) else f"{room} {kind}",
        line_of=lambda row: row,
    )
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    if isinstance(data, pl.DataFrame):
        chosen, notes = chosen_columns(data.columns, mentioned, where.source)
        return _split_nested(data.select(chosen) if notes else data, where, notes)
    if isinstance(data, list) and data and all(isinstance(r, dict) for r in data):
        return _from_records(data, where, mentioned)
    notes = []
    if (read_columns := frame_columns(data, where.source)) is not None:
        columns, notes = read_columns
    elif isinstance(data, dict) and data and len({len(v) if isinstance(v, list) else -1 for v in data.values()}) == 1:
        columns = {str(name): values for name, values in data.items()}
        check_names(list(columns), where.source)
    else:
        raise DataError(f"cannot read a {type(data).__name__}; pass a path, a list of dicts, a pandas or polars frame.")
    names = list(columns)
    table = _from_records(
        [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)], where, mentioned
    )
    table.notes += notes
    return table


def _read_parquet(path: Path, source: Path | io.BytesIO, size: int, mentioned: Collection[str]) -> RawTable:
    try:
        lazy = pl.scan_parquet(source)
        names = lazy.collect_schema().names()
        rows, columns = lazy.select(pl.len()).collect().item(), len(names)
        if rows * columns * 8 > most_bytes(size):
            raise DataError(
                f"{path}: declares {rows:,} rows of {columns} columns in {size >> 10} KiB; refused as a possible "
                "decompression bomb. If the file is right, write it again."
            )
        chosen, notes = chosen_columns(names, mentioned, str(path))
        frame = pl.read_parquet(source, columns=chosen if notes else None)
    except DataError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise DataError(f"{path}: the Parquet file is damaged ({str(error).splitlines()[0]}).") from None
    return _split_nested(frame, Where(str(path)), notes)


def _split_nested(frame: pl.DataFrame, where: Where, notes: Sequence[str] = ()) -> RawTable:
    """Convert structs to dotted columns; lists of structs become records."""
    while structs := [c for c, t in frame.schema.items() if isinstance(t, pl.Struct)]:
        frame = frame.with_columns(pl.col(c).name.prefix_fields(f"{c}.") for c in structs).unnest(structs)
    nested = {
        c: frame[c].to_list()
        for c, t in frame.schema.items()
        if isinstance(t, (pl.List, pl.Array)) and isinstance(t.inner, pl.Struct)
    }
    _check_header(frame.columns, where)
    durations = [c for c, t in frame.schema.items() if t == pl.Duration]
    seconds = [(frame[c].cast(pl.Float64) / PER_SECOND[frame.schema[c].time_unit]).alias(c) for c in durations]  # type: ignore[attr-defined]
    frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String), *seconds)
    more = [f"column '{c}' has durations, read as seconds" for c in durations]
    return RawTable(frame.drop(list(nested)), where, nested, [*notes, *more])


# --- JSON ---------------------------------------------------------------------------------------------------------


def _read_jsonl(path: Path, text: str, mentioned: Collection[str]) -> RawTable:
    rows, lines = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        rows.append(parse_object(f"{path}, line {number}", line))
        lines.append(number)
    return _from_records(rows, Where(str(path), "line", lines.__getitem__), mentioned)


def _read_json(path: Path, text: str, mentioned: Collection[str]) -> RawTable:
    rows, notes = json_rows(str(path), parse_json(str(path), text), named=bool(mentioned))
    table = _from_records(rows, Where(str(path), "record"), mentioned)
    return replace(table, notes=[*notes, *table.notes])


def _from_records(rows: list[dict[str, Any]], where: Where, mentioned: Collection[str] = ()) -> RawTable:
    if not rows:
        raise DataError(f"{where.source}: the file has no rows.")
    flat = [_flatten(row) for row in rows]
    flat, where, spread = _outputs_apart(flat, where)
    names, notes = chosen_columns(list(dict.fromkeys(name for row in flat for name in row)), mentioned, where.source)
    columns: dict[str, pl.Series] = {}
    nested: dict[str, list[Any]] = {}
    for name in names:
        values = [row.get(name) for row in flat]
        if any(isinstance(v, list) and v and isinstance(v[0], dict) for v in values):
            nested[name] = values
        else:
            columns[name] = _series(name, values)
    if not columns:
        raise DataError(
            f"{where.source}: all columns ({', '.join(nested) or 'none'}) have records; expected values per output."
        )
    return RawTable(pl.DataFrame(columns), where, nested, [*spread, *notes])


def _outputs_apart(rows: list[dict[str, Any]], where: Where) -> tuple[list[dict[str, Any]], Where, list[str]]:
    """Expand rows of inputs with a list of output records to one row per output."""
    named = {plain(name) for row in rows[:50] for name in row}
    if not named.isdisjoint(NAMES["output"]):
        return rows, where, []
    lists = dict.fromkeys(n for row in rows for n, v in row.items() if isinstance(v, list) and v and _holds_output(v))
    if len(lists) != 1:
        return rows, where, []
    column = next(iter(lists))
    expanded, origin = [], []
    for i, row in enumerate(rows):
        rest = {name: value for name, value in row.items() if name != column}
        for record in row.get(column) or [{}]:
            expanded.append(rest | {k if k not in rest else f"{column}.{k}": v for k, v in _flatten(record).items()})
            origin.append(i)
    note = f"each record of '{column}' is an output: {len(rows)} {where.word}s, {len(expanded)} outputs"
    return expanded, Where(where.source, where.word, lambda row: where.line_of(origin[row])), [note]


def _holds_output(records: list[Any]) -> bool:
    """Return whether each record has an output, and a system or a value that is not text, unlike
    turns of a dialogue.
    """
    return all(
        isinstance(r, dict)
        and any(plain(k) in NAMES["output"] and isinstance(v, str) for k, v in r.items())
        and (column_of("system", r) is not None or any(not isinstance(v, str) for v in r.values()))
        for r in records
    )


def chosen_columns(names: list[str], mentioned: Collection[str], source: str) -> tuple[list[str], list[str]]:
    """Return all columns; of very many only the declared ones, with a note."""
    if len(names) <= MAX_COLUMNS:
        return names, []
    if not any(name in mentioned for name in names):
        raise DataError(
            f"{source}: {len(names):,} columns exceed the limit of {MAX_COLUMNS:,}; declare those that are "
            f"needed ({option('system')}, {option('human')}, …). The first: "
            f"{', '.join(n[:40] for n in names[:8])}, …"
        )
    keys = {word for role in KEYS for word in NAMES[role]}
    chosen = [name for name in names if name in mentioned or plain(name) in keys]
    return chosen, [
        f"{len(chosen)} of {len(names):,} columns are read: the declared ones, and {', '.join(KEYS)} if present"
    ]


def _flatten(row: dict[str, Any], prefix: str = "", depth: int = 4) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and depth:
            flat |= _flatten(value, f"{prefix}{key}.", depth - 1)
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _series(name: str, values: list[Any]) -> pl.Series:
    kinds = {type(v) for v in values if v is not None}
    if kinds and all(issubclass(kind, datetime.timedelta) for kind in kinds):
        return pl.Series(name, [None if v is None else v.total_seconds() for v in values], pl.Float64)
    if kinds == {bool}:
        return pl.Series(name, values, pl.Boolean)
    if kinds and kinds <= {int, float, bool}:
        return pl.Series(name, [None if v is None else _float(v) for v in values], pl.Float64)
    if list in kinds:
        lists = [v if isinstance(v, list) or v is None else [v] for v in values]
        if all(isinstance(x, int | float) for v in lists if v for x in v if x is not None):
            return pl.Series(
                name,
                [None if v is None else [None if x is None else _float(x) for x in v] for v in lists],
                pl.List(pl.Float64),
            )
        return pl.Series(name, [None if v is None else [_text(x) for x in v] for v in lists], pl.List(pl.String))
    return pl.Series(name, [None if v is None else _text(v) for v in values], pl.String)


def _float(value: float) -> float:
    """Convert a number to a float; JSON integers that are too large become infinity."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# --- CSV and TSV --------------------------------------------------------------------------------------------------


def _read_separated(path: Path, text: str, separator: str, mentioned: Collection[str] = ()) -> RawTable:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    notes: list[str] = []
    if separator not in text.partition("\n")[0]:
        check_alone(path, text)
        if (tabbed := blanks_to_tabs(text)) != text:
            text, separator = tabbed, "\t"
            notes.append("fields are separated by spaces")
    quoted = has_quotes(text, separator)
    lines = record_lines(path, text, separator, quoted)
    where = Where(str(path), "line", lambda row: lines[row + 1])
    columns: list[str] | None = None
    if text[: text.find("\n")].count(separator) >= MAX_COLUMNS:
        header = next(csv.reader(io.StringIO(text), delimiter=separator))
        columns, more = chosen_columns(header, mentioned, str(path))
        notes += more
    try:
        frame = pl.read_csv(
            text.encode(), separator=separator, infer_schema=False, quote_char='"' if quoted else None, columns=columns
        )
    except Exception as error:
        raise DataError(f"{path}: cannot be read as a table ({str(error).splitlines()[0]}).") from None
    if quoted and any('""' in name for name in frame.columns):  # polars leaves a doubled quote of a heading doubled
        header = next(csv.reader(io.StringIO(text), delimiter=separator))
        plain_names = {name.replace('"', '""'): name for name in header}
        frame.columns = [plain_names.get(name, name) for name in frame.columns]
    # whole numbers may be names of annotators if they are distinct
    if values := [c for c in frame.columns if re.fullmatch(r"\s*[+-]?\d*[.,]\d+\s*|\d+_duplicated_\d+", c)]:
        raise DataError(
            f"{path}, line 1: '{values[0].partition('_')[0]}' is not a column name; add a header line above the rows."
        )
    _check_header(frame.columns, where)
    bare = [c.strip() for c in frame.columns]
    if len(set(bare)) == len(bare):
        frame.columns = bare
    if frame.height != len(lines) - 1:  # polars makes a row of a blank line, which would shift all line numbers
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        if frame.height != len(lines) - 1:
            raise DataError(f"{path}: has blank lines and rows without values; remove them.")
    if not frame.height:
        raise DataError(f"{path}: has a header but no rows.")
    empty = [i for i, c in enumerate(frame.columns) if not c.strip() or c.startswith("_duplicated")]
    frame = frame.drop([frame.columns[i] for i in empty if frame[:, i].null_count() == frame.height])
    return RawTable(frame, where, notes=notes)


def _check_header(columns: list[str], where: Where) -> None:
    repeated = [c for c in columns if re.search(r"_duplicated_\d+$", c)]
    if repeated and len(columns) > len(repeated):
        name = re.sub(r"_duplicated_\d+$", "", repeated[0])
        if name:
            raise DataError(f"{where.source}, line 1: two columns have the name '{name}'; rename one.")
