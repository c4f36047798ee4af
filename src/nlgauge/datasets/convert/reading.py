"""What the converters share: reading the formats of the origins, and writing lines of JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.datasets.convert.plain_pickle import pickled

Files = Mapping[str, bytes]  # path in the origin -> content
Record = dict[str, Any]


def array(content: bytes) -> Any:
    """Read an .npy file; objects in it are read as a pickle of plain values."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(file)
    if kind.hasobject:
        return pickled(file.read()).reshape(shape)
    return np.frombuffer(file.read(), kind).reshape(shape)


def arrays(content: bytes) -> dict[str, Any]:
    """Read an .npz file: its arrays by name; one that holds a single object is that object."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        by_name = {name.removesuffix(".npy"): array(archive.read(name)) for name in archive.namelist()}
    return {name: values.item() if values.shape == () else values for name, values in by_name.items()}


def rows(content: bytes, delimiter: str = ",") -> list[dict[str, str]]:
    """Read a CSV file with a header."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter=delimiter))


def objects(content: bytes) -> list[Record]:
    """Read a file of JSON lines, or one JSON list."""
    text = content.decode("utf-8")
    if text.lstrip().startswith("["):
        records: list[Record] = json.loads(text)
        return records
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def json_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Write one JSON object per line.

    >>> json_lines([{"a": 1.0}])
    b'{"a": 1.0}\\n'
    """
    return "".join(json.dumps(_plain(r), ensure_ascii=False) + "\n" for r in records).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def only(files: Files) -> bytes:
    """Return the one file of an origin."""
    [content] = files.values()
    return content


def unchanged(files: Files) -> bytes:
    """Return the bytes of the origin unchanged."""
    return only(files)


def named(files: Files, ending: str) -> bytes:
    """Return the file whose path ends so."""
    [content] = [content for path, content in files.items() if path.endswith(ending)]
    return content


def below(files: Files, start: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files whose path starts with `start`, in order."""
    return ((path, files[path]) for path in sorted(files) if path.startswith(start))


def numbers_of(row: Mapping[str, str], columns: Sequence[str]) -> dict[str, float | None]:
    """Return the numbers in these columns of a CSV row; an empty cell is missing."""
    return {c: float(row[c]) if row.get(c) not in ("", None) else None for c in columns}
