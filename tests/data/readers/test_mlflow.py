"""MLflow traces with assessments, as mlflow itself wrote them (tests/data/writers)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng

FILES = ["mlflow_traces.jsonl", "mlflow_search.jsonl"]


def by_country(data: ng.Dataset, metric: str) -> dict[str, float | None]:
    """A metric's values by the country in the question."""
    asked = data.samples.join(data.scores, on=["system", "input"]).select("source", metric)
    return {source.removeprefix("What is the capital of ").strip("?"): v for source, v in asked.iter_rows()}


@pytest.mark.parametrize("name", FILES)
def test_the_source_says_who_is_a_person(samples: Path, name: str) -> None:
    data = ng.load(samples / name)
    assert data.systems == ["model_a"]
    assert sorted(data.aspects) == ["correct", "correctness"]
    assert (sorted(data.raters), data.persons) == (["ann", "bob"], True)
    assert data.metrics == ["correctness", "length", "relevance"]
    assert by_country(data, "correctness") == {"France": 1, "Italy": 1, "Spain": 0}
    assert by_country(data, "length") == {"France": 6, "Italy": 14, "Spain": 9}


def test_texts_come_from_the_root_span_and_expectations_are_references(samples: Path) -> None:
    data = ng.load(samples / "mlflow_traces.jsonl")
    rows = dict(data.samples.select("output", "references").iter_rows())
    assert rows == {"Paris.": ["Paris"], "Rome, I think.": ["Rome"], "Barcelona": ["Madrid"]}


def test_an_error_of_the_judge_is_a_failure_with_its_reason(samples: Path) -> None:
    data = ng.load(samples / "mlflow_traces.jsonl")
    assert by_country(data, "relevance") == {"France": 4, "Italy": 4, "Spain": None}
    assert data.failures.select("metric", "reason").rows() == [("relevance", "timed out")]


def test_an_overruled_judgement_is_still_the_judges_and_it_is_said(samples: Path) -> None:
    data = ng.load(samples / "mlflow_traces.jsonl")
    assert by_country(data, "correctness")["Spain"] == 0
    assert data.ratings.filter(aspect="correctness").select("rater", "value").rows() == [("ann", 0)]
    assert "not read: 1 assessments that were replaced" in data.notes
    assert any(note.startswith("annotators overruled 1 judgments; both values are read") for note in data.notes)


def test_several_systems_share_inputs_by_their_requests(edited: Callable[..., Path]) -> None:
    def again(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
        import copy

        more = copy.deepcopy(traces)
        for trace in more:
            trace["info"]["tags"]["mlflow.traceName"] = "model_b"
            trace["info"]["trace_id"] += "b"
        return traces + more

    data = ng.load(edited("mlflow_traces.jsonl", again))
    assert data.systems == ["model_a", "model_b"]
    assert len(data.inputs) == 3


def test_two_judges_of_one_name_are_two_metrics(edited: Callable[..., Path]) -> None:
    def second(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for trace in traces:
            trace["info"]["assessments"].append(
                {
                    "assessment_name": "relevance",
                    "feedback": {"value": 1},
                    "source": {"source_type": "LLM_JUDGE", "source_id": "b"},
                }
            )
        return traces

    data = ng.load(edited("mlflow_traces.jsonl", second))
    assert {"openai:/gpt-4o:relevance", "b:relevance"} < set(data.metrics)


def test_an_unknown_source_is_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    def strange(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
        traces[0]["info"]["assessments"][1]["source"]["source_type"] = "ORACLE"
        return traces

    message = refused(edited("mlflow_traces.jsonl", strange))
    assert "expected the type HUMAN, LLM_JUDGE, AI_JUDGE or CODE, got a text ('ORACLE')." in message
