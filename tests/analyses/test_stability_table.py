"""Discriminative power and ranking consistency of measures, and the recommendation."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, reordered, same_rows, upside_down, with_metrics

from nlgauge.analyses.significance import significance
from nlgauge.analyses.stability import recommend, stability
from nlgauge.errors import NeedsMissing
from nlgauge.stats.stability import ranking_consistency

FEW = {"draws": 49, "trials": 40}


def test_dp_is_the_mean_of_the_pairwise_p_values_and_the_area_of_the_curve() -> None:
    panel = noisy_panel()
    row = by(stability(panel, measures=["input/kendall", "global/pearson"], **FEW), "measure")[
        "input/kendall"
    ]
    p = [r["p"] for r in significance(panel, measure="input/kendall", test="permutation", draws=49)]
    assert row["DP"] == pytest.approx(np.mean(p))
    assert row["DP"] == pytest.approx(np.mean(row["curve"]), abs=1e-6)
    assert row["curve"] == sorted(row["curve"], reverse=True)
    assert row["pairs"] == 6


def test_rc_is_that_of_the_statistics() -> None:
    panel = noisy_panel().canonical()
    row = by(stability(panel, measures=["item/spearman"], **FEW, seed=3), "measure")["item/spearman"]
    assert row["RC"] == pytest.approx(
        float(
            ranking_consistency(panel.stacked(), panel.human, ["item/spearman"], trials=40, seed=3).value[0]
        )
    )
    assert row["RC low"] <= row["RC"] <= row["RC high"]
    assert row["DP low"] <= row["DP"] <= row["DP high"]


def test_neither_order_nor_sign_of_a_metric_matters_to_dp_and_rc() -> None:
    panel = noisy_panel()
    numbers = [
        {r["measure"]: (round(r["DP"], 12), round(r["RC"], 12)) for r in stability(p, **FEW)}
        for p in (panel, reordered(panel), upside_down(panel, "m1"))
    ]
    assert numbers[0] == numbers[1] == numbers[2]


def test_the_seed_alone_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = noisy_panel()
    table = stability(panel, **FEW, seed=1)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert same_rows(table, stability(panel, **FEW, seed=1))


def test_metrics_that_are_far_apart_give_a_dp_near_its_least() -> None:
    panel = noisy_panel(systems=12, inputs=60, noise=(0.1, 2.0, 30.0))
    row = by(stability(panel, measures=["global/pearson"], draws=99, trials=20), "measure")["global/pearson"]
    assert row["DP"] < 0.03
    assert row["RC"] > 0.9


def test_the_recommendation_names_the_first_row_and_warns_of_the_worst() -> None:
    base = {"DP low": 0.0, "DP high": 0.05, "RC low": 0.8, "RC high": 0.9}
    rows = [
        {"measure": "global/pearson", "DP": 0.02, "RC": 0.85, **base},
        {"measure": "input/pearson", "DP": 0.04, "RC": 0.84, **base},
        {"measure": "system/kendall", "DP": 0.3, "RC": 0.2, **base},
    ]
    text = recommend(rows)
    assert text.startswith(
        "On these data trust global/pearson (and input/pearson, which the data do not tell from it)"
    )
    assert "system/kendall hardly tells your metrics apart (DP 0.300)" in text


def test_too_few_metrics_or_no_defined_measure_is_said() -> None:
    panel = noisy_panel()
    with pytest.raises(NeedsMissing, match="at least 3; found 2"):
        stability(with_metrics(panel, {k: panel.metrics[k] for k in ("m0", "m1")}))
    rng = np.random.default_rng(0)
    one = panel_of(rng.random((1, 9)), {k: rng.random((1, 9)) for k in "abc"})
    with pytest.raises(NeedsMissing, match="at least 2 systems"):
        stability(one, measures=["system/kendall"])
    assert {r["measure"].split("/")[0] for r in stability(one, draws=19, trials=5)} == {"global", "item"}
