"""Excel files (and .ods) as tables of texts, with the package fastexcel: the extra `excel`."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.files import most_bytes
from nlgauge.data.tables.frames import check_names
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.options import option

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def is_workbook(path: Path, raw: bytes) -> bool:
    """Return whether a file is an Excel or OpenDocument workbook."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return True
    return raw[:4] == b"PK\x03\x04" and (b"xl/" in raw[:4096] or b"[Content_Types].xml" in raw[:4096])


def read_sheet(path: Path, raw: bytes, sheet: str | None) -> tuple[pl.DataFrame, list[int], list[str]]:
    """Return a sheet as texts, its row numbers, and notes; of several filled sheets one must be named."""
    _check_size(path, raw)
    book = _open(path, raw)
    if sheet is not None and sheet not in book.sheet_names:
        raise DataError(f"{path}: no sheet '{sheet}'. Sheets: {', '.join(book.sheet_names)}.")
    filled = [(name, cells) for name in book.sheet_names if (cells := _cells(path, book, name)).height]
    if sheet is not None:
        filled = [(name, cells) for name, cells in filled if name == sheet]
    if not filled:
        raise DataError(f"{path}: {f'the sheet {sheet}' if sheet else 'every sheet'} is empty.")
    if len(filled) > 1:
        largest = max(filled, key=lambda entry: entry[1].height)[0]
        sizes = ", ".join(f"'{name}' ({cells.height} rows)" for name, cells in filled)
        raise DataError(f"{path}: {len(filled)} sheets with data: {sizes}; choose one with {option('sheet', largest)}.")
    name, cells = filled[0]
    frame, lines = _with_header(path, name, cells)
    return (frame, lines, [f"sheet '{name}' of {', '.join(book.sheet_names)}"] if len(book.sheet_names) > 1 else [])


def _check_size(path: Path, raw: bytes) -> None:
    """Refuse a workbook (a zip file) that unpacks to too many bytes."""
    if raw[:2] != b"PK":
        return
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise DataError(f"{path}: the workbook is damaged ({error}).") from None
    if size > most_bytes(len(raw)):
        raise DataError(
            f"{path}: unpacks to {size >> 20} MiB from {len(raw) >> 10} KiB; refused as a decompression bomb."
        )


def _open(path: Path, raw: bytes) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise NeedsMissing(
            f'{path}: reading Excel files needs fastexcel: pip install "nlgauge[excel]"; or save it as CSV.'
        ) from None
    try:
        return fastexcel.read_excel(raw)
    except Exception as error:
        raise DataError(f"{path}: cannot be read as a workbook ({_line(error)}).") from None


def _cells(path: Path, book: Any, name: str) -> pl.DataFrame:
    try:
        loaded = book.load_sheet(name, header_row=None, dtypes="string", skip_rows=0)
        return pl.DataFrame(loaded)
    except Exception as error:
        if "no data" in str(error).lower() or "empty" in str(error).lower():
            return pl.DataFrame()
        raise DataError(f"{path}, sheet '{name}': cannot be read ({_line(error)}).") from None


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _with_header(path: Path, name: str, cells: pl.DataFrame) -> tuple[pl.DataFrame, list[int]]:
    """Use the first row that is not blank as the header; ignore blank rows and columns."""
    cells = cells.with_columns(pl.all().str.strip_chars().replace("", None))
    rows = cells.with_row_index("__row__").filter(pl.any_horizontal(pl.exclude("__row__").is_not_null()))
    numbers = [int(row) + 1 for row in rows["__row__"]]
    filled = rows.drop("__row__")
    filled = filled.select(c for c in filled.columns if filled[c].null_count() < filled.height)
    if filled.height < 2:
        raise DataError(f"{path}, sheet '{name}': has a header but no rows.")
    header = [value or "" for value in filled.row(0)]
    if blank := [i for i, title in enumerate(header) if not title]:
        raise DataError(f"{path}, sheet '{name}', row {numbers[0]}: column {blank[0] + 1} has no name; give it one.")
    check_names(header, f"{path}, sheet '{name}'")
    frame = filled[1:]
    frame.columns = header
    return frame, numbers[1:]
