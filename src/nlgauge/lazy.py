"""Lazy names of the public namespaces (SPEC 1): a stub file lists them, and each is imported when it is first used."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module from the stub file (.pyi) next to it.

    The stub consists of lines such as `from nlgauge.table import Row as Row`. Type checkers and editors read it too,
    so a public name is declared once.
    """
    # No syntax tree: two threads must not build one at once (`nlgauge.spec.syntax_tree`).
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {attribute: module for module, attribute in re.findall(r"^from (\S+) import (\w+)", stub, re.M)}

    def load(attribute: str) -> Any:
        if attribute not in homes:
            raise AttributeError(f"module '{name}' has no attribute '{attribute}'")
        value = getattr(importlib.import_module(homes[attribute]), attribute)
        setattr(sys.modules[name], attribute, value)
        return value

    return load, lambda: sorted(homes), sorted(homes)
