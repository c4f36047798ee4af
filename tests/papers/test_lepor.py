"""LEPOR by hand, after the formulas of Han et al. 2012 and 2013 (nltk's values are known to be others)."""

from __future__ import annotations

import math

import pytest

from nlgauge.metrics import Batch, metric_from_spec


def value(spec: str, output: str, *references: str) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([output], references=[list(references)])).values[0])


def test_the_three_factors_by_hand() -> None:
    """Output "b a x" against "a b c d": a and b match; positions 1/3 against 2/4 and 2/3 against 1/4."""
    length = math.exp(1 - 4 / 3)
    position = math.exp(-(abs(1 / 3 - 2 / 4) + abs(2 / 3 - 1 / 4)) / 3)
    harmonic = 10 / (9 / (2 / 4) + 1 / (2 / 3))
    assert value("lepor", "b a x", "a b c d") == pytest.approx(length * position * harmonic)
    together = 10 / (2 / length + 1 / position + 7 / harmonic)
    assert value("hlepor", "b a x", "a b c d") == pytest.approx(together)


def test_too_long_is_punished_as_too_short() -> None:
    even = (value("lepor(alpha=1.0)", "a b", "a b x y"), value("lepor(alpha=1.0)", "a b x y", "a b"))
    assert even[0] < 1 > even[1]
    assert value("lepor", "a b c", "a b c") == 1


def test_a_word_with_an_equal_neighbour_is_preferred_to_the_nearest() -> None:
    """The a of "x y a c" has c beside it in the second place of "a b z a c" only: 3/4 against 4/5, not 1/5."""
    position = math.exp(-(abs(3 / 4 - 4 / 5) + abs(4 / 4 - 5 / 5)) / 4)
    length = math.exp(1 - 5 / 4)
    harmonic = 10 / (9 / (2 / 5) + 1 / (2 / 4))
    assert value("lepor", "x y a c", "a b z a c") == pytest.approx(length * position * harmonic)


def test_each_reference_word_is_aligned_once() -> None:
    assert value("lepor(alpha=1.0)", "a a a", "a b c") == pytest.approx(math.exp(0) * 1 / 3)


def test_nothing_in_common_scores_zero() -> None:
    assert value("lepor", "x", "a") == value("hlepor", "", "a") == 0


def test_the_best_reference_counts() -> None:
    assert value("lepor", "a b c", "x", "a b c") == 1
