"""AlpacaEval's annotations.json, as alpaca_eval itself wrote it (tests/data/writers)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nlgauge as ng


def test_choices_of_a_named_annotator_are_a_models(samples: Path) -> None:
    data = ng.load(samples / "alpaca_eval.json")
    assert data.comparisons.select("first", "second", "preferred").rows() == [
        ("model-b", "model-a", "first"),
        ("model-b", "model-a", "second"),
        ("model-b", "model-a", "second"),
    ]
    assert data.models == {"my_gpt4_judge"}
    assert data.voted(human=True).height == 0
    assert "1 pairs without a preference were left out" in data.notes
    assert data.samples.filter(system="model-a")["output"].to_list()[:2] == ["Paris.", "Rome, I think."]


def prefer(*values: float, who: Any = "judge") -> Callable[[Any], Any]:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row, value in zip(rows, values, strict=False):
            row |= {"preference": value, "annotator": who}
        return rows

    return change


def test_weighted_preferences_lean_to_a_side(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("alpaca_eval.json", prefer(1.02, 1.9, 1.5, 0)))
    assert data.comparisons["preferred"].to_list() == ["first", "second", "tie", "tie"]
    assert "2 weighted preferences were rounded to the preferred side" in data.notes


def test_numbered_annotators_are_people(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("alpaca_eval.json", prefer(1, 2, 1, 1, who=13)))
    assert data.models == frozenset()
    assert data.voted(human=True).height == 4


def test_a_preference_out_of_range_is_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    message = refused(edited("alpaca_eval.json", prefer(3)))
    assert "record 1, key 'preference': found 3, expected 1 (first) to 2 (second), or 0 (tie)." in message
