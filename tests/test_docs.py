"""Pages that come from code are up to date; examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("page", ["measures.md", "metrics.md", "papers.md"])
def test_pages_are_written_from_the_code(page: str) -> None:
    spec = importlib.util.spec_from_file_location("generate", REPO / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (REPO / "docs" / page).read_text() == module.PAGES[page](), "run: python docs/generate.py"


def documented() -> list[str]:
    files = sorted((REPO / "src").rglob("*.py"))
    return [
        ".".join(f.relative_to(REPO / "src").with_suffix("").parts) for f in files if ">>> " in f.read_text()
    ]


@pytest.mark.parametrize("name", documented())
def test_docstring_examples_run(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
