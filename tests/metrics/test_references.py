"""What several references make of one value, and why a sample has none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.overlap.matches import tokenized_pairs
from nlgauge.metrics.references import over_references


def batch_of(sizes: list[int]) -> Batch:
    return Batch.from_columns(
        ["x"] * len(sizes), references=[[f"r{s} {k}" for k in range(n)] for s, n in enumerate(sizes)]
    )


@given(st.lists(st.lists(st.floats(0, 1), max_size=4), min_size=1, max_size=6))
def test_max_mean_and_jackknife_are_what_they_say(values: list[list[float]]) -> None:
    batch = batch_of([len(v) for v in values])
    _, pairs = tokenized_pairs(batch, "none")
    flat = np.array([x for v in values for x in v])
    for how in ("max", "mean", "jackknife"):
        found = over_references(pairs, flat, how)
        for s, v in enumerate(values):
            if not v:
                assert np.isnan(found[s])
                continue
            left_out = [max(v[:k] + v[k + 1 :]) for k in range(len(v))] if len(v) > 1 else v
            wanted = {"max": max(v), "mean": sum(v) / len(v), "jackknife": sum(left_out) / len(v)}[how]
            assert found[s] == pytest.approx(wanted)


def test_the_closest_reference_is_the_nearest_in_length_and_of_two_the_shorter() -> None:
    batch = Batch.from_columns(["a b c"] * 2, references=[["a b c d", "a b"], ["a b c d e f", "a b c d"]])
    tokens, pairs = tokenized_pairs(batch, "none")
    assert over_references(pairs, np.arange(4.0), "closest", tokens=tokens).tolist() == [1.0, 3.0]


def test_rows_of_statistics_follow_the_best_reference() -> None:
    _, pairs = tokenized_pairs(batch_of([2, 1]), "none")
    rows = np.array([[1.0, 10], [2, 20], [3, 30]])
    best = over_references(pairs, rows, "max", rank=np.array([0.2, 0.1, 0.0]))
    assert best.tolist() == [[1, 10], [3, 30]]


def test_blank_references_are_left_out_and_a_sample_without_any_says_why() -> None:
    batch = Batch.from_columns(["a", "a", "a", None, ""], references=[["a", "  "], ["", "\n"], None, ["a"], ["a"]])
    scores = metric_from_spec("rouge-1").score(batch)
    assert scores.values[0] == 1
    assert scores.reasons == {1: "empty reference", 2: "no reference", 3: "no output"}
    assert (scores.values[4], scores.notes) == (0.0, {0: "1 empty references left out", 4: "empty output"})


def test_a_missing_reference_in_a_list_is_no_reference() -> None:
    batch = Batch.from_columns(["a"], references=[[None, "a"]])  # type: ignore[list-item]
    assert metric_from_spec("bleu(order=1)").score(batch).values[0] == pytest.approx(100)


def test_an_unknown_way_is_refused_with_those_there_are() -> None:
    with pytest.raises(NlgaugeError, match=r"max, mean, jackknife or closest. Got 'best'"):
        metric_from_spec("rouge-1(references='best')")


def test_a_batch_without_any_text_is_scored_as_missing() -> None:
    batch = Batch.from_columns([None, None], references=[None, []])
    assert metric_from_spec("bleu").score(batch).reasons == {0: "no output", 1: "no output"}


words = st.one_of(st.none(), st.sampled_from(["", " ", "a", "b", "c"]))


@given(st.lists(st.tuples(words, words, st.one_of(st.none(), st.lists(words, max_size=3))), max_size=8))
def test_every_distinct_text_of_a_batch_has_one_number(
    rows: list[tuple[str | None, str | None, list[str | None] | None]],
) -> None:
    output, source, references = ([row[k] for row in rows] for k in range(3))
    batch = Batch.from_columns(output, source, references=references)  # type: ignore[arg-type]
    given_texts = [t for t in (*output, *source, *(t for refs in references for t in refs or ())) if t is not None]
    assert batch.texts.list() == list(dict.fromkeys(given_texts))
    for i, (out, src, refs) in enumerate(rows):
        assert (batch.text(batch.output[i]), batch.text(batch.source[i])) == (out, src)
        found = [batch.text(k) for k in batch.reference[batch.start[i] : batch.start[i + 1]]]
        assert found == [t for t in refs or () if t is not None]
