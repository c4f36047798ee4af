"""check(): every column with its role, why, and the words that change it."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from command import run_command
from nlgauge.datasets.load import check
from nlgauge.errors import DataError
from nlgauge.options import command_line

TABLE = """LLM Name;Prompt ID;Reply;coherence_ann;coherence_bob;stars;bleu;seed;passed;flag;note
gpt-x;1;Hello there;4;5;3;0,403;1;pass;yes;fine
gpt-x;2;Good day;2;3;4;0,21;2;fail;no;
t5;1;Hi;1;2;1;0,1;1;fail;no;meh
t5;2;Hey you;3;3;2;inf;2;pass;yes;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (found := tmp_path / "mine.csv").write_text(TABLE)
    return found


def test_every_column_has_a_role_and_a_reason(path: Path) -> None:
    table = check(path)
    roles = {row["column"]: row["role"] for row in table}
    assert roles == {
        "LLM Name": "system",
        "Prompt ID": "input",
        "Reply": "output",
        "coherence_ann": "rating of coherence by ann",
        "coherence_bob": "rating of coherence by bob",
        "stars": "rating of stars",
        "bleu": "metric",
        "seed": "not used",
        "passed": "metric",
        "flag": "not used",
        "note": "not used",
    }
    assert all(row["why"] and row["example"] for row in table)
    assert "decimal commas (0,403)" in next(row["why"] for row in table if row["column"] == "bleu")
    notes = "\n".join(table.notes)
    for words in (
        "4 rows, 11 columns",
        "2 systems × 2 inputs",
        "2 annotators",
        "pass = 1, fail = 0",
        "1 value is inf: left out",
    ):
        assert words in notes


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("stars", "metric"),
        ("bleu", "rating of bleu"),
        ("seed", "metric"),
        ("flag", "metric"),
        ("coherence_ann", "metric"),
    ],
)
def test_the_words_in_the_last_column_change_the_role(path: Path, column: str, role: str) -> None:
    with command_line():
        words = next(row["correction"] for row in check(path) if row["column"] == column).split(" or ")[0]
    found = run_command("data", "check", path, *shlex.split(words), "--format", "json")
    typed = json.loads(found.stdout)["tables"][0]["rows"]
    name, value = next(r["correction"] for r in check(path) if r["column"] == column).split(" or ")[0].split("=")
    for rows in (typed, check(path, **{name: ast.literal_eval(value)})):
        changed = next(row for row in rows if row["column"] == column)
        assert (changed["role"], changed["why"].startswith("declared")) == (role, True)


def test_a_file_that_cannot_be_read_yet_shows_its_columns_and_what_is_asked_for(tmp_path: Path) -> None:
    (path := tmp_path / "x.csv").write_text("origin,doc,coherence,bleu\nA,1,4,.1\nB,1,2,.3\nA,2,1,.1\nB,2,2,.3\n")
    table = check(path)
    assert [row["role"] for row in table] == ["not used", "input", "rating of coherence", "metric"]
    assert "system='origin'" in table.rows[0]["correction"]
    assert "if it is 'origin': system='origin'" in table.notes[-1]
    assert "2 systems × 2 inputs" in "\n".join(check(path, system="origin").notes)


def test_it_fits_eighty_columns(path: Path) -> None:
    from rich.console import Console

    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(check(path))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert "metrics='+stars'" in text


def test_a_known_layout_is_said(tmp_path: Path) -> None:
    (path := tmp_path / "s.jsonl").write_text(
        json.dumps({"id": "1", "model_id": "M1", "decoded": "x", "expert_annotations": [{"coherence": 3}]}) + "\n"
    )
    (row,) = check(path)
    assert (row["role"], row["correction"]) == ("read by summeval", "reader='table'"), row


# --- very many columns ---


def test_of_very_many_columns_only_the_named_ones_are_read(tmp_path: Path) -> None:
    names = [f"m{i}" for i in range(6000)]
    frame = pl.DataFrame({"system": ["A", "B"], "doc": [1, 1], "coherence": [1, 2], **{n: [0.1, 0.2] for n in names}})
    frame.write_csv(tmp_path / "x.csv")
    frame.write_ndjson(tmp_path / "x.jsonl")
    frame.write_parquet(tmp_path / "x.parquet")
    for source in (tmp_path / "x.csv", tmp_path / "x.jsonl", tmp_path / "x.parquet", frame, frame.to_dicts()):
        with pytest.raises(DataError, match=r"6,003 columns exceed the limit of 5,000; declare those"):
            ng.load(source)
        data = ng.load(source, human="coherence", metrics=["m7"])
        assert (data.systems, data.metrics) == (["A", "B"], ["m7"])
        assert any("4 of 6,003 columns are read" in note for note in data.notes)
