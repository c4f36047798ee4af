"""Read files safely: encodings, compression, size limits. Errors name the file and what to do."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nlgauge.errors import DataError, first_line
from nlgauge.number import some
from nlgauge.options import option

PICKLES = {".pkl", ".pickle", ".pt", ".pth", ".joblib", ".npy", ".npz"}
# Far above the size of any published set; a larger file is a decompression bomb or not a table of texts.
MAX_BYTES = int(os.environ.get("NLGAUGE_MAX_BYTES", str(8 << 30)))
MAX_RATIO = 400
MAX_LINE = 64 << 20
# Escapes of a JSON text: a backslash, a pair of surrogates, or a lone surrogate.
HALVES = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


SPECIAL_FILES = {
    "a pipe": stat.S_ISFIFO,
    "a device": lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode),
    "a socket": stat.S_ISSOCK,
}
# First bytes of packed files that are not read as they are; gzip is.
PACKED = {
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
}


def check_regular(path: Path) -> None:
    """Refuse pipes, devices and sockets, which may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return  # opening it raises the error
    for kind, is_kind in SPECIAL_FILES.items():
        if is_kind(mode):
            raise DataError(f"{path}: is {kind}; expected a regular file. Save its content to a file.")


def read_text(path: Path) -> str:
    """Return a file of settings as text; refuse pipes, devices and what is not UTF-8 in one line."""
    check_regular(path)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text.") from None
    except ValueError as error:  # a path that no file can have
        raise DataError(f"{path}: cannot be read ({error}).") from None


def read_bytes(path: Path, whole: bytes | None = None) -> bytes:
    """Return a file's decompressed content; refuse empty and damaged files, pickles and decompression bombs.

    `whole`: the content, if it was read before.
    """
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file in it, or the format of the folder with {option('reader')}.")
    if not path.exists():
        raise DataError(f"{path}: no such file.")
    check_regular(path)
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise DataError(f"{path}: {size >> 20} MiB exceed the limit of {MAX_BYTES >> 20} MiB (NLGAUGE_MAX_BYTES).")
        raw = path.read_bytes() if whole is None else whole
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    if raw[:2] == b"\x1f\x8b":
        raw = _gunzip(path, raw)
    if path.suffix.lower() in PICKLES or (raw[:1] == b"\x80" and raw[1:2] in b"\x02\x03\x04\x05"):
        raise DataError(
            f"{path}: looks like a pickle or an array dump; it is not opened, since that can run code. Export it as "
            "CSV, JSONL or Parquet."
        )
    if not raw.strip():
        raise DataError(f"{path}: the file is empty.")
    return raw


def refuse_patterns(where: str, names: Iterable[str]) -> None:
    """Refuse names that polars would read as patterns."""
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise DataError(
                f"{where}: a column cannot have the name '{name}', which would be read as a pattern; rename it."
            )


def most_bytes(packed: int) -> int:
    """Return the largest accepted size after decompression of this number of bytes."""
    return min(MAX_BYTES, max(64 << 20, packed * MAX_RATIO))


def _gunzip(path: Path, raw: bytes) -> bytes:
    """Decompress in steps, so that a bomb is detected before it fills the memory."""
    limit = most_bytes(len(raw))
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.open(path) as stream:
            while part := stream.read(1 << 22):
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise DataError(
                        f"{path}: unpacks to more than {size >> 20} MiB from {len(raw) >> 10} KiB; refused as a "
                        "possible decompression bomb. If the file is right, unpack it first."
                    )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the gzip file is truncated or damaged ({error}); download it again.") from None
    return b"".join(parts)


def decode(path: Path, raw: bytes, encoding: str | None = None) -> str:
    """Decode bytes: UTF-8 (with or without BOM), UTF-16 with a BOM, or the given encoding."""
    requested = encoding is not None
    refuse_packed(path, raw)
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
        if requested:
            text.encode()  # some encodings can encode lone surrogates
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not valid {error.encoding}; "
            f"save the file as UTF-8, or name its encoding ({option('encoding', 'latin-1')})."
        ) from None
    except (LookupError, ValueError):
        raise DataError(f"{path}: unknown encoding '{encoding}'; try utf-8, latin-1, cp1252 or utf-16.") from None
    if "\x00" in text[:4096]:
        raise DataError(f"{path}: has NUL bytes; expected a text file (this may be binary, or UTF-16 without a BOM).")
    return text


def refuse_packed(path: Path, raw: bytes) -> None:
    """Refuse an archive, recognized by its first bytes."""
    if packed := next((kind for start, kind in PACKED.items() if raw.startswith(start)), ""):
        raise DataError(f"{path}: is a {packed} archive{_members(raw)}; unpack it and name the file in it.")


def _members(raw: bytes) -> str:
    """List the files in a zip archive for an error message."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = [entry.filename[:60] for entry in archive.infolist()[:100_000] if not entry.is_dir()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return ""
    return f" of {some(names, 3)}" if names else ""


def check_letters(where: str, text: str) -> None:
    """Refuse JSON with a lone surrogate (half a character), which cannot be written to other files."""
    if "\\ud" not in text and "\\uD" not in text:
        return
    for escape in HALVES.finditer(text):
        if escape["half"]:
            raise DataError(
                f"{where}: {escape['half']} is a lone surrogate (half a character); remove it or write \\ufffd."
            )


def check_lines(path: Path, text: str) -> None:
    """Refuse a line that is too long for a parser."""
    if len(text) <= MAX_LINE:
        return
    start = number = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if end - start > MAX_LINE:
            raise DataError(f"{path}, line {number}: longer than the limit of {MAX_LINE >> 20} MiB.")
        start = end + 1


@contextmanager
def parquet(path: Path) -> Iterator[None]:
    """Turn polars errors about a damaged Parquet file into one line."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({first_line(error)[:200]}).") from None
