"""joint-aspects and aspect-disagreement on small data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from analysis_panels import by
from small_datasets import dataset

from nlgauge.errors import NeedsMissing
from nlgauge_papers.nimah2023.aspect_disagreement import aspect_disagreement
from nlgauge_papers.nimah2023.joint_aspects import joint_aspects


def test_joint_levels_are_low_on_all_high_on_all_or_mixed() -> None:
    a, b = [[1, 5, 1, 5, 1, 5]], [[1, 5, 5, 1, 1, 5]]
    m = [[0.0, 9, 2, 7, 1, 8]]
    table = joint_aspects(dataset({"a": a, "b": b}, {"m": m}), draws=19)
    found = by(table, "contrast")
    counted = {name: (row["n_first"], row["n_second"]) for name, row in found.items()}
    assert counted["low-high"] == counted["low-mixed"] == (2, 2)
    assert (found["low-high"]["value"], found["high-mixed"]["value"]) == (1.0, 1.0)
    assert found["opposite"]["higher"] == "high a, low b"
    assert counted["opposite"] == (1, 1)


def test_a_metric_that_follows_one_aspect_is_seen_where_the_two_disagree() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 6, (2, 4, 40)).astype(float)
    table = joint_aspects(dataset({"a": a, "b": b}, {"m": b + rng.normal(0, 0.3, b.shape)}))
    assert table.layout is not None
    assert table.layout.extra["follows"](table.rows) == "b"


def test_disagreement_between_aspects_lowers_the_distance_of_a_metric_that_sees_their_mean() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(1, 6, (4, 60)).astype(float)
    b = np.where(rng.random(a.shape) < 0.5, a, 6 - a)
    data = dataset({"a": a, "b": b}, {"m": a + b + rng.normal(0, 0.3, a.shape)})
    found = by(aspect_disagreement(data), "metric", "where")
    assert found["m", "agree"]["value"] > 0.9 > found["m", "disagree"]["value"] + 0.3


@pytest.mark.parametrize("run", [joint_aspects, aspect_disagreement])
def test_one_aspect_cannot_disagree_with_itself(run: Any) -> None:
    with pytest.raises(NeedsMissing, match="at least 2 aspects"):
        run(dataset({"a": [[1, 2]]}, {"m": [[1, 2]]}))
