"""What stands in the figures of colombo2023."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.report.figures import figure_of
from nlgauge.table import Table

BAD = "<b>x</b>"


@pytest.fixture(scope="module")
def data() -> Dataset:
    rng = np.random.default_rng(0)
    keys = pl.DataFrame({"system": np.repeat(["s1", BAD, "s3"], 12), "input": np.tile([f"i{k}" for k in range(12)], 3)})
    ratings = [
        keys.with_columns(
            pl.lit(a).alias("aspect"), pl.lit(None, pl.String).alias("rater"), pl.Series("value", rng.random(36))
        )
        for a in ("q", BAD)
    ]
    scores = keys.with_columns(pl.Series(name, rng.random(36)) for name in ("m1", "m2", BAD))
    return Dataset.of("d", keys, ratings=pl.concat(ratings), scores=scores)


def made(data: Dataset, name: str, **options: Any) -> Table:
    table: Table = registry.get("analysis", name)(data, **options)
    return table


def test_the_matrix_has_people_first_and_lines_between_the_blocks(data: Dataset) -> None:
    figure = figure_of(made(data, "complementarity"))
    assert figure is not None
    assert list(figure.data[0].y)[:3] == ["H:q", "H:&lt;b&gt;x&lt;/b&gt;", "m1"]
    assert sorted(s.y0 for s in figure.layout.shapes) == [-0.5, 1.5]
    assert all(figure.data[0].z[k][k] is None for k in range(5))
    assert figure.data[0].z[0][2] == figure.data[0].z[2][0]


def test_bars_carry_the_values_and_intervals_of_the_table(data: Dataset) -> None:
    table = made(data, "predictability", model="ridge")
    figure = figure_of(table)
    assert figure is not None
    bars = {trace.name: trace for trace in figure.data}
    for row in table:
        place = list(bars[row["predictors"]].y).index(row["value"])
        assert bars[row["predictors"]].error_y.array[place] == pytest.approx(row["high"] - row["value"])


def test_filled_marks_are_those_that_the_stop_rule_keeps(data: Dataset) -> None:
    table = made(data, "portfolio", aspects=["q"])
    figure = figure_of(table)
    assert figure is not None
    kept = [row["chosen"] for row in table if row["chosen"] is not None]
    assert [color != "#ffffff" for color in figure.data[0].marker.color] == kept


def test_names_are_text_in_all_of_them(data: Dataset) -> None:
    years = {"m1": 2001, "m2": 2002, BAD: 2003}
    options: dict[str, dict[str, Any]] = {
        "predictability": {"model": "ridge"},
        "progress": {"model": "ridge", "years": years},
    }
    for name in ("complementarity", "consensus", "consensus-distance", "predictability", "progress", "portfolio"):
        figure = figure_of(made(data, name, **options.get(name, {})))
        assert figure is not None
        assert "<b>" not in json.dumps(json.loads(figure.to_json())), name
