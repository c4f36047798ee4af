"""`nlgauge reproduce gao2025 judge-measures` on the released replies: who is compared, and what does not depend on
chance.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nlgauge_papers import Sources
from nlgauge_papers.gao2025 import judge_measures
from nlgauge_papers.gao2025.judge_families import RELEASED, JudgedSet, judged
from nlgauge_papers.gao2025.judge_scores import Score, write_scores


@pytest.fixture(scope="module")
def sources(request: pytest.FixtureRequest) -> Sources:
    return Sources(request.getfixturevalue("real_data"))


@pytest.fixture(scope="module")
def released(sources: Sources) -> JudgedSet:
    return judged(sources, [])[0]


def test_nine_judges_on_twelve_systems_and_a_hundred_documents(released: JudgedSet) -> None:
    nine = released.family(RELEASED, released.released)
    assert len(nine.scorers) == 9 and not nine.left_out
    assert {x.shape for x, _ in nine.panels.values()} == {(9, 12, 100)} and len(nine.panels) == 4


def test_a_file_of_ones_own_is_merged_and_what_does_not_belong_is_counted(
    sources: Sources, released: JudgedSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_measures, "GROUPS", 2)  # of documents; ten take four times as long
    people = released.data.panel("coherence")
    inputs = people.inputs[:12]
    scores = [
        Score("mine", setting, "1-5", "T=0", system, document, "coherence", float(value))
        for setting, shift in (("a", 0), ("b", 1), ("c", 2))
        for i, system in enumerate(people.systems)
        for j, document in enumerate(inputs)
        for value in [round(min(5.0, max(1.0, people.human[(i + shift) % 12, j])))]
    ]
    scores.append(Score("mine", "a", "1-5", "T=0", "M99", inputs[0], "coherence", 3.0))
    write_scores(scores, tmp_path / "mine.csv")
    tables = {
        t.kind: t for t in judge_measures.study(sources, scores=str(tmp_path / "mine.csv"), draws=10, shipped=False)
    }
    rows = [row for row in tables["judge-measures"] if row["family"] == "mine"]
    assert len(rows) == 24 and {row["n"] for row in rows} == {3}
    assert any("other outputs or aspects, left out: 1" in note for note in tables["judge-measures"].notes)
    (best,) = [row for row in tables["judge-agreement"] if row["judge"] == "mine a"]
    assert best["documents"] == 12 and best["global_pearson"] > 0.9  # people's own ratings, rounded
    averages = {(r["version"], r["measure"]): r["value"] for r in tables["judge-averages"]}
    # docs/judges.md: averaging five prompts lifts the measures
    assert averages["5 of 5 prompts", "input/kendall"] > averages["1 of 5 prompts", "input/kendall"] + 0.03
    scales = {(r["version"], r["measure"]): r for r in tables["judge-scales"]}
    assert scales["2 levels", "global/pearson"]["unique"] == 2
    assert scales["as it is", "global/pearson"]["low"] < scales["as it is", "global/pearson"]["value"]
    assert len(tables["judge-statements"]) == 18 * 7
