"""The table of outputs: scores, texts and reasons as the page holds them, the largest disagreement first."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.analyses.errors.disagreements import disagreements
from nlgauge.data.example import example
from nlgauge.report.answer import answer_of
from nlgauge.report.sections import ReportContext, outputs
from nlgauge.report.sections.outputs import best_metrics, disagree, outputs_of
from nlgauge.session import Session


@pytest.fixture
def run() -> ReportContext:
    return ReportContext(Session(example()))


def shown(run: ReportContext) -> tuple[dict[str, Any], list[str]]:
    table, lines = outputs_of(run, best_metrics(run))
    return table.data, lines


def text(column: dict[str, Any], k: int) -> str:
    return str(column["texts"][column["at"][k]])


def test_every_rated_output_is_there_with_its_scores_and_texts(run: ReportContext) -> None:
    found, _ = shown(run)
    panel, data = run.data.panel(), run.data
    assert len(found["row"]) == int(np.isfinite(panel.human).sum())
    rows = {(r["system"], r["input"]): r for r in data.samples.iter_rows(named=True)}
    for at in (0, 17, 100):
        system, given = text(found["system"], at), text(found["input"], at)
        assert data.samples.row(found["row"][at] - 1, named=True)["input"] == given  # the link names the row
        assert text(found["texts"]["output"], at) == rows[system, given]["output"]
        assert text(found["texts"]["reference 1"], at) == rows[system, given]["references"][0]
        score = panel.metrics["char3_f1"][panel.systems.index(system), panel.inputs.index(given)]
        assert found["metrics"]["char3_f1"][at] == pytest.approx(score, rel=1e-3)
    assert len(found["texts"]["source"]["texts"]) == 24  # once an input, not once an output


def test_the_largest_disagreements_come_first_by_the_best_metric(run: ReportContext) -> None:
    run.answer = answer_of(run)
    best = run.answer.aspects[0].best
    assert best is not None and best_metrics(run) == {"constructed_quality": best.metric}
    found, _ = shown(run)
    first = {(text(found["system"], k), text(found["input"], k)) for k in range(5)}
    table = disagreements(example(), metric=best.metric, top=5)
    gaps = sorted(table, key=lambda r: -abs(r["gap"]))
    assert (gaps[0]["system"], gaps[0]["input"]) in first


def test_of_many_outputs_those_with_the_largest_disagreement_stay(
    run: ReportContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = shown(run)
    monkeypatch.setattr(outputs, "MAX_OUTPUTS", 60)
    found, lines = shown(run)
    assert found["row"] == whole["row"][:60]
    assert any("60 outputs with the largest disagreement of 192" in line for line in lines)


def test_outputs_in_other_words_than_their_sources_are_not_marked_and_the_page_says_why(run: ReportContext) -> None:
    samples = run.data.samples.with_columns(
        pl.col("output").str.replace_all(r"(\w+)", "${1}en"), pl.lit(None, pl.List(pl.String)).alias("references")
    )
    found, lines = shown(ReportContext(Session(replace(run.data, samples=samples))))
    assert found["words"] == []
    assert any("Words are not marked as supported" in line for line in lines)


def test_every_aspect_has_its_sentence_and_no_model_is_loaded(run: ReportContext) -> None:
    before = "torch" in sys.modules
    found = disagree(run)
    assert [part.about for part in found.parts if part.answer] == run.aspects
    assert ("torch" in sys.modules) == before


def test_the_judges_reasons_are_read_and_disagreements_come_first() -> None:
    rows = [
        {
            "id": f"q{i}",
            "answer": f"answer {i}",
            "label": None if i % 3 == 2 else ["fail", "pass"][i % 2],
            "judge": ["fail", "pass"][(i % 2 + (i % 10 == 0)) % 2],
            "judge_reason": f"because of {i}",
        }
        for i in range(60)
    ]
    context = ReportContext(Session(ng.load(rows, human=["label"], metrics=["judge"])), quick=True)
    found, _ = shown(context)
    human, judge = found["aspects"]["label"], found["metrics"]["judge"]
    apart = [human[k] is not None and human[k] != judge[k] for k in range(60)]
    assert len(apart) == 60 and sum(apart) == 4 and all(apart[:4])  # also outputs without a label are listed
    for k in range(60):
        assert text(found["texts"]["reason"], k) == f"because of {found['row'][k] - 1}"
