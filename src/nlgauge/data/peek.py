"""A short look at a file, shared by all readers when they say whether they know it."""

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
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]', re.S)  # of JSON: what tells where one is


@dataclass(frozen=True)
class Peek:
    """The beginning of a file, each view of it read once: what a reader recognizes a format by."""

    path: Path

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path.is_dir()

    @property
    def kind(self) -> str:
        """What readers are registered for: folder, zip, json (the text begins as an object or a list), else text."""
        if self.is_folder:
            return "folder"
        return "zip" if self.bytes[:2] == b"PK" else "json" if self.text.lstrip()[:1] in ("{", "[") else "text"

    def readers(self) -> Iterator[tuple[str, Any]]:
        """Names and readers that may know the file; the modules of others are not imported."""
        return ((name, registry.get("reader", name)) for name in registry.names("reader", self.kind))

    def holds(self, pattern: str) -> bool:
        """Whether a folder holds files of such a name, itself or a few folders below."""
        return self.is_folder and any(any(self.path.glob("*/" * depth + pattern)) for depth in range(5))

    @cached_property
    def start(self) -> bytes:
        """The first bytes as they stand in the file, a few more than are looked at; empty for an unreadable file."""
        check_regular(self.path)
        try:
            with self.path.open("rb") as stream:
                return stream.read(SIZE + 1)
        except OSError:
            return b""

    @property
    def whole(self) -> bytes | None:
        """The content of the file, where that is no more than is looked at and was read."""
        looked = "start" in self.__dict__  # where a column is named, no reader is asked
        return self.start if looked and 0 < len(self.start) <= SIZE else None

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
        """The first JSON object of a JSONL file or of a JSON list; {} when there is none."""
        start = self.text.find("{")
        if start < 0 or self.text[:start].strip() not in ("", "["):
            return {}
        try:
            found, _ = json.JSONDecoder().raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def keys(self) -> set[str]:
        """The keys of the first JSON object, as far as the look goes: of a large log that is only its beginning."""
        if self.record:
            return set(self.record)
        start = self.text.find("{")
        if start < 0 or self.text[:start].strip() not in ("", "["):
            return set()
        found, depth, last = set(), 0, ""
        for token in TOKEN.finditer(self.text, start):
            mark = token[0]
            if mark in "{[":
                depth += 1
            elif mark in "}]":
                depth -= 1
                if not depth:
                    break
            elif mark == ":" and depth == 1:
                found.add(last)
            elif depth == 1:
                last = mark[1:-1]
        return found
