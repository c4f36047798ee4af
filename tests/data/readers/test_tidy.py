"""The tidy format: whatever a Dataset holds comes back, and a damaged file is refused."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.tidy import write_tidy
from nlgauge.errors import DataError

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COLUMNS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "output": (pl.String, st.none() | WORDS),
    "references": (pl.List(pl.String), st.none() | st.lists(st.none() | WORDS, max_size=3)),
    "size": (pl.Int64, st.none() | st.integers(-(2**63), 2**63 - 1)),
    "weight": (pl.Float64, st.none() | st.floats(allow_nan=True)),
    "small": (pl.Float32, st.none() | st.floats(width=32)),
    "flag": (pl.Boolean, st.none() | st.booleans()),
    "vector": (pl.List(pl.Float64), st.none() | st.lists(st.floats(), max_size=3)),
    "nested": (pl.List(pl.List(pl.Int32)), st.none() | st.lists(st.lists(st.integers(-9, 9)), max_size=2)),
    "ratings": (pl.String, st.none() | WORDS),
    "scores": (pl.Int8, st.none() | st.integers(-9, 9)),
    "columns": (pl.String, st.none() | WORDS),
    "nothing": (pl.Null, st.none()),
}


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Any Dataset: odd names, odd columns, gaps everywhere."""
    keys = draw(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6, unique=True))
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True))
    samples = pl.DataFrame(keys, schema=dict.fromkeys(KEY, pl.String), orient="row").with_columns(
        pl.Series(name, [draw(COLUMNS[name][1]) for _ in keys], COLUMNS[name][0]) for name in names
    )
    some = st.sampled_from(keys)
    rated = draw(st.lists(st.tuples(some, WORDS, st.none() | WORDS, NUMBERS), max_size=8, unique_by=lambda r: r[:3]))
    # A pattern of names is refused as the name of a metric: tests/data/test_load.py.
    metric = WORDS.filter(lambda w: w not in (*KEY, "*") and not (w.startswith("^") and w.endswith("$")))
    metrics = draw(st.lists(metric, max_size=3, unique=True))
    scores = samples.select(KEY).with_columns(
        pl.Series(metric, [draw(st.none() | NUMBERS) for _ in keys], pl.Float64) for metric in metrics
    )
    failed = draw(st.lists(st.tuples(some, WORDS, WORDS), max_size=3, unique_by=lambda f: f[:2]))
    preferred = st.sampled_from(["first", "second", "tie"])
    compared = st.tuples(WORDS, WORDS, WORDS, st.none() | WORDS, st.none() | WORDS, preferred)
    side, place = st.sampled_from(["output", "source"]), st.sampled_from([(0, 0), (0, 1), (None, None)])
    words = st.none() | WORDS
    marked = draw(st.lists(st.tuples(some, WORDS, side, place, words, words), max_size=4))
    if "output" not in names:  # else a mark must lie inside the text
        marked += draw(st.lists(st.tuples(some, WORDS, side, st.just((7, 2**40)), words, words), max_size=1))
    marked = [mark for mark in marked if mark[3] != (0, 1) or "output" not in names]
    data = Dataset.of(
        draw(WORDS),
        samples,
        spans=pl.DataFrame([(*k, r, s, *p, *w) for k, r, s, p, *w in marked], schema=Dataset.SPANS, orient="row"),
        ratings=pl.DataFrame([(*key, *rest) for key, *rest in rated], schema=Dataset.RATINGS, orient="row"),
        comparisons=pl.DataFrame(draw(st.lists(compared, max_size=3)), schema=Dataset.COMPARISONS, orient="row"),
        scores=scores,
        failures=pl.DataFrame([(*key, *rest) for key, *rest in failed], schema=Dataset.FAILURES, orient="row"),
        persons=draw(st.booleans()),
        lower=metrics[:1],
        notes=draw(st.lists(WORDS, max_size=2)),
    )
    return replace(data, human_systems=frozenset(draw(st.sets(st.sampled_from(data.systems)))))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=datasets())
def test_any_dataset_comes_back_the_same(
    data: Dataset, tmp_path: Path, same: Callable[[Dataset, Dataset], None]
) -> None:
    same(data, ng.load(write_tidy(data, tmp_path / "any.jsonl.gz")))


def test_reading_and_writing_again_gives_the_same_bytes(samples: Path, tmp_path: Path) -> None:
    once = write_tidy(ng.load(samples / "summeval.jsonl"), tmp_path / "once.jsonl.gz").read_bytes()
    twice = write_tidy(ng.load(tmp_path / "once.jsonl.gz"), tmp_path / "twice.jsonl.gz").read_bytes()
    assert gzip.decompress(once) == gzip.decompress(twice)


def test_a_file_written_by_hand_needs_little(samples: Path) -> None:
    data = ng.load(samples / "tidy.jsonl")
    assert (data.name, data.human_systems, data.lower, data.notes) == ("two poems", {"poet"}, {"ter"}, ("made up",))
    assert data.samples["stanza"].to_list() == [1, 2, None]
    assert data.ratings.rows()[0] == ("poet", "1", "beauty", "ann", 5.0)
    assert data.scores["ter"].to_list() == [0.1, None, None]
    assert data.failures.rows() == [("bot", "1", "ter", "empty reference")]
    assert data.comparisons.rows() == [("1", "poet", "bot", "beauty", "ann", "first")]


def test_it_is_json_that_any_program_reads(tmp_path: Path) -> None:
    frame = pl.DataFrame({"system": ["A"], "input": ["1"], "odd": [math.nan]})
    path = write_tidy(Dataset.of("x", frame), tmp_path / "x.jsonl")

    def never(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    lines = [json.loads(line, parse_constant=never) for line in path.read_text().splitlines()]
    assert lines[0]["columns"]["odd"] == "Float64"
    assert math.isnan(ng.load(path).samples["odd"].item())


def test_a_type_that_json_lacks_is_kept_as_text_and_said(tmp_path: Path) -> None:
    frame = pl.DataFrame({"system": ["A"], "input": ["1"], "day": ["2024-02-29"]}).with_columns(
        pl.col("day").str.to_date()
    )
    data = ng.load(write_tidy(Dataset.of("x", frame), tmp_path / "x.jsonl"))
    assert data.samples["day"].to_list() == ["2024-02-29"]
    assert data.notes == ("column 'day' (Date) is written as text",)


def test_a_rating_of_an_unknown_output_is_refused(tmp_path: Path) -> None:
    ratings = pl.DataFrame([("B", "1", "a", None, 1.0)], schema=Dataset.RATINGS, orient="row")
    data = Dataset.of("x", pl.DataFrame({"system": ["A"], "input": ["1"]}), ratings=ratings)
    with pytest.raises(DataError, match="x: a rating of system 'B', input '1', not in samples"):
        write_tidy(data, tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


def put(line: int, **values: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[line - 1] |= values
        return rows

    return change


HOSTILE = [
    (put(1, nlgauge=2), "tidy.jsonl, line 1: format 2 is newer than the supported one (1); update nlgauge."),
    (put(1, lines=9), "tidy.jsonl: the header states 9 lines, but 4 follow; the file is truncated or was edited."),
    (put(1, human_systems="poet"), "line 1, key 'human_systems': found a text ('poet'), expected a list."),
    (put(1, columns={"stanza": "Blob"}), "line 1: column 'stanza' has the unknown type 'Blob'."),
    (put(1, columns={"stanza": "String"}), "line 2, key 'stanza': found a number (1), expected String."),
    (put(2, system=None), "line 2: no value for key 'system'. Keys: system, input"),
    (put(4, input="1"), "line 4: repeats system 'bot', input '1' of line 3."),
    (put(2, ratings={"beauty": 4}), "line 2, key 'ratings': found an object ({'beauty': 4}), expected a list."),
    (put(2, ratings=[{"aspect": "beauty"}]), "line 2, key 'ratings', item 1: no value for key 'value'. Keys: aspect."),
    (put(2, ratings=[{"aspect": "b", "value": "4"}]), "item 1, key 'value': found a text ('4'), expected a number."),
    (
        put(2, ratings=[{"aspect": "b", "value": True}]),
        "item 1, key 'value': found true/false (True), expected a number.",
    ),
    (put(2, scores={"ter": "low"}), "line 2, score 'ter': found a text ('low'), expected a number."),
    (put(5, comparison={"input": "1"}), "line 5, key 'comparison': no value for key 'first'. Keys: input."),
    (
        put(5, comparison={"input": "1", "first": "a", "second": "b", "preferred": "a"}),
        "line 5, key 'comparison', key 'preferred': found 'a', expected first, second, tie.",
    ),
    (lambda rows: [*rows, [1]], "line 6: found a list ([1]), expected an object."),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[Any], Any], line: str
) -> None:
    assert line in refused(edited("tidy.jsonl", change))


def test_a_cut_file_is_refused_at_any_length(samples: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    whole = write_tidy(ng.load(samples / "tidy.jsonl"), tmp_path / "whole.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    for end in [first, *range(first + 1, len(whole) - 1, 17)]:
        path = tmp_path / "cut.jsonl"
        path.write_bytes(whole[:end])
        message = refused(path)
        assert "truncated" in message or "is not valid utf-8" in message  # the latter inside a letter such as ß
