"""A newcomer adds a reader, a metric, an analysis and a figure with docs/howto/extend.md alone: its files, commands
and output.
"""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from command import run_command

REPO = Path(__file__).resolve().parent.parent
PAGE = (REPO / "docs" / "howto" / "extend.md").read_text(encoding="utf-8")
FOLDERS = {  # those that the page's last table names
    "slips.py": "data/readers",
    "questions.py": "metrics/overlap",
    "top_match.py": "analyses/agreement",
    "match_bars.py": "report/figures",
}


def blocks(language: str) -> list[str]:
    """The code blocks of the page in that language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
    return [block for kind, block in found if kind == language]


def files() -> dict[str, str]:
    """The Python files by their first line, data by `$ cat NAME`."""
    code = [(re.match(r"# (\S+\.py)\n", block), block) for block in blocks("python")]
    data = [(re.match(r"\$ cat (\S+)\n", block), block) for block in blocks("")]
    return {name[1]: block for name, block in code if name} | {
        name[1]: block[name.end() :] for name, block in data if name
    }


def run(words: list[str], folder: Path, **environment: str) -> str:
    """What `nlgauge` answers on stdout."""
    done = run_command(*words, cwd=folder, **{"COLUMNS": "160", "NO_COLOR": "1", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files, after its commands were run in their order; what each printed stands in NUMBER.out."""
    here = tmp_path_factory.mktemp("newcomer")
    for name, content in files().items():
        (here / name).write_text(content, encoding="utf-8")
    for number, (command, _) in enumerate(commands()):
        (here / f"{number}.out").write_text(run(shlex.split(command)[1:], here), encoding="utf-8")
    return here


def commands() -> list[tuple[str, str]]:
    """Each command that the page shows, and the output below it."""
    found = [re.fullmatch(r"\$ (nlgauge .*)\n((?:.*\n)*)", block) for block in blocks("")]
    return [(match[1], match[2]) for match in found if match]


def test_the_page_shows_one_file_of_each_kind_and_a_command_for_each() -> None:
    assert {*FOLDERS} < {*files()}
    assert all(any(f"{name}@" in command for command, _ in commands()) for name in FOLDERS)


@pytest.mark.parametrize("number", range(len(commands())))
def test_a_command_prints_what_the_page_shows(folder: Path, number: int) -> None:
    printed = (folder / f"{number}.out").read_text(encoding="utf-8")
    answer = "".join(line.rstrip() + "\n" for line in printed.rstrip().splitlines())
    shown = "".join(
        r"(?:.*\n)*" if line == "…\n" else re.escape(line) for line in commands()[number][1].splitlines(True)
    )
    assert shown and re.fullmatch(shown, answer), answer


def test_the_figure_is_written(folder: Path) -> None:
    assert "share of inputs" in (folder / "match.html").read_text(encoding="utf-8")


def test_python_gives_what_the_page_shows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (code,) = blocks("pycon")
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTestParser().get_doctest(code, {}, "extend.md", None, 0))
    assert runner.summarize().attempted > 5 and runner.summarize().failed == 0


def test_the_same_files_in_the_folders_of_the_package_are_found_with_no_list_edited(tmp_path: Path) -> None:
    package = tmp_path / "src" / "nlgauge"
    shutil.copytree(REPO / "src" / "nlgauge", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, room in FOLDERS.items():
        assert f"`{room}/`" in PAGE
        (package / room / name).write_text(files()[name], encoding="utf-8")
    (tmp_path / "talk.slips").write_text(files()["talk.slips"], encoding="utf-8")

    def nlgauge(line: str) -> str:
        return run(shlex.split(line), tmp_path, PYTHONPATH=str(package.parent))

    nlgauge("score talk.slips -m questions,length -o scored.jsonl")
    assert "length" in nlgauge("analyze top-match scored.jsonl -o match.html")
    assert "share of inputs" in (tmp_path / "match.html").read_text(encoding="utf-8")
    assert "\nslips\n" in nlgauge("data formats") and "\ntop-match " in nlgauge("list analyses")
    assert "\nquestions " in nlgauge("list metrics --family mine")
