"""Distinct n-grams, repetition and self-BLEU by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec


def test_distinct_and_repetition_count_ngrams() -> None:
    batch = Batch.from_columns(["a b a b a", "a", None, ""])
    assert metric_from_spec("distinct-1").score(batch).values[:2] == pytest.approx([2 / 5, 1])
    pairs = metric_from_spec("distinct-2").score(batch)
    assert pairs.values[0] == 2 / 4
    assert pairs.reasons == {1: "output has fewer than 2 words", 2: "no output", 3: "output has fewer than 2 words"}
    assert metric_from_spec("repetition(order=2)").score(batch).values[0] == 1 - 2 / 4


def test_outputs_together_are_no_mean_of_outputs() -> None:
    metric: Any = metric_from_spec("distinct-1")
    batch = Batch.from_columns(["a b", "a b", "c d"])
    assert metric.score(batch).values.tolist() == [1, 1, 1]
    assert metric.pooled(batch) == pytest.approx(4 / 6)


def test_self_bleu_compares_the_outputs_of_one_system() -> None:
    outputs = ["the cat sat here now", "the cat sat here now", "a dog ran off then", "a dog ran away now"]
    batch = Batch.from_columns([*outputs, "alone"], system=["A", "A", "B", "B", "C"])
    scores = metric_from_spec("self-bleu").score(batch)
    assert scores.values[:2] == pytest.approx([1, 1])
    assert (scores.values[2:4] < 1).all()
    assert scores.reasons == {4: "no other output of this system"}
    everywhere = metric_from_spec("self-bleu").score(Batch.from_columns(outputs))
    assert np.isfinite(everywhere.values).all()


@pytest.mark.parametrize("spec", ["repetition(order=5)", "self-bleu(order=0)"])
def test_orders_have_limits(spec: str) -> None:
    with pytest.raises(NlgaugeError, match="order must be 1, 2, 3 or 4"):
        metric_from_spec(spec)
