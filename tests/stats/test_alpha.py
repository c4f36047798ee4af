"""Krippendorff's alpha: its definition as pairs, its edge cases, its interval."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.errors import DataError
from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.classes import disagreement_interval
from nlgauge.stats.agreement.label_sets import alpha_of_counts, code_counts, set_distances

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def _plain_alpha(ratings: np.ndarray, level: str) -> float:
    observed, expected = _plain_parts(ratings, level)
    return 1.0 - observed / expected


def _plain_parts(ratings: np.ndarray, level: str) -> tuple[float, float]:
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
    return float(observed), float(expected)


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
    assert (found.units, found.dropped_units) == (2, 2)
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
    ratings = np.random.default_rng(1).integers(1, 600, size=(3, 30)).astype(float)
    found = alpha(ratings, level, rng=np.random.default_rng(7), draws=100)
    words = np.random.default_rng(7).integers(0, 1 << 64, 101 * 15 + 1, dtype=np.uint64)
    halves = [half for word in words for half in (int(word) & 0xFFFFFFFF, int(word) >> 32)]
    picks = np.array([half * 30 >> 32 for half in halves if half * 30 % 2**32 >= 2**32 % 30])[:3000].reshape(100, 30)
    values = [alpha(ratings[:, row], level).value for row in picks]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_over_few_kinds_of_units_equals_alpha_of_as_many_columns_of_each(level):
    ratings = np.sort(np.random.default_rng(1).integers(1, 4, size=(2, 400)), axis=0).astype(float)
    kinds, first, times = np.unique(ratings, axis=1, return_index=True, return_counts=True)
    kinds, times = kinds[:, np.argsort(first)], times[np.argsort(first)]  # as they appear
    found = alpha(ratings[::-1], level, rng=np.random.default_rng(7), draws=100)
    counts = np.random.default_rng(7).multinomial(400, times / 400, size=100)
    values = [alpha(np.repeat(kinds, row, axis=1), level).value for row in counts]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=1e-9)


def _plain_pairs(ratings: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Krippendorff's bootstrap of an interval alpha as he wrote it down: a drawn disagreement for each pair of each
    unit.
    """
    units = [unit[~np.isnan(unit)] for unit in ratings.T]
    units = [unit for unit in units if unit.size >= 2]
    pool = np.concatenate(units)
    expected = sum((a - b) ** 2 for a, b in permutations(pool, 2)) / (pool.size - 1)
    sizes = np.array([unit.size for unit in units for _ in combinations(unit, 2)])
    errors = np.array([2 * (a - b) ** 2 / expected for unit in units for a, b in combinations(unit, 2)])
    drawn = errors[rng.integers(0, errors.size, (draws, errors.size))]
    return np.maximum(1.0 - (drawn / (sizes - 1)).sum(axis=1), -1.0)


@pytest.mark.parametrize("values", [5, 10**6])
def test_the_bootstrap_of_pairs_is_that_of_krippendorff(values):
    rng = np.random.default_rng(2)
    ratings = np.clip(rng.normal(0.5, 0.2, 60) + rng.normal(0, 0.15, (3, 60)), 0, 1)
    ratings = np.rint(ratings * (values - 1))
    ratings[2, :30] = np.nan
    plain = _plain_pairs(ratings, 20_000, rng)
    found = alpha(ratings, rng=rng, draws=20_000, bootstrap="pairs")
    noise = 4 * plain.std() * np.sqrt(2) * 2.7 / np.sqrt(20_000)  # a tail quantile's standard error is 2.7 sd / sqrt(n)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=noise)
    assert "resamples of pairs" in found.method


@pytest.mark.parametrize("level", LEVELS)
def test_the_intervals_of_both_bootstraps_hold_the_value(level):
    rng = np.random.default_rng(3)
    ratings = np.rint(rng.normal(3, 1, 200) + rng.normal(0, 1, (4, 200))) + 10
    for bootstrap in ("units", "pairs"):
        found = alpha(ratings, level, rng=rng, bootstrap=bootstrap)
        assert found.low < found.value < found.high


def test_negative_zero_and_any_nan_make_no_kinds_of_their_own():
    ratings = np.array([[0.0, -0.0, 1, 2], [1, 1, 1, 2], [np.nan, -np.nan, 2, np.nan]])
    assert alpha(ratings, "nominal").value == alpha(np.abs(ratings), "nominal").value


def test_draws_in_which_nothing_can_disagree_are_left_out_of_the_interval():
    ratings = np.array([[1.0, 1, 1, 2], [1, 1, 1, 1]])
    found = alpha(ratings, "nominal", rng=np.random.default_rng(0), draws=200)
    assert np.isfinite([found.low, found.high]).all()


def test_an_unknown_level_is_refused():
    with pytest.raises(DataError, match="nominal, ordinal, interval, ratio"):
        alpha([[1, 2], [1, 2]], "metric")


def test_an_unknown_bootstrap_is_refused():
    with pytest.raises(DataError, match="units, pairs"):
        alpha([[1, 2], [1, 2]], bootstrap="raters")


def test_the_bootstrap_of_pairs_on_ordinal_ratings_is_that_on_their_mid_ranks() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 30)
    ratings = np.clip(truth + rng.integers(-1, 2, (4, 30)), 1, 5).astype(float)
    ratings[rng.random(ratings.shape) < 0.2] = np.nan
    pairable = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    values, counts = np.unique(pairable[~np.isnan(pairable)], return_counts=True)
    mid_rank = dict(zip(values, np.cumsum(counts) - counts / 2, strict=True))
    ranks = np.array([[mid_rank.get(x, np.nan) for x in row] for row in pairable])
    ordinal, interval = (
        alpha(x, level, rng=np.random.default_rng(1), draws=300, bootstrap="pairs")
        for x, level in ((ratings, "ordinal"), (ranks, "interval"))
    )
    assert ordinal.low < ordinal.value < ordinal.high
    assert (ordinal.value, ordinal.low, ordinal.high) == pytest.approx(
        (interval.value, interval.low, interval.high), abs=1e-12
    )


def _trials(rng: np.random.Generator, inputs: int = 20, trials: int = 4) -> np.ndarray:
    """Ratings from 1 to 5 of three annotators; trials of an input share quality and how far annotators disagree."""
    quality = rng.normal(3.2, 0.8, inputs)[:, None] + rng.normal(0, 0.4, (inputs, trials))
    spread = 0.6 * rng.lognormal(0, 0.5, inputs)[:, None]
    ratings = quality + spread * rng.normal(size=(3, inputs, trials))
    return np.clip(np.rint(ratings), 1, 5).reshape(3, -1)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_over_clusters_has_the_jackknife_variance_of_alpha_without_each_cluster(level):
    ratings = _trials(np.random.default_rng(3), 12, 2)
    ratings[0, :7] = np.nan
    clusters = np.repeat(np.arange(12), 2)
    found = alpha(ratings, level, clusters=clusters)
    left = 1 - np.array([alpha(ratings[:, clusters != c], level).value for c in range(12)])
    if level != "nominal":
        left = left.mean() + (left - left.mean()) * (12 / 10) ** 0.5
    pool = ratings[~np.isnan(ratings)]
    ends = np.array([pool.min(), pool.max()])
    if level == "ordinal":
        ends = np.array([(pool < end).sum() + (pool == end).sum() / 2 for end in ends])
    widest = {"nominal": 1.0, "ratio": (np.ptp(ends) / ends.sum()) ** 2}.get(level, np.ptp(ends) ** 2)
    observed, expected = _plain_parts(ratings, level)
    low, high, _ = disagreement_interval(observed / widest, expected / widest, left)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.value == alpha(ratings, level).value


def test_the_nominal_interval_over_clusters_is_that_of_classes():
    ratings = _trials(np.random.default_rng(4))
    clusters = np.repeat(np.arange(20), 4)
    classes = alpha_of_counts(code_counts(ratings - 1, 5), set_distances(np.eye(5), "nominal"), clusters)
    found = alpha(ratings, "nominal", clusters=clusters)
    assert (found.value, found.low, found.high) == pytest.approx((classes.value, classes.low, classes.high), abs=1e-12)


def test_the_interval_over_clusters_covers_the_population_value():
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(20), 4)
    truth = {level: alpha(_trials(rng, 30_000), level).value for level in ("ordinal", "interval")}
    inside = dict.fromkeys(truth, 0)
    for _ in range(300):
        ratings = _trials(rng)
        for level, value in truth.items():
            found = alpha(ratings, level, clusters=clusters)
            inside[level] += found.low <= value <= found.high
    assert min(inside.values()) >= 0.93 * 300


def test_few_clusters_have_no_interval_and_a_reason():
    found = alpha(_trials(np.random.default_rng(0), 5), clusters=np.repeat(np.arange(5), 4))
    assert np.isnan(found.low) and found.reason == "5 independent outputs; an interval needs 10"
    assert found.value == alpha(_trials(np.random.default_rng(0), 5)).value
