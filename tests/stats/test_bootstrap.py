"""Bootstrap: every draw against a resampled table and scipy, intervals against numpy and scipy, null data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from twins import EVERY, TWELVE, correlate, panel

from nlgauge.engines import Local, using
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.stats.correlation.profiles import Profile
from nlgauge.stats.resampling.bootstrap import bootstrap, bootstrap_test
from nlgauge.stats.resampling.bootstrap_intervals import bca_interval, percentile_interval
from nlgauge.stats.resampling.draws import BLOCK, bootstrap_counts

TROUBLES = {
    "continuous": {},
    "ties on both sides": {"levels": 4, "discrete": 3},
    "gaps": {"levels": 4, "discrete": 6, "missing": 0.2},
    "constant groups": {"levels": 2, "discrete": 2, "constant": True},
}


def resampled(how, systems, inputs, draws, seed):
    """(rows, columns) of every draw, repeated as drawn."""
    for rows, cols in bootstrap_counts(how, systems, inputs, draws, seed):
        for r, c in zip(rows.astype(int), cols.astype(int), strict=True):
            yield np.repeat(np.arange(systems), r), np.repeat(np.arange(inputs), c)


@pytest.mark.parametrize("how", ["both", "inputs", "systems"])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_draw_equals_resampling_the_tables_and_correlating_with_scipy(how, trouble):
    rng = np.random.default_rng(3)
    for systems, inputs in ((4, 9), (7, 3)):
        x, z = panel(rng, systems=systems, inputs=inputs, **TROUBLES[trouble])
        found = bootstrap(x, z, EVERY, how=how, draws=4, seed=1)
        for d, (rows, cols) in enumerate(resampled(how, systems, inputs, 4, 1)):
            for k, i in np.ndindex(found.value.shape):
                twin = correlate(x[k][np.ix_(rows, cols)], z[np.ix_(rows, cols)], EVERY[i])
                ours = found.samples[k, i, d]
                np.testing.assert_allclose(ours, twin, atol=1e-10, err_msg=f"{EVERY[i]} {systems}×{inputs}")
        observed = [[correlate(table, z, m) for m in EVERY] for table in x]
        np.testing.assert_allclose(found.value, observed, atol=1e-10)
        assert (found.undefined == np.isnan(found.samples).sum(axis=2)).all()


def test_leave_one_out_values_are_those_of_the_smaller_tables():
    rng = np.random.default_rng(4)
    x, z = panel(rng, systems=4, inputs=6, metrics=1, levels=4)
    systems, inputs = bootstrap(x, z, TWELVE, how="both", draws=5).leave_one_out
    for i, measure in enumerate(TWELVE):
        rows = [correlate(np.delete(x[0], r, 0), np.delete(z, r, 0), measure) for r in range(4)]
        cols = [correlate(np.delete(x[0], c, 1), np.delete(z, c, 1), measure) for c in range(6)]
        np.testing.assert_allclose(systems[0, i], rows, atol=1e-10)
        np.testing.assert_allclose(inputs[0, i], cols, atol=1e-10)
    assert len(bootstrap(x, z, TWELVE, how="inputs", draws=5).leave_one_out) == 1


def test_percentile_interval_equals_numpy_over_the_defined_draws():
    samples = np.random.default_rng(0).normal(size=(2, 3, 200))
    samples[1, 2, ::7] = np.nan
    samples[0, 0] = np.nan
    found = percentile_interval(samples, 0.9)
    assert np.isnan(found.low[0, 0])
    np.testing.assert_allclose(found.low[1, 1], np.percentile(samples[1, 1], 5))
    np.testing.assert_allclose(found.high[1, 2], np.nanpercentile(samples[1, 2], 95))
    with pytest.raises(NlgaugeError):
        percentile_interval(samples, 1.5)


def test_bca_interval_equals_scipy_from_the_same_draws():
    rng = np.random.default_rng(1)
    for data in (rng.exponential(size=30), rng.normal(size=15) ** 3):
        for statistic in (np.mean, np.std):
            oracle = stats.bootstrap((data,), statistic, method="BCa", n_resamples=999, rng=2)
            left = np.array([statistic(np.delete(data, i)) for i in range(len(data))])
            value = np.array(statistic(data))
            ours = bca_interval(oracle.bootstrap_distribution, value, [left])
            np.testing.assert_allclose(ours, oracle.confidence_interval)


def test_bca_of_two_resampled_units_equals_scipy_for_two_samples():
    rng = np.random.default_rng(6)
    a, b = rng.exponential(size=14), rng.exponential(size=9)

    def statistic(x, y, axis=-1):
        return np.mean(x, axis=axis) / np.mean(y, axis=axis)

    oracle = stats.bootstrap((a, b), statistic, method="BCa", n_resamples=999, rng=3)
    left = [
        np.array([statistic(np.delete(a, i), b) for i in range(14)]),
        np.array([statistic(a, np.delete(b, i)) for i in range(9)]),
    ]
    ours = bca_interval(oracle.bootstrap_distribution, np.array(statistic(a, b)), left)
    np.testing.assert_allclose(ours, oracle.confidence_interval)


def test_draws_do_not_depend_on_threads_company_or_length():
    rng = np.random.default_rng(0)
    x, z = panel(rng, systems=5, inputs=12, metrics=3, levels=5, missing=0.1)
    with using(Local(threads=1)):
        reference = bootstrap(x, z, TWELVE, draws=BLOCK + 50, seed=4)
    with using(Local(threads=3)):
        again = bootstrap(x, z, TWELVE, draws=BLOCK + 50, seed=4)
    np.testing.assert_array_equal(again.samples, reference.samples)
    alone = bootstrap(x[1], z, TWELVE[3:5], draws=60, seed=4)
    np.testing.assert_array_equal(alone.samples[0], reference.samples[1, 3:5, :60])
    told = []
    bootstrap(x, z, TWELVE, draws=50, progress=lambda *at: told.append(at))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_measures_outside_the_kernels_take_the_slow_path_with_the_same_draws():
    rng = np.random.default_rng(5)
    x, z = panel(rng, systems=5, inputs=8, levels=4, discrete=5, missing=0.1)
    found = bootstrap(x, z, [*EVERY, *EVERY, "input/tau-c"], draws=12, seed=2)
    half = len(EVERY)
    np.testing.assert_allclose(found.samples[:, :half], found.samples[:, half : 2 * half], atol=1e-10)
    assert np.isfinite(found.samples[:, -1]).all()


def test_raters_are_resampled_and_their_mean_recomputed():
    rng = np.random.default_rng(7)
    ratings = rng.integers(1, 6, (3, 5, 8)).astype(float)
    ratings[0, 0, :3] = np.nan
    x = np.nanmean(ratings, axis=0) + rng.normal(0, 1, (2, 5, 8))
    found = bootstrap(x, ratings, TWELVE, how="raters", draws=30, seed=3)
    np.testing.assert_allclose(found.value[1, 0], correlate(x[1], np.nanmean(ratings, axis=0), TWELVE[0]))
    times = np.concatenate([cols for _, cols in bootstrap_counts("inputs", 1, 3, 30, 3)]).astype(int)
    with np.errstate(invalid="ignore"):
        for d in (0, 7, 29):
            drawn = np.repeat(ratings, times[d], axis=0)
            there = np.isfinite(drawn).sum(axis=0)
            people = np.where(there > 0, np.nansum(drawn, axis=0) / there, np.nan)
            people = np.round(people, 12)  # equal means stay tied
            twin = [correlate(x[1], people, m) for m in TWELVE]
            np.testing.assert_allclose(found.samples[1, :, d], twin, atol=1e-9)
    assert found.leave_one_out[0].shape == (2, 12, 3)
    low, high = found.interval()
    assert (low <= high).all()
    with pytest.raises(DataError, match="raters ×"):
        bootstrap(x, ratings[0], TWELVE, how="raters")
    whole = bootstrap(x, ratings, TWELVE, how="inputs", draws=5)  # raters averaged
    np.testing.assert_allclose(whole.value, found.value)


def test_the_difference_test_follows_its_definition_and_that_of_sacrerouge():
    rng = np.random.default_rng(8)
    (x1, x2), z = panel(rng, systems=5, inputs=15, levels=5, missing=0.1)
    shared = np.where(np.isfinite(x1) & np.isfinite(x2), [x1, x2], np.nan)
    b = bootstrap(shared, z, TWELVE, how="inputs", draws=200, seed=2)
    d, s = (b.value[0] - b.value[1])[:, None], b.samples[0] - b.samples[1]
    p, difference = bootstrap_test(x1, x2, z, TWELVE, how="inputs", draws=200, seed=2)
    np.testing.assert_allclose(difference, d[:, 0])
    np.testing.assert_allclose(p, ((np.abs(s - d) >= np.abs(d) - 1e-10).sum(axis=1) + 1) / 201)
    p, _ = bootstrap_test(x1, x2, z, TWELVE, how="inputs", draws=200, seed=2, profile=Profile(alternative="greater"))
    np.testing.assert_allclose(p, ((s - d >= d - 1e-10).sum(axis=1) + 1) / 201)
    y1, y2 = np.nan_to_num(x1), np.nan_to_num(x2)
    z = np.nan_to_num(z)
    b = bootstrap([y1, y2], z, TWELVE, how="systems", draws=100, seed=2, profile="sacrerouge")
    d, s = (b.value[0] - b.value[1])[:, None], b.samples[0] - b.samples[1]
    p, _ = bootstrap_test(y1, y2, z, TWELVE, how="systems", draws=100, seed=2, profile="sacrerouge")
    defined = np.isfinite(s).sum(axis=1)
    np.testing.assert_allclose(p, (np.abs(s) >= 2 * np.abs(d) - 1e-10).sum(axis=1) / defined)


@pytest.mark.slow
def test_false_positive_rate_of_the_difference_test_and_coverage_lie_in_their_bands():
    """Independent outputs (global level, inputs resampled); the bootstrap is approximate, so the bands are
    wider.
    """
    runs = 300
    rng = np.random.default_rng(9)
    rejected, covered = np.zeros(3), np.zeros((2, 3))
    measures = ["global/pearson", "global/spearman", "global/kendall"]
    truth = np.array([0.5, 6 / np.pi * np.arcsin(0.25), 2 / np.pi * np.arcsin(0.5)])  # ρ = .5, bivariate normal
    for run in range(runs):
        z = rng.normal(0, 1, (2, 60))
        x1, x2 = 0.5 * z + np.sqrt(0.75) * rng.normal(0, 1, (2, 2, 60))
        rejected += bootstrap_test(x1, x2, z, measures, how="inputs", draws=199, seed=run)[0] <= 0.05
        b = bootstrap(x1, z, measures, how="inputs", draws=399, seed=run)
        for i, kind in enumerate(("percentile", "bca")):
            low, high = b.interval(kind)
            covered[i] += (low[0] <= truth) & (truth <= high[0])
    low, high = stats.binom.interval(0.9999, runs, 0.05)
    assert ((low <= rejected) & (rejected <= high)).all(), rejected
    low, high = stats.binom.interval(0.9999, runs, 0.95)
    assert ((low <= covered) & (covered <= high)).all(), covered
