"""nlgauge meta with several files, and the checklist's analyses as a user types them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nlgauge.cli import build
from nlgauge.errors import NlgaugeError

HEAD = "system,input,coherence,fluency,bleu,ter\n"
VOTES = "input,system_a,system_b,winner\n1,one,two,one\n2,one,two,two\n3,two,one,two\n4,two,one,tie\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, sign in (("news.csv", 1), ("chat.csv", -1)):
        rows = [
            f"{s},{i},{1 + (k + i) % 5},{1 + (k * i) % 5},{0.1 * sign * ((k + i) % 5) + 0.01 * i:.2f},{0.9 - 0.1 * k:.2f}"
            for k, s in enumerate("ABCD")
            for i in range(6)
        ]
        (tmp_path / name).write_text(HEAD + "\n".join(rows) + "\n")
    (tmp_path / "votes.csv").write_text(VOTES)
    return tmp_path


def analyze(*args: str) -> Result:
    return CliRunner().invoke(build("analyze"), ["analyze", *args])


def rows(result: Result) -> list[dict[str, str]]:
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_transfer_takes_several_files_and_groups_from_a_file(folder: Path) -> None:
    (folder / "groups.json").write_text(json.dumps({"news.csv": "ID", "chat.csv": "domain-shift"}))
    (folder / "groups.csv").write_text("dataset,group\nnews.csv,ID\nchat.csv,domain-shift\n")
    said = [
        rows(analyze("transfer", "news.csv", "chat.csv", "--groups", f"@groups.{kind}", "-f", "csv"))
        for kind in ("json", "csv")
    ]
    assert said[0] == said[1]
    value = {(r["family"], r["group"]): float(r["value"]) for r in said[0]}
    assert value["BLEU", "ID"] > 0 > value["BLEU", "domain-shift"]


def test_other_analyses_run_on_each_file_and_rows_say_which(folder: Path) -> None:
    found = rows(analyze("correlate", "news.csv", "chat.csv", "--measures", "global/pearson", "-f", "csv"))
    assert {r["data"] for r in found} == {"news.csv", "chat.csv"}
    assert len(found) == 2 * 2 * 2  # files × aspects × metrics
    alone = rows(analyze("correlate", "news.csv", "--measures", "global/pearson", "-f", "csv"))
    assert "data" not in alone[0]


def test_the_checklist_uses_the_other_files_for_transfer(folder: Path) -> None:
    found = rows(analyze("checklist", "news.csv", "chat.csv", "--columns", "lower=ter", "--draws", "39", "-f", "csv"))
    first = {(r["metric"], r["assessment"]): r for r in found if r["data"] == "news.csv"}
    assert first["bleu", "transfer"]["passes"] == "False"


def test_wins_work_on_votes_alone(folder: Path) -> None:
    found = {(r["first"], r["second"]): r for r in rows(analyze("wins", "votes.csv", "-f", "csv"))}
    assert (float(found["one", "two"]["value"]), float(found["two", "one"]["value"])) == (0.5, 0.5)
    assert (float(found["one", "two"]["tied"]), float(found["two", "one"]["tied"])) == (0.0, 0.5)


def test_pairs_and_bins_are_options(folder: Path) -> None:
    found = rows(analyze("system-preference", "news.csv", "--pairs", "{'mine': [('A', 'D')]}", "-f", "csv"))
    assert {r["pairs"] for r in found} == {"mine"}
    said = analyze("discrimination", "news.csv", "--bins", "(2,4)", "--aspect", "coherence")
    assert "low < 2, high > 4 (as given)" in said.stdout


def test_a_column_splits_the_data_of_an_analysis_of_whole_sets(folder: Path) -> None:
    text = (folder / "news.csv").read_text().splitlines()
    split = [text[0] + ",genre", *(f"{line},{'sport' if n % 2 else 'art'}" for n, line in enumerate(text[1:]))]
    (folder / "genres.csv").write_text("\n".join(split) + "\n")
    found = rows(analyze("inter-aspect", "genres.csv", "--by", "genre", "-f", "csv"))
    assert {r["genre"] for r in found} == {"sport", "art"}


@pytest.mark.parametrize(("text", "words"), [(None, "no such file"), ("{", "line 1")])
def test_a_file_of_options_that_cannot_be_read_is_one_clear_line(folder: Path, text: str | None, words: str) -> None:
    if text is not None:
        (folder / "groups.json").write_text(text)
    result = analyze("transfer", "news.csv", "chat.csv", "--groups", "@groups.json")
    assert isinstance(result.exception, NlgaugeError)
    assert words in str(result.exception)
