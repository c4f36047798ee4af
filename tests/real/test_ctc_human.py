"""Paper 001 on the published ratings: response length exactly, embedding matching as recorded in our study."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nlgauge.scoring.store import Store
from nlgauge.studies.ctc import PAPER, Case, Sets, correlations

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = pytest.mark.real


@pytest.fixture
def sets(real_data: Path, tmp_path: Path) -> Sets:
    return Sets(real_data, Store(tmp_path / "scores.sqlite"), lambda line: None)


LENGTH = [r for r in PAPER["rows"] if r["metric"] == "Word Length"]


@pytest.mark.parametrize("row", LENGTH, ids=lambda r: f"{r['table']} {r['set']}")
def test_response_length_correlates_as_in_the_paper(sets: Sets, row: dict) -> None:  # type: ignore[type-arg]
    found = correlations(sets, Case(row["table"], row["set"], row["aspect"], "length"), draws=0, seed=0)
    ours = [found[k] for k in ("pearson", "spearman", "kendall")]
    assert ours == pytest.approx(row["values"][:3], abs=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "aspect", "at_least"),
    [
        ("usr-persona", "groundedness", 0.70),
        ("usr-topical", "groundedness", 0.50),
        ("usr-persona", "engagingness", 0.54),
        ("usr-topical", "engagingness", 0.52),
    ],
)
def test_embedding_matching_agrees_with_people_as_recorded(
    sets: Sets, name: str, aspect: str, at_least: float
) -> None:
    pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
    case = Case("", name, aspect, f"ctc(aspect='{aspect}')")
    assert correlations(sets, case, draws=0, seed=0)["pearson"] >= at_least
