"""Differences between metrics, all at once: the confidence set for the best, simultaneous p-values, no contradictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.resampling.contrasts import (
    Contrasts,
    Swaps,
    _testable,
    contrasts,
    difference_tests,
    largest_differences,
    simultaneous_level,
)
from nlgauge.stats.resampling.jackknife import intervals

MEASURE = "input/pairwise-accuracy"


def panel(
    seed: int, noise: tuple[float, ...] = (0.8, 0.9, 1.0, 3.0), systems: int = 9, inputs: int = 30, gaps: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings 1–5 and metrics that follow the truth with this much noise."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.5, (systems, 1)) + rng.normal(0, 1, (systems, inputs))
    z = np.clip(np.round(3 + truth + rng.normal(0, 0.5, truth.shape)), 1, 5)
    x = np.stack([truth + rng.normal(0, sd, truth.shape) for sd in noise])
    x[rng.random(x.shape) < gaps] = np.nan
    return x, z


def assert_consistent(made: Contrasts, level: float = 0.95) -> None:
    """Every statement is read from the same comparisons."""
    pairs = made.pairs
    with np.errstate(invalid="ignore"):
        assert (pairs.better == ((pairs.p < 1 - level) & (pairs.gap > 0))).all()
    assert not (pairs.better & pairs.better.T).any()
    low, high = pairs.ranks
    valued = np.isfinite(made.value)
    assert (low <= high).all()
    assert (made.may_be_best == ((low == 1) & valued)).all()
    assert made.may_be_best.any() == valued.any()
    tier = pairs.tiers()
    assert (tier[made.may_be_best] == 1).all()
    for a, b in zip(*np.nonzero(tier[:, None] < tier), strict=True):
        assert pairs.better[a, b]


@pytest.mark.parametrize("seed", range(12))  # each third and each fourth is special
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_ranks_tiers_p_values_and_the_set_never_contradict_each_other(seed: int, gaps: float) -> None:
    x, z = panel(seed, noise=(0.8, 1.2, 1.3, 2.0, 3.0), gaps=gaps)
    if seed % 3 == 0:
        x[2] = 1.0  # a constant is chance
    if seed % 4 == 0:
        x[4] = np.nan
    for level in (0.95, 0.8):
        assert_consistent(contrasts(x, z, MEASURE, level=level), level)
    assert_consistent(contrasts(x, z, "system/kendall", swaps=Swaps(200, seed)))


def test_p_values_at_the_critical_value_agree_with_the_confidence_set() -> None:
    """Draws and p-values are discrete: the pair with a p-value next to the level must not be called both ways."""
    x, z = panel(2, noise=(0.8, 1.2, 1.3, 2.0, 3.0))
    p = np.unique(contrasts(x, z, MEASURE).pairs.p)
    near = p[(p > 0.001) & (p < 0.9)]
    assert len(near) > 3
    for value in near:
        for level in (1 - value, 1 - value - 1e-9, 1 - value + 1e-9):
            assert_consistent(contrasts(x, z, MEASURE, level=level), level)


def test_the_set_holds_the_best_and_drops_what_is_clearly_worse() -> None:
    held = dropped = 0
    for seed in range(100, 160):
        best, *_, worst = contrasts(*panel(seed, noise=(0.6, 0.8, 3.0)), MEASURE).may_be_best.tolist()
        held, dropped = held + best, dropped + (not worst)
    assert held >= stats.binom.ppf(0.001, 60, 0.95)
    assert dropped >= 55


def test_equal_metrics_stay_in_the_set_together_as_often_as_the_level_says() -> None:
    """Eight metrics that are equally good: single tests would drop one far more often than in 5% of data sets."""
    trials = 120
    at_once, single = 0, 0
    for seed in range(trials):
        made = contrasts(*panel(1000 + seed, noise=(1.0,) * 8, systems=12, inputs=24), MEASURE)
        at_once += not made.may_be_best.all()
        single += bool((made.tests.p < 0.05).any())
    limit = stats.binom.ppf(0.999, trials, 0.05)
    assert at_once <= limit
    assert single > 2 * limit


@pytest.mark.parametrize("measure", [MEASURE, "input/kendall", "global/pearson", "system/pearson"])
def test_simultaneous_p_values_are_never_below_single_ones(measure: str) -> None:
    x, z = panel(3)
    made = contrasts(x, z, measure)
    single = difference_tests(x, z, [measure])
    np.testing.assert_array_equal(made.tests.p, single.p)
    i, j = single.pairs.T
    together = made.pairs.p[i, j]
    assert (together >= single.p[:, 0]).all()
    assert (together > single.p[:, 0]).any()
    # Bonferroni is the most that a correction can cost, up to the error of the draws
    assert (together <= np.minimum(6 * single.p[:, 0], 1) + 0.02).all()


def test_two_metrics_need_no_correction() -> None:
    for seed in range(10):
        made = contrasts(*panel(seed, noise=(1.0, 1.4)), MEASURE)
        assert made.pairs.p[0, 1] >= made.tests.p[0, 0]  # not even by the error of the draws
        assert made.pairs.p[0, 1] == pytest.approx(made.tests.p[0, 0], abs=0.02)


def test_gaps_are_those_of_the_outputs_that_both_metrics_scored() -> None:
    x, z = panel(5, gaps=0.3)
    made, single = contrasts(x, z, MEASURE), difference_tests(x, z, [MEASURE])
    for (i, j), gap in zip(single.pairs, single.difference[:, 0], strict=True):
        assert made.pairs.gap[i, j] == -made.pairs.gap[j, i] == gap
    assert made.value == pytest.approx(intervals(x, z, [MEASURE]).value[:, 0])


def test_the_order_of_metrics_systems_and_inputs_changes_nothing() -> None:
    x, z = panel(6, noise=(0.8, 1.2, 1.3, 2.0, 3.0))
    made = contrasts(x, z, MEASURE)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(x))
    other = contrasts(x[order], z, MEASURE)
    assert (other.may_be_best == made.may_be_best[order]).all()
    assert (np.array(other.pairs.ranks) == np.array(made.pairs.ranks)[:, order]).all()
    np.testing.assert_allclose(other.pairs.p, made.pairs.p[np.ix_(order, order)], atol=1e-12)
    assert other.marginal_level == pytest.approx(made.marginal_level)
    rows, columns = rng.permutation(z.shape[0]), rng.permutation(z.shape[1])
    other = contrasts(x[:, rows][:, :, columns], z[rows][:, columns], MEASURE)
    assert (other.may_be_best == made.may_be_best).all()
    np.testing.assert_allclose(other.tests.p, made.tests.p, atol=1e-12)
    # units are drawn by their place, so corrected p-values move within the error of 8192 draws; panels are sorted first
    np.testing.assert_allclose(other.pairs.p, made.pairs.p, atol=0.025)
    assert other.marginal_level == pytest.approx(made.marginal_level, abs=0.004)


def test_a_copy_of_a_metric_is_as_good_and_changes_nothing_for_the_others() -> None:
    x, z = panel(7)
    made, twice = contrasts(x, z, MEASURE), contrasts(np.concatenate([x, x[:1]]), z, MEASURE)
    assert twice.pairs.p[0, 4] == 1.0
    np.testing.assert_allclose(twice.pairs.p[:4, :4], made.pairs.p, atol=1e-12)
    assert twice.marginal_level == pytest.approx(made.marginal_level)
    assert twice.may_be_best[0] == twice.may_be_best[4]


def test_a_constant_or_an_empty_metric_does_not_widen_the_intervals_of_others() -> None:
    x, z = panel(8)
    level = contrasts(x, z, MEASURE).marginal_level
    for useless in (np.full_like(z, 0.1), np.full_like(z, np.nan)):
        more = contrasts(np.concatenate([x, useless[None]]), z, MEASURE)
        assert more.marginal_level == pytest.approx(level)
        assert not more.may_be_best[-1]


def test_without_a_test_no_metric_is_better_than_another() -> None:
    made = contrasts(*panel(9, noise=(0.1, 5.0), inputs=6), MEASURE)
    assert np.isnan(made.tests.p).all()
    assert made.may_be_best.all()
    assert np.isnan(made.pairs.p).all()


def test_metrics_that_err_together_pay_less_than_independent_ones() -> None:
    rng = np.random.default_rng(10)
    alone = rng.normal(size=(6, 40))
    alike = alone[:1] + 0.1 * rng.normal(size=(6, 40))
    assert 0.95 <= simultaneous_level(alike) < simultaneous_level(alone) <= 1 - 0.05 / 6 + 0.003
    assert simultaneous_level(alone[:1]) == 0.95
    # 6 independent values: the largest of 15 differences follows the studentized range
    critical = np.quantile(largest_differences(np.eye(6)), 0.95)
    assert critical == pytest.approx(stats.studentized_range.ppf(0.95, 6, np.inf) / np.sqrt(2), abs=0.05)


def test_the_swap_test_depends_on_its_seed_and_on_nothing_else() -> None:
    x, z = panel(11)
    first, again, other = (contrasts(x, z, "system/kendall", swaps=Swaps(99, seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.tests.p, again.tests.p)
    assert (first.tests.p != other.tests.p).any()
    assert first.tests.draws == 99


def rounded_is_better(measure: str, trials: int) -> int:
    """In how many data sets a metric, rounded to half standard deviations, is significantly better than itself."""
    count = 0
    for seed in range(trials):
        x, z = panel(5000 + seed, noise=(1.0,), systems=8, inputs=40)
        test = difference_tests(np.concatenate([x, np.round(2 * x) / 2]), z, [measure])
        count += bool(test.p[0, 0] < 0.05 and test.difference[0, 0] < 0)
    return count


def test_a_rounded_copy_is_not_significantly_better_than_its_original() -> None:
    """Rounding can only lose information. Kendall's tau-b rewards the ties that it makes; pairwise accuracy does not."""
    limit = stats.binom.ppf(0.999, 200, 0.025)
    assert rounded_is_better(MEASURE, 200) <= limit
    assert rounded_is_better("input/kendall", 200) > limit


def test_an_error_that_contradicts_its_p_value_gives_way_to_the_one_that_agrees() -> None:
    surprise = stats.norm.isf(0.0005)
    gap, p = np.full(5, -0.4), np.array([0.001, 0.001, 0.001, np.nan, 1.0])
    error = _testable(np.array([0.1, 0.0, 0.3, 0.1, 0.1]), gap, p, reach=2.5)
    np.testing.assert_allclose(error, [0.1, 0.4 / surprise, 0.4 / surprise, np.inf, np.inf])
