"""NIST: information worked by hand, and what belongs to the corpus."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec


def test_information_is_counted_in_all_references_by_hand() -> None:
    """References "a b" and "a c" (4 words): info(a) = log2(4/2) = 1, info(b) = 2; info(a b) = log2(2/1) = 1.

    Output "a b": words (1 + 2) / 2, the pair 1 / 1; as long as the reference.
    """
    batch = Batch.from_columns(["a b", "a c"], references=[["a b"], ["a c"]])
    assert metric_from_spec("nist").score(batch).values == pytest.approx([2.5, 2.5])


def test_the_penalty_is_one_half_at_two_thirds_of_the_length() -> None:
    batch = Batch.from_columns(["a b", "a b c"], references=[["a b c"], ["a b c"]])
    short, whole = metric_from_spec("nist(order=1)").score(batch).values
    assert short == pytest.approx(whole / 2)


def test_references_of_an_input_count_once_however_many_systems_there_are() -> None:
    references, inputs = [["a b c"], ["a d e"]], [0, 1]
    one = Batch.from_columns(["a b", "d e"], references=references, input=inputs)
    two = Batch.from_columns(
        ["a b", "d e", "x"], references=[*references, references[0]], input=[*inputs, 0], system=["A", "A", "B"]
    )
    alone, together = (metric_from_spec("nist").score(b).values[:2] for b in (one, two))
    assert np.array_equal(alone, together)


def test_weights_of_the_sample_do_not_depend_on_others_and_the_metric_says_so() -> None:
    metric: Any = metric_from_spec("nist(weights='sample')")
    assert (metric.facts.corpus, metric_from_spec("nist").facts.corpus) == (False, True)
    alone = metric.score(Batch.from_columns(["a b"], references=[["a b c", "b"]])).values[0]
    mates = metric.score(Batch.from_columns(["a b", "c"], references=[["a b c", "b"], ["b b"]])).values[0]
    assert (
        alone
        == mates
        == pytest.approx(
            (math.log2(4) + math.log2(4 / 2)) / 2 + 0.0  # a once, b twice of 4 words; "a b" always follows a
        )
    )


def test_an_empty_output_scores_zero_with_a_note() -> None:
    scores = metric_from_spec("nist").score(Batch.from_columns([""], references=[["a"]]))
    assert (scores.values[0], scores.notes) == (0.0, {0: "empty output"})


def test_other_weights_are_refused() -> None:
    with pytest.raises(NlgaugeError, match=r"corpus or sample. Got 'all'"):
        metric_from_spec("nist(weights='all')")
