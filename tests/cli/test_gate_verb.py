"""`nlgauge gate`: coin flips fail, a good judge passes, ten labels decide nothing."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.errors import NameUnknown


def answers(folder: Path, labels: int, right: float, seed: int = 1) -> Path:
    """Rows with people's verdict and a judge's that is right with that chance."""
    rng = random.Random(seed)
    path = folder / "answers.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "answer", "judge", "human"])
        for k in range(labels):
            good = rng.random() < 0.6
            rows.writerow([k, f"answer {k}", int(good if rng.random() < right else not good), int(good)])
    return path


@pytest.mark.parametrize(
    "labels, right, verdict", [(400, 0.95, "passed"), (400, 0.5, "failed"), (10, 0.9, "undecided")]
)
def test_the_verdict_follows_the_interval(tmp_path: Path, labels: int, right: float, verdict: str) -> None:
    table = ng.gate(answers(tmp_path, labels, right), "kappa=.6,tnr=.7", metrics="judge")
    assert table.facts["verdict"] == verdict
    for row in table:
        inside = row["low"] < row["limit"] <= row["high"]
        assert row["verdict"] == ("undecided" if inside else "passed" if row["low"] >= row["limit"] else "failed")


def test_the_labels_named_would_decide_if_the_value_stays(tmp_path: Path) -> None:
    few = answers(tmp_path, 100, 0.85)
    (row,) = ng.gate(few, {"agreement": 0.83}, metrics="judge")
    assert row["verdict"] == "undecided" and row["n"] == 100
    times = -(-row["labels"] // 100)
    header, *rows = few.read_text().splitlines()
    more = [line.replace(line.split(",")[0], f"{k}-{line.split(',')[0]}", 1) for k in range(times + 1) for line in rows]
    few.write_text("\n".join([header, *more]) + "\n")
    assert ng.gate(few, {"agreement": 0.83}, metrics="judge").facts["verdict"] != "undecided"


def test_correlations_have_limits_too() -> None:
    rows = ng.gate(ng.example(), {"input/kendall": 0.3, "global/pearson": 0.99}, metrics="unigram_f1").rows
    assert {r["measure"]: r["verdict"] for r in rows} == {"input/kendall": "passed", "global/pearson": "failed"}


def test_a_slip_of_the_pen_is_answered() -> None:
    with pytest.raises(NameUnknown, match=r"no figure 'kapa'\. Did you mean 'kappa'"):
        ng.gate(ng.example(), "kapa=.6")
    with pytest.raises(NameUnknown, match="write a number"):
        ng.gate(ng.example(), "kappa=good")


@pytest.mark.parametrize("labels, right, code", [(400, 0.95, 0), (400, 0.5, 1), (10, 0.9, 3)])
def test_the_exit_code_is_the_verdict(tmp_path: Path, labels: int, right: float, code: int) -> None:
    path = answers(tmp_path, labels, right)
    words = [
        sys.executable,
        "-m",
        "nlgauge",
        "gate",
        str(path),
        "--min",
        "kappa=.6",
        "--metrics",
        "judge",
        "-f",
        "json",
    ]
    done = subprocess.run(words, capture_output=True, check=False, text=True, timeout=180)
    assert done.returncode == code, done.stderr
    (table,) = json.loads(done.stdout)["tables"]
    assert table["facts"]["verdict"] == {0: "passed", 1: "failed", 3: "undecided"}[code]
