"""The human ceiling: against the reliability that the ratings were made with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from nlgauge.errors import DataError
from nlgauge.stats.ceiling import leave_one_out, share_of_ceiling, split_half
from nlgauge.stats.icc import icc
from nlgauge.stats.measure import Measure, evaluate

GLOBAL = Measure("global", "pearson")
ALL = tuple(
    Measure(g, c) for g in ("global", "input", "item", "system") for c in ("pearson", "spearman", "kendall")
)


def _ratings(seed: int, raters: int, shape: tuple[int, int] = (20, 200), noise: float = 1.0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=shape)
    return truth, truth + noise * rng.normal(size=(raters, *shape))


@pytest.mark.parametrize("raters", [2, 3, 4, 5])
@pytest.mark.parametrize("by", ["cell", "rater"])
def test_reliability_is_that_of_the_mean_of_all_raters_even_if_odd(raters, by):
    _, ratings = _ratings(0, raters)
    found = split_half(ratings, [GLOBAL], np.random.default_rng(1), splits=10, by=by)
    true = raters / (raters + 1.0)  # variance 1 of truth against 1 / raters of noise
    assert found.reliability[0] == pytest.approx(true, abs=0.02)
    assert found.half_raters == raters // 2


def test_split_half_reliability_agrees_with_icc_of_the_mean():
    _, ratings = _ratings(3, 4)
    found = split_half(ratings, [GLOBAL], np.random.default_rng(0), splits=50)
    assert found.reliability[0] == pytest.approx(icc(ratings)["ICC(k)"].value, abs=0.01)


def test_a_metric_that_is_the_truth_sits_at_the_ceiling_of_every_pearson_measure():
    truth, ratings = _ratings(1, 3)
    measures = [Measure(g, "pearson") for g in ("global", "input", "item", "system")]
    found = split_half(ratings, measures, np.random.default_rng(0), splits=40)
    value = evaluate(truth[None], ratings.mean(axis=0), measures).value
    assert share_of_ceiling(value, found)[0] == pytest.approx(np.ones(4), abs=0.05)


def test_kendall_has_halves_but_no_ceiling_and_says_why():
    _, ratings = _ratings(2, 4, shape=(12, 40))
    ratings = ratings + 0.1 * np.arange(12)[:, None]
    found = split_half(ratings, ALL, np.random.default_rng(0), splits=5)
    for j, measure in enumerate(ALL):
        assert np.isfinite(found.half[j])
        if measure.coefficient == "kendall":
            assert np.isnan(found.ceiling[j])
            assert "does not apply" in found.reasons[j]
        else:
            assert found.half[j] < found.reliability[j] < found.ceiling[j] < 1.0
    assert "approximation" in found.reasons[ALL.index(Measure("input", "spearman"))]


def test_halves_of_two_raters_are_the_two_raters():
    _, ratings = _ratings(4, 2, shape=(5, 30))
    found = split_half(
        ratings, [Measure("global", "kendall")], np.random.default_rng(0), splits=3, by="rater"
    )
    assert found.half[0] == pytest.approx(kendalltau(ratings[0].ravel(), ratings[1].ravel()).statistic)


def test_cells_with_one_rating_are_dropped_and_counted():
    _, ratings = _ratings(5, 3, shape=(6, 50))
    ratings[1:, :2, :10] = np.nan
    found = split_half(ratings, [GLOBAL], np.random.default_rng(0), splits=3)
    assert (found.cells, found.dropped_cells) == (280, 20)


def test_raters_of_pure_noise_have_no_ceiling_and_say_so():
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=(2, 5, 40))
    ratings[1] = -ratings[0]
    found = split_half(ratings, [GLOBAL], np.random.default_rng(0), splits=3)
    assert found.half[0] == pytest.approx(-1.0)
    assert np.isnan(found.ceiling[0])
    assert "do not agree" in found.reasons[0]


def test_the_same_seed_repeats_the_ceiling():
    _, ratings = _ratings(6, 3, shape=(5, 20))
    first, again = (split_half(ratings, ALL, np.random.default_rng(2), splits=4) for _ in range(2))
    assert np.array_equal(first.half, again.half)


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
