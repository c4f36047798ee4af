"""Samples of lm-evaluation-harness, as lm_eval itself wrote them with its dummy model (tests/data/writers)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import nlgauge as ng


@pytest.fixture
def folder(samples: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(samples / "lm_eval", tmp_path / "lm_eval")) / "lab__model-a"


def one(folder: Path, task: str) -> Path:
    return next(folder.glob(f"samples_{task}_*.jsonl"))


def test_documents_are_inputs_and_filters_are_metrics(folder: Path) -> None:
    data = ng.load(one(folder, "capitals"))
    assert data.systems == ["lab/model-a"]
    assert data.inputs == ["0", "1", "2", "3"]
    assert data.metrics == ["exact_match:strict", "exact_match:loose"]
    assert data.scores["exact_match:strict"].to_list() == [1, 0, 0, 0]
    first = data.samples.row(1, named=True)
    assert (first["source"], first["output"]) == ("What is the capital of Italy?", "lol")
    assert (first["references"], first["task"], first["country"]) == (["Rome"], "capitals", "Italy")


def test_the_most_likely_choice_is_the_output(folder: Path) -> None:
    data = ng.load(one(folder, "choice"))
    assert data.metrics == ["acc"]
    right = [o == r[0] for o, r in data.samples.select("output", "references").iter_rows()]
    assert right == [v == 1 for v in data.scores["acc"]]


def test_a_folder_holds_all_tasks_apart(folder: Path) -> None:
    data = ng.load(folder.parent)
    assert data.inputs[0] == "capitals: 0"
    assert data.inputs[4] == "choice: 0"
    assert "several tasks; inputs are named 'task: input' (by='task' reports each task)" in data.notes


def test_without_results_the_model_is_unknown_and_it_is_said(folder: Path) -> None:
    next(folder.glob("results_*")).unlink()
    data = ng.load(one(folder, "capitals"))
    assert data.systems == ["system"]
    assert any("no results file next to it names the model" in note for note in data.notes)


def test_a_metric_of_which_less_is_better_is_known_from_the_results(folder: Path) -> None:
    results = next(folder.glob("results_*"))
    about = json.loads(results.read_text())
    about["higher_is_better"]["choice"]["acc"] = False
    results.write_text(json.dumps(about))
    assert ng.load(one(folder, "choice")).lower == {"acc"}


def test_files_of_an_older_version_name_no_filters(samples: Path) -> None:
    data = ng.load(samples / "lm_eval_0.4.5")
    assert data.systems == ["lab/model-a"]
    assert data.metrics == ["exact_match", "exact_match #2"]
    assert data.scores["exact_match"].to_list() == [1, 0, 0, 0]
    assert data.samples["source"][0] == "What is the capital of France?"


def test_a_field_of_a_document_that_is_called_like_a_metric_is_no_score(folder: Path) -> None:
    path = one(folder, "choice")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["doc"]["acc"] = "of the document"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = ng.load(path)
    assert data.samples["acc (column)"].to_list() == ["of the document"] * 4
    assert data.scores["acc"].null_count() == 0


def test_a_metric_of_the_whole_set_is_left_aside_and_counted(folder: Path) -> None:
    path = one(folder, "choice")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row |= {"metrics": ["acc", "bleu"], "bleu": ["a reference", "an output"]}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = ng.load(path)
    assert data.metrics == ["acc"]
    assert "not read: 4 lists of values of 'bleu'" in data.notes


def test_damage_is_named(folder: Path, refused: Callable[..., str]) -> None:
    path = one(folder, "choice")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace('"doc_id": 1', '"doc_id": null'), *lines[2:]]))
    assert ", line 2: no value for key 'doc_id'." in refused(path)
