"""Convert the files of a published set from its origins: download, check, convert, check the result."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
from collections.abc import Callable
from pathlib import Path

import polars as pl

from nlgauge.datasets.catalog import File
from nlgauge.datasets.download import download, inside, url_of
from nlgauge.datasets.origins import OriginFile, is_origin, parts
from nlgauge.errors import NlgaugeError
from nlgauge.spec import parse_spec
from nlgauge.writing import write_whole

Tell = Callable[[str, int, int], None]  # file, bytes received, total
ORIGINS = "origins"  # folder of the origins' files, next to the converted ones


def converted(file: File, folder: Path, tell: Tell) -> Path:
    """Write the converted file to the folder; downloads remain there for other sets."""
    files = [part for pattern in file.parts for part in parts(pattern)]
    content = {part.path: fetched(part, folder, tell).read_bytes() for part in files}
    made = convert(file.convert, content)
    if file.result and (actual := digest(made)) != file.result:
        raise NlgaugeError(
            f"{file.path}: the conversion gave SHA-256 {actual[:12]}…, expected {file.result[:12]}…; please "
            "report it, with the version of NLGauge."
        )
    target = inside(folder, file.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, gzip.compress(made, mtime=0) if target.suffix == ".gz" else made)
    return target


def convert(spec: str, content: dict[str, bytes]) -> bytes:
    """Run the converter of that name, `module.function` or with options, on files by path."""
    name, options = parse_spec(spec)
    module, _, function = name.partition(".")
    made: bytes = getattr(importlib.import_module(f"nlgauge.datasets.convert.{module}"), function)(content, **options)
    return made


def fetched(part: OriginFile, folder: Path, tell: Tell) -> Path:
    """Return the origin's file, downloaded unless it is there."""
    target = inside(folder, f"{ORIGINS}/{part.repository}/{part.path}")
    if not is_origin(target, part):
        download(
            url_of(part.origin),
            target,
            part.size,
            part.sha256,
            tell=lambda n: tell(target.name, n, part.size),
            blob=part.blob,
        )
    return target


def content_of(path: Path) -> bytes:
    """Return the content of a file, unpacked."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content; for a Parquet file of its table, as the bytes depend on the writer."""
    if content[:4] == b"PAR1":
        content = pl.read_parquet(io.BytesIO(content)).write_ndjson().encode()
    return hashlib.sha256(content).hexdigest()
