"""Results of promptfoo, as it exported them itself after people had given thumbs in its web page (tests/data/writers)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nlgauge as ng


def test_assertions_are_metrics_and_thumbs_are_ratings(samples: Path) -> None:
    data = ng.load(samples / "promptfoo.json")
    assert (sorted(data.systems), sorted(data.inputs)) == (["model-a", "model-b"], ["0", "1", "2"])
    assert data.metrics == ["llm-rubric", "brief", "contains"]
    rated = {(s, i): v for s, i, v in data.ratings.select("system", "input", "value").iter_rows()}
    assert rated == {("model-a", "0"): 1, ("model-a", "1"): 1, ("model-a", "2"): 0, ("model-b", "0"): 0}


def test_a_thumb_does_not_change_what_the_judge_said(samples: Path) -> None:
    data = ng.load(samples / "promptfoo.json")
    judged = {(s, i): v for s, i, v in data.scores.select("system", "input", "llm-rubric").iter_rows()}
    assert judged["model-b", "0"] == 0.25  # the row's own score is 0 since a person overruled it
    assert judged["model-a", "1"] == 1


def test_texts_and_variables_are_kept(samples: Path) -> None:
    data = ng.load(samples / "promptfoo.json")
    row = data.samples.filter(system="model-a", input="1").row(0, named=True)
    assert (row["output"], row["country"]) == ("Rome, I think.", "Italy")
    assert row["source"] == "What is the capital of Italy?"


def test_who_judged_is_said(samples: Path) -> None:
    data = ng.load(samples / "promptfoo.json")
    assert data.notes[:3] == (
        "Human ratings in this promptfoo log: 'human' (change with metrics=)",
        "Model judgments in this promptfoo log: 'llm-rubric' (file://judge.js) (change with human=)",
        "Scores computed by code in this promptfoo log: 'brief', 'contains' (change with human=)",
    )


def test_lines_of_results_say_the_same(samples: Path, tmp_path: Path) -> None:
    results = json.loads((samples / "promptfoo.json").read_text())["results"]["results"]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in results))
    assert ng.load(path).scores.equals(ng.load(samples / "promptfoo.json").scores)


def test_two_prompts_of_one_provider_are_two_systems(edited: Callable[..., Path]) -> None:
    def prompt(log: dict[str, Any]) -> dict[str, Any]:
        for result in log["results"]["results"]:
            if result["provider"]["label"] == "model-b":
                result["provider"]["label"] = "model-a"
                result["prompt"]["label"] = "shorter"
        return log

    data = ng.load(edited("promptfoo.json", prompt))
    assert sorted(data.systems) == ["model-a | What is the capital of {{country}}?", "model-a | shorter"]


def test_an_error_is_no_output_and_is_counted(edited: Callable[..., Path]) -> None:
    def fail(log: dict[str, Any]) -> dict[str, Any]:
        log["results"]["results"][0]["response"] = None
        return log

    data = ng.load(edited("promptfoo.json", fail))
    assert len(data) == 5
    assert "not read: 1 results without an output" in data.notes


def test_the_same_assertion_twice_is_two_metrics(edited: Callable[..., Path]) -> None:
    def twice(log: dict[str, Any]) -> dict[str, Any]:
        for result in log["results"]["results"]:
            parts = result["gradingResult"]["componentResults"]
            parts.append({**parts[2], "score": 0.5})
        return log

    data = ng.load(edited("promptfoo.json", twice))
    assert data.scores["contains #2"].to_list() == [0.5] * 6


def test_an_old_layout_is_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    message = refused(edited("promptfoo.json", lambda log: {**log, "results": {"table": {}}}))
    assert "no key 'results' in 'results'; promptfoo 0.90 or newer" in message
