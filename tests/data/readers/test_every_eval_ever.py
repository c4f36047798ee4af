"""Every Eval Ever samples, as every_eval_ever itself converted them from an lm-eval run (tests/data/writers)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import nlgauge as ng


@pytest.fixture
def folder(samples: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(samples / "every_eval_ever", tmp_path / "eee"))


def test_every_result_of_a_sample_is_a_metric(folder: Path, samples: Path) -> None:
    data = ng.load(folder)
    assert (data.systems, data.inputs) == (["lab/model-a"], ["0", "1", "2", "3"])
    # The same run as the log of lm-eval that it was converted from.
    theirs = ng.load(next((samples / "lm_eval").glob("*/samples_capitals_*")))
    assert data.scores.select(theirs.scores.columns).equals(theirs.scores)
    assert data.samples.select("source", "output", "references").equals(
        theirs.samples.select("source", "output", "references")
    )


def test_the_file_beside_says_what_is_better_and_who_judged(folder: Path) -> None:
    beside = next(p for p in folder.iterdir() if p.suffix == ".json")
    about = json.loads(beside.read_text())
    config = about["evaluation_results"][0]["metric_config"]
    config |= {"lower_is_better": True, "llm_scoring": {"judges": [{"model_info": {"name": "J", "id": "lab/j"}}]}}
    beside.write_text(json.dumps(about))
    data = ng.load(next(folder.glob("*_samples.jsonl")))
    assert data.lower == {"exact_match:strict"}
    assert data.signatures == {"exact_match:strict": "Every Eval Ever|model:lab/j"}


def test_two_runs_of_one_model_are_kept_apart(folder: Path) -> None:
    one = next(folder.glob("*_samples.jsonl"))
    shutil.copy(one, folder / "again_samples.jsonl")
    data = ng.load(folder)
    assert len(data) == 8
    assert any(note.startswith("4 inputs × 2 trials: the trials of one input") for note in data.notes)
