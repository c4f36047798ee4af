"""Krippendorff's alpha: its definition as pairs, its edge cases, its interval."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.errors import DataError
from nlgauge.stats.agreement.alpha import alpha

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def _plain_alpha(ratings: np.ndarray, level: str) -> float:
    """The definition, pair by pair: observed within units, expected over all pairable values."""
    units = [unit[~np.isnan(unit)] for unit in ratings.T]
    units = [unit for unit in units if unit.size >= 2]
    pool = np.concatenate(units)

    def distance(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        if level == "ratio":
            return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        low, high = min(a, b), max(a, b)
        between = ((pool >= low) & (pool <= high)).sum()
        return float(between - ((pool == a).sum() + (pool == b).sum()) / 2) ** 2 if a != b else 0.0

    n = pool.size
    observed = sum(distance(a, b) / (unit.size - 1) for unit in units for a, b in permutations(unit, 2)) / n
    expected = sum(distance(a, b) for a, b in permutations(pool, 2)) / (n * (n - 1))
    return 1.0 - observed / expected


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), values=st.sampled_from([2, 5, 1000]), missing=st.sampled_from([0.0, 0.3]))
def test_alpha_equals_its_definition_pair_by_pair(level, seed, values, missing):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, values + 1, size=(rng.integers(2, 5), rng.integers(3, 9))).astype(float)
    ratings[rng.random(ratings.shape) < missing] = np.nan
    found = alpha(ratings, level)
    if np.isnan(found.value):
        assert found.reason
    else:
        assert found.value == pytest.approx(_plain_alpha(ratings, level), abs=1e-9)


def test_interval_alpha_with_all_raters_is_one_minus_within_over_total_variance():
    ratings = np.random.default_rng(0).normal(size=(3, 200))
    within = ratings.var(axis=0, ddof=1).mean()
    assert alpha(ratings).value == pytest.approx(1.0 - within / ratings.var(ddof=1), abs=1e-12)


def test_a_large_mean_changes_nothing():
    ratings = np.random.default_rng(0).integers(1, 6, size=(3, 100)).astype(float)
    assert alpha(ratings + 1e8).value == pytest.approx(alpha(ratings).value, abs=1e-9)


def test_units_without_a_pair_are_dropped_and_counted():
    ratings = np.array([[1.0, 2, 3, np.nan], [1, 2, np.nan, np.nan], [2, 2, np.nan, np.nan]])
    found = alpha(ratings)
    assert (found.units, found.dropped_units, found.pairable_values) == (2, 2, 6)
    assert found.value == pytest.approx(alpha(ratings[:, :2]).value)


@pytest.mark.parametrize(
    ("ratings", "reason"), [([[3, 3], [3, 3]], "equal"), ([[1, np.nan], [np.nan, 2]], "two ratings")]
)
def test_undefined_alpha_is_nan_with_its_reason(ratings, reason):
    found = alpha(ratings, rng=np.random.default_rng(0))
    assert np.isnan(found.value)
    assert reason in found.reason


def test_the_interval_covers_the_population_value_about_as_often_as_it_says():
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        ratings = rng.normal(size=60) + rng.normal(size=(3, 60))
        found = alpha(ratings, rng=rng, draws=400)
        covered += found.low <= 0.5 <= found.high
    assert 85 <= covered <= 99


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_equals_alpha_of_resampled_columns(level):
    ratings = np.random.default_rng(1).integers(1, 6, size=(3, 30)).astype(float)
    found = alpha(ratings, level, rng=np.random.default_rng(7), draws=100)
    rng = np.random.default_rng(7)
    counts = np.concatenate([rng.multinomial(30, np.full(30, 1 / 30), size=size) for size in (64, 36)])
    values = [alpha(np.repeat(ratings, row, axis=1), level).value for row in counts]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=1e-9)


def test_draws_in_which_nothing_can_disagree_are_dropped_and_counted():
    ratings = np.array([[1.0, 1, 1, 2], [1, 1, 1, 1]])
    found = alpha(ratings, "nominal", rng=np.random.default_rng(0), draws=200)
    assert 0 < found.dropped_draws < 200


def test_an_unknown_level_is_refused():
    with pytest.raises(DataError, match="nominal, ordinal, interval, ratio"):
        alpha([[1, 2], [1, 2]], "metric")
