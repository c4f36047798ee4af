from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nlgauge.kernels.ordered import count_by_merging, count_by_tree
from nlgauge.kernels.panel import MANY_LEVELS
from nlgauge.stats.correlation import panel_kernels as kernels
from nlgauge.stats.correlation.panel_kernels import group_stats

COUNTS = ("concordant", "discordant", "tied_human", "tied_metric", "tied_both")


def twin_counts(x, z):
    """The specification of the pair counts in plain Python."""
    count = dict.fromkeys(COUNTS, 0)
    for i in range(len(x)):
        for j in range(i):
            if x[i] == x[j]:
                kind = "tied_both" if z[i] == z[j] else "tied_metric"
            elif z[i] == z[j]:
                kind = "tied_human"
            else:
                kind = "concordant" if (x[i] < x[j]) == (z[i] < z[j]) else "discordant"
            count[kind] += 1
    return count


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 47, 48, 49, 50, 120]), st.sampled_from([1, 2, 5, 1000]))
def test_pair_counts_equal_a_direct_count_on_both_sides_of_the_small_group_limit(seed, n, levels):
    rng = np.random.default_rng(seed)
    x, z = rng.integers(-levels, levels, (2, 1, 2, n)).astype(float)
    x[0, 1, rng.random(n) < 0.1] = np.nan
    got = group_stats(x, z)
    for g in range(2):
        there = np.isfinite(x[0, g])
        expected = twin_counts(x[0, g, there], z[0, g, there])
        assert {c: int(getattr(got, c)[0, g]) for c in COUNTS} == expected
        distinct = min(len(np.unique(x[0, g, there])), len(np.unique(z[0, g, there])))
        assert got.classes[0, g] == (distinct if there.sum() > 1 else 0)


@pytest.mark.parametrize(("levels", "many"), [(5, 2), (5, 5), (200, 10), (10**6, 10)])
def test_tree_and_merge_sort_count_the_same(levels, many):
    """The limit is compiled in, so the two counts are asked directly."""
    rng = np.random.default_rng([levels, many])
    keys = np.sort(rng.integers(0, many * 40, 400)).astype(np.uint64)
    _, level = np.unique(rng.integers(0, levels, 400), return_inverse=True)
    order, classes = np.stack([level, level]).astype(np.int32), int(level.max()) + 1
    both = memoryview(np.stack([keys, keys]))
    expected = twin_counts(keys.tolist(), level.tolist())
    by_tree = count_by_tree(both, 400, memoryview(order), classes, memoryview(np.empty(401, np.int32)))
    by_merging = count_by_merging(both, 400, memoryview(order.copy()))
    assert by_tree == (expected["concordant"], expected["tied_both"])
    assert by_merging == (expected["discordant"], expected["tied_both"])


def test_very_many_levels_equal_scipy():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 1, 1, MANY_LEVELS + 500))
    x = np.round(x, 4) + 0.01 * z
    x[..., :200] = 0.5
    got = group_stats(x, z)
    told = got.concordant + got.discordant
    tau = (got.concordant - got.discordant) / np.sqrt((told + got.tied_metric) * 1.0) / np.sqrt(told + got.tied_human)
    assert tau[0, 0] == pytest.approx(stats.kendalltau(x.ravel(), z.ravel())[0], abs=1e-12)
    assert got.spearman[0, 0] == pytest.approx(stats.spearmanr(x.ravel(), z.ravel())[0], abs=1e-12)
    assert got.pearson[0, 0] == pytest.approx(stats.pearsonr(x.ravel(), z.ravel())[0], abs=1e-12)


def test_only_what_is_asked_is_computed_and_it_does_not_depend_on_the_rest():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(3, 4, 60)), rng.integers(0, 4, (1, 4, 60)).astype(float)
    whole = group_stats(x, z)
    only_r = group_stats(x, z, spearman=False, counts=False)
    only_counts = group_stats(x, z, pearson=False, spearman=False)
    assert (only_r.pearson == whole.pearson).all()
    assert np.isnan(only_r.spearman).all()
    assert not only_r.concordant.any()
    assert np.isnan(only_counts.pearson).all()
    assert (only_counts.discordant == whole.discordant).all()


@pytest.mark.parametrize("size", [12, 90])
def test_a_metric_gets_the_same_alone_as_in_a_panel_with_gaps(size):
    rng = np.random.default_rng(size)
    x, z = rng.normal(size=(5, 7, size)).round(1), rng.normal(size=(1, 7, size)).round()
    x[rng.random(x.shape) < 0.1] = np.nan
    x[2] = 0.5
    z[0, :, 0] = np.nan
    panel = group_stats(x, z)
    repeated = group_stats(x, np.repeat(z, 5, axis=0))
    for k in range(5):
        alone = group_stats(x[k : k + 1], z)
        for one, many, same in zip(alone, panel, repeated, strict=True):
            np.testing.assert_array_equal(one[0], many[k])
            np.testing.assert_array_equal(one[0], same[k])


@pytest.mark.parametrize("n", [10, 300])
@pytest.mark.parametrize("scale", [2.0**990, 2.0**-990, 2.0**400, 2.0**-400])
def test_extreme_magnitudes_change_no_coefficient(n, scale):
    rng = np.random.default_rng(n)
    x, z = rng.normal(size=(1, 1, n)), rng.normal(size=(1, 1, n))
    plain, extreme = group_stats(x, z), group_stats(x * scale, z / scale)
    assert extreme.pearson[0, 0] == pytest.approx(plain.pearson[0, 0], abs=1e-14)
    assert extreme.spearman[0, 0] == plain.spearman[0, 0]
    assert extreme.concordant[0, 0] == plain.concordant[0, 0]


def test_pearson_keeps_its_digits_when_the_mean_dwarfs_the_spread():
    rng = np.random.default_rng(3)
    steps = rng.integers(0, 1000, (2, 1, 1, 500)).astype(float)
    got = group_stats(steps[0] + 1e12, steps[1] - 1e12).pearson[0, 0]  # whole numbers: the shift is exact
    assert got == pytest.approx(stats.pearsonr(steps[0].ravel(), steps[1].ravel())[0], abs=1e-14)


def test_negative_zero_is_tied_with_zero():
    for n in (4, 60):
        x = np.tile([0.0, -0.0], n // 2)[None, None]
        got = group_stats(x, np.arange(float(n))[None, None])
        assert got.state[0, 0] == kernels.METRIC_CONSTANT
        assert got.tied_metric[0, 0] == n * (n - 1) // 2


def test_infinite_values_are_missing():
    x = np.array([[[1.0, np.inf, 2.0, 3.0, -np.inf]]])
    z = np.array([[[1.0, 2.0, 5.0, np.inf, 0.0]]])
    assert group_stats(x, z).n[0, 0] == 2


def test_two_points_correlate_exactly_one_way_or_the_other():
    x, z = np.random.default_rng(6).normal(size=(2, 1, 200, 2))
    assert set(np.abs(group_stats(x, z).pearson).ravel()) == {1.0}
