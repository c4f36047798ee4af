from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.stats.correlation import tie_calibration as calibration
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.tie_calibration import calibrate


def brute_force(x, z):
    """Best mean accuracy over groups and the smallest ε that reaches it: try every observed difference and 0."""
    pairs = []
    for metric, people in zip(x, z, strict=True):
        there = np.isfinite(metric) & np.isfinite(people)
        a, b = metric[there], people[there]
        i, j = np.triu_indices(len(a), 1)
        if len(i):
            pairs.append((np.abs(a[i] - a[j]), np.sign(a[i] - a[j]), np.sign(b[i] - b[j])))
    best, best_epsilon = -1.0, math.nan
    for epsilon in np.unique(np.concatenate([[0.0], *(d for d, _, _ in pairs)])):
        value = np.mean([np.mean(np.where(d <= epsilon, 0, a) == b) for d, a, b in pairs])
        if value > best + 1e-13:
            best, best_epsilon = value, epsilon
    return best, best_epsilon


def random_groups(seed, groups, size, digits):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1, groups, size))
    z = np.round(rng.choice([0.0, 0.5, 1.0]) * x + rng.normal(size=x.shape), rng.integers(0, 2))
    x = np.round(x, digits)
    x[rng.random(x.shape) < rng.choice([0, 0.2])] = np.nan  # so that groups weigh differently
    x[0, 0, :2] = 0.3
    return x, z


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(2, 9), st.integers(0, 16))
def test_value_and_smallest_epsilon_equal_brute_force(seed, groups, size, digits):
    x, z = random_groups(seed, groups, size, digits)
    found = calibrate(x, z)
    best, epsilon = brute_force(x[0], z[0])
    assert np.nanmean(found.accuracy) == pytest.approx(best, abs=1e-12)
    assert found.epsilon[0] == epsilon


@pytest.mark.parametrize("bits", [1, 3, 6])
@pytest.mark.parametrize("sortable", [1, 10])
def test_refining_buckets_finds_the_same_as_sorting(monkeypatch, bits, sortable):
    for seed in range(60):
        x, z = random_groups(seed, groups=1 + seed % 4, size=14, digits=seed % 5)
        expected = calibrate(x, z)
        with monkeypatch.context() as m:
            m.setattr(calibration, "BUCKET_BITS", bits)
            m.setattr(calibration, "SORTABLE", sortable)
            found = calibrate(x, z)
        assert found.epsilon[0] == expected.epsilon[0]
        np.testing.assert_array_equal(found.accuracy, expected.accuracy)


@pytest.mark.parametrize(("levels", "correlation"), [(3, 0.5), (13, 0.5), (3, 0.0)])
def test_a_hundred_thousand_pairs_equal_a_sorted_sweep(levels, correlation):
    rng = np.random.default_rng(levels)
    z = rng.normal(size=500)
    x = correlation * z + rng.normal(size=500)
    z = np.round(z * levels / 4)
    i, j = np.triu_indices(500, 1)
    order = np.argsort(np.abs(x[i] - x[j]))
    tied, right = (z[i] == z[j])[order], (np.sign(x[i] - x[j]) == np.sign(z[i] - z[j]))[order]
    sweep = right.sum() + np.concatenate([[0], np.cumsum(tied.astype(int) - right)])
    assert calibrate(x[None, None], z[None, None]).accuracy[0, 0] == sweep.max() / len(i)


def test_too_many_group_sizes_for_exact_weights_still_give_the_best_value():
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(1, 60, 120)), rng.integers(0, 3, (1, 60, 120)).astype(float)
    for g in range(60):
        x[0, g, 61 + g :] = np.nan
    assert math.lcm(*(n * (n - 1) // 2 for n in range(61, 121))) > 2**61
    found = calibrate(x, z)
    sides = [(a[np.isfinite(a)], b[np.isfinite(a)]) for a, b in zip(x[0], z[0], strict=True)]
    differences = [np.abs(a[:, None] - a)[np.triu_indices(len(a), 1)] for a, _ in sides]
    some = np.random.default_rng(0).choice(np.concatenate(differences), 200)
    for epsilon in [0.0, found.epsilon[0], *some]:
        values = []
        for a, b in sides:
            i, j = np.triu_indices(len(a), 1)
            metric = np.where(np.abs(a[i] - a[j]) <= epsilon, 0, np.sign(a[i] - a[j]))
            values.append(np.mean(metric == np.sign(b[i] - b[j])))
        assert np.mean(values) <= found.accuracy.mean() + 1e-12
        if epsilon == found.epsilon[0]:
            assert np.mean(values) == pytest.approx(found.accuracy.mean(), abs=1e-12)


@pytest.mark.parametrize("grouping", ["global", "input", "item", "system"])
def test_calibration_never_lowers_accuracy_and_tau_23_follows(grouping):
    rng = np.random.default_rng(2)
    z = rng.integers(1, 4, (6, 12)).astype(float)
    x = z + rng.normal(size=z.shape)
    plain = Measure(grouping, "acc-eq")(x, z).value
    calibrated = Measure(grouping, "acc-eq-calibrated")(x, z).value
    assert calibrated >= plain
    assert Measure(grouping, "tau-23-calibrated")(x, z).value == pytest.approx(2 * calibrated - 1, abs=1e-12)


def test_groups_without_a_pair_have_no_accuracy():
    found = calibrate(np.array([[[1.0, np.nan]]]), np.array([[[1.0, 2.0]]]))
    assert np.isnan(found.accuracy).all()
    assert found.epsilon[0] == 0
