"""Test runs of DeepEval, as deepeval itself wrote them (tests/data/writers)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nlgauge as ng


def test_every_metric_of_every_test_case_is_read(samples: Path) -> None:
    data = ng.load(samples / "deepeval.json")
    assert (data.systems, data.inputs) == (["model-a"], ["France", "Italy", "Spain"])
    assert data.scores["Correctness"].to_list() == [0.9, 0.9, 0.2]
    assert data.scores["Length"].to_list() == [6, 14, 9]
    assert data.signatures == {"Correctness": "DeepEval|model:my-judge"}
    first = data.samples.row(0, named=True)
    assert (first["output"], first["context"], first["references"]) == ("Paris.", "An atlas.", ["Paris"])


def test_the_latest_run_is_the_same_one_level_down(samples: Path, edited: Callable[..., Path]) -> None:
    path = edited("deepeval.json", lambda run: {"testRunData": run, "testRunLink": None})
    assert ng.load(path).scores.equals(ng.load(samples / "deepeval.json").scores)


def test_conversations_are_dialogues_and_an_error_is_a_reason(samples: Path) -> None:
    data = ng.load(samples / "deepeval_conversations.json")
    assert data.samples.select("input", "output", "source").row(0) == ("c1", "user: Hi\nassistant: Yes?", "Small talk")
    assert data.scores["Turns"].to_list() == [2, None]
    assert data.failures.rows() == [("system", "c2", "Turns", "ValueError: boom")]
    assert "no hyperparameter 'model' in the run; the system is named 'system'" in data.notes


def test_damage_is_named(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    def nameless(run: dict[str, Any]) -> dict[str, Any]:
        del run["testCases"][1]["metricsData"][0]["name"]
        return run

    assert "key 'testCases', item 2, key 'metricsData', item 1: no value for key 'name'." in refused(
        edited("deepeval.json", nameless)
    )
