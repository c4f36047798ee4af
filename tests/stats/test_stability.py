"""Discriminative power and ranking consistency, against the paper's algorithms written out plainly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench._coverage_stability import simulate
from scipy.stats import binom, kendalltau
from scipy.stats import t as student
from twins import TWELVE, correlate, panel

from nlgauge.engines import Local, using
from nlgauge.errors import DataError
from nlgauge.stats.correlation.profiles import profile_of
from nlgauge.stats.design import stability
from nlgauge.stats.design.stability import (
    advise,
    discriminative_power,
    over_metrics,
    p_value_curve,
    pairs_to_test,
    ranking_consistency,
)
from nlgauge.stats.resampling.draws import halves
from nlgauge.stats.tests.permutation import permutation_of_pairs, permutation_pairs


def test_discriminative_power_is_the_mean_p_value_and_the_area_under_its_curve():
    rng = np.random.default_rng(0)
    x, z = panel(rng, systems=5, inputs=12, metrics=4, levels=5)
    p = permutation_pairs(x, z, TWELVE, draws=200).p
    v = np.zeros(12)
    at = 0
    for i in range(3):  # Algorithm 2
        for _ in range(i + 1, 4):
            v += p[at]
            at += 1
    np.testing.assert_allclose(discriminative_power(p), v / 6)
    curve = p_value_curve(p)
    assert (np.diff(curve, axis=0) <= 0).all()
    np.testing.assert_allclose(curve.mean(axis=0), discriminative_power(p))
    p[2, 3] = np.nan
    assert discriminative_power(p)[3] == pytest.approx(np.delete(p[:, 3], 2).mean())
    assert np.isnan(discriminative_power(np.full((3, 1), np.nan)))


def test_many_metrics_are_compared_in_parts_with_the_same_result(monkeypatch):
    rng = np.random.default_rng(4)
    x, z = panel(rng, systems=5, inputs=14, metrics=6, levels=4)
    whole = ranking_consistency(x, z, TWELVE, trials=40)
    monkeypatch.setattr(stability, "CHUNK", 100)
    parts = ranking_consistency(x, z, TWELVE, trials=40)
    np.testing.assert_array_equal(parts.trials, whole.trials)
    np.testing.assert_allclose(parts.by_pair, whole.by_pair, rtol=1e-13, atol=1e-15)


def test_of_very_many_pairs_a_random_part_is_tested(monkeypatch):
    monkeypatch.setattr(stability, "MAX_PAIRS", 7)
    some = pairs_to_test(6, seed=1)
    assert len({tuple(pair) for pair in some}) == 7 and (some[:, 0] < some[:, 1]).all()
    assert not np.array_equal(some, pairs_to_test(6, seed=2))
    x, z = panel(np.random.default_rng(5), systems=5, inputs=14, metrics=6, levels=4)
    every = permutation_pairs(x, z, TWELVE, draws=60)
    part = permutation_of_pairs(x, z, TWELVE, some, replace(profile_of("nlgauge"), draws=60))
    rows = [np.flatnonzero((every.pairs == pair).all(axis=1))[0] for pair in some]
    np.testing.assert_array_equal(part.p, every.p[rows])


def test_intervals_leave_out_metrics_and_are_wider_than_pairs_would_make_them():
    rng = np.random.default_rng(1)
    level = np.linspace(0.1, 1, 10)
    pairs = np.array([(i, j) for i in range(10) for j in range(i + 1, 10)])
    p = np.clip(np.array([level[i] * level[j] for i, j in pairs]) + rng.normal(0, 1e-4, 45), 0, 1)
    low, high = over_metrics(p)
    assert low < discriminative_power(p) < high
    by_pairs = [p[rng.integers(0, 45, 45)].mean() for _ in range(1000)]
    assert high - low > 1.3 * np.diff(np.percentile(by_pairs, [2.5, 97.5]))
    left = np.array([p[(pairs != k).all(axis=1)].mean() for k in range(10)])  # the textbook's jackknife
    half = student.ppf(0.975, 9) * np.sqrt(0.9 * ((left - left.mean()) ** 2).sum())
    np.testing.assert_allclose([low, high], [p.mean() - half, p.mean() + half], atol=1e-12)
    order = rng.permutation(45)
    named = over_metrics(np.stack([p, p], axis=1)[order], pairs[order])
    np.testing.assert_allclose(named.low, [low, low])
    gone = np.where((pairs == 3).any(axis=1), np.nan, p)  # a metric without a value counts nowhere
    np.testing.assert_allclose(over_metrics(gone), over_metrics(p[(pairs != 3).all(axis=1)]))
    with pytest.raises(DataError, match="give `pairs`"):
        over_metrics(np.ones(5))


def test_ranking_consistency_equals_algorithm_3_with_scipy():
    rng = np.random.default_rng(2)
    for trouble in ({"levels": 5}, {"levels": 4, "discrete": 5, "missing": 0.1}):
        x, z = panel(rng, systems=5, inputs=11, metrics=4, **trouble)
        x = np.concatenate([x, 2 * x[:1] + 1])  # a copy on another scale: tied with the first in both halves
        found = ranking_consistency(x, z, TWELVE, trials=5, seed=4)
        for trial, first in enumerate(halves(11, 5, 4).astype(bool)):
            assert first.sum() == 5
            for i, measure in enumerate(TWELVE):
                r = [[correlate(m[:, half], z[:, half], measure) for m in x] for half in (first, ~first)]
                assert found.trials[i, trial] == pytest.approx(kendalltau(*np.round(r, 10))[0], abs=1e-10)
        np.testing.assert_allclose(found.value, found.trials.mean(axis=1))


def test_ranking_consistency_is_the_same_on_any_number_of_threads_and_has_intervals():
    rng = np.random.default_rng(3)
    x, z = panel(rng, systems=6, inputs=20, metrics=6, levels=5)
    with using(Local(threads=1)):
        one = ranking_consistency(x, z, TWELVE, trials=150, seed=1)
    with using(Local(threads=2)):
        two = ranking_consistency(x, z, TWELVE, trials=150, seed=1)
    np.testing.assert_array_equal(one.trials, two.trials)
    ends = one.interval()
    assert (ends.low < one.value).all() and (one.value < ends.high).all()
    np.testing.assert_allclose(one.by_pair.mean(axis=0), one.value)


def test_intervals_of_consistency_do_not_shrink_with_the_number_of_splits():
    x, z = panel(np.random.default_rng(3), systems=6, inputs=20, metrics=8, levels=5)
    few, many = (ranking_consistency(x, z, TWELVE, trials=t, seed=1).interval() for t in (50, 1000))
    ratio = (many.high - many.low) / (few.high - few.low)
    assert ((ratio > 0.7) & (ratio < 1.4)).all(), ratio  # the mean of splits would give about .22


def test_consistency_over_systems_splits_the_systems():
    x, z = panel(np.random.default_rng(5), systems=9, inputs=12, metrics=4, levels=5)
    found = ranking_consistency(x, z, ["global/pearson"], over="systems", trials=6, seed=2)
    turned = ranking_consistency(x.transpose(0, 2, 1), z.T, ["global/pearson"], trials=6, seed=2)
    np.testing.assert_allclose(found.trials, turned.trials)
    assert "halves of the systems" in found.method


def _told(strengths, runs=12, **sizes):
    return simulate(strengths=strengths, runs=runs, draws=39, trials=30, **sizes)


def test_equal_metrics_single_out_no_measure_and_call_few_steady():
    """Every order of them is chance: an advice may come in a twentieth of data sets at most."""
    found = [_told([0.7] * 8, systems=n, inputs=m) for n, m in ((8, 20), (12, 40))]
    most = binom.ppf(1 - 0.001, 12, 0.06) / 12
    assert all(f["one trusted"] <= most and f["some steady"] <= most for f in found), found


def test_metrics_that_differ_much_have_steady_measures():
    assert _told(np.linspace(0.1, 0.98, 8).tolist(), systems=14, inputs=80, runs=5)["some steady"] >= 0.8


def test_advice_needs_both_dp_and_rc_and_enough_metrics():
    i, k = np.triu_indices(8, 1)
    pairs, rng = np.stack([i, k], axis=1), np.random.default_rng(0)
    near = lambda *means: np.array(means) + rng.normal(0, 0.005, (28, len(means)))  # noqa: E731
    good, bad = near(0.01, 0.2, 0.2), near(0.95, 0.5, 0.5)
    assert advise(good, pairs, [bad], [0, 1, 2]).one
    assert advise(good, pairs, [near(0.95, 0.95, 0.5)], [0, 1, 2]).alike == (0, 1)  # alike in RC
    assert advise(near(0.01, 0.01, 0.2), pairs, [bad], [0, 1, 2]).alike == (0, 1)  # alike in DP
    few = (pairs < 5).all(axis=1)
    assert advise(good[few], pairs[few], [bad[few]], [0, 1, 2]).alike == (0, 1, 2)  # five metrics
    assert advise(good, pairs, [near(-0.02, -0.1, -0.2)], [0, 1, 2]).steady == ()  # RC below 0: nothing is steady
    assert advise(good + 0.3, pairs, [bad], [0, 1, 2]).steady == ()  # nothing is told apart
    assert advise(good, pairs, [bad, near(-0.1, 0.5, 0.5)], [0, 1, 2]).steady == (1, 2)  # other systems turn it round


def test_a_metric_without_a_value_on_a_half_is_left_out_of_that_trial():
    rng = np.random.default_rng(4)
    x, z = panel(rng, systems=4, inputs=6, metrics=4, levels=5)
    with_constant = np.concatenate([x, np.ones((1, 4, 6))])
    alone = ranking_consistency(x, z, TWELVE, trials=20)
    np.testing.assert_allclose(ranking_consistency(with_constant, z, TWELVE, trials=20).trials, alone.trials)
    with pytest.raises(DataError, match="at least 2 metrics"):
        ranking_consistency(x[:1], z, TWELVE)
