"""The same rows as a table, and as logs of three tools with people's labels in another file, give the same figures."""

from __future__ import annotations

import copy
import csv
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from nlgauge.data.readers._archives import read_entries
from nlgauge.data.readers.logs.inspect_ai import SAMPLE

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
Rows = list[dict[str, str]]


@pytest.fixture
def rows() -> Rows:
    """A judge's verdict on every row, a person's on every fifth."""
    rng, found = random.Random(3), []
    for i in range(300):
        good, wrong = rng.random() < 0.7, rng.random() < 0.15
        person = "pass" if good else "fail"
        judge = "pass" if good != wrong else "fail"
        found.append({"id": f"q{i}", "answer": f"text {i}", "judge": judge, "human": person if i % 5 == 0 else ""})
    return found


def written(path: Path, rows: Rows) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_inspect(folder: Path, rows: Rows) -> Path:
    """A log whose samples are copies of one that Inspect wrote, with other ids, texts and grades."""
    (_, header), (_, first), *_ = read_entries(SAMPLES / "inspect.eval", "header.json", SAMPLE)
    path, sample = folder / "log.eval", json.loads(first)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", header)
        for row in rows:
            score = sample["scores"]["model_graded_qa"] | {"value": "C" if row["judge"] == "pass" else "I"}
            now = sample | {"id": row["id"], "epoch": 1, "scores": {"model_graded_qa": score}}
            now["output"] = sample["output"] | {"completion": row["answer"]}
            archive.writestr(f"samples/{row['id']}_epoch_1.json", json.dumps(now))
    return path


def as_promptfoo(folder: Path, rows: Rows) -> Path:
    whole = json.loads((SAMPLES / "promptfoo.json").read_text())
    first = whole["results"]["results"][0]
    results: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        now = copy.deepcopy(first) | {"testIdx": i, "vars": {"id": row["id"]}, "response": {"output": row["answer"]}}
        rubric = now["gradingResult"]["componentResults"][0]
        now["gradingResult"]["componentResults"] = [rubric | {"score": int(row["judge"] == "pass")}]
        results.append(now)
    whole["results"]["results"] = results
    path = folder / "promptfoo.json"
    path.write_text(json.dumps(whole))
    return path


def as_lm_eval(folder: Path, rows: Rows) -> Path:
    first = json.loads(next((SAMPLES / "lm_eval").glob("*/samples_capitals_*")).read_text().splitlines()[0])
    path = folder / "samples.jsonl"
    lines = [
        first
        | {
            "doc_id": i,
            "doc": {"id": row["id"]},
            "resps": [[row["answer"]]],
            "exact_match": float(row["judge"] == "pass"),
        }
        for i, row in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def figures(data: ng.Dataset) -> list[dict[str, Any]]:
    words = ("metric", "input", "system", "reason")  # the names may differ, the figures not
    return [{k: v for k, v in row.items() if k not in words} for row in ng.verdicts(data)]


@pytest.mark.parametrize("log", [as_inspect, as_promptfoo, as_lm_eval])
def test_a_log_with_labels_gives_the_figures_of_the_table(
    tmp_path: Path, rows: Rows, log: Callable[[Path, Rows], Path]
) -> None:
    table = ng.load(written(tmp_path / "rows.csv", rows))
    labels = [{"id": r["id"], "human": r["human"]} for r in rows if r["human"]]
    data = ng.load(log(tmp_path, rows), labels=written(tmp_path / "labels.csv", labels))
    assert figures(table)
    assert figures(data) == figures(table)


def test_a_column_of_the_labels_may_be_named_beside_a_log(tmp_path: Path, rows: Rows) -> None:
    labels = [{"which": r["id"], "said": r["human"], "note": "x"} for r in rows if r["human"]]
    path = written(tmp_path / "labels.csv", labels)
    data = ng.load(as_inspect(tmp_path, rows), labels=path, input="which", human="said")
    assert data.aspects == ["said"]
    assert data.ratings.height == len(labels)
