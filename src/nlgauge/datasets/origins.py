"""Files of public repositories from which published sets are converted, with pinned commits and checksums.

They are listed in sets/origins.csv. Size and SHA-256 of the content are known for most files. For the others, only
the hash of the content in git (the SHA-1 of the blob) is known and checked.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from nlgauge.datasets.catalog import FACTS, Origin


@dataclass(frozen=True)
class OriginFile:
    """A file of a repository at a commit; size 0 and no SHA-256 if it was never downloaded."""

    repository: str
    commit: str
    path: str
    size: int
    sha256: str
    blob: str

    @property
    def origin(self) -> Origin:
        """Return the URL from which it is downloaded."""
        return Origin(self.repository, self.commit, self.path)

    @property
    def seen(self) -> bool:
        """Whether the SHA-256 of the content is known."""
        return bool(self.sha256)


@cache
def origin_files() -> tuple[OriginFile, ...]:
    """Return all files from which sets are converted."""
    with (FACTS / "origins.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            OriginFile(r["repository"], r["commit"], r["path"], int(r["size"] or 0), r["sha256"], r["blob"])
            for r in csv.DictReader(file)
        )


def parts(pattern: str) -> list[OriginFile]:
    """Return the files that match a pattern: a repository, a space, and a path that may have *.

    >>> [part.path for part in parts("thu-coai/CTRLEval data/data_senti.txt")]
    ['data/data_senti.txt']
    """
    repository, _, path = pattern.partition(" ")
    matching = [f for f in origin_files() if f.repository == repository and fnmatchcase(f.path, path)]
    if not matching:
        raise ValueError(f"origins.csv has no file '{pattern}'")
    return matching


def git_blob(path: Path) -> str:
    """Return the name that git gives to the content of a file: the SHA-1 of its blob."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_origin(path: Path, file: OriginFile) -> bool:
    """Return whether a file on disk is that file of the origin."""
    if not path.is_file() or (file.size and path.stat().st_size != file.size):
        return False
    if file.seen:
        return hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
    return git_blob(path) == file.blob
