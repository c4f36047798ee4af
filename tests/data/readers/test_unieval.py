"""UniEval json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng


def test_human_scores_are_ratings_and_predictions_are_metrics(samples: Path) -> None:
    data = ng.load(samples / "unieval_result.json")
    assert (data.systems, data.inputs, data.aspects) == (["S1", "S2"], ["0", "1"], ["naturalness", "coherence"])
    assert data.metrics == ["unieval-naturalness", "unieval-coherence", "unieval-overall"]
    assert data.scores["unieval-coherence"].to_list() == pytest.approx([0.5, 0.6, 0.7, 0.8])
    row = data.samples.row(1, named=True)
    assert (row["output"], row["source"], row["context"]) == ("S2 says 0.", "Facts of case 0.", "Hello 0\n")
    assert row["references"] == ["Gold 0."]
    assert data.panel("coherence").human.tolist() == [[2.5, 3.0], [1.0, 1.5]]


def test_without_predictions_there_are_no_metrics(samples: Path) -> None:
    assert ng.load(samples / "unieval.json").metrics == []


def test_another_predictor_can_be_named(samples: Path) -> None:
    assert ng.load(samples / "unieval_result.json", metric="mine").metrics[0] == "mine-naturalness"


def test_without_systems_all_is_one_system(edited: Callable[..., Path]) -> None:
    path = edited(
        "unieval.json",
        lambda rows: [{k: v for k, v in r.items() if k != "system_id"} | {"doc_id": i} for i, r in enumerate(rows)],
    )
    data = ng.load(path)
    assert (len(data.systems), len(data.inputs)) == (1, 4)
    assert "no system column: all rows are one system" in data.notes


def put(row: int, key: str, value: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[row][key] = value
        return rows

    return change


HOSTILE = [
    (put(2, "scores", None), "unieval.json, record 3: no value for key 'scores'. Keys: doc_id, system_id"),
    (put(2, "scores", [1, 2]), "record 3, key 'scores': found a list ([1, 2]), expected an object."),
    (put(3, "predict_scores", 0.5), "record 4, key 'predict_scores': found a number (0.5), expected an object."),
    (put(1, "scores", {"coherence": "bad"}), "record 2, column 'scores.coherence': found 'bad', expected a number"),
    (put(1, "system_id", None), "record 2, column 'system_id': is empty, expected a name."),
    (lambda rows: [*rows, {**rows[0], "scores": {"coherence": 1}}], "record 5: repeats system 'S1', input '0'"),
    (lambda rows: [*rows, 7], "record 5: found a number (7), expected an object."),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[Any], Any], line: str
) -> None:
    assert line in refused(edited("unieval.json", change))


def test_a_missing_score_is_missing(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("unieval.json", put(0, "scores", {"naturalness": None, "coherence": 2})))
    assert data.ratings.height == 7
