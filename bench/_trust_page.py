"""docs/trust.md from the rows of the simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_page(path: Path, kept: dict[str, list[dict[str, Any]]]) -> None:
    raise SystemExit("not yet")
