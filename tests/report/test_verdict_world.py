"""A judge's pass and fail on every row, people's on some: the report leads with how far the judge can be relied on."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.analyses.verdicts.sentences import judge_words
from nlgauge.session import Session


def table(path: Path, known: float, rows: int = 400, labelled: float = 0.4) -> Path:
    """`known`: how often the judge looks at the answer; else it says pass."""
    draw = random.Random(7)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "answer", "judge", "human_label"])
        for i in range(rows):
            good = draw.random() < 0.6
            judge = good if draw.random() < known else True
            label = ("pass" if good else "fail") if draw.random() < labelled else ""
            writer.writerow([f"q{i}", f"What is {i}?", f"It is {i}.", "pass" if judge else "fail", label])
    return path


def test_the_report_leads_with_the_judge_in_words(tmp_path: Path) -> None:
    made = ng.report(table(tmp_path / "v.csv", known=0.9), out=tmp_path / "v.html", quick=True)
    said = " ".join(made.lines)
    assert "judge catches failures reliably: recall on failures 0." in said and "failures labeled)" in said
    assert 'is better than always answering "pass" (0.' in said
    assert "pearson" not in said and "not answered" not in said
    (aspect,) = made.answer.aspects
    counts = aspect.metrics[0].counts
    assert (
        f"judge fails {counts['both_fail']} of the {counts['both_fail'] + counts['only_humans_fail']} outputs that "
        "humans failed" in made.sections[0].found.parts[0].answer
    )
    page = made.html
    assert re.search("<h1>v.csv: evaluation of judge</h1>", page)
    assert page.index("judge: confusion matrix") < page.index("<h2>Outputs</h2>") < page.index("<h2>Data</h2>")
    assert "agrees" not in {a.section.key for a in made.sections}  # correlations say little of pass and fail


def test_a_judge_that_always_passes_is_not_said_to_know_more(tmp_path: Path) -> None:
    made = ng.report(table(tmp_path / "v.csv", known=0.0), out=tmp_path / "v.html", quick=True)
    said = " ".join(made.lines)
    assert "recall on failures 0.00 [" in said and 'is not shown to be better than always answering "pass"' in said
    assert ": reliable." not in said and "reliably" not in said


def test_ratings_on_a_scale_are_not_asked_about_pass_and_fail() -> None:
    made = ng.report(ng.example(), quick=True)
    assert "verdicts" not in {a.section.key for a in made.sections}
    assert re.search("<h1>example.*: evaluation of 5 metrics</h1>", made.html)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.02, 0.3, "the judge is significantly better"),
        (-0.1, 0.2, "the difference is not significant"),
        (-0.3, -0.1, "the judge is significantly worse"),
        (float("nan"), float("nan"), "too few labels to compare"),
    ],
)
def test_whether_the_judge_knows_more_is_read_off_the_interval(low: float, high: float, words: str) -> None:
    share = {"value": 0.8, "low": 0.7, "high": 0.9, "n": 50}
    rows = {m: {**share, "measure": m} for m in ("fail_recall", "pass_recall", "agreement", "always_pass")}
    rows["gain_over_always_pass"] = {
        "measure": "gain_over_always_pass",
        "value": 0.1,
        "low": low,
        "high": high,
        "n": 50,
    }
    assert words in judge_words("j", rows)


def test_two_values_beside_other_ratings_are_no_first_question(tmp_path: Path) -> None:
    rows = [
        {"system": s, "id": i, "fluency": 1 + (i * k) % 5, "grammatical": (i + k) % 2, "m": i * k, "n": (i * 7) % 11}
        for k, s in enumerate("ABCDEFG", 1)
        for i in range(12)
    ]
    data = ng.load(rows, name="d", human=["fluency", "grammatical"], metrics=["m", "n"])
    made = ng.report(data, out=tmp_path / "d.html", quick=True)
    assert "verdicts" not in {a.section.key for a in made.sections}
    one = ng.report(Session(data, aspects=["grammatical"]), out=tmp_path / "g.html", quick=True)
    assert "verdicts" in {a.section.key for a in one.sections}
