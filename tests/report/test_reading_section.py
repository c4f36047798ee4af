"""Outputs to read: their scores, texts and kinds as the page holds them."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from nlgauge.data.example import example
from nlgauge.report.sections import ReportContext, reading
from nlgauge.report.sections.reading import disagree, outputs_of
from nlgauge.session import Session


@pytest.fixture
def run() -> ReportContext:
    return ReportContext(Session(example()))


def test_every_rated_output_is_there_with_its_scores_and_texts(run: ReportContext) -> None:
    found, _ = outputs_of(run)
    panel, data = run.data.panel(), run.data
    assert len(found["s"]) == int(np.isfinite(panel.human).sum())
    texts = {(r["system"], r["input"]): r for r in data.samples.iter_rows(named=True)}
    for at in (0, 17, 100):
        system, given = found["systems"][found["s"][at]], found["inputs"][found["i"][at]]
        kept = {name: t["texts"][t["at"][at]] for name, t in found["texts"].items()}
        assert kept["output"] == texts[system, given]["output"]
        assert kept["reference 1"] == texts[system, given]["references"][0]
        score = panel.metrics["char3_f1"][panel.systems.index(system), panel.inputs.index(given)]
        assert found["metrics"]["char3_f1"][at] == pytest.approx(score, rel=1e-3)
    assert len(found["texts"]["source"]["texts"]) == 24  # once an input, not once an output


def test_of_many_outputs_those_to_read_stay_and_the_others_are_counted(
    run: ReportContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = outputs_of(run)
    monkeypatch.setattr(reading, "MOST_POINTS", 60)
    found, lines = outputs_of(run)
    assert found == outputs_of(run)[0]
    assert len(found["s"]) < 192
    assert any(f"{192 - len(found['s'])} more are left out" in line for line in lines)

    def names(of: dict, metric: str) -> list:
        return [
            (of["systems"][of["s"][k]], of["inputs"][of["i"][k]])
            for each in of["chosen"][metric]["constructed_quality"]
            for k in each
        ]

    assert all(names(found, m) == names(whole, m) for m in whole["chosen"])


def test_outputs_in_other_words_than_their_sources_are_not_marked_and_the_page_says_why(run: ReportContext) -> None:
    samples = run.data.samples.with_columns(
        pl.col("output").str.replace_all(r"(\w+)", "${1}en"), pl.lit(None, pl.List(pl.String)).alias("references")
    )
    found, lines = outputs_of(ReportContext(Session(replace(run.data, samples=samples))))
    assert found["words"] == []
    assert any("Words are not marked as supported" in line for line in lines)


def test_every_aspect_has_its_sentence_and_no_model_is_loaded(run: ReportContext) -> None:
    before = "torch" in sys.modules
    found = disagree(run)
    assert [part.about for part in found.parts if part.answer] == run.aspects
    assert ("torch" in sys.modules) == before
