"""Parameters of Algorithm 1 as a table."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, with_holes, with_metrics
from scipy import stats

from nlgauge.analyses.agreement.parameters import parameters
from nlgauge.errors import NlgaugeError


def test_a_worked_case() -> None:
    human = np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 5.0]])
    rows = by(parameters(panel_of(human, {"m": 2 * human}), human_scale=(1, 5)), "variable")
    people = rows["human"]
    assert people["mean"] == pytest.approx((0 + 0.5 + 1 + 0.25 + 0.25 + 1) / 6)
    assert people["sigma"] == pytest.approx(0.0)  # both systems have the mean .5
    assert (people["unique"], people["cells"]) == (4, 6)
    assert people["tie_ratio"] == pytest.approx(2 / 15)  # 2 = 2 and 5 = 5 of 15 pairs
    assert rows["m"]["mean"] == pytest.approx(6.0)
    assert rows["m"]["mu_rho"] == pytest.approx(1.0)


def test_correlations_equal_scipy_and_do_not_depend_on_the_scale() -> None:
    panel = noisy_panel()
    row = by(parameters(panel), "variable")["m1"]
    x, z = panel.metrics["m1"], panel.human
    inside = [stats.pearsonr(a, b)[0] for a, b in zip(x, z, strict=True)]
    assert row["rho_sys"] == pytest.approx(stats.pearsonr(x.mean(axis=1), z.mean(axis=1))[0])
    assert row["mu_rho"] == pytest.approx(np.mean(inside))
    assert row["sigma_rho"] == pytest.approx(np.std(inside, ddof=1))
    assert row["global_pearson"] == pytest.approx(stats.pearsonr(x.ravel(), z.ravel())[0])
    scaled = by(parameters(panel, human_scale=(1, 5), metric_scale=(-4, 4)), "variable")["m1"]
    for column in ("rho_sys", "mu_rho", "sigma_rho", "input_pearson", "global_pearson", "tie_ratio"):
        assert scaled[column] == pytest.approx(row[column])
    assert scaled["sigma"] == pytest.approx(row["sigma"] / 8)


def test_only_outputs_that_both_scored_count() -> None:
    panel = with_holes(noisy_panel())
    for name, row in by(parameters(panel), "variable").items():
        if name != "human":
            assert row["cells"] == np.isfinite(panel.metrics[name]).sum()


def test_a_metric_without_scores_has_a_row_that_says_so() -> None:
    panel = noisy_panel()
    table = parameters(with_metrics(panel, {"none": np.full_like(panel.human, np.nan)}))
    assert by(table, "variable")["none"]["cells"] == 0
    assert "none" in str(table)


def test_one_system_and_flat_metrics_leave_gaps_and_no_error() -> None:
    rng = np.random.default_rng(0)
    human = rng.random((1, 9))
    rows = by(parameters(panel_of(human, {"m": human, "flat": np.ones((1, 9))})), "variable")
    assert np.isnan(rows["m"]["rho_sys"])
    assert rows["m"]["global_pearson"] == pytest.approx(1.0)
    assert np.isnan(rows["flat"]["global_pearson"])
    assert rows["flat"]["tie_ratio"] == 1.0


def test_a_scale_upside_down_is_refused() -> None:
    with pytest.raises(NlgaugeError, match="human_scale=: expected the lowest and the highest value"):
        parameters(noisy_panel(), human_scale=(5, 1))
