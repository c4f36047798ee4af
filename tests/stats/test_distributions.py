"""Divergences equal scipy's, reliability pingouin's and statsmodels', and totals those of the definition."""

import numpy as np
import pingouin
import polars as pl
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import pearsonr, ttest_1samp, wasserstein_distance
from statsmodels.multivariate.factor import Factor

from nlgauge.analyses.verdicts.rubric import correlation_interval
from nlgauge.stats.agreement.distributions import clustered_mean, divergences, face_others
from nlgauge.stats.estimation.rubric_totals import best_items, cronbach_alpha, mcdonald_omega, one_factor, rubric_totals


@pytest.mark.parametrize("seed", range(5))
def test_divergences_equal_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    counts = rng.integers(0, 6, k) + (np.arange(k) == 0)
    share = counts / counts.sum()
    for value in range(k):
        point = (np.arange(k) == value) * 1.0
        assert divergences(counts * 1.0, "jensen_shannon")[value] == pytest.approx(jensenshannon(share, point, 2) ** 2)
        moved = wasserstein_distance(np.arange(k), np.arange(k), share, point) / (k - 1)
        assert divergences(counts * 1.0, "earth_mover")[value] == pytest.approx(moved)
        smooth = (counts + 0.5) / (counts.sum() + 0.5 * k)
        assert divergences(counts * 1.0, "cross_entropy")[value] == pytest.approx(-np.log2(smooth[value]))


def test_a_judge_that_copies_one_annotator_faces_the_same_others():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (4, 50)).astype(float)
    faced = face_others(codes, codes[0], 3, "jensen_shannon")
    alone = []
    for unit in range(50):
        each = [
            divergences(np.bincount(np.delete(codes[:, unit], r).astype(int), minlength=3) * 1.0, "jensen_shannon")
            for r in range(4)
        ]
        alone.append(np.mean([each[r][int(codes[r, unit])] for r in range(4)]))
    assert faced.annotator == pytest.approx(np.array(alone))


def test_the_interval_of_a_mean_is_students_where_every_output_stands_alone():
    values = np.random.default_rng(1).normal(0.3, 1, 40)
    found, known = clustered_mean(values), ttest_1samp(values, 0)
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval()))
    assert found.p == pytest.approx(known.pvalue)
    assert "needs 10" in clustered_mean(values, np.arange(40) // 5).reason


def test_alpha_equals_pingouin_and_omega_rests_on_the_loadings_of_statsmodels():
    rng = np.random.default_rng(2)
    trait = rng.normal(size=200)
    scores = (trait[:, None] * np.array([1.0, 0.8, 0.6, 0.9, 0.4]) + rng.normal(size=(200, 5))) * [1, 2, 1, 3, 1]
    table = pl.DataFrame(scores, schema=list("abcde")).to_pandas()
    assert cronbach_alpha(scores) == pytest.approx(pingouin.cronbach_alpha(table)[0])
    related = np.corrcoef(scores.T)
    known = Factor(corr=related, n_factor=1, method="pa").fit(maxiter=500, tol=1e-10).loadings[:, 0]
    assert np.abs(one_factor(related)) == pytest.approx(np.abs(known), abs=1e-4)
    omega = (np.abs(known) * scores.std(axis=0, ddof=1)).sum() ** 2 / scores.sum(axis=1).var(ddof=1)
    assert mcdonald_omega(scores) == pytest.approx(omega, abs=1e-4)


def test_totals_follow_the_definition_and_the_first_item_is_the_most_telling():
    met, points = np.array([1.0, 0, 1, 1, np.nan]), np.array([5.0, 5, 4, -2, 3])
    found = rubric_totals(met, points, np.array([0, 0, 1, 1, 2]))
    assert found[:2].tolist() == [0.5, 0.5] and np.isnan(found[2])
    rng = np.random.default_rng(3)
    items = (rng.random((80, 3)) < 0.5) * 1.0
    assert best_items(items, np.array([1.0, 10.0, 2.0]), 3)[0] == 1
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    found = correlation_interval(x, y, np.arange(50))
    low, high = pearsonr(x, y).confidence_interval()
    assert found.value == pytest.approx(pearsonr(x, y).statistic)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.1)
