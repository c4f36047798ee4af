"""Hashes that identify texts, files and values, for signatures, cache keys and random draws."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def digest(value: Any, size: int = 6) -> bytes:
    """Return the BLAKE2b hash of a value as `size` bytes.

    A text counts as UTF-8, bytes as they are, a path as the content of that file, and anything else as JSON.

    >>> digest("a", 4).hex() == digest(b"a", 4).hex() != digest(["a"], 4).hex()
    True
    """
    if isinstance(value, Path):
        with value.expanduser().open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=size)).digest()
    if not isinstance(value, str | bytes):
        value = json.dumps(value, sort_keys=True, ensure_ascii=False)
    content = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return hashlib.blake2b(content, digest_size=size).digest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file in hexadecimal digits, as publishers state it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
