"""nlgauge verdicts, as a user types it: a judge's verdict and number on every row, people's on some."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import run_command


def nlgauge(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command(*args, cwd=cwd, COLUMNS="160")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """answers.csv: 400 rows, 160 of them labelled, four rows a chat; the judge sees billing wrongly."""
    home = tmp_path_factory.mktemp("verdicts")
    rng = np.random.default_rng(5)
    rows = []
    for k in range(400):
        good = rng.random() < 0.6
        area = "billing" if k % 4 == 0 else "other"
        judge = 1 if area == "billing" else int(good)
        rows.append(
            {
                "id": k,
                "answer": f"answer {k}",
                "area": area,
                "chat": f"c{k // 4}",
                "judge": judge,
                "score": round(float(np.clip(rng.normal(0.7 if good else 0.4, 0.18), 0, 1)), 2),
                "human": int(good) if k < 160 else "",
            }
        )
    with (home / "answers.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return home


COLUMNS = ("--columns", "input=id,output=answer,human=human,metrics=judge+score")


def tables(run: subprocess.CompletedProcess[str]) -> dict[str, list[dict[str, Any]]]:
    assert run.returncode == 0, run.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for table in json.loads(run.stdout)["tables"]:
        found.setdefault(table["analysis"], []).extend(table["rows"])
    return found


def at(rows: list[dict[str, Any]], measure: str) -> dict[str, Any]:
    (row,) = [row for row in rows if row["measure"] == measure]
    return row


def test_a_judge_with_two_values_and_one_with_numbers_are_both_answered(folder: Path) -> None:
    found = tables(nlgauge("analyze", "verdicts", "answers.csv", *COLUMNS, "--format", "json", cwd=folder))
    assert set(found) == {"verdicts", "threshold", "calibration"}
    assert {row["metric"] for row in found["verdicts"]} == {"judge"}
    assert {row["metric"] for row in found["threshold"]} == {"score"}
    assert at(found["verdicts"], "agreement")["n"] == 160
    assert at(found["verdicts"], "pass_recall")["value"] == 1.0


def test_the_words_come_first(folder: Path) -> None:
    run = nlgauge("analyze", "verdicts", "answers.csv", *COLUMNS, cwd=folder)
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stdout.splitlines() if line.startswith("recall on failures")]
    assert "%" in lines[0]
    assert " of " in lines[0]
    assert "[" in lines[0]


def test_rows_of_one_chat_widen_intervals_when_the_column_is_named(folder: Path) -> None:
    plain = tables(nlgauge("analyze", "verdicts", "answers.csv", *COLUMNS, "--format", "json", cwd=folder))
    run = nlgauge("analyze", "verdicts", "answers.csv", *COLUMNS, "--cluster", "chat", "--format", "json", cwd=folder)
    clustered = tables(run)
    for measure in ("agreement", "fail_recall"):
        assert at(plain["verdicts"], measure)["value"] == at(clustered["verdicts"], measure)["value"]
        assert at(plain["verdicts"], measure)["low"] >= at(clustered["verdicts"], measure)["low"]
    assert "(160 outputs in 40 clusters)" in run.stdout
    wrong = nlgauge("analyze", "verdicts", "answers.csv", *COLUMNS, "--cluster", "chatt", cwd=folder)
    assert wrong.returncode == 2
    assert "no column 'chatt'. Did you mean 'chat'?" in wrong.stderr.replace("\n", " ")


def test_by_gives_a_table_per_group(folder: Path) -> None:
    run = nlgauge("analyze", "verdicts", "answers.csv", *COLUMNS, "--by", "area", "--format", "json", cwd=folder)
    rows = [row for row in tables(run)["verdicts"] if row["measure"] == "fail_recall"]
    assert {row["area"]: row["value"] for row in rows} == {"billing": 0.0, "other": 1.0}


def test_the_map_is_written_and_slices_name_the_worst(folder: Path) -> None:
    area = ("--slice-columns", "area", "--format", "json")
    worst = tables(nlgauge("analyze", "slices", "answers.csv", *COLUMNS, *area, cwd=folder))["slices"][0]
    assert (worst["column"], worst["slice"], worst["found"]) == ("area", "billing", True)
    run = nlgauge("analyze", "calibration", "answers.csv", *COLUMNS, "--part", "map", "-o", "map.csv", cwd=folder)
    with (folder / "map.csv").open() as file:
        values = [float(row["value"]) for row in csv.DictReader(file)]
    assert values == sorted(values)
    assert "written: map.csv" in run.stderr


def test_ratings_that_are_not_pass_and_fail_are_one_clear_line(folder: Path) -> None:
    run = nlgauge("analyze", "verdicts", "example", cwd=folder)
    assert run.returncode == 2
    assert "--human-pass-from" in run.stderr.replace("\n", " ")
    good = nlgauge("analyze", "verdicts", "example", "--human-pass-from", "4", "--format", "json", cwd=folder)
    assert set(tables(good)) == {"threshold", "calibration"}


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    blocks = [block.partition("```")[0] for block in page.split("```\n")[1:]]
    shown = [line for block in blocks for line in block.splitlines() if "   " in line]
    runs = [
        nlgauge("analyze", *words, "--cluster", "chat", cwd=tmp_path)
        for words in (("verdicts", "answers.csv"), ("threshold", "answers.csv", "--miss", "3"))
    ]
    printed = {line.rstrip() for run in runs for line in run.stdout.splitlines()}
    assert len(shown) > 30
    assert [line for line in shown if line not in printed] == []
