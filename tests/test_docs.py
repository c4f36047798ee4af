"""Pages that come from code are up to date; examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent


FIVE = [f"papers/{p}.md" for p in ("nimah2023", "deng2021", "gao2025", "colombo2023", "novikova2017")]


@pytest.mark.parametrize(
    "page", ["measures.md", "metrics.md", "papers.md", "formats.md", *FIVE, "../src/nlgauge/guide/llms.txt"]
)
def test_pages_are_written_from_the_code(page: str) -> None:
    spec = importlib.util.spec_from_file_location("generate", REPO / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (REPO / "docs" / page).read_text() == module.PAGES[page](), "run: python docs/generate.py"


def documented() -> list[str]:
    files = sorted((REPO / "src").rglob("*.py"))
    return [".".join(f.relative_to(REPO / "src").with_suffix("").parts) for f in files if ">>> " in f.read_text()]


@pytest.mark.parametrize("name", documented())
def test_docstring_examples_run(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_the_readmes_first_screen_is_what_the_commands_print(tmp_path: Path) -> None:
    readme = (REPO / "README.md").read_text(encoding="utf-8")
    page = str(tmp_path / "page.html")
    for words in (["run", "mine.csv", "-o", page], ["meta", "mine.csv"], ["run", "judged.csv", "-o", page]):
        said = subprocess.run(
            [sys.executable, "-m", "nlgauge", *words], cwd=REPO / "examples", capture_output=True, text=True,
            check=True,
            env={**os.environ, "COLUMNS": "160", "NO_COLOR": "1"},
        ).stdout  # fmt: skip
        missing = [line for line in said.splitlines() if line.rstrip() not in readme]
        assert said and not missing, missing
