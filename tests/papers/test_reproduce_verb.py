"""`nlgauge reproduce`: the list, one table, the scoreboard; a difference is a result, a bad name is an error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from nlgauge.cli import main
from nlgauge_papers import PAPERS, Sources, ledger
from nlgauge_papers.compare import compare, published, scoreboard
from nlgauge_papers.inventory import studies
from nlgauge_papers.reproduce import overview


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The verb with an empty mirror: everything runs, nothing is at hand."""

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["nlgauge", "reproduce", *arguments, "--mirror", str(tmp_path)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return call


def test_without_arguments_it_lists_the_studies_with_their_state_and_data(tmp_path: Path) -> None:
    rows = overview(tmp_path).rows
    assert len(rows) == len(studies())
    five = next(r for r in rows if r["study"] == "gao2025 5")
    assert five["state"] == "partly"
    assert five["data"].startswith("not here: summeval")


def test_a_table_whose_data_are_missing_says_so_cell_by_cell_and_the_exit_code_is_0(run: Callable[..., Done]) -> None:
    done = run("gao2025", "5", "--format", "json")
    assert done.returncode == 0
    (table,) = json.loads(done.stdout)["tables"]
    assert {r["verdict"] for r in table["rows"]} == {"needs a download"}
    assert "summeval" in table["rows"][0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("novikov",), "Did you mean 'novikova' or 'novikova2017'?"),
        (("deng2021", "D1"), "Did you mean 'D.1'"),
        (("gao2025", "5", "--all"), "all takes no table"),
        (("gao2025", "5", "--format", "xls"), "--format xls"),
    ],
)
def test_a_bad_name_is_one_line_and_exit_code_2(
    run: Callable[..., Done], arguments: tuple[str, ...], words: str
) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_without_a_study_says_what_is_missing(run: Callable[..., Done]) -> None:
    done = run("gao2025", "4")
    assert done.returncode == 0
    assert {"prompt", "judges"} <= {*done.stdout.split()}  # the words of a cell may stand on several lines


def test_no_slow_counts_slow_cells_as_left_out(run: Callable[..., Done]) -> None:
    done = run("deng2021", "F.5", "--no-slow", "--format", "json")
    assert done.returncode == 0
    (table,) = json.loads(done.stdout)["tables"]
    assert len(table["rows"]) == 24
    assert {r["verdict"] for r in table["rows"]} == {"left out", "needs weights"}


def test_out_writes_the_cells_of_all_tables_in_one_format(
    run: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is in every row, and the line of the published file holds the printed value."""
    monkeypatch.setattr("nlgauge_papers.gao2025.claims.TRIALS", 4)  # tests/real compares the values
    done = run("gao2025", "-o", str(tmp_path / "t.csv"), "--no-slow")
    assert done.returncode == 0
    rows = ledger.read(tmp_path / "t.csv")
    assert list(rows[0]) == list(ledger.COLUMNS)
    assert (
        len({(r["table"], r["key"]) for r in rows})
        == len(rows)
        == sum(len(published(s)[1]) for s in studies("gao2025") if not s.further)
    )
    for row in rows[:: len(rows) // 40]:
        file, _, line = row["source"].partition(":")
        held = (PAPERS / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert row["printed"] in held
    assert {r["needs"] for r in rows if r["table"] == "2"} == {"browser gao2025-scores"}


def test_tables_fit_a_narrow_terminal(tmp_path: Path) -> None:
    some = [s for s in studies("gao2025") if s.table in ("1", "2")]
    compared = [(s, compare(s, Sources(tmp_path))) for s in some]
    for table in (overview(tmp_path), compared[0][1], scoreboard(compared)):
        console = Console(width=72, file=io.StringIO(), no_color=True, highlight=False)
        console.print(table)
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert max(map(len, text.splitlines())) <= 72
        assert "…" not in text.replace("D1 …", "")  # nothing is cut off
