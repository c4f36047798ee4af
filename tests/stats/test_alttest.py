"""The alternative annotator test against a plain reading of the paper, dictionary by dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from nlgauge.errors import DataError
from nlgauge.stats.agreement.alttest import alt_test


def _plain_alt_test(ratings: np.ndarray, metric: np.ndarray, closeness: str, epsilon: float) -> tuple[float, float]:
    """Section 3 of Calderon et al. 2025, one rater and one unit at a time."""

    def fit(voice: float, others: np.ndarray) -> float:
        return (others == voice).mean() if closeness == "accuracy" else -np.sqrt(((others - voice) ** 2).mean())

    p_values, advantages = [], []
    for left_out, own in enumerate(ratings):
        losses, wins = [], []
        for unit, value in enumerate(own):
            others = np.delete(ratings[:, unit], left_out)
            others = others[~np.isnan(others)]
            if np.isnan(value) or others.size == 0 or np.isnan(metric[unit]):
                continue
            m, h = fit(metric[unit], others), fit(value, others)
            wins.append(m >= h)
            losses.append(h >= m)
        advantages.append(np.mean(wins))
        p_values.append(
            ttest_1samp(np.array(losses, float) - np.array(wins, float), epsilon, alternative="less").pvalue
        )
    m = len(p_values)
    harmonic = sum(1.0 / i for i in range(1, m + 1))
    ranked = sorted(p_values)
    rejected = max((i + 1 for i, p in enumerate(ranked) if p <= (i + 1) / m * 0.05 / harmonic), default=0)
    return rejected / m, float(np.mean(advantages))


@pytest.mark.parametrize("closeness", ["rmse", "accuracy"])
@pytest.mark.parametrize("seed", range(6))
def test_winning_rate_and_advantage_equal_the_plain_reading(closeness, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, 80)
    ratings = np.clip(truth + rng.integers(-1, 2, size=(4, 80)), 1, 5).astype(float)
    ratings[rng.random(ratings.shape) < 0.15] = np.nan
    metric = np.clip(truth + rng.integers(-1, 2, 80) * (rng.random(80) < seed / 5), 1, 5).astype(float)
    found = alt_test(ratings, metric, closeness=closeness, epsilon=0.1)
    rate, advantage = _plain_alt_test(ratings, metric, closeness, 0.1)
    assert found.winning_rate == rate
    assert found.advantage == pytest.approx(advantage, abs=1e-12)


def test_a_metric_that_knows_the_truth_beats_noisy_raters_and_a_random_one_does_not():
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 120)
    ratings = np.clip(truth + rng.integers(-2, 3, size=(4, 120)), 1, 5)
    assert alt_test(ratings, truth).passed
    random = alt_test(ratings, rng.integers(1, 6, 120))
    assert random.winning_rate == 0.0
    assert not random.passed


def test_a_larger_epsilon_never_makes_the_metric_lose_more():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=100)
    ratings = truth + rng.normal(size=(5, 100))
    metric = truth + rng.normal(size=100)
    rates = [alt_test(ratings, metric, epsilon=e).winning_rate for e in (0.0, 0.1, 0.2, 0.3, 0.5)]
    assert rates == sorted(rates)
    assert rates[-1] > rates[0]


@pytest.mark.parametrize("scale", ["ranks", "zscore"])
def test_off_the_raters_scale_a_metric_is_warned_of_and_ranks_put_it_there(scale):
    rng = np.random.default_rng(2)
    truth = rng.normal(size=150)
    ratings = truth + rng.normal(size=(4, 150))
    raw = alt_test(ratings, 100 * truth + 7)
    assert "not the same scale" in raw.reason
    assert raw.winning_rate == 0.0
    moved = alt_test(ratings, 100 * truth + 7, scale=scale)
    assert moved.reason == ""
    assert moved.winning_rate == 1.0


def test_raters_with_few_units_are_skipped_and_counted():
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 6, size=(3, 60)).astype(float)
    ratings[2, 20:] = np.nan
    ratings[1, 55:] = np.nan
    found = alt_test(ratings, rng.integers(1, 6, 60))
    assert found.skipped_raters == 1
    assert found.dropped_units == 5
    assert np.isnan(found.p[2])


def test_without_persons_or_units_the_result_is_nan_with_the_reason():
    ratings = np.random.default_rng(4).integers(1, 6, size=(3, 20))
    assert "identity" in alt_test(ratings, ratings[0], persons=False, min_units=5).reason
    few = alt_test(ratings, ratings[0])
    assert np.isnan(few.winning_rate)
    assert "30 usable units" in few.reason


def test_a_metric_of_another_length_is_refused():
    with pytest.raises(DataError, match="values for"):
        alt_test([[1, 2], [1, 2]], [1, 2, 3])
