"""The beginning of a file, by which readers recognize their format."""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nlgauge import registry
from nlgauge.data.files import check_regular
from nlgauge.data.tables.separated import separator_of

SIZE = 1 << 18
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.S)  # of JSON: strings and what structures them


@dataclass(frozen=True)
class Peek:
    """The beginning of a file; each view of it is computed once."""

    path: Path

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path.is_dir()

    @property
    def kind(self) -> str:
        """The kind of file that readers are registered for: folder, zip, json (an object or a list), else text."""
        if self.is_folder:
            return "folder"
        return "zip" if self.bytes[:2] == b"PK" else "json" if self.text.lstrip()[:1] in ("{", "[") else "text"

    def readers(self) -> Iterator[tuple[str, Any]]:
        """Return names and readers for this kind of file; the modules of others are not imported."""
        return ((name, registry.get("reader", name)) for name in registry.names("reader", self.kind))

    def holds(self, pattern: str) -> bool:
        """Return whether a folder or its subfolders (up to four levels) have files that match the pattern."""
        return self.is_folder and any(any(self.path.glob("*/" * depth + pattern)) for depth in range(5))

    @cached_property
    def start(self) -> bytes:
        """The first 256 KiB and one byte; empty for an unreadable file."""
        check_regular(self.path)
        try:
            with self.path.open("rb") as stream:
                return stream.read(SIZE + 1)
        except OSError:
            return b""

    @property
    def whole(self) -> bytes | None:
        """The content of a file of at most 256 KiB, if it was read."""
        was_read = "start" in self.__dict__
        return self.start if was_read and 0 < len(self.start) <= SIZE else None

    @cached_property
    def bytes(self) -> bytes:
        """The first 256 KiB, decompressed; empty for a folder or an unreadable file."""
        if self.start[:2] != b"\x1f\x8b":
            return self.start[:SIZE]
        try:
            with gzip.open(self.path, "rb") as stream:
                return stream.read(SIZE)
        except (OSError, EOFError, zlib.error):
            return b""

    @cached_property
    def text(self) -> str:
        """The first 256 KiB as text."""
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
        """The first JSON object of a JSONL file or of a JSON list; {} if there is none."""
        start = self.text.find("{")
        if start < 0 or self.text[:start].strip() not in ("", "["):
            return {}
        try:
            record, _ = json.JSONDecoder().raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return {}
        return record if isinstance(record, dict) else {}

    @cached_property
    def keys(self) -> set[str]:
        """The keys of the first JSON object in the first 256 KiB, even if the object is longer."""
        if self.record:
            return set(self.record)
        start = self.text.find("{")
        if start < 0 or self.text[:start].strip() not in ("", "["):
            return set()
        keys, depth, last = set(), 0, ""
        for token in TOKEN.finditer(self.text, start):
            mark = token[0]
            if mark in "{[":
                depth += 1
            elif mark in "}]":
                depth -= 1
                if not depth:
                    break
            elif mark == ":" and depth == 1:
                keys.add(last)
            elif depth == 1:
                last = mark[1:-1]
        return keys
