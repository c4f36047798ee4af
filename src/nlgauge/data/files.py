"""From a path to text or bytes, safely: encodings, compression, sizes; each complaint names the file and what to do."""

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
# Larger than any published set by far; a file beyond these is a bomb or not a table of texts.
MAX_BYTES = int(os.environ.get("NLGAUGE_MAX_BYTES", str(8 << 30)))
MAX_RATIO = 400
MAX_LINE = 64 << 20
# Escapes of a JSON text: a backslash, a whole pair of surrogates, or a surrogate alone.
HALVES = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


NO_FILES = {
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
    """Refuse what is no file on a disk: a pipe may never begin, a device never ends."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return  # who opens it says why it cannot be opened
    for kind, is_kind in NO_FILES.items():
        if is_kind(mode):
            raise DataError(f"{path}: is {kind}, which may never end; save what it gives to a file, and name that.")


def read_bytes(path: Path, whole: bytes | None = None) -> bytes:
    """Return a file's content, decompressed; refuse what is empty, a pickle, cut off or a decompression bomb.

    `whole`: the content, where somebody read it already.
    """
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file, or a folder layout with {option('reader')}.")
    if not path.exists():
        raise DataError(f"{path}: no such file.")
    check_regular(path)
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise DataError(
                f"{path}: has {size >> 20} MiB, more than NLGAUGE_MAX_BYTES allows ({MAX_BYTES >> 20} MiB)."
            )
        raw = path.read_bytes() if whole is None else whole
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    if raw[:2] == b"\x1f\x8b":
        raw = _gunzip(path, raw)
    if path.suffix.lower() in PICKLES or (raw[:1] == b"\x80" and raw[1:2] in b"\x02\x03\x04\x05"):
        raise DataError(
            f"{path}: looks like a pickle or array dump, which is refused because opening it can run code; "
            "export it as CSV, JSONL or Parquet."
        )
    if not raw.strip():
        raise DataError(f"{path}: the file is empty.")
    return raw


def refuse_patterns(where: str, names: Iterable[str]) -> None:
    """Refuses what polars would take for a pattern of names, in every one of its functions."""
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise DataError(
                f"{where}: a column cannot be called '{name}', which is read as a pattern of names; rename it."
            )


def most_bytes(packed: int) -> int:
    """What so many packed bytes may unpack to."""
    return min(MAX_BYTES, max(64 << 20, packed * MAX_RATIO))


def _gunzip(path: Path, raw: bytes) -> bytes:
    """Decompress in steps, so that a bomb is met before it fills the memory."""
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
                        "decompression bomb. Unpack it yourself if it is what you mean."
                    )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the gzip file is cut off or damaged ({error}); fetch it again.") from None
    return b"".join(parts)


def decode(path: Path, raw: bytes, encoding: str | None = None) -> str:
    """Bytes to text: UTF-8 (with or without BOM), UTF-16 by its BOM, or what the user says."""
    asked = encoding is not None
    refuse_packed(path, raw)
    if encoding is None:
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
        if asked:
            text.encode()  # some encodings can spell halves of characters
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not {error.encoding}; "
            f"save the file as UTF-8, or name its encoding ({option('encoding', 'latin-1')})."
        ) from None
    except (LookupError, ValueError):
        raise DataError(f"{path}: unknown encoding '{encoding}'; try utf-8, latin-1, cp1252 or utf-16.") from None
    if "\x00" in text[:4096]:
        raise DataError(f"{path}: holds NUL bytes, so it is not a text table (binary, or UTF-16 without a mark?).")
    return text


def refuse_packed(path: Path, raw: bytes) -> None:
    """Refuse an archive by its content, or by its first bytes: no reader looks into it."""
    if packed := next((kind for start, kind in PACKED.items() if raw.startswith(start)), ""):
        raise DataError(f"{path}: is a {packed} archive{_members(raw)}; unpack it, and name the file with the table.")


def _members(raw: bytes) -> str:
    """Files inside a zip archive, for the message."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = [entry.filename[:60] for entry in archive.infolist()[:100_000] if not entry.is_dir()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return ""
    return f" of {some(names, 3)}" if names else ""


def check_letters(where: str, text: str) -> None:
    """Refuse JSON with half a character, as of an emoji cut in two: no table, store or file could hold it."""
    if "\\ud" not in text and "\\uD" not in text:
        return
    for found in HALVES.finditer(text):
        if found["half"]:
            raise DataError(
                f"{where}: {found['half']} is one half of a character without the other; remove it or write \\ufffd."
            )


def check_lines(path: Path, text: str) -> None:
    """Refuse an endless line before a parser chokes on it."""
    if len(text) <= MAX_LINE:
        return
    start = number = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        if end - start > MAX_LINE:
            raise DataError(f"{path}, line {number}: is longer than {MAX_LINE >> 20} MiB; a table has shorter lines.")
        start = end + 1


@contextmanager
def parquet(path: Path) -> Iterator[None]:
    """Around what polars does with a Parquet file: damage is one line."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:  # a panic is no Exception
        raise DataError(f"{path}: no readable Parquet file ({first_line(error)[:200]}).") from None
