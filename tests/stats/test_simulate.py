"""Algorithm 1: the moments it promises, discretisation, and fitting back what was simulated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import truncnorm

from nlgauge.errors import DataError
from nlgauge.stats.design.simulate import (
    Noise,
    SimulationParams,
    discretize,
    fit_panel,
    fit_scores,
    human_scores,
    metric_scores,
    simulate_panel,
    thresholds,
    truncated_normal,
)


def test_one_large_panel_has_the_moments_of_its_parameters():
    params = SimulationParams(
        mu_m=0.5, mu_h=0.6, sigma_m=0.2, sigma_h=0.1, rho_sys=0.7, mu_rho=0.3, sigma_rho=0.1, N=3000, M=60
    )
    params = replace(params, within_m=0.3, within_h=0.05)
    fitted = fit_panel(*simulate_panel(params, np.random.default_rng(0)))
    # The mean of M outputs carries 1/M of the variance within a system; so does the covariance of two means.
    sigma_m, sigma_h = np.sqrt(0.2**2 + 0.3**2 / 60), np.sqrt(0.1**2 + 0.05**2 / 60)
    assert (fitted.mu_m, fitted.mu_h) == pytest.approx((0.5, 0.6), abs=0.015)
    assert (fitted.sigma_m, fitted.sigma_h) == pytest.approx((sigma_m, sigma_h), rel=0.03)
    assert np.mean(fitted.within_m) == pytest.approx(0.3, rel=0.02)
    covariance = 0.7 * 0.2 * 0.1 + 0.3 * 0.3 * 0.05 / 60
    assert fitted.rho_sys == pytest.approx(covariance / (sigma_m * sigma_h), abs=0.03)
    assert fitted.mu_rho == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize(("mean", "sd"), [(0.4, 0.15), (0.95, 0.15), (-0.9, 0.5), (0.0, 3.0)])
def test_item_correlations_follow_scipys_truncated_normal(mean, sd):
    u = np.linspace(0.001, 0.999, 101)
    oracle = truncnorm.ppf(u, (-1 - mean) / sd, (1 - mean) / sd, loc=mean, scale=sd)
    assert truncated_normal(u, mean, sd) == pytest.approx(oracle, abs=1e-9)


def test_no_spread_of_item_correlations_gives_the_mean_itself():
    assert truncated_normal([0.1, 0.9], 0.4, 0.0).tolist() == [0.4, 0.4]


def test_discretise_counts_cut_points_leaves_nan_and_does_not_touch_its_input():
    x = np.array([[-1.0, 0.0, 0.5], [2.0, np.nan, 1.0]])
    before = x.copy()
    assert np.array_equal(discretize(x, [1.0, 0.0]), [[0, 1, 1], [2, np.nan, 2]], equal_nan=True)
    assert np.array_equal(x, before, equal_nan=True)


@pytest.mark.parametrize("scale", [2, 5, 20])
def test_a_scale_of_c_has_at_most_c_values_and_keeps_the_order(scale):
    rng = np.random.default_rng(1)
    x = rng.normal(0, 0.15, size=(15, 200))
    cut = discretize(x, thresholds(scale, 0.0, 0.15, rng))
    assert len(np.unique(cut)) <= scale
    order = np.argsort(x, axis=None)
    assert (np.diff(cut.ravel()[order]) >= 0).all()


def test_thresholds_lie_within_one_sigma_of_the_mean():
    cuts = thresholds(1001, 0.5, 0.1, np.random.default_rng(0))
    assert cuts.size == 1000
    assert 0.4 <= cuts.min() < 0.402
    assert 0.598 < cuts.max() <= 0.6


def test_people_do_not_depend_on_the_metric_so_that_metrics_can_share_them():
    noise = Noise.draw(5, 30, np.random.default_rng(0))
    weak, strong = SimulationParams(N=5, M=30, rho_sys=0.1), SimulationParams(N=5, M=30, rho_sys=0.9)
    assert np.array_equal(human_scores(weak, noise), human_scores(strong, noise))
    assert not np.array_equal(metric_scores(weak, noise), metric_scores(strong, noise))


def test_the_same_seed_repeats_the_panel():
    params = SimulationParams(N=4, M=10, scale_m=5, scale_h=3)
    first, again = (simulate_panel(params, np.random.default_rng(3)) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_tie_ratio_is_the_share_of_tied_pairs_among_all_pairs():
    scores = np.random.default_rng(0).integers(1, 5, size=(4, 9)).astype(float)
    flat = scores.ravel()
    tied = sum(flat[i] == flat[j] for i in range(36) for j in range(i))
    found = fit_scores(scores)
    assert found.tie_ratio == pytest.approx(tied / (36 * 35 / 2))
    assert found.unique == len(set(flat))


def test_fit_leaves_out_constant_systems_and_missing_cells():
    x, z = simulate_panel(SimulationParams(N=6, M=40), np.random.default_rng(0))
    x[0] = 0.1
    z[1, :5] = np.nan
    found = fit_panel(x, z)
    kept = [np.corrcoef(x[i, 5:] if i == 1 else x[i], z[i, 5:] if i == 1 else z[i])[0, 1] for i in range(1, 6)]
    assert found.mu_rho == pytest.approx(np.mean(kept))
    assert found.sigma_rho == pytest.approx(np.std(kept, ddof=1))


def test_what_was_fitted_can_be_simulated_again():
    x, z = simulate_panel(SimulationParams(N=8, M=50), np.random.default_rng(0))
    again = simulate_panel(fit_panel(x, z), np.random.default_rng(1))
    assert again[0].shape == (8, 50)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"N": 1}, "2 systems"), ({"rho_sys": 1.2}, "rho_sys"), ({"scale_h": 1}, "scale_h"), ({"sigma_m": -1}, "sigma_m")],
)
def test_impossible_parameters_are_refused_by_name(wrong, message):
    with pytest.raises(DataError, match=message):
        SimulationParams(**wrong)
