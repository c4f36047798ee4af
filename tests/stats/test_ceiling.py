"""The human ceiling: against the reliability that the ratings were made with."""

from __future__ import annotations

import numpy as np
import pytest
from bench._coverage_ceiling import World, simulate
from scipy.stats import binom, pearsonr

from nlgauge.errors import DataError
from nlgauge.stats.agreement.ceiling import ceilings, leave_one_out, split_half
from nlgauge.stats.agreement.icc import icc
from nlgauge.stats.correlation.measure import Measure, evaluate

GLOBAL = Measure("global", "pearson")
ALL = tuple(Measure(g, c) for g in ("global", "input", "item", "system") for c in ("pearson", "spearman", "kendall"))


def _ratings(seed: int, raters: int, shape: tuple[int, int] = (20, 200), noise: float = 1.0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=shape)
    return truth, truth + noise * rng.normal(size=(raters, *shape))


@pytest.mark.parametrize("raters", [2, 3, 4, 5])
def test_both_halves_have_as_many_raters_even_if_the_number_is_odd(raters):
    _, ratings = _ratings(0, raters)
    found = split_half(ratings, [GLOBAL], np.random.default_rng(1), splits=10)
    half = raters // 2
    assert found.half[0] == pytest.approx(
        half / (half + 1.0), abs=0.02
    )  # variance 1 of truth against 1 / half of noise
    assert found.half_raters == half


@pytest.mark.parametrize("persons", [False, True])
def test_the_ceiling_of_pearson_is_the_root_of_the_reliability_of_the_mean(persons):
    _, ratings = _ratings(3, 4)
    found = ceilings(ratings, [GLOBAL], np.random.default_rng(0), persons=persons)
    assert found.ceiling[0] == pytest.approx(np.sqrt(icc(ratings)["ICC(k)"].value), abs=0.01)


def test_a_metric_that_is_the_truth_sits_at_the_ceiling_of_every_measure():
    truth, ratings = _ratings(1, 3)
    ratings = np.clip(np.round(ratings), -2, 2)  # people rate on a scale
    found = ceilings(ratings, ALL, np.random.default_rng(0))
    value = evaluate(truth[None], ratings.mean(axis=0), ALL).value[0]
    plain = [j for j, m in enumerate(ALL) if m.grouping != "system"]
    assert found.ceiling[plain] == pytest.approx(value[plain], abs=0.02)
    assert (found.low <= value).all() and (value <= found.high).all()


def test_few_systems_lower_the_ceiling_of_ranks_as_they_lower_what_the_truth_reaches():
    """5 systems × 60 inputs, scale of 5: Spearman and Brown's formula said .84 where the true score reaches .78."""
    rows = {r["measure"]: r for r in simulate(World(5, 60), runs=12, draws=100)}
    for name in ("input/spearman", "input/kendall", "item/spearman", "global/kendall"):
        assert rows[name]["ceiling"] == pytest.approx(rows[name]["true"], abs=0.02), name
    assert rows["input/spearman"]["Spearman-Brown"] > rows["input/spearman"]["true"] + 0.03


def test_intervals_of_the_ceiling_hold_the_truth_in_about_19_of_20_data_sets():
    runs = 60
    for world in (World(6, 20), World(5, 30, raters=5, severity=0.7, favour=0.3), World(1, 60)):
        for row in simulate(world, runs=runs, draws=100):
            least = binom.ppf(0.001 / 12, runs, 0.93) / runs
            assert row["coverage"] >= least, (world, row)


def test_a_rater_who_is_severe_everywhere_costs_nothing():
    truth, ratings = _ratings(2, 3)
    severe = ratings + np.array([1.0, 0.0, -1.0])[:, None, None]
    known = ceilings(severe, [GLOBAL], np.random.default_rng(0), persons=True).ceiling[0]
    assert known == pytest.approx(evaluate(truth[None], severe.mean(axis=0), [GLOBAL]).value[0, 0], abs=0.01)
    assert ceilings(severe, [GLOBAL], np.random.default_rng(0), persons=False).ceiling[0] < known - 0.05


def test_outputs_with_one_rating_count_as_noisier_and_missing_ones_not_at_all():
    truth, ratings = _ratings(9, 4, shape=(8, 120))
    ratings[1:, :, :60] = np.nan
    ratings[:, 3, 100:] = np.nan
    found = ceilings(ratings, [GLOBAL], np.random.default_rng(0))
    mean = np.nanmean(np.where(np.isnan(ratings).all(axis=0), 0.0, ratings), axis=0)
    mean[np.isnan(ratings).all(axis=0)] = np.nan
    assert found.ceiling[0] == pytest.approx(evaluate(truth[None], mean, [GLOBAL]).value[0, 0], abs=0.03)


def test_cells_with_one_rating_are_dropped():
    _, ratings = _ratings(5, 3, shape=(6, 50))
    ratings[1:, :2, :10] = np.nan
    found = split_half(ratings, [GLOBAL], np.random.default_rng(0), splits=3)
    assert (found.raters, found.half_raters) == (3, 1)


def test_raters_of_pure_noise_have_no_ceiling_and_say_so():
    ratings = np.random.default_rng(0).normal(size=(3, 5, 40))
    found = ceilings(ratings, [GLOBAL], np.random.default_rng(0))
    assert np.isnan(found.ceiling[0])
    assert "agree no better than by chance" in found.reasons[0]
    alone = np.full((2, 5, 40), np.nan)
    alone[0] = ratings[0]
    assert np.isnan(ceilings(alone, [GLOBAL], np.random.default_rng(0)).ceiling[0])


def test_the_same_seed_repeats_the_ceiling():
    _, ratings = _ratings(6, 3, shape=(5, 20))
    first, again = (ceilings(ratings, ALL, np.random.default_rng(2), draws=20) for _ in range(2))
    assert np.array_equal(first.ceiling, again.ceiling, equal_nan=True)


def test_leave_one_out_compares_rater_and_metric_with_the_same_others_on_the_same_cells():
    truth, ratings = _ratings(7, 3, shape=(5, 30))
    ratings[0, :, :8] = np.nan
    found = leave_one_out(ratings, truth[None], [GLOBAL])
    others = ratings[1:].mean(axis=0)[:, 8:].ravel()
    assert found.raters[0, 0] == pytest.approx(pearsonr(ratings[0, :, 8:].ravel(), others).statistic)
    assert found.metrics[0, 0, 0] == pytest.approx(pearsonr(truth[:, 8:].ravel(), others).statistic)


def test_the_truth_is_closer_to_all_raters_than_they_are_to_each_other_and_noise_to_none():
    truth, ratings = _ratings(8, 4)
    metrics = np.stack([truth, np.random.default_rng(0).normal(size=truth.shape)])
    assert leave_one_out(ratings, metrics, [GLOBAL]).closer.tolist() == [[1.0], [0.0]]


def test_a_single_rater_is_refused():
    with pytest.raises(DataError, match="two raters"):
        split_half(np.ones((1, 3, 4)), [GLOBAL], np.random.default_rng(0))
