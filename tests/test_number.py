"""Numbers are formatted as numbers; texts with names in them are left as they are."""

from __future__ import annotations

import math

import polars as pl
import pytest

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.number import interval, number, p_text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5, 2, "0.50"),
        (-0.5, 2, "-0.50"),
        (0.999, 2, "1.00"),
        (-0.999, 2, "-1.00"),
        (10.05, 2, "10.05"),
        (100.0, 1, "100.0"),
        (0.0, 0, "0"),
        (0.4, 0, "0"),
        (1e20, 1, "100000000000000000000.0"),
        (math.inf, 2, "inf"),
        (math.nan, 2, "–"),
        (None, 2, "–"),
    ],
)
def test_a_number_has_a_fixed_number_of_decimals(value: float | None, decimals: int, text: str) -> None:
    assert number(value, decimals) == text


def test_names_with_zeros_and_points_stay_as_they_are_written() -> None:
    names = ["bleurt-0.2", "http://127.0.0.1:8000", "v0.0.1"]
    keys = [(s, str(i)) for s in "abc" for i in range(6)]
    samples = pl.DataFrame(keys, schema=["system", "input"], orient="row")
    values = [float((7 * k) % 5) for k in range(len(keys))]
    ratings = samples.with_columns(aspect=pl.lit("good"), rater=pl.lit(None, pl.String), value=pl.Series(values))
    data = Dataset.of("d", samples, ratings=ratings, scores=samples)
    data = data.with_scores({name: [v + 0.1 * k for v in values] for k, name in enumerate(names)})
    said = " ".join(registry.get("analysis", "wins")(data).answers)
    for name in names:
        assert f"{name} 0.000" in said, said


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0312, "p = .031"), (0.0004, "p < .001"), (0.0005, "p = .001"), (1.0, "p = 1.000"), (0.0, "p < .001")],
)
def test_a_p_value_is_written_as_papers_print_it(p: float, text: str) -> None:
    assert p_text(p) == text


def test_an_interval_stands_in_brackets_with_a_comma() -> None:
    assert interval(-0.234, -0.47, 0.057, 2) == "-0.23 [-0.47, 0.06]"
    assert interval(0.5, math.nan, math.nan, 2) == "0.50"
