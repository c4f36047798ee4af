"""The smallest set of metrics that predicts people."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, same_rows
from aspect_data import data_of, made

from nlgauge.analyses.complementarity.portfolio import metric_portfolio
from nlgauge.errors import NeedsMissing
from nlgauge.stats.correlation.measure import Measure


def test_the_halves_of_the_truth_come_first_and_a_copy_adds_nothing() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 8, 80))
    metrics = {
        "copy": a + rng.normal(0, 0.02, a.shape),
        "half": a,
        "other half": b * 0.9,
        "noise": rng.normal(size=a.shape),
    }
    rows = metric_portfolio(data_of({"q": a + b}, metrics)).rows
    assert {row["added"] for row in rows[:2]} in ({"half", "other half"}, {"copy", "other half"})
    assert rows[1]["chosen"]
    assert rows[1]["gain"] > 0.2
    assert all(row["gain"] < 0.03 for row in rows[2:4])
    assert rows[1]["apart"] == pytest.approx(0.5, abs=0.1)  # unrelated rankings


def test_rows_per_aspect_end_with_all_metrics() -> None:
    table = metric_portfolio(made(), most=3)
    for aspect in ("a0", "a1"):
        mine = [row for row in table if row["aspect"] == aspect]
        assert [row["size"] for row in mine] == [1, 2, 3, 4]
        assert mine[-1]["added"] == "all metrics"
        assert mine[-1]["chosen"] is None
    said = ("use ", "several metrics are not significantly better than one")
    for aspect in ("a0", "a1"):
        assert sum(note.startswith(tuple(f"{aspect}: {words}" for words in said)) for note in table.answers) == 1


def test_several_metrics_are_advised_only_where_the_gain_is_more_than_chance() -> None:
    """Copies of one metric with the same noise level gain by averaging; noise beside a good metric does not."""
    rng = np.random.default_rng(4)
    truth = rng.normal(0, 1, (8, 60))
    several = {f"m{k}": truth + rng.normal(0, 1.5, truth.shape) for k in range(5)}
    noise = {"m0": several["m0"], **{f"n{k}": rng.normal(0, 1, truth.shape) for k in range(4)}}
    advised = metric_portfolio(data_of({"q": truth}, several)).answers[0]
    assert advised.startswith("q: use ")
    assert "not significantly better" in metric_portfolio(data_of({"q": truth}, noise)).answers[0]


def test_alone_is_the_plain_measure_and_turned_metrics_count() -> None:
    data = made()
    panel = data.panel("a0")
    rows = by(metric_portfolio(data, aspects=["a0"], most=4), "added")
    for name, x in zip(panel.names, panel.oriented(), strict=True):
        assert rows[name]["alone"] == pytest.approx(Measure.parse("input/kendall")(x, panel.human).value)
    assert rows["error"]["alone"] > 0.3


def test_the_seed_decides_and_nothing_else() -> None:
    assert same_rows(metric_portfolio(made(), seed=5), metric_portfolio(made(), seed=5))


def test_two_systems_one_system_one_aspect_and_holes() -> None:
    for data in (made(systems=2), made(systems=1, inputs=60), made(aspects=1), made(holes=0.2)):
        table = metric_portfolio(data, most=2)
        assert table.rows[0]["value"] > 0.1
        assert table.rows[0]["chosen"]
    assert "over all outputs" in metric_portfolio(made(systems=1, inputs=60), most=1).method


def test_one_metric_is_no_portfolio() -> None:
    with pytest.raises(NeedsMissing, match="at least two metrics"):
        metric_portfolio(made(), metrics=["good"])
    with pytest.raises(NeedsMissing, match="at least 3 rated inputs"):
        metric_portfolio(made(inputs=2))


def test_constant_metrics_leave_nothing_to_choose_and_say_so() -> None:
    flat = {"m1": np.ones((3, 9)), "m2": np.zeros((3, 9))}
    table = metric_portfolio(data_of({"q": np.random.default_rng(0).random((3, 9))}, flat))
    assert any("no metric has a defined value" in note for note in table.answers)
