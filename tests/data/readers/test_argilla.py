"""Argilla records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng

QUALITY = {("A", "d1"): [5, 4], ("A", "d2"): [3], ("B", "d1"): [2, 2], ("B", "d2"): [1]}


@pytest.mark.parametrize("name", ["argilla_v1.json", "argilla_v2.jsonl", "argilla_flat.jsonl"])
def test_all_forms_say_the_same(samples: Path, name: str) -> None:
    data = ng.load(samples / name)
    rated = data.ratings.filter(aspect="quality").group_by("system", "input", maintain_order=True).agg("value")
    assert {(s, i): v for s, i, v in rated.iter_rows()} == QUALITY
    assert (data.raters, data.persons) == (["u1", "u2"], True)
    assert data.scores["gpt-judge:quality"].to_list() == [4, 3, 2, 5]
    assert data.samples["output"].to_list() == ["Alpha one", "Alpha zwei", "Beta one", "Beta två"]
    assert data.samples["source"].to_list()[0] == "Prompt d1"


def test_only_submitted_responses_count_and_words_are_said(samples: Path) -> None:
    data = ng.load(samples / "argilla_v1.json")
    assert data.aspects == ["quality", "label"]
    assert data.ratings.filter(aspect="label")["value"].to_list() == [4, 3, 3, 2, 1, 1]
    assert "not read: 3 responses with status 'draft', 3 responses with status 'discarded'" in data.notes
    assert any("question 'remark' was answered in labels" in note for note in data.notes)


def test_rankings_are_comparisons(samples: Path) -> None:
    data = ng.load(samples / "argilla_ranking.jsonl")
    assert data.comparisons.filter(input="q1").select("first", "second", "rater", "preferred").rows() == [
        ("reply-1", "reply-2", "u1", "first"),
        ("reply-1", "reply-3", "u1", "first"),
        ("reply-2", "reply-3", "u1", "tie"),
        ("reply-1", "reply-2", "u2", "second"),
        ("reply-1", "reply-3", "u2", "second"),
        ("reply-2", "reply-3", "u2", "first"),
    ]


def test_a_suggestion_of_nobody_is_no_score(edited: Callable[..., Path]) -> None:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in rows:
            row["suggestions"]["quality"]["agent"] = None
        return rows

    assert ng.load(edited("argilla_v2.jsonl", change)).metrics == []


def put(key: str, value: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[1][key] = value
        return rows

    return change


HOSTILE = [
    ("argilla_v2.jsonl", put("fields", None), "argilla_v2.jsonl, line 2: no value for key 'fields'."),
    (
        "argilla_v2.jsonl",
        put("responses", 4),
        "line 2, key 'responses': found a number (4), expected a list or an object.",
    ),
    (
        "argilla_v2.jsonl",
        put("responses", {"quality": 4}),
        "line 2, key 'responses', key 'quality': found a number (4)",
    ),
    (
        "argilla_v2.jsonl",
        put("responses", {"quality": [{"value": "so so", "user_id": "u1"}]}),
        "line 2, key 'responses', key 'quality', item 1: 'quality' was answered a text ('so so') here, elsewhere "
        "with numbers",
    ),
    (
        "argilla_v1.json",
        put("responses", [3]),
        "record 2, key 'responses', item 1: found a number (3), expected an object.",
    ),
    ("argilla_v1.json", put("suggestions", [{}]), "key 'suggestions', item 1: no value for key 'question_name'."),
    (
        "argilla_v1.json",
        lambda rows: [{**r, "responses": []} for r in rows],
        "none of the 4 records has a submitted response.",
    ),
    (
        "argilla_ranking.jsonl",
        put("responses", {"p": [{"user_id": "u", "value": [{"rank": 1}]}]}),
        "found an object ({'rank': 1}), expected {'rank': 1, 'value': 'name'}.",
    ),
]


@pytest.mark.parametrize(("name", "change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], name: str, change: Callable[[Any], Any], line: str
) -> None:
    assert line in refused(edited(name, change))


def test_several_labels_are_counted_not_guessed(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("argilla_v2.jsonl", put("responses", {"tags": [{"user_id": "u1", "value": ["a", "b"]}]})))
    assert "not read: 1 answers of several labels" in data.notes


def test_an_answer_of_null_is_missing(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("argilla_v2.jsonl", put("responses", {"quality": [{"user_id": "u1", "value": None}]})))
    assert data.ratings.height == 5
    assert len(data) == 4
