"""Corrections for many tests, against R's p.adjust, statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from nlgauge.stats.tests.corrections import benjamini_hochberg, holm


def test_holm_equals_r_p_adjust():
    # p.adjust(c(.01, .02, .03, .04, .05), "holm")
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.04, 0.05]), [0.05, 0.08, 0.09, 0.09, 0.09])


@pytest.mark.parametrize("seed", range(5))
def test_both_corrections_equal_statsmodels_on_random_p_values_with_ties(seed):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.round(np.random.default_rng(seed).beta(0.4, 2, 60), 2)
    np.testing.assert_allclose(holm(p), multitest.multipletests(p, method="holm")[1])
    np.testing.assert_allclose(benjamini_hochberg(p), multitest.multipletests(p, method="fdr_bh")[1])


def test_benjamini_hochberg_equals_scipy():
    p = np.random.default_rng(1).random(40) ** 2
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p))


def test_undefined_tests_stay_undefined_and_do_not_count():
    p = np.array([[0.01, np.nan], [0.02, 0.03]])
    for correct in (holm, benjamini_hochberg):
        found = correct(p)
        assert found.shape == p.shape and np.isnan(found[0, 1])
        np.testing.assert_allclose(found[[0, 1, 1], [0, 0, 1]], correct([0.01, 0.02, 0.03]))
        assert correct([]).shape == (0,)
