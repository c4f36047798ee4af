"""Pages that come from code are up to date; examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

from command import run_command
from loops import for_each

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "docs"))

import execute  # noqa: E402

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


def in_process(words: list[str]) -> tuple[str, str]:
    done = run_command(*words[1:], cwd=Path.cwd(), COLUMNS="100", NO_COLOR="1")
    return done.stderr, done.stdout


@for_each(execute.PAGES, name=lambda page: page.name)
def test_executed_pages_show_what_their_commands_print(page: Path) -> None:
    """The README and the tutorials; a block of a metric whose weights are missing is named and left as it is."""
    text = page.read_text(encoding="utf-8")
    shown, printed = (t.splitlines() for t in (text, execute.executed(text, in_process)))
    changed = [line for line in printed if line not in shown][:5] or ([] if shown == printed else ["another order"])
    assert not changed, f"run: python docs/execute.py; now: {changed}"


def test_an_executed_page_keeps_the_lines_that_it_asks_for() -> None:
    page = "<!-- show stdout,1,3 -->\n```console\n$ nlgauge x\nold\n```\n\n```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n"
    written = execute.executed(page, lambda words: ("a remark\n", "one\ntwo\nthree\nfour\nfive\n"))
    assert "$ nlgauge x\none\n…\nthree\n…\n```" in written and "```text\n42\n```" in written
    assert execute.executed(written, lambda words: ("", "one\ntwo\nthree\nfour\n")) == written


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
