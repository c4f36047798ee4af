"""Williams' test and Fisher's z, against published examples, mt-metrics-eval and simulated null data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, pearsonr
from twins import TWELVE, correlate, panel

from nlgauge.errors import NlgaugeError
from nlgauge.stats.tests.fisher import fisher_interval, fisher_test
from nlgauge.stats.tests.williams import williams_pairs, williams_test


def test_the_example_of_the_psych_package_is_recomputed():
    # ?psych::r.test, "r.test(103, .4, .5, .1)": Williams' t −.89, p < .37
    assert float(williams_test(0.4, 0.5, 0.1, 103)) == pytest.approx(0.37, abs=0.006)


def test_the_value_of_mt_metrics_eval_is_recomputed():
    # r12 .6, r13 .5, r23 .7, n 16: the golden values, one- and two-sided
    assert float(williams_test(0.6, 0.5, 0.7, 16)) == pytest.approx(0.5689481057350185, rel=1e-12)
    one_sided = williams_test(0.6, 0.5, 0.7, 16, alternative="greater")
    assert float(one_sided) == pytest.approx(0.28447405286750926, rel=1e-12)


def test_sides_signs_and_degenerate_cases():
    greater, less = (float(williams_test(0.6, 0.5, 0.7, 16, alternative=a)) for a in ("greater", "less"))
    assert greater + less == pytest.approx(1)
    assert float(williams_test(-0.6, 0.5, -0.7, 40)) < 0.01  # signed: far apart
    same = williams_test(0.6, 0.5, 0.7, 40)
    assert float(williams_test(-0.6, 0.5, -0.7, 40, absolute=True)) == pytest.approx(float(same))
    assert float(williams_test(0.5, 0.5, 1.0, 30)) == 1.0  # a metric against itself
    assert np.isnan(williams_test([0.5, np.nan], [0.4, 0.4], [0.3, 0.3], [3, 30])).all()
    assert np.isnan(williams_test(0.9, -0.9, 0.9, 50))  # no data have these three correlations
    with pytest.raises(NlgaugeError, match="two-sided"):
        williams_test(0.1, 0.2, 0.3, 10, alternative="both")


def test_pairs_use_shared_outputs_and_the_number_of_points_of_each_level():
    rng = np.random.default_rng(2)
    for missing in (0.0, 0.15):
        x, z = panel(rng, systems=6, inputs=9, metrics=3, levels=6, missing=missing)
        found = williams_pairs(x, z, TWELVE)
        for (i, j), p, difference in zip(found.pairs, found.p, found.difference, strict=True):
            there = np.isfinite(x[i]) & np.isfinite(x[j]) & np.isfinite(z)
            a, b, human = (np.where(there, v, np.nan) for v in (x[i], x[j], z))
            points = {
                "global": there.sum(),
                "input": there.sum(axis=0).max(),
                "item": there.sum(axis=1).max(),
                "system": there.any(axis=1).sum(),
            }
            for k, measure in enumerate(TWELVE):
                r = correlate(a, human, measure), correlate(b, human, measure), correlate(a, b, measure)
                assert difference[k] == pytest.approx(r[0] - r[1], abs=1e-12)
                expected = float(williams_test(*r, points[measure.split("/")[0]]))
                assert p[k] == pytest.approx(expected, abs=1e-10, nan_ok=True)


def test_false_positive_rate_of_williams_and_fisher_lies_in_its_binomial_band():
    runs, n = 2000, 40
    rng = np.random.default_rng(5)
    z = rng.normal(0, 1, (runs, n))
    shared = rng.normal(0, 1, (runs, n))
    x1, x2 = z + shared + rng.normal(0, 1, (2, runs, n))

    def r(a, b):
        a, b = (v - v.mean(axis=1, keepdims=True) for v in (a, b))
        return (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))

    low, high = binom.interval(0.999, runs, 0.05)
    williams = (williams_test(r(x1, z), r(x2, z), r(x1, x2), n) <= 0.05).sum()
    assert low <= williams <= high
    other = rng.normal(0, 1, (runs, n))  # other outputs: independent correlations of the same size
    fisher = (fisher_test(r(x1, z), n, r(other + rng.normal(0, 2**0.5, (runs, n)), other), n) <= 0.05).sum()
    assert low <= fisher <= high


def test_fisher_interval_equals_scipy_for_pearson_and_covers_for_ranks():
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    z = x + rng.normal(size=30)
    oracle = pearsonr(x, z).confidence_interval(0.9)
    ours = fisher_interval(pearsonr(x, z)[0], 30, level=0.9)
    np.testing.assert_allclose(ours, oracle)
    assert np.isnan(fisher_interval(0.5, 3)).all() and np.isnan(fisher_interval(0.5, 4, "kendall")).all()
    spearman, kendall = fisher_interval(0.5, 30, "spearman"), fisher_interval(0.5, 30, "kendall")
    assert spearman[0] < ours[1] and kendall[1] - kendall[0] < spearman[1] - spearman[0]
    with pytest.raises(NlgaugeError):
        fisher_interval(0.5, 30, "tau-a")
