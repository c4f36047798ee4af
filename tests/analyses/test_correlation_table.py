"""The correlation analysis: values from scipy, order, orientation, and what is said of what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, reordered, upside_down, with_holes
from scipy import stats

from nlgauge.analyses.agreement.correlate import correlate
from nlgauge.errors import NeedsMissing


def test_every_level_equals_scipy() -> None:
    panel = noisy_panel()
    rows = by(correlate(panel), "metric", "measure")
    for name, x in panel.metrics.items():
        z = panel.human
        expected = {
            "global/pearson": stats.pearsonr(x.ravel(), z.ravel())[0],
            "system/spearman": stats.spearmanr(x.mean(axis=1), z.mean(axis=1))[0],
            "item/kendall": np.mean([stats.kendalltau(a, b)[0] for a, b in zip(x, z, strict=True)]),
            "input/kendall": np.mean([stats.kendalltau(a, b)[0] for a, b in zip(x.T, z.T, strict=True)]),
        }
        for measure, value in expected.items():
            assert rows[name, measure]["value"] == pytest.approx(value, abs=1e-12)


def test_the_best_metric_stands_first_whatever_the_order_of_columns() -> None:
    panel = noisy_panel()
    assert [r["metric"] for r in correlate(panel, measures=["global/pearson"])] == ["m0", "m1", "m2", "m3"]
    assert by(correlate(panel), "metric", "measure") == by(correlate(reordered(panel)), "metric", "measure")


def test_a_lower_is_better_metric_has_its_sign_turned_and_keeps_its_place() -> None:
    panel = noisy_panel()
    turned = correlate(upside_down(panel, "m0"), measures=["global/pearson"])
    plain = correlate(panel, measures=["global/pearson"])
    assert turned.rows[0]["metric"] == "m0"
    assert turned.rows[0]["value"] == pytest.approx(plain.rows[0]["value"])
    assert "m0 ↓" in str(turned)


def test_missing_scores_are_counted() -> None:
    panel = with_holes(noisy_panel())
    rows = by(correlate(panel, measures=["global/pearson"]), "metric")
    assert {k: r["n"] for k, r in rows.items()} == {k: int(np.isfinite(v).sum()) for k, v in panel.metrics.items()}


def test_constant_groups_are_dropped_and_counted() -> None:
    human = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 1.0], [1.0, 1.0, 2.0]])
    table = correlate(panel_of(human, {"m": human + np.arange(3)[:, None]}), measures=["input/kendall"])
    assert (table.rows[0]["groups"], table.rows[0]["dropped"]) == (2, 1)
    assert any("1 of 3 inputs are dropped" in note for note in table.notes)


def test_one_system_gives_item_level_only_and_says_so() -> None:
    rng = np.random.default_rng(0)
    table = correlate(panel_of(rng.random((1, 9)), {"m": rng.random((1, 9))}))
    assert {r["measure"].split("/")[0] for r in table} == {"global", "item"}
    assert any("not available" in note and "system/pearson" in note for note in table.notes)


def test_measures_without_any_value_are_an_error() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(NeedsMissing, match="at least 2 systems"):
        correlate(panel_of(rng.random((1, 9)), {"m": rng.random((1, 9))}), measures=["system/kendall"])


def test_two_systems_are_enough_for_pairs() -> None:
    human = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert correlate(panel_of(human, {"m": human}), measures=["input/kendall"]).rows[0]["value"] == 1.0
