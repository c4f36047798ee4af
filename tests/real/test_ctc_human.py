"""deng2021 on the published ratings: response length exactly, embedding matching as recorded in our study."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nlgauge.metrics.alignment.aspects import ASPECTS
from nlgauge_papers import Sources
from nlgauge_papers.deng2021.choice import TASKS, choose, grid, settings_of
from nlgauge_papers.deng2021.estimators import PAPER, Case, Sets, correlations

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def sets(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Sets:
    """One for all tests: each text is encoded once."""
    return Sets(Sources(real_data, tmp_path_factory.mktemp("ctc") / "scores.sqlite"))


LENGTH = [r for r in PAPER["rows"] if r["metric"] == "Word Length"]


@pytest.mark.parametrize("row", LENGTH, ids=lambda r: f"{r['table']} {r['set']}")
def test_response_length_correlates_as_in_the_paper(sets: Sets, row: dict) -> None:  # type: ignore[type-arg]
    found = correlations(sets, Case(row["table"], row["set"], row["aspect"], "length"), draws=0, seed=0)
    ours = [found[k] for k in ("pearson", "spearman", "kendall")]
    assert ours == pytest.approx(row["values"][:3], abs=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "aspect", "formula", "recorded"),
    [
        ("usr-persona", "groundedness", "paper", 0.716),
        ("usr-persona", "groundedness", "chosen", 0.779),
        pytest.param("usr-topical", "groundedness", "paper", 0.513, marks=pytest.mark.long),
        pytest.param("usr-topical", "groundedness", "chosen", 0.478, marks=pytest.mark.long),
        ("usr-persona", "engagingness", "paper", 0.553),
        ("usr-persona", "engagingness", "chosen", 0.640),
        pytest.param("usr-topical", "engagingness", "paper", 0.485, marks=pytest.mark.long),
        pytest.param("usr-topical", "engagingness", "chosen", 0.542, marks=pytest.mark.long),
        ("yelp", "preservation", "paper", 0.523),
        ("yelp", "preservation", "chosen", 0.526),
        pytest.param("qags-cnndm", "consistency", "paper", 0.697, marks=pytest.mark.long),  # long articles
    ],
)
def test_embedding_matching_agrees_with_people_as_recorded(
    sets: Sets, name: str, aspect: str, formula: str, recorded: float
) -> None:
    pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
    case = Case("", name, aspect, f"ctc(aspect='{aspect}', formula='{formula}')")
    assert correlations(sets, case, draws=0, seed=0)["pearson"] == pytest.approx(recorded, abs=0.002)


@pytest.mark.long
def test_the_settings_of_groundedness_are_what_the_rule_chooses(sets: Sets) -> None:
    """The other tasks take minutes: nlgauge reproduce deng2021 choice."""
    pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
    task = TASKS["groundedness"]
    rows = grid(task, sets)
    for kind, formula in (("paper", task.formulas[0]), ("chosen", None)):
        found, own = choose(rows, formula), ASPECTS["groundedness"].form(kind)
        assert (found["formula"], settings_of(found)) == (own.formula, own.settings)
