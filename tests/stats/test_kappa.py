"""Kappas: published examples, missing ratings, undefined cases. Other libraries are in tests/parity."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.errors import DataError
from nlgauge.stats.agreement.kappa import cohen_kappa, fleiss_kappa, mean_pairwise_kappa


def test_the_worked_example_of_fleiss_1971_as_commonly_printed_gives_0_210():
    counts = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ]
    )
    ratings = np.stack([np.repeat(np.arange(5), row) for row in counts], axis=1)
    found = fleiss_kappa(ratings)
    assert round(found.value, 3) == 0.210


def test_fleiss_drops_units_with_another_number_of_ratings_and_counts_them():
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 4, size=(4, 20)).astype(float)
    ratings[0, :5] = np.nan
    found = fleiss_kappa(ratings)
    assert (found.units, found.dropped_units) == (15, 5)
    assert found.value == pytest.approx(fleiss_kappa(ratings[:, 5:]).value)


def test_weighted_kappa_measures_distance_by_value_even_if_a_step_is_never_used():
    a, b = np.array([1.0, 1, 5, 5, 2]), np.array([1.0, 5, 5, 1, 2])
    distance = np.abs(a[:, None] - b[None, :])
    for weights, power in (("linear", 1), ("quadratic", 2)):
        plain = 1.0 - (np.diag(distance) ** power).mean() / (distance**power).mean()
        assert cohen_kappa(a, b, weights).value == pytest.approx(plain, abs=1e-12)


def test_quadratic_kappa_of_two_raters_with_equal_means_and_spread_is_their_pearson():
    a = np.random.default_rng(0).permutation(np.repeat([1.0, 2, 3, 4, 5], 8))
    b = np.random.default_rng(1).permutation(a)
    assert cohen_kappa(a, b, "quadratic").value == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-12)


def test_units_that_one_rater_left_out_are_dropped_and_counted():
    found = cohen_kappa([1, 2, np.nan, 3], [1, 2, 2, np.nan])
    assert (found.units, found.dropped_units, found.value) == (2, 2, 1.0)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_one_value_only_is_undefined_with_the_reason(weights):
    found = cohen_kappa([0.1, 0.1, 0.1], [0.1, 0.1, 0.1], weights)
    assert np.isnan(found.value)
    assert "one value" in found.reason


def test_mean_pairwise_is_the_mean_of_cohens_over_pairs_that_share_units():
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 4, size=(4, 40)).astype(float)
    ratings[3, :] = np.nan
    found = mean_pairwise_kappa(ratings)
    plain = [cohen_kappa(ratings[i], ratings[j]).value for i, j in ((0, 1), (0, 2), (1, 2))]
    assert found.value == pytest.approx(np.mean(plain))


def test_raters_of_different_units_are_refused():
    with pytest.raises(DataError, match="same units"):
        cohen_kappa([1, 2], [1, 2, 3])
