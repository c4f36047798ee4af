"""Discriminative power and ranking consistency, against the paper's algorithms written out plainly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau
from twins import TWELVE, correlate, panel

from nlgauge.errors import DataError
from nlgauge.stats.draws import halves
from nlgauge.stats.permutation import permutation_pairs
from nlgauge.stats.stability import (
    discriminative_power,
    discriminative_power_interval,
    p_value_curve,
    ranking_consistency,
)


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


def test_the_interval_of_discriminative_power_resamples_metrics_and_is_wider_than_resampling_pairs():
    rng = np.random.default_rng(1)
    level = np.linspace(0.1, 1, 10)  # rising, so that the order by content is the order given
    pairs = np.array([(i, j) for i in range(10) for j in range(i + 1, 10)])
    p = np.clip(np.array([level[i] * level[j] for i, j in pairs]) + rng.normal(0, 1e-4, 45), 0, 1)
    low, high = discriminative_power_interval(p, seed=3)
    assert low < discriminative_power(p) < high
    by_pairs = [p[rng.integers(0, 45, 45)].mean() for _ in range(1000)]
    assert high - low > 1.3 * np.diff(np.percentile(by_pairs, [2.5, 97.5]))
    named = discriminative_power_interval(np.stack([p, p], axis=1), pairs, seed=3)
    np.testing.assert_allclose(named.low, [low, low])
    twin = np.random.default_rng(np.random.SeedSequence(3))
    drawn = []
    for _ in range(1000):
        sample = twin.integers(0, 10, 10)
        drawn.append(
            np.mean(
                [
                    level_p
                    for a in range(10)
                    for b in range(a)
                    if (level_p := _p(p, pairs, sample[a], sample[b])) is not None
                ]
            )
        )
    np.testing.assert_allclose([low, high], np.percentile(drawn, [2.5, 97.5]), atol=1e-12)
    with pytest.raises(DataError, match="give `pairs`"):
        discriminative_power_interval(np.ones(5))


def _p(p, pairs, i, j):
    if i == j:
        return None
    return p[np.flatnonzero((pairs == sorted((i, j))).all(axis=1))[0]]


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
    one = ranking_consistency(x, z, TWELVE, trials=150, seed=1, threads=1)
    two = ranking_consistency(x, z, TWELVE, trials=150, seed=1, threads=2)
    np.testing.assert_array_equal(one.trials, two.trials)
    mean, spread = one.interval(), one.spread()
    assert (mean.low < one.value).all() and (one.value < mean.high).all()
    assert (spread.high - spread.low > mean.high - mean.low).all()
    half_width = 1.96 * one.trials.std(axis=1) / np.sqrt(150)
    np.testing.assert_allclose(mean.high - one.value, half_width, rtol=0.2)


def test_a_metric_without_a_value_on_a_half_is_left_out_of_that_trial():
    rng = np.random.default_rng(4)
    x, z = panel(rng, systems=4, inputs=6, metrics=4, levels=5)
    with_constant = np.concatenate([x, np.ones((1, 4, 6))])
    alone = ranking_consistency(x, z, TWELVE, trials=20)
    np.testing.assert_allclose(ranking_consistency(with_constant, z, TWELVE, trials=20).trials, alone.trials)
    with pytest.raises(DataError, match="at least 2 metrics"):
        ranking_consistency(x[:1], z, TWELVE)
