"""OpenInference spans, as its own tracer wrote them (tests/data/writers)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng


@pytest.mark.parametrize("name", ["openinference.jsonl", "openinference_otlp.json"])
def test_who_judged_is_what_the_annotation_says(samples: Path, name: str) -> None:
    data = ng.load(samples / name)
    assert (data.systems, data.aspects, data.raters, data.metrics) == (
        ["model-a"],
        ["correct"],
        ["ann"],
        ["correct", "length"],
    )
    assert data.ratings["value"].to_list() == [1, 0, 0]
    assert data.scores["correct"].to_list() == [1, 1, 0]
    assert data.samples["output"].to_list() == ["Paris.", "Rome, I think.", "Barcelona"]
    assert data.samples["source"][0] == "What is the capital of France?"
    assert "Model judgments in this OpenInference log: 'correct' (my-judge) (change with human=)" in data.notes
    assert "not read: 3 spans without annotations" in data.notes


def test_an_annotation_without_a_kind_is_nobodys_rating_until_declared(samples: Path) -> None:
    worth = {"polite": 1, "rude": 0}
    data = ng.load(samples / "openinference.jsonl", values=worth)
    assert "tone" in data.metrics
    assert "Scores from an unknown source in this OpenInference log: 'tone' (change with human=)" in data.notes
    declared = ng.load(samples / "openinference.jsonl", values=worth, human="tone")
    assert declared.aspects == ["correct", "tone"]


def test_spans_without_annotations_are_read_from_the_outermost(edited: Callable[..., Path]) -> None:
    def strip(span: dict[str, Any]) -> dict[str, Any]:
        span["attributes"] = {k: v for k, v in span["attributes"].items() if not k.startswith("annotations")}
        return span

    data = ng.load(edited("openinference.jsonl", lambda spans: [strip(span) for span in spans]))
    assert data.samples["output"].to_list() == ["Paris.", "Rome, I think.", "Barcelona"]
    assert "not read: 3 child spans" in data.notes
