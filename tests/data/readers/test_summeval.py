"""SummEval jsonl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nlgauge as ng


def test_experts_and_crowd_are_aspects_of_their_own(samples: Path) -> None:
    data = ng.load(samples / "summeval.jsonl")
    names = ["coherence", "consistency", "fluency", "relevance"]
    assert data.aspects == [*names, *(f"{name} (turker)" for name in names)]
    of = data.ratings.group_by("aspect", maintain_order=True).agg(pl.col("rater").unique(maintain_order=True))
    by = dict(of.iter_rows())
    assert by["coherence"] == ["expert 1", "expert 2", "expert 3"]
    assert by["coherence (turker)"] == [f"turker {i}" for i in range(1, 6)]
    assert not data.persons  # a place in the list is not a person


def test_values_texts_and_metrics_are_kept(samples: Path) -> None:
    data = ng.load(samples / "summeval.jsonl")
    assert data.ratings.filter(system="M2", input="dm-1", aspect="coherence")["value"].to_list() == [4, 3, 3]
    row = data.samples.row(3, named=True)
    assert (row["output"], row["source"]) == ("Coffee 咖啡 .", "A café opened in Graz.")
    assert row["references"] == ["New café in Graz.", "Graz gets a café."]
    assert data.metrics == ["rouge.rouge_1_f_score"]
    assert data.panel("coherence").human[0, 0] == pytest.approx(14 / 3)


def test_missing_annotations_and_values_are_missing(edited: Callable[..., Path]) -> None:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[0]["turker_annotations"] = None
        rows[1].pop("expert_annotations")
        rows[2]["expert_annotations"][0]["fluency"] = None
        return rows

    data = ng.load(edited("summeval.jsonl", change))
    assert data.ratings.height == 128 - 20 - 12 - 1
    assert len(data) == 4


def put(row: int, key: str, value: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[row] = {**rows[row], key: value}
        return rows

    return change


HOSTILE = [
    (put(1, "model_id", None), "summeval.jsonl, line 2: no value for key 'model_id'. Keys: id, model_id"),
    (put(1, "expert_annotations", {"coherence": 3}), "line 2, key 'expert_annotations': found an object"),
    (
        put(1, "expert_annotations", [3]),
        "line 2, key 'expert_annotations', item 1: found a number (3), expected an object.",
    ),
    (
        put(2, "turker_annotations", [{"coherence": "four"}]),
        "line 3, key 'turker_annotations', item 1, key 'coherence': found a text ('four'), expected a number (or null).",
    ),
    (put(0, "references", "one"), "line 1, key 'references': found a text ('one'), expected a list."),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[Any], Any], line: str
) -> None:
    assert line in refused(edited("summeval.jsonl", change))


def test_a_repeated_output_with_other_ratings_is_said(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("summeval.jsonl", lambda rows: [*rows, rows[0]]))
    assert len(data) == 4
    assert any("repeat the same annotator, output and aspect" in note for note in data.notes)


def test_a_cut_file_is_refused(samples: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes((samples / "summeval.jsonl").read_bytes()[:-30])
    assert "cut.jsonl, line 4: invalid JSON" in refused(path)
