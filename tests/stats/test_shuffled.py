"""Shuffling systems and inputs: the right statistic, exact false alarms on clustered tables, and sight of a related
metric.
"""

from __future__ import annotations

import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, spearmanr

from nlgauge.stats.tests.ks import ks_distance, ks_weighted
from nlgauge.stats.tests.row_column_permutation import (
    clustered,
    ks_shuffled,
    ks_swapped,
    order_tests,
    related_tests,
    shuffles,
)
from nlgauge.stats.tests.two_samples import choice_test

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def test_p_is_the_share_of_all_shuffles_that_reach_as_much():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(3, 4)), rng.integers(1, 4, (3, 4)).astype(float)
    seen = abs(spearmanr(x.ravel(), z.ravel()).statistic)
    all_shuffles = [
        abs(spearmanr(x.ravel(), z[list(r)][:, list(c)].ravel()).statistic)
        for r in permutations(range(3))
        for c in permutations(range(4))
    ]
    exact = np.mean(np.array(all_shuffles) >= seen - 1e-12)
    [p] = related_tests(x[None], z, ranks=True, draws=4999, seed=1)
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4999))


def test_the_distance_is_that_of_the_two_samples_and_gaps_are_left_out():
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(5, 20)), rng.integers(1, 4, (5, 20))
    x[0, 3] = np.nan
    low, high = (z == 1).astype(float), (z == 3).astype(float)
    found, p = ks_shuffled(x[None, None], low[None], high[None], draws=99)
    assert found[0] == pytest.approx(ks_distance(x[z == 1], x[z == 3]))
    assert 0 < p[0] <= 1


def test_a_related_metric_is_seen_by_every_test():
    rng = np.random.default_rng(2)
    z = rng.integers(1, 6, (6, 40)).astype(float)
    x = z + rng.normal(0, 1.5, z.shape)
    low, high = (z < 3).astype(float), (z > 3).astype(float)
    p = [
        related_tests(x[None], z, ranks=False, draws=199)[0],
        ks_shuffled(x[None, None], low[None], high[None], draws=199)[1][0],
        order_tests(x[None], z, draws=199)[0],
    ]
    assert p == [pytest.approx(1 / 200)] * 3


@pytest.mark.parametrize("seed", range(6))
def test_the_compiled_count_is_that_of_a_distance_computed_draw_by_draw(seed):
    """Gaps, ties, repeated outputs, several raters, and a number of draws that does not fill the lanes."""
    rng = np.random.default_rng(seed)
    k, raters, n, m, draws = 3, seed % 2 + 1, 4, 7, 37
    x = rng.integers(0, [3, 40][seed % 2], (k, raters, n, m)).astype(float)
    x[rng.random(x.shape) < 0.1 * (seed % 3)] = np.nan
    level = rng.integers(0, 3, (raters, n, m))
    low, high = ((level == part) * rng.integers(1, 4, level.shape) for part in (0, 1))
    flat, seen = x.reshape(k, -1), ks_weighted(x.reshape(k, -1), low.ravel(), high.ravel())

    def share(pairs):
        drawn = np.array([ks_weighted(flat, one.ravel(), two.ravel()) for one, two in pairs])
        with np.errstate(invalid="ignore"):
            return ((drawn >= seen - 1e-12).sum(axis=0) + 1) / (np.isfinite(drawn).sum(axis=0) + 1)

    [(rows, cols)] = shuffles(n, m, draws, seed, low.size)
    shuffled = [[w[:, r][:, :, c] for w in (low, high)] for r, c in zip(rows, cols, strict=True)]
    np.testing.assert_allclose(ks_shuffled(x, low, high, draws=draws, seed=seed), (seen, share(shuffled)), rtol=1e-12)

    weights, flat = (low + 1)[:, :2].astype(float), x[:, :, :2].reshape(k, -1)
    first, second = weights.copy(), weights.copy()
    first[:, 1], second[:, 0] = 0, 0
    seen = ks_weighted(flat, first.ravel(), second.ravel())
    swap = np.random.default_rng(np.random.SeedSequence(seed)).integers(0, 2, (draws, 1, 1, m)).astype(bool)
    swapped = [(np.where(s, second, first), np.where(s, first, second)) for s in swap]
    np.testing.assert_allclose(
        ks_swapped(x[:, :, :2], weights, draws=draws, seed=seed), (seen, share(swapped)), rtol=1e-12
    )


def test_nothing_is_said_of_a_constant_metric_or_an_empty_level():
    z = np.arange(12.0).reshape(3, 4)
    assert np.isnan(related_tests(np.ones((1, 3, 4)), z, ranks=True, draws=19)[0])
    found, p = ks_shuffled(z[None, None], np.zeros((1, 3, 4)), np.ones((1, 3, 4)), draws=19)
    assert np.isnan(found[0]) and np.isnan(p[0])


def test_swapping_within_inputs_sees_a_small_shift_that_inputs_hide():
    """Inputs differ far more than the systems do: only a comparison within inputs tells the systems apart."""
    rng = np.random.default_rng(3)
    hard = rng.normal(0, 10, 60)
    scores = np.stack([hard, hard + 3 + rng.normal(0, 0.1, 60)])
    found, p = ks_swapped(scores[None, None], np.ones((1, 2, 60)), draws=499)
    assert found[0] == pytest.approx(ks_distance(scores[0], scores[1]))
    assert p[0] < 0.05
    # Two systems that are the same but for noise are not told apart.
    same = np.stack([hard, hard + rng.normal(0, 0.1, 60)])
    assert ks_swapped(same[None, None], np.ones((1, 2, 60)), draws=499)[1][0] > 0.05


def test_tables_are_crossed_where_systems_share_inputs():
    full, sparse = np.ones((4, 10)), np.full((4, 10), np.nan)
    sparse[np.arange(10) % 4, np.arange(10)] = 1.0
    assert clustered(full[None], full) and clustered(full[None], sparse)
    assert not clustered(sparse[None], sparse)
    assert not clustered(full[None, :1], full[:1])


def test_choices_on_one_input_count_together():
    signs = [1] * 12 + [-1] * 4
    alone = choice_test(signs, range(16))
    assert alone == pytest.approx(2 * binom.cdf(4, 16, 0.5), rel=1e-9)
    together = choice_test(signs, [0] * 6 + [1] * 6 + [2] * 4)
    assert together > 0.2 > alone


@pytest.mark.slow
def test_an_unrelated_metric_with_system_effects_is_rarely_called_related():
    """Binomial bands around .05 (99.9 %); taking outputs as independent leaves them by far."""
    from bench.clusters import simulate

    rows = simulate(8, 50, trials=150, draws=99, seed=5)
    low, high = binom.ppf([0.0005, 0.9995], 150, 0.05) / 150
    for row in rows:
        if row["test"] == "clustered":
            assert low <= row["called"] <= high, row
        else:
            assert row["called"] > 0.2, row
