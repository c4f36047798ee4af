"""A short look at a file, shared by all readers when they say whether they know it."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nlgauge.data.tables.separated import separator_of

SIZE = 1 << 18


@dataclass(frozen=True)
class Peek:
    path: Path

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def bytes(self) -> bytes:
        """The first 256 KiB, decompressed; empty for a folder or an unreadable file."""
        try:
            with self.path.open("rb") as stream:
                zipped = stream.read(2) == b"\x1f\x8b"
            opener = gzip.open if zipped else open
            with opener(self.path, "rb") as stream:
                return stream.read(SIZE)
        except (OSError, EOFError, zlib.error):
            return b""

    @cached_property
    def text(self) -> str:
        return self.bytes.decode("utf-8-sig", errors="replace")

    @cached_property
    def columns(self) -> list[str]:
        """The names in the first line of a CSV or TSV."""
        line = self.text.partition("\n")[0].strip("\r")
        try:
            names = next(csv.reader([line], delimiter=separator_of(line)), [])
        except csv.Error:  # an endless field
            return []
        return [name.strip().strip('"') for name in names]

    @cached_property
    def record(self) -> dict[str, Any]:
        """The first JSON object of a JSONL file or of a JSON list; {} when there is none."""
        start = self.text.find("{")
        if start < 0 or self.text[:start].strip() not in ("", "["):
            return {}
        try:
            found, _ = json.JSONDecoder().raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
