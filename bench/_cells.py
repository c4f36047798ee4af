"""The command line of a simulation whose cells are kept in a file: compute those that are missing, write the page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def cells_or_page(name: str, about: str, kept: Path, compute: Callable[[str], Any], page: Callable[[Any], str]) -> None:
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page")
    parser.add_argument("--only", default="", metavar="NAME", help="cells whose name begins so")
    parser.add_argument("--page", action="store_true", help="compute nothing: the page from what is kept")
    asked = parser.parse_args()
    cells = json.loads(kept.read_text()) if asked.page else compute(asked.only)
    if asked.write:
        asked.write.write_text(page(cells), encoding="utf-8")
        print(f"written: {asked.write}")
