"""Biases, drift since an earlier run and panels of judges on the page."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import nlgauge as ng
from nlgauge.api.questions import select
from nlgauge.report.figures.interval_dots import bias_forest


def rows_of(shift: float) -> list[dict[str, Any]]:
    """Two judges with a column for each of two aspects; the first has a taste for length."""
    rng, found = random.Random(5), []
    for k in range(80):
        words = rng.choice([5, 10, 20, 40])
        row: dict[str, Any] = {"id": k, "output": "word " * words}
        for aspect in ("kind", "clear"):
            good = rng.gauss(3, 0.8)
            row |= {f"{aspect}_{r}": round(min(max(good + rng.gauss(0, 0.4), 1), 5)) for r in ("rater1", "rater2")}
            row[f"first-{aspect}"] = good + words / 25 + rng.gauss(0, 0.4) + shift
            row[f"second-{aspect}"] = good + rng.gauss(0, 1.2)
        found.append(row)
    return found


def run_of(shift: float) -> ng.Dataset:
    human = {aspect: [f"{aspect}_rater1", f"{aspect}_rater2"] for aspect in ("kind", "clear")}
    return ng.load(
        rows_of(shift), human=human, metrics=[f"{j}-{a}" for j in ("first", "second") for a in ("kind", "clear")]
    )


def test_a_line_a_judge_panels_of_the_aspects_own_judges_and_drift_since_the_earlier_run(tmp_path: Path) -> None:
    made = ng.report(run_of(1.0), out=tmp_path / "page.html", quick=True, against=run_of(0.0))
    said = {a.section.key: a for a in made.sections}
    biases = [p.answer for p in said["bias"].found.parts]
    assert len(biases) == 2 and biases[0].startswith("first, compared with annotators: favors longer outputs (kind +")
    drifted = {p.answer.partition(":")[0]: p.answer for p in said["drift"].found.parts}
    assert (
        "the judge has drifted by +1.00" in drifted["first-kind"]
        and "no significant drift of the judge" in drifted["second-kind"]
    )
    for part in said["jury"].found.parts:
        panels, errors = part.tables
        assert {r["judges"] for r in panels if r["vote"] == "single"} == {f"first-{part.about}", f"second-{part.about}"}
        assert (
            "effective number of independent judges" in part.answer and errors.rows[0]["measure"] == "error_correlation"
        )
    assert [p.about for p in said["jury"].found.parts] == ["kind", "clear"]


def test_without_an_earlier_run_nothing_is_said_of_drift_and_without_two_judges_nothing_of_panels(
    tmp_path: Path,
) -> None:
    data = run_of(0.0)
    one = ng.report(select(data, metrics=["first-kind", "first-clear"]), out=tmp_path / "page.html", quick=True)
    assert {"drift", "jury"}.isdisjoint(a.section.key for a in one.sections)


def test_the_earlier_run_may_be_results(tmp_path: Path) -> None:
    old = ng.report(run_of(0.0), out=tmp_path / "old.html", quick=True).results
    made = ng.report(run_of(1.0), out=tmp_path / "new.html", quick=True, against=old)
    drift = next(a for a in made.sections if a.section.key == "drift")
    assert any("the judge has drifted by +1.00" in p.answer for p in drift.found.parts)


def test_a_judge_that_spreads_its_scores_more_than_people_is_not_drawn_as_a_bias_that_was_not_found() -> None:
    data = run_of(0.0)
    loud = data.with_scores({"first-kind": [1.0 + 4.0 * (k % 2) for k in range(len(data))]})
    table = ng.analyze("bias", loud, metrics=["first-kind"])
    spread = next(r for r in table if r["measure"] == "spread")
    assert spread["low"] > 0 and spread["verdict"] == "not found"
    drawn = bias_forest(table)
    assert drawn is not None and not any("spread" in line for trace in drawn.data for line in trace.y)
