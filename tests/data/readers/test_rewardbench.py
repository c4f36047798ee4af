"""RewardBench's outputs, as rewardbench itself wrote them for a tiny random model (tests/data/writers)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nlgauge as ng


def test_the_reward_model_is_a_metric_and_the_choice_is_peoples(samples: Path) -> None:
    path = samples / "rewardbench_outputs.jsonl"
    data, rows = ng.load(path), [json.loads(line) for line in path.read_text().splitlines()]
    assert data.metrics == ["rewardbench"]
    for side in ("chosen", "rejected"):
        part = data.scores.filter(system=side)
        assert part["rewardbench"].to_list() == [row[f"scores_{side}"] for row in rows]
        assert data.samples.filter(system=side)["output"].to_list() == [row[side] for row in rows]
    assert data.voted(human=True).height == 3


def test_the_chosen_answer_wins_and_no_order_is_preferred(samples: Path) -> None:
    data = ng.load(samples / "rewardbench_outputs.jsonl")
    won = [row[row["preferred"]] for row in data.comparisons.iter_rows(named=True)]
    assert won == ["chosen"] * 3
    assert set(data.comparisons["preferred"]) == {"first", "second"}


def test_models_that_wrote_the_answers_are_the_systems(edited: Callable[..., Path]) -> None:
    def name(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "chosen_model": "gpt-4", "rejected_model": "llama"} for row in rows]

    assert ng.load(edited("rewardbench_outputs.jsonl", name)).systems == ["gpt-4", "llama"]


def test_damage_is_named(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    def word(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[1]["scores_chosen"] = "high"
        return rows

    message = refused(edited("rewardbench_outputs.jsonl", word))
    assert "line 2, key 'scores_chosen': found a text ('high'), expected a number (or null)." in message
