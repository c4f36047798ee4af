"""Whose judgments are they? Known, assumed with the assumption stated, or not human: never guessed silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.data.card import card
from nlgauge.data.provenance import assumption, column_source, is_judge, likely_annotation, only_programs, tool_of
from nlgauge.errors import DataError, NlgaugeError

RNG = np.random.default_rng(5)


def table(systems: int = 6, inputs: int = 12, **columns: Any) -> list[dict[str, Any]]:
    """Rows with a column each of what a function of system and input gives."""
    return [
        {"system": f"s{s}", "doc": f"d{i}", **{name: of(s, i) for name, of in columns.items()}}
        for s in range(systems)
        for i in range(inputs)
    ]


def likert(s: int, i: int) -> int:
    return 1 + (3 * s + 7 * i + s * i) % 5


def decimal(s: int, i: int) -> float:
    return round(float(RNG.random()), 4)


@pytest.mark.parametrize(
    ("column", "columns", "values", "kind"),
    [
        ("human_label", [], [0, 1], "human"),
        ("humanScore", [], [0.123, 0.456, 0.789], "human"),
        ("H:pyr", [], [0.123, 0.456, 0.789], "human"),
        ("expert coherence", [], [1, 2, 3], "human"),
        ("coherence", ["system", "doc"], [1, 2, 5], "unknown"),
        ("coherence", ["system", "doc"], [1, 1.33, 1.67, 5], "unknown"),
        ("mqm", [], [-0.1, -5.333, 0], "unknown"),
        ("coherence", ["system", "doc"], [0.123, 0.456, 0.789], "program"),
        ("faithfulness", ["user_input", "response", "retrieved_contexts"], [0, 1], "program"),
        ("outputs.relevance.relevance", ["inputs.query", "outputs.relevance.relevance"], [4, 5], "program"),
        ("relevance", ["relevance", "relevance_reason"], [1, 2, 3], "program"),
        ("relevance_score", ["relevance_score", "relevance_threshold"], [1, 2, 3], "program"),
        ("gpt4_coherence", [], [1, 2, 3], "model"),
        ("human.LLM", [], [1, 2, 3], "model"),
    ],
)
def test_a_source_is_decided_from_what_is_known(
    column: str, columns: list[str], values: list[float], kind: str
) -> None:
    assert column_source(column, columns, values).kind == kind
    assert column_source(column, columns, values, declared=True).kind == "human"


def test_an_annotator_column_makes_ratings_human() -> None:
    rows = [{**row, "annotator": "ann"} for row in table(coherence=likert, bleu=decimal)]
    data = ng.load(rows)
    assert data.sources["coherence"].kind == "human" and not data.assumed


def test_a_researchers_table_is_answered_with_the_assumption_stated(tmp_path: Path) -> None:
    data = ng.load(table(coherence=likert, bleu=decimal, rouge_l=decimal), name="mine")
    assert data.assumed == ["coherence"]
    said = assumption(["coherence"])
    assert "confirm with human='coherence'" in said
    assert said in card(data)
    report = ng.report(data, out=tmp_path / "page.html", quick=True)
    assert report.answer.warnings[0] == said
    assert "assumed human" in report.answer.aspects[0].sentences[""]
    assert said in report.results.read_text() and "Assuming that" in report.path.read_text()
    assert "rated by human annotators (assumed) on coherence" in report.path.read_text()
    assert "rated by human annotators on coherence" not in report.path.read_text()


def test_a_declared_rating_is_no_assumption(tmp_path: Path) -> None:
    data = ng.load(table(coherence=likert, bleu=decimal), human=["coherence"])
    assert not data.assumed
    report = ng.report(data, out=tmp_path / "page.html", quick=True)
    assert not any("Assuming" in line or "assumed" in line for line in report.lines)


@pytest.mark.parametrize("ask", ["gate", "verdicts", "estimate"])
def test_no_decision_rests_on_an_assumption(ask: str) -> None:
    rows = table(correct=lambda s, i: (s + i) % 2, judge=lambda s, i: (s * i) % 2)
    questions = {"gate": lambda data: ng.gate(data, min="kappa=.1"), "verdicts": ng.verdicts, "estimate": ng.estimate}
    assumed = ng.load(rows)
    assert assumed.assumed == ["correct"]
    with pytest.raises(
        NlgaugeError, match=r"it is unknown whether correct is rated by humans\. Declare it with human='correct'"
    ):
        questions[ask](assumed)
    questions[ask](ng.load(rows, human=["correct"]))  # declared: it answers


def test_columns_of_a_program_are_metrics_and_the_line_says_how_to_correct_it() -> None:
    data = ng.load(table(faithfulness=decimal, bleu=decimal))
    assert (data.aspects, data.metrics) == ([], ["faithfulness", "bleu"])
    assert any("not read as human" in note and "human='+faithfulness'" in note for note in data.notes)
    assert ng.load(table(faithfulness=decimal), human=["faithfulness"]).aspects == ["faithfulness"]


def test_without_humans_the_report_compares_metrics_and_says_how_to_declare(tmp_path: Path) -> None:
    report = ng.report(ng.load(table(a=decimal, b=decimal)), out=tmp_path / "page.html", quick=True)
    text = " ".join(report.lines)
    assert "human=" in text and "tau-b" in text
    assert not report.answer.aspects


def test_judges_are_known_by_one_rule() -> None:
    assert [c for c in ("gpt-4o", "claude", "gpt-4o_judge", "Judge 1", "bleu", "human judge") if is_judge(c)] == [
        "gpt-4o",
        "claude",
        "gpt-4o_judge",
        "Judge 1",
    ]
    assert is_judge("score", signature="judge|model:tiny")


def test_values_that_only_a_program_gives() -> None:
    means = np.round(np.random.default_rng(0).integers(3, 16, 200) / 3, 2)  # of three annotators, as published
    assert not only_programs(means)
    assert not only_programs([0, 1 / 3, 2 / 3, 1])
    assert only_programs(np.random.default_rng(0).random(50))


def test_annotations_among_the_metrics_are_left_out_until_they_are_confirmed() -> None:
    """As in FRANK: error flags of annotators, and the rating with one kind of error left out."""
    rng = np.random.default_rng(3)
    kinds = ["RelE", "EntE", "CircE", "OutE", "LinkE"]
    rows = []
    for s in range(6):
        for i in range(40):
            marked = rng.random((3, len(kinds))) < 0.08 + 0.03 * s
            rating = float((~marked.any(axis=1)).mean())
            flags = {kind: int(marked[:, k].any()) for k, kind in enumerate(kinds)}
            flips = {
                f"Flip_{kind}": round(float((~np.delete(marked, k, 1).any(axis=1)).mean()), 4)
                for k, kind in enumerate(kinds)
            }
            metric = round(0.3 * rating + 0.5 * float(rng.random()), 4)
            rows.append(
                {"system": f"s{s}", "doc": f"d{i}", "Factuality": round(rating, 4), **flags, **flips, "Rouge": metric}
            )
    data = ng.load(rows)
    assert data.metrics == ["Rouge"]
    assert any("likely a human annotation" in note for note in data.notes)
    assert "RelE" in ng.load(rows, metrics=["+RelE"]).metrics
    assert ng.load(rows, metrics=["Flip_*"]).metrics == [f"Flip_{kind}" for kind in kinds]
    assert ng.load(rows, ignore=["Flip_*", "*E"]).metrics == ["Rouge"]
    with pytest.raises(DataError, match="no column matches"):
        ng.load(rows, ignore="nothing*")


def test_a_good_metric_is_no_annotation() -> None:
    rng = np.random.default_rng(4)
    rating = rng.integers(1, 6, 200).astype(float)
    assert likely_annotation(rating + rng.normal(0, 0.5, 200), rating) == ""
    verdict = rng.integers(0, 2, 200).astype(float)
    right = np.where(rng.random(200) < 0.9, verdict, 1 - verdict)
    assert likely_annotation(right, verdict) == ""
    assert likely_annotation(verdict, verdict) != ""


@pytest.mark.parametrize(
    "name", ["metrics.start", "metrics.tokens", "llm_calls", "estimated_cost", "latency_ms", "epoch"]
)
def test_telemetry_is_never_a_metric(name: str) -> None:
    data = ng.load([{**row, name: k} for k, row in enumerate(table(coherence=likert, bleu=decimal))])
    assert data.metrics == ["bleu"]


def test_tools_are_known_by_their_columns() -> None:
    assert tool_of(["inputs.query", "outputs.relevance.relevance"]) == "Azure AI Evaluation"
    assert tool_of(["user_input", "response", "reference"]) == "Ragas"
    assert tool_of(["system", "doc", "scores.coherence", "metrics.bleu"]) == ""


def test_the_tidy_format_keeps_sources(tmp_path: Path) -> None:
    data = ng.load(table(coherence=likert, bleu=decimal))
    path = tmp_path / "tidy.jsonl"
    from nlgauge.data.tidy import write_tidy

    write_tidy(data, path)
    assert ng.load(path).sources == data.sources


def test_nested_records_without_annotators_are_assumed_to_be_human_until_they_are_declared() -> None:
    rows = [
        {"system": s, "input": i, "output": f"{s} {i}", "ratings": [{"coherence": 1 + (i + k) % 5}], "bleu": i / 7 + k}
        for k, s in enumerate("abc")
        for i in range(8)
    ]
    assert ng.load(rows).assumed == ["coherence"]
    assert ng.load(rows, human=["coherence"]).assumed == ng.load(rows, human=["ratings"]).assumed == []
    named = [{**row, "ratings": [{"annotator": "r1", **row["ratings"][0]}]} for row in rows]
    assert ng.load(named).sources["coherence"].kind == "human"


@pytest.mark.parametrize(
    ("column", "who"), [("winner", "Human votes (assumed: no annotator is named)"), ("human_winner", "Human votes")]
)
def test_choices_are_assumed_to_be_human_where_nobody_is_named(column: str, who: str) -> None:
    rows = [
        {
            "question_id": i,
            "model_a": "xyz"[i % 3],
            "model_b": "xyz"[(i + 1) % 3],
            column: ("model_a", "model_b")[i % 2],
        }
        for i in range(60)
    ]
    data = ng.load(rows)
    assert data.voters_assumed == (column == "winner")
    assert ng.rank(data).answers[0].startswith(f"{who}: ")
