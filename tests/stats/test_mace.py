"""MACE: finds the spammer, weighs the expert, repeats itself. crowd-kit is the oracle in tests/parity."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.errors import DataError
from nlgauge.stats.agreement.mace import mace


def _crowd(seed: int, competence: list[float], units: int = 300, labels: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """The generative story: know the truth with some probability, else answer by habit (here: evenly)."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, labels + 1, units)
    shape = (len(competence), units)
    knows = rng.random(shape) < np.array(competence)[:, None]
    return np.where(knows, truth, rng.integers(1, labels + 1, shape)).astype(float), truth


def test_competence_of_its_own_generative_story_is_recovered():
    true = [0.9, 0.7, 0.5, 0.3, 0.0]
    ratings, _ = _crowd(0, true, units=1500)
    found = mace(ratings, np.random.default_rng(1))
    assert found.competence == pytest.approx(true, abs=0.07)
    assert found.converged


def test_consensus_beats_the_majority_when_most_raters_guess():
    ratings, truth = _crowd(2, [0.95, 0.9, 0.0, 0.0, 0.0])
    found = mace(ratings, np.random.default_rng(0))
    majority = np.array([np.bincount(unit.astype(int)).argmax() for unit in ratings.T])
    assert (found.consensus == truth).mean() > (majority == truth).mean() + 0.05


def test_a_rater_who_always_gives_one_value_has_no_competence_and_that_habit():
    ratings, _ = _crowd(3, [0.8, 0.8, 0.8, 0.0])
    ratings[3] = 2.0
    found = mace(ratings, np.random.default_rng(0))
    assert found.competence[3] < 0.05
    assert found.habits[3].argmax() == 1
    assert found.habits[3].max() == pytest.approx((300 + 10) / (300 + 40), abs=0.01)  # ten of each label by the prior


def test_silent_raters_and_unrated_units_are_nan():
    ratings, _ = _crowd(4, [0.8, 0.8, 0.8])
    ratings = np.concatenate([ratings, np.full((1, 300), np.nan)])
    ratings[:, :7] = np.nan
    found = mace(ratings, np.random.default_rng(0))
    assert np.isnan(found.competence[3])
    assert np.isnan(found.consensus[:7]).all()
    assert not np.isnan(found.consensus[7:]).any()


def test_the_same_seed_repeats_and_rater_order_does_not_matter():
    ratings, _ = _crowd(5, [0.9, 0.6, 0.4])
    first, again = (mace(ratings, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first.posterior, again.posterior)
    turned = mace(ratings[::-1], np.random.default_rng(9))
    assert turned.competence[::-1] == pytest.approx(first.competence, abs=1e-3)


def test_posterior_sums_to_one():
    ratings, _ = _crowd(6, [0.7, 0.5, 0.3], units=50)
    found = mace(ratings, np.random.default_rng(0))
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(50))


def test_no_rating_at_all_is_refused():
    with pytest.raises(DataError, match="at least one rating"):
        mace(np.full((2, 3), np.nan), np.random.default_rng(0))
