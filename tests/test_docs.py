"""Pages that come from code are up to date; examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

from command import run_command
from loops import for_each

REPO = Path(__file__).resolve().parent.parent


FIVE = [f"papers/{p}.md" for p in ("nimah2023", "deng2021", "gao2025", "colombo2023", "novikova2017")]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", REPO / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@for_each(
    [
        "measures.md",
        "metrics.md",
        "papers.md",
        "formats.md",
        *FIVE,
        "papers/inventory.md",
        "../README.md",
        "images/scoreboard.svg",
        "images/scoreboard-phone.svg",
        "../src/nlgauge/guide/llms.txt",
    ]
)
def test_pages_are_written_from_the_code(page: str, generate: ModuleType) -> None:
    written = (REPO / "docs" / page).read_text(encoding="utf-8")
    assert written == generate.PAGES[page](), "run: python docs/generate.py"


def documented() -> list[str]:
    files = sorted((REPO / "src").rglob("*.py"))
    return [".".join(f.relative_to(REPO / "src").with_suffix("").parts) for f in files if ">>> " in f.read_text()]


@for_each(documented())
def test_docstring_examples_run(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0, "see the output of doctest"
    assert result.attempted or "doctest: +SKIP" in inspect.getsource(module)


def test_the_readmes_first_screen_is_what_the_commands_print(tmp_path: Path) -> None:
    readme = (REPO / "README.md").read_text(encoding="utf-8")
    page = str(tmp_path / "page.html")
    for words in (
        ["run", "mine.csv", "-o", page],
        ["analyze", "correlate", "mine.csv"],
        ["run", "judged.csv", "-o", page],
    ):
        done = run_command(*words, cwd=REPO / "examples", COLUMNS="160", NO_COLOR="1")
        assert done.returncode == 0, done.stderr
        missing = [line for line in done.stdout.splitlines() if line.rstrip() not in readme]
        assert done.stdout and not missing, missing
        block = (
            readme.partition(
                f"$ nlgauge {' '.join(words[: words.index('mine.csv' if 'mine.csv' in words else 'judged.csv') + 1])}\n"
            )[2]
            .partition("```")[0]
            .partition("$ ")[0]
        )
        printed = [line.rstrip() for line in (done.stderr + done.stdout).splitlines()]
        stale = [
            line for line in block.splitlines() if line.strip() not in ("…", "") and not line.startswith("report: ")
        ]
        assert stale and [line for line in stale if line not in printed] == []


@pytest.mark.parametrize("page", FIVE)
def test_the_examples_of_a_papers_page_are_what_the_commands_print(page: str) -> None:
    """Commands on a file of examples/ or on texts of their own; … stands for lines left out."""
    text = (REPO / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown = [part for block in blocks for part in re.split(r"^\$ nlgauge ", block, flags=re.MULTILINE)[1:]]
    examples = [(words, lines) for words, _, lines in (part.partition("\n") for part in shown) if lines]
    assert examples
    for words, lines in examples:
        if "--explain" in words:
            pytest.importorskip("torch")
        done = run_command(*shlex.split(words), cwd=REPO / "examples", COLUMNS="110", NO_COLOR="1")
        assert done.returncode == 0, done.stderr
        printed = iter([line.rstrip() for line in done.stdout.splitlines()])
        for line in (line.rstrip() for line in lines.splitlines()):
            assert line == "…" or line in printed, f"{words}: not printed, or not in this order: {line}"
