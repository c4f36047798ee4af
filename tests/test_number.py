"""Numbers are formatted as numbers; texts with names in them are left as they are."""

from __future__ import annotations

import math
import re
from pathlib import Path

import polars as pl
import pytest

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.number import number

SOURCE = Path(__file__).parents[1] / "src"


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5, 2, ".50"),
        (-0.5, 2, "-.50"),
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
def test_the_zero_before_the_point_goes_and_no_other(value: float | None, decimals: int, text: str) -> None:
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
        assert f"{name} .000" in said, said


def test_no_source_takes_the_zero_out_of_a_text() -> None:
    wrong = re.compile(r"""replace\(\s*["'][^"']?0\.["']|\.lstrip\(["']0["']\)(?! or)""")
    found = [
        f"{path.name}:{n}"
        for path in sorted(SOURCE.rglob("*.py"))
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if wrong.search(line)
    ]
    assert found == []
