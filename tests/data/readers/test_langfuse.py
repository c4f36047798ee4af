"""Langfuse scores, as langfuse's SDK serialises them (tests/data/writers)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng


@pytest.mark.parametrize("name", ["langfuse_v2.json", "langfuse_v3.json"])
def test_annotations_are_people_and_evals_are_models(samples: Path, name: str) -> None:
    data = ng.load(samples / name)
    assert data.inputs == ["t1", "t2", "t3"]
    assert data.scores["helpfulness"].to_list() == [0.9, 0.7, 0.2]
    assert data.ratings.select("aspect", "rater", "value").rows() == [
        ("correct", "ann", 1),
        ("correct", "bob", 1),
        ("correct", "ann", 0),
    ]
    assert any("'helpfulness'" in note and note.startswith("Model judgments") for note in data.notes)


@pytest.mark.parametrize("name", ["langfuse_v2.json", "langfuse_v3.json"])
def test_categories_need_a_word_of_the_user(samples: Path, name: str) -> None:
    words = ng.load(samples / name)
    assert any("'tone' not read: its values are labels (polite, rude)" in note for note in words.notes)
    data = ng.load(samples / name, values="polite=1,rude=0")
    assert data.ratings.filter(aspect="tone")["value"].to_list() == [1, 1, 0]


# The columns of the export, in the order of Langfuse's own worker.
EXPORT = (
    "id traceId sessionId datasetRunId timestamp source name dataType value stringValue comment metadata "
    "observationId traceName userId traceTags environment authorUserName"
).split()


def test_the_export_as_csv_says_the_same(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, EXPORT, extrasaction="ignore")
        writer.writeheader()
        for score in json.loads((samples / "langfuse_v2.json").read_text()):
            writer.writerow({**score, "authorUserName": score.get("authorUserId"), "traceName": "chat"})
    ours, theirs = ng.load(path), ng.load(samples / "langfuse_v2.json")
    assert ours.scores.equals(theirs.scores)
    assert ours.ratings.equals(theirs.ratings)
    assert ours.samples["traceName"].to_list() == ["chat"] * 3


def test_scores_of_the_api_are_metrics_unless_the_user_says_otherwise(samples: Path) -> None:
    assert "length" in ng.load(samples / "langfuse_v2.json").metrics
    assert "length" in ng.load(samples / "langfuse_v2.json", human="length").aspects


def test_scores_of_sessions_and_texts_are_left_aside(edited: Callable[..., Path]) -> None:
    def change(page: dict[str, Any]) -> dict[str, Any]:
        page["data"][0]["subject"] = {"kind": "session", "id": "s"}
        page["data"][3] |= {"dataType": "TEXT", "value": "nice"}
        return page

    data = ng.load(edited("langfuse_v3.json", change))
    assert data.scores["helpfulness"].to_list() == [None, None, 0.2]
    assert "not read: 1 texts and corrections" in data.notes


def test_an_unknown_source_is_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    def strange(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
        scores[3]["source"] = "ORACLE"
        return scores

    message = refused(edited("langfuse_v2.json", strange))
    assert "record 4, key 'source': expected ANNOTATION, EVAL or API, got a text ('ORACLE')." in message
