"""The command line of a simulation whose cells are kept in a file: compute those that are missing, write the page."""

from __future__ import annotations

import argparse
import ast
import hashlib
import inspect
import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any


def fingerprint(*parts: Any) -> str:
    """Of the code of modules and functions, without comments and docstrings: a cell that it made before a change is
    computed again."""
    found = []
    for part in parts:
        tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        found.append(ast.dump(tree))
    return hashlib.sha256("".join(found).encode()).hexdigest()[:12]


def cells_or_page(
    name: str, about: str, kept: Path, compute: Callable[[str], Any], page: Callable[[Any], str | dict[str, str]]
) -> None:
    """The command of a bench that keeps its cells; `page` gives the whole page, or parts by name (see `between`)."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page")
    parser.add_argument("--only", default="", metavar="NAME", help="cells whose name begins so")
    parser.add_argument("--page", action="store_true", help="compute nothing: the page from what is kept")
    asked = parser.parse_args()
    cells = json.loads(kept.read_text()) if asked.page else compute(asked.only)
    if asked.write:
        written = page(cells)
        if isinstance(written, str):
            asked.write.write_text(written, encoding="utf-8")
            print(f"written: {asked.write}")
        else:
            between(asked.write, written)


def between(page: Path, parts: dict[str, str]) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end -->` in a page."""
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        text, found = re.subn(
            rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)",
            lambda m, part=part: m[1] + part + m[2],
            text,
            flags=re.S,
        )
        if found != 1:
            raise SystemExit(f"{page}: no place `<!-- {name} -->` … `<!-- end -->`")
    page.write_text(text, encoding="utf-8")
    print(f"written: {page}")
