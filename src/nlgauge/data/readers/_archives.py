"""Read zip archives safely: nothing is written to disk, and the unpacked size is limited."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from nlgauge.data.files import most_bytes
from nlgauge.errors import DataError

ZSTD = 93  # the compression that `zipfile` knows from Python 3.14 on
LOCAL_HEADER = 30  # bytes before the name of an entry


def names_in(path: Path) -> list[str]:
    """Return the names of the entries; none if it is not a zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
        return []


def read_entries(path: Path, first: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the entry `first`, if there is one, and of all whose names match."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            # Of entries with the same name, the last one counts.
            entries = {
                e.filename: e for e in archive.infolist() if e.filename == first or pattern.fullmatch(e.filename)
            }
            size, limit = sum(e.file_size for e in entries.values()), most_bytes(path.stat().st_size)
            if size > limit:
                raise DataError(
                    f"{path}: unpacks to {size >> 20} MiB, more than {limit >> 20} MiB; refused as a "
                    "decompression bomb."
                )
            for name in sorted(entries, key=lambda name: name != first):
                yield name, _content(file, archive, entries[name])
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error) as error:
        raise DataError(f"{path}: the zip file is damaged ({error}); download it again.") from None


def _content(file: IO[bytes], archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type != ZSTD or hasattr(zipfile, "ZIP_ZSTANDARD"):
        with archive.open(entry) as stream:
            return stream.read(entry.file_size)
    file.seek(entry.header_offset)
    header = file.read(LOCAL_HEADER)
    name, extra = struct.unpack("<HH", header[26:30])
    file.seek(name + extra, io.SEEK_CUR)
    import zstandard  # only an archive that needs it pays for the import

    stream = zstandard.ZstdDecompressor().stream_reader(file.read(entry.compress_size), read_across_frames=True)
    try:
        content: bytes = stream.read(entry.file_size)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"'{entry.filename}': {error}") from None
    if zlib.crc32(content) != entry.CRC:
        raise zipfile.BadZipFile(f"bad checksum of '{entry.filename}'")
    return content
