"""The worst disagreements between people and a metric, with their texts."""

from __future__ import annotations

import pytest

from nlgauge.analyses.errors.disagreements import OVER, UNDER, disagreements
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.errors import NameUnknown


def told() -> Dataset:
    """Five outputs, ranks by people 0 … 4; the metric puts the worst on top and the best at the bottom."""
    people, metric = [1, 2, 3, 4, 5], [9, 2, 3, 4, 1]
    rows = [
        {"system": "A", "input": f"i{k}", "output": f"text {k}", "q": people[k], "m": metric[k], "minus": -metric[k]}
        for k in range(5)
    ]
    return load(rows, human=["q"], metrics=["m", "minus"], lower=["minus"])


def test_the_worst_disagreements_stand_first_with_their_texts() -> None:
    rows = disagreements(told(), metric="m", top=1).rows
    assert [(r["who"], r["output"], r["gap"]) for r in rows] == [(OVER, "text 0", 1.0), (UNDER, "text 4", -1.0)]


def test_a_lower_is_better_metric_is_turned_and_agreement_is_no_disagreement() -> None:
    same = disagreements(told(), metric="minus", top=1).rows
    assert [r["output"] for r in same] == ["text 0", "text 4"]
    together = disagreements(told(), top=5).rows
    assert {r["output"] for r in together} == {"text 0", "text 4"}  # gaps of 0 are left out
    with pytest.raises(NameUnknown, match="no scores of metric 'mm'"):
        disagreements(told(), metric="mm")
