"""Power by simulation, and chance levels against what pairs and ties say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.design.planning import MetricPair, Raters, Strength, chance_level, power, simulate_pair, swap_test
from nlgauge.stats.design.simulate import SimulationParams

SMALL = SimulationParams(N=8, M=60, sigma_rho=0.0)
WEAK, STRONG = Strength(0.6, 0.2), Strength(0.6, 0.6)
ITEM = Measure("item", "pearson")


def test_equal_metrics_are_called_different_about_as_often_as_the_level_says():
    found = power(MetricPair(SMALL, WEAK, WEAK), ITEM, np.random.SeedSequence(0), trials=300)
    assert 0.02 <= found.power + found.wrong <= 0.09
    assert found.undefined == 0


def test_the_power_of_a_test_that_always_rejects_is_one_and_of_one_that_never_does_is_zero():
    def always(x1, x2, z, measure, rng):
        return 0.0

    def never(x1, x2, z, measure, rng):
        return 1.0

    sure = power(MetricPair(SMALL, STRONG, WEAK), ITEM, np.random.SeedSequence(0), trials=30, test=always)
    assert sure.power + sure.wrong == 1.0
    assert power(MetricPair(SMALL, STRONG, WEAK), ITEM, np.random.SeedSequence(0), trials=30, test=never).power == 0.0


def test_power_rises_with_inputs_and_with_the_gap_between_the_metrics():
    pair = MetricPair(SMALL, Strength(0.6, 0.35), WEAK)
    seeds = np.random.SeedSequence(1).spawn(3)
    sizes = zip((20, 80, 320), seeds, strict=True)
    powers = [power(pair.sized("inputs", size), ITEM, seed, trials=60).power for size, seed in sizes]
    assert powers == sorted(powers)
    assert powers[-1] > powers[0] + 0.3
    assert powers[-1] >= 0.8
    wide = power(MetricPair(SMALL, STRONG, WEAK), ITEM, np.random.SeedSequence(2), trials=60)
    near = power(MetricPair(SMALL, Strength(0.6, 0.3), WEAK), ITEM, np.random.SeedSequence(2), trials=60)
    assert wide.power > near.power
    assert wide.wrong == 0.0


def test_more_raters_of_low_reliability_give_more_power():
    pair = MetricPair(SMALL, Strength(0.6, 0.45), WEAK, raters=Raters(1, 0.2))
    seeds = np.random.SeedSequence(3).spawn(2)
    one, eight = (
        power(pair.sized("raters", size), ITEM, seed, trials=80).power for size, seed in zip((1, 8), seeds, strict=True)
    )
    assert eight > one + 0.1


@pytest.mark.parametrize("name", ["system/pearson", "input/kendall", "global/pearson"])
def test_taking_systems_as_given_calls_equal_metrics_different_and_varying_systems_does_not(name):
    """Two equally good metrics misrank different systems: inputs alone cannot see that this is chance."""
    pair, rates = MetricPair(SimulationParams(N=12, M=60), WEAK, WEAK), {}
    for by in ("inputs", "systems"):
        found = power(pair, Measure.parse(name), np.random.SeedSequence(4), trials=100, test=swap_test(by))
        rates[by] = found.power + found.wrong
    assert rates["inputs"] > 0.3
    assert rates["systems"] <= 0.1


def test_simulated_raters_have_the_reliability_asked_for():
    params = SimulationParams(N=200, M=200, rho_sys=0.0, mu_rho=0.0)
    pair = MetricPair(params, WEAK, WEAK)
    _, _, truth = simulate_pair(pair, np.random.default_rng(0))
    _, _, rated = simulate_pair(replace(pair, raters=Raters(1, 0.5)), np.random.default_rng(0))
    assert truth.var() / rated.var() == pytest.approx(0.5, abs=0.05)
    _, _, many = simulate_pair(replace(pair, raters=Raters(4, 0.5)), np.random.default_rng(0))
    assert truth.var() / many.var() == pytest.approx(0.8, abs=0.05)


def test_metrics_that_err_alike_are_correlated_beyond_people():
    params = SimulationParams(N=50, M=100)
    none = Strength(0.0, 0.0)
    apart = simulate_pair(MetricPair(params, none, none), np.random.default_rng(0))
    alike = simulate_pair(MetricPair(params, none, none, between=0.8), np.random.default_rng(0))
    assert abs(np.corrcoef(apart[0].ravel(), apart[1].ravel())[0, 1]) < 0.3
    assert np.corrcoef(alike[0].ravel(), alike[1].ravel())[0, 1] > 0.6


@pytest.mark.parametrize("grouping", ["global", "input", "item"])
def test_chance_of_acc_eq_is_half_the_share_of_untied_human_pairs(grouping):
    human = np.random.default_rng(0).integers(1, 4, size=(8, 30)).astype(float)
    groups = {"global": [human.ravel()], "input": list(human.T), "item": list(human)}[grouping]
    untied = [
        1.0 - (np.equal.outer(group, group).sum() - group.size) / (group.size * (group.size - 1)) for group in groups
    ]
    found = chance_level(human, Measure(grouping, "acc-eq"), np.random.default_rng(1), draws=300)
    assert found.mean == pytest.approx(np.mean(untied) / 2.0, abs=4 * found.sd / np.sqrt(300))


def test_chance_of_a_correlation_is_zero():
    human = np.random.default_rng(0).integers(1, 4, size=(8, 30)).astype(float)
    found = chance_level(human, Measure("global", "kendall"), np.random.default_rng(1), draws=300)
    assert found.mean == pytest.approx(0.0, abs=4 * found.sd / np.sqrt(300))
    assert found.low < 0.0 < found.high


def test_chance_of_soft_pairwise_accuracy_lies_well_above_zero():
    human = np.random.default_rng(0).normal(size=(6, 40)) + np.arange(6)[:, None]
    found = chance_level(human, Measure("system", "spa"), np.random.default_rng(1), draws=40)
    assert 0.35 < found.mean < 0.65


def test_a_constant_human_score_has_no_chance_level():
    found = chance_level(np.ones((3, 5)), Measure("global", "pearson"), np.random.default_rng(0), draws=5)
    assert np.isnan(found.mean)
    assert found.undefined == 5
