"""Takeaways of sections 4.3 and 4.4 of gao2025 on a small seeded grid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from nlgauge.stats.correlation.measure import TWELVE, Measure
from nlgauge.stats.design.simulate import Noise, SimulationParams, human_scores, metric_scores
from nlgauge.stats.design.simulation_studies import EQUAL_SCALES, GRID, UNEQUAL_SCALES, relation_study, scale_study

SMALL = SimulationParams(N=15, M=100)


SCALES = [(c, c) for c in (2, 3, 5, 10, 20, 100)]


@pytest.fixture(scope="module")
def relations():
    return relation_study(
        SMALL, np.random.SeedSequence(1), rho_sys=(0.0, 0.4, 0.8, 0.99), mu_rho=(0.0, 0.4, 0.8, 0.99), trials=40
    )


@pytest.fixture(scope="module")
def scales():
    return scale_study(SMALL, np.random.SeedSequence(2), scales=SCALES, trials=20, redraws=10)


def _curve(study, grouping: str, coefficient: str) -> np.ndarray:
    return study.value[..., TWELVE.index(Measure(grouping, coefficient))]


def test_the_grids_are_the_papers():
    assert len(GRID) == 12
    assert [c for c, _ in EQUAL_SCALES] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20]
    assert len(UNEQUAL_SCALES) == 15


@pytest.mark.parametrize("grouping", ["input", "global"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_raising_capability_at_system_or_item_level_raises_input_and_global(relations, grouping, coefficient):
    value = _curve(relations, grouping, coefficient)
    assert (np.diff(value, axis=0) > 0).all(), "ρ_sys"
    assert (np.diff(value, axis=1) > 0).all(), "μ_ρ"


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_system_follows_its_own_capability_and_item_ignores_the_other(relations, coefficient):
    system, item = _curve(relations, "system", coefficient), _curve(relations, "item", coefficient)
    assert (np.diff(system, axis=0) > 0.1).all()
    assert np.ptp(system, axis=1).max() < 0.1
    assert (np.diff(item, axis=1) > 0.1).all()
    assert np.ptp(item, axis=0).max() < 1e-3


def test_no_capability_gives_no_correlation(relations):
    assert np.abs(relations.value[0, 0]).max() < 0.15
    assert (relations.undefined == 0).all()


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_system_spearman_and_kendall_hardly_move_with_scale_size(scales, coefficient):
    assert np.ptp(_curve(scales, "system", coefficient)) < 0.05


@pytest.mark.parametrize("grouping", ["input", "global", "item"])
def test_kendall_of_the_other_levels_rises_then_falls_with_a_peak_near_ten(scales, grouping):
    value = _curve(scales, grouping, "kendall")
    best = int(np.argmax(value))
    assert SCALES[best][0] in (5, 10, 20)
    assert (np.diff(value[: best + 1]) > 0).all()
    assert (np.diff(value[best:]) < 0).all()


@pytest.mark.parametrize(
    ("grouping", "coefficient"),
    [("system", "pearson"), *((g, c) for g in ("input", "global", "item") for c in ("pearson", "spearman"))],
)
def test_the_other_measures_rise_with_scale_size(scales, grouping, coefficient):
    value = _curve(scales, grouping, coefficient)
    assert (np.diff(value) > -0.002).all()
    assert value[3] > value[0] + 0.01


def test_a_trial_equals_scipy_on_the_same_panel():
    seed = np.random.SeedSequence(5)
    found = relation_study(SMALL, seed, rho_sys=(0.6,), mu_rho=(0.3,), trials=1)
    noise = Noise.draw(15, 100, np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0]))
    params = SimulationParams(N=15, M=100, rho_sys=0.6, mu_rho=0.3)
    x, z = metric_scores(params, noise), human_scores(params, noise)
    plain = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}
    for coefficient, function in plain.items():
        assert _curve(found, "global", coefficient)[0, 0] == pytest.approx(function(x.ravel(), z.ravel()).statistic)
        by_input = np.mean([function(a, b).statistic for a, b in zip(x.T, z.T, strict=True)])
        assert _curve(found, "input", coefficient)[0, 0] == pytest.approx(by_input)


def test_a_draw_of_the_scale_study_equals_scipy_on_the_panel_cut_by_its_thresholds():
    sizes = ((4, 3), (6, 6))
    found = scale_study(SMALL, np.random.SeedSequence(6), scales=sizes, trials=1, redraws=1)
    rng = np.random.default_rng(np.random.SeedSequence(6).spawn(1)[0])
    noise = Noise.draw(15, 100, rng)
    x, z = metric_scores(SMALL, noise), human_scores(SMALL, noise)
    cuts_m, cuts_h = rng.uniform(-0.15, 0.15, 5), rng.uniform(-0.10, 0.10, 5)
    for row, (m, h) in enumerate(sizes):
        cut_x = (x[..., None] >= cuts_m[: m - 1]).sum(axis=-1)
        cut_z = (z[..., None] >= cuts_h[: h - 1]).sum(axis=-1)
        assert (len(np.unique(cut_x)), len(np.unique(cut_z))) == (m, h)
        plain = kendalltau(cut_x.ravel(), cut_z.ravel()).statistic
        assert _curve(found, "global", "kendall")[row] == pytest.approx(plain)


def test_standard_errors_are_those_of_independent_trials():
    params = SimulationParams(N=5, M=20)
    runs = [
        relation_study(params, np.random.SeedSequence(s), rho_sys=(0.5,), mu_rho=(0.5,), trials=30) for s in range(40)
    ]
    spread = np.std([run.value for run in runs], axis=0)
    mean_se = np.mean([run.se for run in runs], axis=0)
    assert mean_se == pytest.approx(spread, rel=0.4)
