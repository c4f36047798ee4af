"""Ratings JSONL of mt-metrics-eval. The sample follows what `WriteRatingFile` of its standalone_ratings.py (25fc1fe)
writes; it was made by a shortened transcription of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from nlgauge.data.dataset import Dataset


def test_it_holds_the_same_spans_as_the_rating_files_of_the_folder(samples: Path) -> None:
    """Two forms of the same ratings; only the folder knows outputs that nobody rated."""
    data, folder = ng.load(samples / "mt_metrics_ratings.jsonl"), ng.load(samples / "wmt99")
    people = [
        ng_spans.filter(rater=rater).rows() for ng_spans in (data.spans, folder.spans) for rater in ("rater1", "rater2")
    ]
    theirs = [[row for row in rows if row[0] != "refA"] for rows in people[2:]]
    assert people[:2] == theirs
    assert data.spans.filter(rater="gpt-spans").rows() == folder.spans.filter(rater="gpt-spans", system="Alpha").rows()
    assert data.models == {"gpt-spans"}
    outputs = data.samples.join(folder.samples, on=["system", "input", "output", "source"])
    assert outputs.height == len(data) == 7
    assert data.samples.filter(system="Alpha", input="1")["doc"].item() == "ferry-1"


def test_nothing_is_lost_in_the_tidy_format(samples: Path, round_trip: Callable[[Dataset], None]) -> None:
    round_trip(ng.load(samples / "mt_metrics_ratings.jsonl"))


def test_a_rater_without_a_name_and_an_error_without_a_severity(edited: Callable[..., Path]) -> None:
    def change(rows: list[Any]) -> list[Any]:
        rows[0]["rater_id"] = rows[0]["errors"][0]["severity"] = None
        return rows

    span = ng.load(edited("mt_metrics_ratings.jsonl", change)).spans.row(0, named=True)
    assert (span["rater"], span["severity"], span["start"]) == ("rater", "unknown", 10)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda rows: [*rows, rows[0]], "line 11: repeats rater 'rater1' of line 1 on the same output."),
        (lambda rows: [{**rows[0], "segment_id": None}], "line 1: no value for key 'segment_id'."),
        (lambda rows: [{**rows[0], "system_id": None}], "line 1: no value for key 'system_id'."),
        (
            lambda rows: [rows[0], {**rows[0], "hypothesis": "Ja."}],
            "line 2: system 'Alpha', segment 1 has another output",
        ),
        (
            lambda rows: [{**rows[0], "hypothesis": "Ja."}],
            "key 'errors', item 1: a span ends at 15, its text has 3 characters.",
        ),
    ],
)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[list[Any]], list[Any]], line: str
) -> None:
    assert line in refused(edited("mt_metrics_ratings.jsonl", change))
