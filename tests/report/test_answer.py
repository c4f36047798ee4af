"""The answer as data: sentences and marks are those of the tables, and few data give none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.analyses.agreement.replacement import replacement
from nlgauge.report.answer import ReportAnswer, answer_of
from nlgauge.report.sections import Run
from nlgauge.session import Selection


def grid(systems: int, inputs: int, seed: int = 0) -> ng.Dataset:
    """`near` follows people, `far` is the same turned (less is better), `noise` knows nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(systems):
        for i in range(inputs):
            true = s / systems + rng.normal(0, 0.3)
            rows.append(
                {"system": f"s{s}", "input": f"i{i}", "quality": float(np.clip(round(5 * true), 0, 5)),
                 "near": true, "error_rate": -true, "noise": rng.normal()}
            )  # fmt: skip
    return ng.load(pl.DataFrame(rows), human=["quality"], metrics=["near", "error_rate", "noise"], lower=["error_rate"])


@pytest.fixture(scope="module")
def answered() -> tuple[Selection, ReportAnswer]:
    chosen = Selection(grid(8, 30))
    return chosen, answer_of(Run(chosen, quick=True))


def test_marks_are_those_of_the_table_of_uses(answered: tuple[Selection, ReportAnswer]) -> None:
    chosen, answer = answered
    marks = {(m.metric, use): k for m in answer.aspects[0].metrics for use, k in m.marks.items()}
    for row in chosen.analyse("uses"):
        mark = marks[row["metric"], row["use"]]
        assert (mark.verdict, mark.value) == (row["verdict"], row["value"])
        assert (mark.low, mark.high) == (row["low"], row["high"])


def test_metrics_stand_in_the_order_of_the_ranking(answered: tuple[Selection, ReportAnswer]) -> None:
    chosen, answer = answered
    assert [m.metric for m in answer.aspects[0].metrics] == [r["metric"] for r in chosen.analyse("ranking")]


def test_a_metric_of_which_less_is_better_is_called_as_its_turned_twin(
    answered: tuple[Selection, ReportAnswer],
) -> None:
    first = {m.metric: m for m in answered[1].aspects[0].metrics}
    assert first["error_rate"].less_is_better
    assert first["error_rate"].value == first["near"].value > 0.5
    assert first["error_rate"].marks == first["near"].marks


def test_the_sentence_names_a_good_metric_only_where_a_mark_says_so(answered: tuple[Selection, ReportAnswer]) -> None:
    aspect = answered[1].aspects[0]
    for use in aspect.uses:
        good = [m.metric for m in aspect.metrics if m.marks[use].verdict == "good"]
        assert (" good;" in aspect.sentences[use]) == bool(good)
        assert "noise" not in good


@pytest.mark.parametrize("size", [(2, 2), (4, 5), (8, 9)])
def test_too_few_data_give_a_warning_and_no_verdict_interval_or_percentage(size: tuple[int, int]) -> None:
    answer = answer_of(Run(Selection(grid(*size)), quick=True))
    aspect = answer.aspects[0]
    marks = [k for m in aspect.metrics for use, k in m.marks.items() if use != "rank systems" or size[0] < 6]
    assert all(k.verdict == "cannot tell" and k.low is None for k in marks)
    assert all(m.low is None for m in aspect.metrics)
    if size[0] < 6:
        assert answer.warnings and answer.warnings[0].startswith("Too few data for any verdict")
        assert not any("%" in text for text in aspect.sentences.values())


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"judge_score": [1, 0] * 20}, "people gave one value only (1; 40 ratings); it takes good and bad outputs"),
        ({}, "No metric scores here"),
    ],
)
def test_the_reason_why_there_is_no_answer_is_the_true_one(columns: dict[str, list[int]], said: str) -> None:
    data = ng.load({"id": list(range(40)), "label": ["pass"] * 40, **columns})
    warnings = answer_of(Run(Selection(data), quick=True)).warnings
    assert any(said in line for line in warnings) and not any("both people" in line for line in warnings)


def test_a_metric_that_goes_against_people_is_said_with_the_word_that_turns_it() -> None:
    rows = grid(8, 30)
    turned = ng.load(rows.samples.join(rows.scores, on=["system", "input"]).with_columns(
        rows.ratings["value"].alias("quality")), human=["quality"], metrics=["near", "error_rate"], lower=[])  # fmt: skip
    assert turned.lower == {"error_rate"}  # by its name
    against = replace(turned, lower=frozenset({"near"}))
    warnings = answer_of(Run(Selection(against), quick=True)).warnings
    assert "error_rate goes against people; if less of it is better: --lower error_rate." in warnings
    assert "near goes against people; less of it counts as better; if more is: --higher near." in warnings
    assert not any("against" in line for line in answer_of(Run(Selection(turned), quick=True)).warnings)


def test_results_hold_the_answer_of_the_report(tmp_path: Path) -> None:
    made = ng.report(ng.example(), tmp_path / "page.html", quick=True)
    stored = json.loads(made.results.read_text())["answer"]
    assert stored == json.loads(json.dumps(made.answer.to_dict()))
    assert "people" not in stored["aspects"][0]["sentences"][""]  # rated by construction


def test_verdicts_are_marked_by_what_the_judge_catches_and_passes() -> None:
    chosen = ng.select("examples/judged.csv")
    answer = answer_of(Run(chosen))
    rows = {r["measure"]: r for r in chosen.analyse("verdicts")}
    marks = answer.aspects[0].metrics[0].marks
    assert marks["catch failures"].value == rows["fail_recall"]["value"]
    assert marks["pass good ones"].low == rows["pass_recall"]["low"] >= 0.75
    assert (marks["catch failures"].verdict, marks["pass good ones"].verdict) == ("not", "good")


def test_a_constant_is_never_good_to_replace_a_rater() -> None:
    """Its rank is the middle, near to everybody: raters who hardly agree are farther from each other."""
    rng = np.random.default_rng(1)
    rows = [
        {"system": f"s{s}", "input": f"i{i}", "rater": f"r{r}", "fun": float(rng.integers(1, 6)), "flat": 1.0 + (s + i == 0)}
        for s in range(4) for i in range(40) for r in range(4)
    ]  # fmt: skip
    data = ng.load(pl.DataFrame(rows), human=["fun"], metrics=["flat"])
    row = replacement(data.panel("fun")).rows[0]
    assert row["passes"] and row["verdict"] == "cannot tell"
    assert "would pass too" in row["reason"]


def test_a_judge_that_misses_failures_is_not_praised_without_saying_so(tmp_path: Path) -> None:
    frame = pl.DataFrame({
        "id": range(200), "judge": ["pass"] * 170 + ["fail"] * 30,
        "label": ["pass"] * 100 + ["fail"] * 50 + ["pass"] * 20 + ["fail"] * 15 + [None] * 15,
    })  # fmt: skip
    made = ng.report(frame, tmp_path / "page.html", quick=True)
    (found,) = json.loads(Path(made.results).read_text())["answer"]["aspects"]
    marks = found["metrics"][0]["marks"]
    assert (marks["catch failures"]["verdict"], marks["pass good ones"]["verdict"]) == ("not", "good")
    assert "good to pass good answers, but not to catch failures (23%)" in found["sentences"][""]


def test_the_section_of_uses_has_the_sentence_of_every_use(tmp_path: Path) -> None:
    made = ng.report(ng.example(), tmp_path / "page.html", quick=True)
    (found,) = made.answer.aspects
    page = made.path.read_text()
    section = page[page.index('id="uses"') :]
    for use, sentence in found.sentences.items():
        if use:
            assert f'data-sentence="{use}" hidden>{sentence}' in section.replace("&#39;", "'")
