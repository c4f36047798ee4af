"""Discriminative power and ranking consistency of measures, and the recommendation."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, reordered, same_rows, upside_down, with_metrics

from nlgauge.analyses.comparing.compare_pairs import compare_pairs
from nlgauge.analyses.design.stability import PanelSize, recommend, stability
from nlgauge.errors import NeedsMissing
from nlgauge.stats.design.stability import Advice, ranking_consistency

FEW = {"draws": 49, "trials": 40}


def test_dp_is_the_mean_of_the_pairwise_p_values_and_the_area_of_the_curve() -> None:
    panel = noisy_panel()
    table = stability(panel, measures=["input/kendall", "global/pearson"], **FEW)
    row, curve = by(table, "measure")["input/kendall"], table.facts["curves"]["input/kendall"]
    p = [r["p"] for r in compare_pairs(panel, measure="input/kendall", test="permutation", draws=49)]
    assert row["dp"] == pytest.approx(np.mean(p))
    assert row["dp"] == pytest.approx(np.mean(curve), abs=1e-6)
    assert curve == sorted(curve, reverse=True)
    assert row["pairs"] == 6


def test_rc_is_that_of_the_statistics() -> None:
    panel = noisy_panel().canonical()
    row = by(stability(panel, measures=["item/spearman"], **FEW, seed=3), "measure")["item/spearman"]
    assert row["rc"] == pytest.approx(
        float(ranking_consistency(panel.stacked(), panel.human, ["item/spearman"], trials=40, seed=3).value[0])
    )
    assert row["rc_low"] <= row["rc"] <= row["rc_high"]
    assert row["dp_low"] <= row["dp"] <= row["dp_high"]


def test_neither_order_nor_sign_of_a_metric_matters_to_dp_and_rc() -> None:
    panel = noisy_panel()
    numbers = [
        {r["measure"]: (round(r["dp"], 12), round(r["rc"], 12)) for r in stability(p, **FEW)}
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
    assert row["dp"] < 0.03
    assert row["rc"] > 0.9


def _rows(*numbers):
    return [
        {
            "measure": m,
            "dp": dp,
            "dp_low": dp / 2,
            "dp_high": 2 * dp,
            "rc": rc,
            "rc_low": rc - 0.05,
            "rc_high": rc + 0.05,
            "place": j,
        }
        for j, (m, dp, rc) in enumerate(numbers)
    ]


ROWS = _rows(("global/pearson", 0.02, 0.85), ("input/kendall", 0.04, 0.84), ("system/kendall", 0.3, 0.2))
SIZE = PanelSize(12, 50, 8)


def test_one_measure_is_trusted_only_if_it_stands_out_and_the_one_in_use_is_named() -> None:
    text = recommend(ROWS, Advice((0,), (0,)), SIZE, "global/pearson")
    assert text.startswith("On these data global/pearson is best: DP 0.020 [0.010, 0.040], RC 0.850 [0.800, 0.900]")
    assert text.endswith("Metrics are ranked by it.")
    other = recommend(ROWS, Advice((0,), (0,)), SIZE, "system/kendall")
    assert "still ranked by system/kendall" in other and "not reliable on these data (DP 0.300, RC 0.200)" in other


def test_alike_measures_are_named_together_and_contradict_no_ranking() -> None:
    text = recommend(ROWS, Advice((0, 1), (0, 1)), SIZE, "input/kendall")
    assert "trust" not in text
    assert (
        "global/pearson is reliable" in text
        and "indistinguishable from input/kendall; significantly worse: system/kendall" in text
    )
    assert text.endswith("The measure in use, input/kendall, is one of them.")
    few = recommend(ROWS, Advice((0, 1), (0, 1, 2)), PanelSize(4, 50, 4))
    assert few.startswith("On these 4 systems") and "a single best measure requires 6 metrics; found 4" in few


def test_nothing_steady_is_said_with_what_would_help() -> None:
    rows = _rows(("system/pearson", 0.511, -0.023), ("input/kendall", 0.6, -0.1))
    text = recommend(rows, Advice((), ()), SIZE, "input/kendall")
    assert (
        text.startswith("No measure is reliable on these data: even system/pearson has DP 0.511")
        and "trust" not in text
    )
    assert "Collect more inputs (now 50) and systems (now 12)" in text
    assert "still ranked by input/kendall" in text


def test_the_advice_of_a_table_does_not_depend_on_the_number_of_splits() -> None:
    panel = noisy_panel(systems=8, inputs=30, noise=(0.5, 1.0, 1.5, 2.0, 3.0, 4.0))
    few, many = (stability(panel, draws=99, trials=t, measures=["input/kendall", "global/pearson"]) for t in (60, 600))
    for a, b in zip(few, many, strict=True):
        assert a["measure"] == b["measure"]
        assert abs((a["rc_high"] - a["rc_low"]) - (b["rc_high"] - b["rc_low"])) < 0.15
    assert few.answers[0].split("(")[0] == many.answers[0].split("(")[0]


def test_equal_metrics_are_never_followed_by_trust() -> None:
    panel = noisy_panel(systems=10, inputs=40, noise=(2.0,) * 7)
    table = stability(panel, **FEW, ranked_by="input/kendall")
    assert table.answers[0].startswith("No measure is reliable on these data")
    assert not any(row["reliable"] for row in table)


def test_too_few_metrics_or_no_defined_measure_is_said() -> None:
    panel = noisy_panel()
    with pytest.raises(NeedsMissing, match="at least 3 metrics; found 2"):
        stability(with_metrics(panel, {k: panel.metrics[k] for k in ("m0", "m1")}))
    rng = np.random.default_rng(0)
    one = panel_of(rng.random((1, 9)), {k: rng.random((1, 9)) for k in "abc"})
    with pytest.raises(NeedsMissing, match="at least 2 systems"):
        stability(one, measures=["system/kendall"])
    assert {r["measure"].split("/")[0] for r in stability(one, draws=19, trials=5)} == {"global", "item"}
