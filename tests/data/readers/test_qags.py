"""QAGS jsonl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng


def test_consistency_is_the_published_score(samples: Path) -> None:
    data = ng.load(samples / "qags.jsonl")
    # sentence 1: yes by 2 of 3; sentence 2: no by 2 of 3; the mean of the majorities, not of the votes
    assert data.ratings.filter(aspect="consistency").select("rater", "value").rows() == [(None, 0.5), (None, 1.0)]
    assert data.panel("consistency").human.tolist() == [[0.5, 1.0]]


def test_single_workers_are_kept_apart(samples: Path) -> None:
    data = ng.load(samples / "qags.jsonl")
    first = data.ratings.filter(aspect="consistency (worker)", input="0")
    assert first.select("rater", "value").rows() == [("0", 0.5), ("1", 1.0), ("2", 0.0)]
    row = data.samples.row(0, named=True)
    assert row["output"] == "A bridge opened. It is in Graz."
    assert row["sentences"] == ["A bridge opened.", "It is in Graz."]
    assert row["votes"] == ["0 yes; 1 yes; 2 no", "0 no; 1 yes; 2 no"]


def test_a_sentence_with_a_no_is_an_error_span_of_the_worker(samples: Path) -> None:
    spans = ng.load(samples / "qags.jsonl").spans.filter(input="0").sort("rater", "start")
    output = "A bridge opened. It is in Graz."
    found = [(r["rater"], None if r["start"] is None else output[r["start"] : r["end"]]) for r in spans.to_dicts()]
    assert found == [("0", "It is in Graz."), ("1", None), ("2", "A bridge opened."), ("2", "It is in Graz.")]


def put(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def whole(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        change(rows[0])
        return rows

    return whole


HOSTILE = [
    (put(lambda r: r.update(summary_sentences=[])), "qags.jsonl, line 1, key 'summary_sentences': is empty"),
    (put(lambda r: r.update(article=None)), "line 1: no value for key 'article'. Keys: article, summary_sentences."),
    (put(lambda r: r["summary_sentences"][1].pop("sentence")), "item 2: no value for key 'sentence'."),
    (
        put(lambda r: r["summary_sentences"][0]["responses"][2].update(response="maybe")),
        "line 1, key 'summary_sentences', item 1, key 'responses', item 3, key 'response': found a text ('maybe'), "
        "expected yes or no.",
    ),
    (
        put(lambda r: r["summary_sentences"][0]["responses"][2].update(response=1)),
        "found a number (1), expected a text.",
    ),
    (put(lambda r: r["summary_sentences"][0]["responses"][2].pop("worker_id")), "no value for key 'worker_id'."),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[Any], Any], line: str
) -> None:
    assert line in refused(edited("qags.jsonl", change))


def test_a_sentence_nobody_judged_does_not_count(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("qags.jsonl", put(lambda r: r["summary_sentences"][1].update(responses=[]))))
    assert data.ratings.filter(aspect="consistency", input="0")["value"].to_list() == [1.0]


def test_a_tie_is_no_majority(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("qags.jsonl", put(lambda r: r["summary_sentences"][0]["responses"].pop(0))))
    assert data.ratings.filter(aspect="consistency", input="0")["value"].to_list() == [0.0]
