"""Permutation tests: every draw against plain swapping and scipy, p-values against exact counting, null data."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from twins import EVERY, TWELVE, correlate, panel, standardise

from nlgauge.engines import Local, using
from nlgauge.errors import DataError, NameUnknown, NlgaugeError
from nlgauge.stats.correlation.profiles import PROFILES, Profile
from nlgauge.stats.resampling.draws import BLOCK, swap_masks
from nlgauge.stats.tests.permutation import permutation_pairs, permutation_test

TROUBLES = {
    "continuous": {},
    "human levels": {"levels": 4},
    "ties on both sides": {"levels": 4, "discrete": 3},
    "gaps": {"levels": 4, "discrete": 6, "missing": 0.2},
    "constant groups": {"levels": 3, "discrete": 2, "constant": True},
    "all": {"levels": 2, "discrete": 2, "missing": 0.15, "constant": True},
}


def masks_of(how, systems, inputs, draws, seed):
    """The masks of all draws as plain draws × systems × inputs."""
    found = []
    for block in swap_masks(how, systems, inputs, draws, seed):
        rows, cols = (part.transpose(0, 2, 1).reshape(-1, part.shape[1]) for part in (block.rows, block.cols))
        swap = rows[:, block.row] ^ cols[:, block.col]
        found.append(swap[1 : block.draws + 1].reshape(-1, systems, inputs))
    return np.concatenate(found).astype(bool)


@pytest.mark.parametrize("how", ["both", "inputs", "systems", "cells"])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_draw_equals_swapping_the_tables_and_correlating_with_scipy(how, trouble):
    rng = np.random.default_rng(7)
    for systems, inputs in ((4, 9), (7, 3)):
        (x1, x2), z = panel(rng, systems=systems, inputs=inputs, **TROUBLES[trouble])
        test = permutation_test(x1, x2, z, EVERY, how=how, draws=2, seed=3)
        there = np.isfinite(x1) & np.isfinite(x2) & np.isfinite(z)
        assert test.cells == there.sum()
        a, b, human = standardise(x1, there), standardise(x2, there), np.where(there, z, np.nan)
        swaps = [np.zeros(z.shape, bool), *masks_of(how, systems, inputs, 2, 3)]
        for i, measure in enumerate(EVERY):
            twin = [
                correlate(np.where(s, b, a), human, measure) - correlate(np.where(s, a, b), human, measure)
                for s in swaps
            ]
            ours = [test.difference[i], *test.samples[i]]
            np.testing.assert_allclose(ours, twin, atol=1e-10, err_msg=f"{measure} {systems}×{inputs}")


def test_large_groups_and_several_strips_equal_the_twin():
    rng = np.random.default_rng(1)
    (x1, x2), z = panel(rng, systems=7, inputs=150, levels=9, discrete=40)
    test = permutation_test(x1, x2, z, TWELVE, draws=300, seed=2)
    there = np.ones(z.shape, bool)
    a, b = standardise(x1, there), standardise(x2, there)
    swaps = masks_of("both", 7, 150, 300, 2)
    for d in (0, 126, 127, 128, 255, 299):
        p, q = np.where(swaps[d], b, a), np.where(swaps[d], a, b)
        twin = [correlate(p, z, m) - correlate(q, z, m) for m in TWELVE]
        np.testing.assert_allclose(test.samples[:, d], twin, atol=1e-10)


def test_scores_of_two_metrics_that_differ_by_rounding_only_are_tied():
    rng = np.random.default_rng(0)
    z = rng.integers(1, 6, (6, 20)).astype(float)
    x = rng.integers(1, 6, (6, 20)).astype(float)
    same = x * 0.1 + 0.3  # the same metric on another scale, whose standardised values differ in the last bits
    test = permutation_test(x, same, z, TWELVE, draws=200)
    assert (test.p == 1).all()
    assert np.abs(test.samples).max() < 1e-12


def test_whole_systems_and_inputs_are_swapped_by_exclusive_or():
    swaps = masks_of("both", 6, 8, 500, 0)
    again = swaps[:, :1] ^ swaps[:, :, :1] ^ swaps[:, :1, :1]
    assert (again == swaps).all()
    assert abs(swaps.mean() - 0.5) < 0.03
    assert len({s.tobytes() for s in masks_of("systems", 3, 8, 500, 0)}) == 8
    columns = masks_of("inputs", 6, 8, 50, 0)
    assert (columns == columns[:, :1]).all() and 0.4 < columns.mean() < 0.6
    cells = masks_of("cells", 6, 8, 500, 0)
    assert np.abs(np.corrcoef(cells.reshape(500, -1).T) - np.eye(48)).max() < 0.2  # each by itself


def test_the_first_draws_of_a_longer_run_are_those_of_a_shorter_one():
    rng = np.random.default_rng(0)
    (x1, x2), z = panel(rng, systems=4, inputs=6)
    long = permutation_test(x1, x2, z, ["global/pearson"], draws=BLOCK + 300, seed=5)
    for draws in (100, BLOCK, BLOCK + 1):
        short = permutation_test(x1, x2, z, ["global/pearson"], draws=draws, seed=5)
        np.testing.assert_array_equal(short.samples, long.samples[:, :draws])
    assert not np.array_equal(long.samples[:, :100], long.samples[:, BLOCK : BLOCK + 100])


def test_a_pair_gives_the_same_numbers_alone_in_company_and_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    x, z = panel(rng, systems=6, inputs=20, metrics=5, levels=5, discrete=9, missing=0.1)
    with using(Local(threads=1)):
        reference = permutation_pairs(x, z, TWELVE, draws=1200, seed=1)
    for threads in (2, 5):
        with using(Local(threads)):
            again = permutation_pairs(x, z, TWELVE, draws=1200, seed=1)
        np.testing.assert_array_equal(again.p, reference.p)
    few = permutation_pairs(x[[0, 2, 3]], z, TWELVE[::-1], draws=1200, seed=1)
    where = {tuple(pair): i for i, pair in enumerate(reference.pairs.tolist())}
    np.testing.assert_array_equal(few.p, reference.p[[where[0, 2], where[0, 3], where[2, 3]]][:, ::-1])
    one = permutation_test(x[1], x[3], z, TWELVE, draws=1200, seed=1)
    np.testing.assert_array_equal(one.p, reference.p[where[1, 3]])
    np.testing.assert_array_equal(one.difference, reference.difference[where[1, 3]])


def test_system_level_p_values_equal_exact_counting_where_floats_split_ties():
    """The oracle counts with fractions: whole-number scores on one scale, so means and rank sums are exact."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        z = rng.integers(1, 4, (6, 3))
        x1 = rng.integers(0, 3, (6, 3))
        x2 = rng.permutation(x1.ravel()).reshape(x1.shape)  # the same mean and SD: standardising changes nothing
        test = permutation_test(x1, x2, z, ["system/kendall", "system/spearman"], how="systems", draws=400, seed=1)
        extreme = {"kendall": 0, "spearman": 0}
        seen = _exact_differences(x1, x2, z)
        for swap in masks_of("systems", 6, 3, 400, 1):
            drawn = _exact_differences(np.where(swap, x2, x1), np.where(swap, x1, x2), z)
            for name in extreme:
                extreme[name] += abs(drawn[name]) >= abs(seen[name])
        expected = [(extreme[name] + 1) / 401 for name in ("kendall", "spearman")]
        np.testing.assert_allclose(test.p, expected, rtol=1e-12)


def _exact_differences(x1, x2, z):
    values = {"kendall": [], "spearman": []}
    for x in (x1, x2):
        sums = [[Fraction(int(v)) for v in a.sum(axis=1)] for a in (x, z)]
        signs = [[(a > b) - (a < b) for a, b in product(s, s)] for s in sums]
        ranks = [[sum((a > b) - (a < b) for b in s) for a in s] for s in sums]
        for name, (u, v) in {"kendall": signs, "spearman": ranks}.items():
            below = sum(a * a for a in u) * sum(b * b for b in v)
            above = sum(a * b for a, b in zip(u, v, strict=True))
            # values are above / sqrt(below); rounding to 12 digits keeps equal ones equal
            values[name].append(round(above / below**0.5, 12) if below else float("nan"))
    return {name: round(a - b, 11) for name, (a, b) in values.items()}


def test_count_rules_and_sides_follow_their_definitions():
    rng = np.random.default_rng(8)
    (x1, x2), z = panel(rng, systems=5, inputs=15, levels=5)
    kwargs = {"measures": TWELVE, "draws": 500, "seed": 2}
    default = permutation_test(x1, x2, z, **kwargs)
    d, s = default.difference[:, None], default.samples
    near = 1e-10
    assert np.allclose(default.p, ((np.abs(s) >= np.abs(d) - near).sum(axis=1) + 1) / 501)
    plain = permutation_test(x1, x2, z, **kwargs, profile=Profile(count="plain"))
    assert np.allclose(plain.p, (np.abs(s) >= np.abs(d) - near).mean(axis=1))
    greater = permutation_test(x1, x2, z, **kwargs, profile=Profile(alternative="greater"))
    less = permutation_test(x1, x2, z, **kwargs, profile=Profile(alternative="less"))
    assert np.allclose(greater.p, ((s >= d - near).sum(axis=1) + 1) / 501)
    assert np.allclose(less.p, ((s <= d + near).sum(axis=1) + 1) / 501)
    turned = permutation_test(x2, x1, z, **kwargs)
    assert np.allclose(turned.p, default.p) and np.allclose(turned.difference, -default.difference)


def test_measures_outside_the_kernels_take_the_slow_path_with_the_same_draws():
    rng = np.random.default_rng(5)
    (x1, x2), z = panel(rng, systems=5, inputs=12, levels=4, discrete=5, missing=0.1)
    # a measure named twice goes once through the kernels and once through `evaluate`
    test = permutation_test(x1, x2, z, [*EVERY, *EVERY, "input/tau-c"], draws=15, seed=2)
    half = len(EVERY)
    np.testing.assert_allclose(test.samples[:half], test.samples[half : 2 * half], atol=1e-10)
    np.testing.assert_allclose(test.p[:half], test.p[half : 2 * half])
    assert np.isfinite(test.p[-1])


def test_undefined_draws_and_metrics_are_reported_and_not_hidden():
    z = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 2.0], [3.0, 1.0, 1.0], [2.0, 3.0, 1.0]])
    x1, x2 = np.full(z.shape, 4.0), z[::-1].copy()
    test = permutation_test(x1, x2, z, ["global/kendall", "input/kendall"], draws=50)
    assert np.isnan(test.p).all() and np.isnan(test.difference).all()  # metric 1 is constant
    x1 = np.repeat([[1.0], [1.0], [2.0], [2.0]], 3, axis=1)  # swapping the first two systems makes all equal
    test = permutation_test(x1, 3 - x1, z, ["item/pearson", "input/pearson"], how="systems", draws=60)
    assert test.undefined[0] == 60 and np.isnan(test.p[0])  # constant inside every system, whatever is swapped
    assert 0 < test.undefined[1] < 60 and np.isfinite(test.p[1])
    defined = 60 - test.undefined[1]
    extreme = (np.abs(test.samples[1]) >= abs(test.difference[1]) - 1e-10).sum()
    assert test.p[1] == (extreme + 1) / (defined + 1)


def test_progress_is_told_of_every_pair_and_may_stop_between_two():
    rng = np.random.default_rng(0)
    x, z = panel(rng, systems=4, inputs=5, metrics=6)
    for threads in (1, 2):
        told = []
        with using(Local(threads)):
            permutation_pairs(
                x, z, ["global/pearson"], draws=BLOCK + 1, progress=lambda *at, told=told: told.append(at)
            )
        assert told == [(i, 30) for i in range(1, 31)]

        def stop(done, of):
            if done == 3:
                raise KeyboardInterrupt

        with using(Local(threads)), pytest.raises(KeyboardInterrupt):
            permutation_pairs(x, z, ["global/pearson"], draws=50, progress=stop)


def test_profiles_change_the_masks_the_count_and_the_missing_rule():
    rng = np.random.default_rng(9)
    (x1, x2), z = panel(rng, systems=5, inputs=8, levels=3, discrete=2, constant=True)
    zero = permutation_test(x1, x2, z, ["input/kendall", "item/pearson"], profile="mt-metrics-eval", draws=40, seed=1)
    there = np.ones(z.shape, bool)
    a, b = standardise(x1, there), standardise(x2, there)
    for i, measure in enumerate(zero.measures):
        twin = [
            correlate(np.where(s, b, a), z, measure, "zero") - correlate(np.where(s, a, b), z, measure, "zero")
            for s in masks_of("cells", 5, 8, 40, 1)
        ]
        np.testing.assert_allclose(zero.samples[i], twin, atol=1e-10)
        seen = correlate(a, z, measure, "zero") - correlate(b, z, measure, "zero")
        assert np.isclose(zero.p[i], np.mean(np.array(twin) <= seen + 1e-10))
    gap = x1.copy()
    gap[0, 0] = np.nan
    for name in ("nlpstats", "sacrerouge", "mt-metrics-eval"):
        with pytest.raises(DataError):
            permutation_test(gap, x2, z, TWELVE, profile=name, draws=5)
    filled = permutation_test(np.nan_to_num(gap), x2, z, TWELVE, profile="nlgcorreval", draws=30)
    np.testing.assert_array_equal(permutation_test(gap, x2, z, TWELVE, profile="nlgcorreval", draws=30).p, filled.p)
    raw = permutation_test(x1, 10 * x2 + 3, z, ["global/pearson"], profile=Profile(standardize=False), draws=30)
    scaled = permutation_test(x1, x2, z, ["global/pearson"], profile=Profile(standardize=False), draws=30)
    assert not np.allclose(raw.samples, scaled.samples)
    for profile in PROFILES.values():
        sentence = profile.method(100, 7)
        assert "100 draws" in sentence and "seed 7" in sentence and profile.name in sentence


@pytest.mark.slow
@pytest.mark.parametrize("how", ["both", "inputs", "systems", "cells"])
def test_false_positive_rate_on_exchangeable_metrics_lies_in_its_binomial_band(how):
    runs, draws, level = 400, 199, 0.05
    rng = np.random.default_rng(11)
    rejected = np.zeros(len(TWELVE))
    for run in range(runs):
        z = np.round(rng.normal(0, 1, (8, 15)) + rng.normal(0, 1, (8, 1)))
        x1, x2 = z + rng.normal(0, 2, (2, 8, 15))
        rejected += permutation_test(x1, x2, z, TWELVE, how=how, draws=draws, seed=run).p <= level
    low, high = binom.interval(1 - 0.001 / len(TWELVE), runs, level)
    # few systems give few swaps (2^8) and system-level ranks few values, so p may be conservative there
    assert (rejected <= high).all(), rejected
    continuous = [i for i, m in enumerate(TWELVE) if not m.startswith("system") or m.endswith("pearson")]
    assert (rejected[continuous] >= low).all(), rejected


def test_tiny_tables_and_extreme_magnitudes_give_numbers_or_nan_and_never_fail():
    rng = np.random.default_rng(0)
    for shape in ((1, 6), (6, 1), (2, 2), (1, 1), (0, 0)):
        (x1, x2), z = rng.normal(size=(2, *shape)), rng.normal(size=shape)
        test = permutation_test(x1, x2, z, TWELVE, draws=10)
        expected = [correlate(x1, z, m) - correlate(x2, z, m) if z.size else np.nan for m in TWELVE]
        np.testing.assert_allclose(test.difference, expected, atol=1e-12)
        assert (np.isnan(test.p) == np.isnan(expected)).all()
    nothing = permutation_test(np.full((3, 4), np.nan), np.ones((3, 4)), np.ones((3, 4)), TWELVE, draws=10)
    assert nothing.cells == 0 and np.isnan(nothing.p).all()
    (x1, x2), z = panel(rng, systems=5, inputs=9)
    plain = permutation_test(x1, x2, z, TWELVE, draws=50)
    extreme = permutation_test(x1 * 2.0**900, x2 * 2.0**-900, z * 2.0**700, TWELVE, draws=50)
    np.testing.assert_array_equal(plain.p, extreme.p)


def test_wrong_requests_are_answered_in_one_line():
    z = np.ones((3, 4))
    with pytest.raises(NameUnknown, match="Did you mean 'nlpstats'"):
        permutation_test(z, z, z, TWELVE, profile="nlpstat")
    with pytest.raises(NameUnknown, match="how to swap"):
        permutation_test(z, z, z, TWELVE, how="rows")
    with pytest.raises(DataError, match="systems × inputs"):
        permutation_test(z, z, z[:2], TWELVE)
    with pytest.raises(DataError, match="no measure"):
        permutation_test(z, z, z, [])
    with pytest.raises(NlgaugeError, match="at least 1"):
        permutation_test(z, z, z, TWELVE, draws=0)


def test_scores_that_are_equal_only_once_standardised_are_no_ties() -> None:
    """CIDEr on HANNA: 1e-20 beside 10. They are different scores, and printed as such, so they are tested as such."""
    rng = np.random.default_rng(5)
    z = rng.integers(1, 6, (8, 60)).astype(float)
    tiny = np.where(rng.random(z.shape) < 0.3, 10.0, rng.random(z.shape) * 1e-20)
    plain = np.where(tiny > 1, 10.0, tiny * 1e20)  # the same order with nothing small
    other = z + rng.normal(0, 2, z.shape)
    names = ["global/kendall", "global/spearman", "item/kendall", "input/spearman"]
    got = permutation_test(tiny, other, z, names, draws=200, seed=3)
    expected = permutation_test(plain, other, z, names, draws=200, seed=3)
    np.testing.assert_allclose(got.difference, expected.difference, atol=1e-12)
    flat = permutation_test(np.where(tiny > 1, 10.0, 0.0), other, z, names, draws=200, seed=3)
    assert (np.abs(got.difference - flat.difference) > 1e-4).all()
