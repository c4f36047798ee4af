"""The shape of the package: who may import whom, what may be imported early, how long a file may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parent.parent / "src" / "nlgauge"
# Downward only; rooms on one level do not import each other, except that a level may stand in one line here.
CHAIN = [
    ["cli"],
    ["report"],
    ["papers"],
    ["analyses"],
    ["scoring"],
    ["metrics"],
    ["models"],
    ["text"],
    ["data"],
    ["stats"],
    ["kernels"],
]
LEVEL = {room: level for level, rooms in enumerate(CHAIN) for room in rooms}
HEAVY = {"torch", "transformers", "plotly", "ray", "scipy", "xgboost"}


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def room(path: Path) -> str | None:
    parts = path.relative_to(SRC).parts
    return parts[0] if len(parts) > 1 else None


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SRC)))
def test_rooms_import_downward_only(path: Path) -> None:
    here = room(path)
    if here is None:
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "nlgauge" and len(parts) > 1 and parts[1] in LEVEL and parts[1] != here:
            same_level = LEVEL[parts[1]] == LEVEL[here]
            assert LEVEL[parts[1]] > LEVEL[here] or same_level, (
                f"{path.relative_to(SRC)} ({here}) imports {name}"
            )


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SRC)))
def test_files_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def loaded(statement: str) -> set[str]:
    """Modules that a fresh interpreter holds after a statement."""
    code = f"import sys; {statement}; print(' '.join(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {name.split(".")[0] for name in out.split("\n")[-2].split()}


def test_import_nlgauge_loads_nothing_heavy() -> None:
    assert not loaded("import nlgauge") & (HEAVY | {"polars", "numpy"})


def test_help_loads_nothing_heavy() -> None:
    assert not loaded("from nlgauge.cli import build; build()") & (HEAVY | {"polars", "numpy"})


def test_loading_data_loads_no_kernels() -> None:
    code = "import sys, nlgauge as ng; ng.example(); print(sorted(m for m in sys.modules if m.startswith('nlgauge.kernels.')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[-2] in ("[]", "['nlgauge.kernels.shared']")  # numbers, nothing compiled
