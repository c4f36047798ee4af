"""Expressions over alignments: what they compute, and that nothing else can be smuggled in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.metrics.alignment.expression import parse


def alignment(*scores: float) -> Alignment:
    return Alignment("x" * len(scores), np.array([[i, i + 1] for i in range(len(scores))]), np.array(scores))


FOUND = {("y", ("x",)): alignment(0.2, 0.4), ("r", ("y",)): alignment(1.0, 0.5), ("y", ("x", "c")): alignment(0.9)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("mean(y>x)", 0.3),
        ("sum(y>x)", 0.6),
        ("low(y>x)", 0.2),
        ("half(y>x)", 0.2),
        ("distinct(r>y)", 1.0),  # both tokens are "x": the best one counts
        ("mean(y>x) * mean(r>y)", 0.225),
        ("harmonic(mean(y>x), mean(r>y))", 2 * 0.3 * 0.75 / 1.05),
        ("sum(y>[x,c]) - 2*mean(y > x)", 0.3),
        ("max(mean(y>x), mean(r>y)) ** 2", 0.5625),
        ("-sqrt(sum(y>[x, c])) / 2", -math.sqrt(0.9) / 2),
    ],
)
def test_an_expression_is_arithmetic_on_alignments(text: str, value: float) -> None:
    assert parse(text).value(FOUND) == pytest.approx(value)


def test_arrays_of_numbers_give_the_value_of_each_sample() -> None:
    numbers = {
        ("mean", ("y", ("x",))): np.array([0.5, 0.0, np.nan, 1.0]),
        ("mean", ("r", ("y",))): np.array([1.0, 0.5, 1.0, 0.0]),
    }
    found = parse("harmonic(mean(y>x), mean(r>y))").values(lambda name, term: numbers[name, term])
    np.testing.assert_allclose(found, [2 / 3, 0.0, np.nan, 0.0])
    found = parse("sqrt(mean(y>x) - 0.25) / mean(r>y)").values(lambda name, term: numbers[name, term])
    np.testing.assert_allclose(found, [0.5, np.nan, np.nan, np.nan])


def test_an_expression_knows_what_it_needs() -> None:
    assert parse("mean(y>[x,c]) * mean(r>y)").needs == {"output", "source", "context", "references"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "y>x",
        "mean(y)",
        "mean(z>x)",
        "mean(y>x>c)",
        "mean(y<x)",
        "mean(y>x, y>c)",
        "open('f')",
        "x.__class__",
        "1 + 1",
        "mean(y>x) if 1 else 2",
        "[mean(y>x)]",
        "lambda: 1",
        "__import__('os')",
        "mean(y>[])",
        "mean(y>x) and 1",
        "'a' * 9",
        "mean(y>x) + True",
        "mean(y>x, key=1)",
        "(" * 300,
        "mean(y>x)" + " + 1" * 900,
    ],
)
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(NlgaugeError) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_what_is_not_defined_is_nan() -> None:
    nothing = {("y", ("x",)): alignment(), ("r", ("y",)): alignment(0.0)}
    assert math.isnan(parse("mean(y>x)").value(nothing))
    assert math.isnan(parse("min(mean(r>y), mean(y>x))").value(nothing))
    assert math.isnan(parse("1 / mean(r>y)").value(nothing))
    assert math.isnan(parse("(mean(r>y) - 1) ** 0.5").value(nothing))
    assert parse("harmonic(mean(r>y), mean(r>y))").value(nothing) == 0.0
