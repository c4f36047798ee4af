"""Leniency and consistency of raters: simulated raters are recovered, with intervals that cover the true values."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.stats import rater_severities
from nlgauge.types import Array

SHIFTS, SPREADS = (-0.4, 0.4, 0.6, 0.0), (0.5, 0.8, 0.6, 1.5)


def rate(outputs: int, rng: np.random.Generator, missing: float = 0.0) -> Array:
    """Rounded normal ratings, which are not of the model that is fitted."""
    quality = rng.normal(3, 1, outputs)
    noisy = [quality + shift + rng.normal(0, sd, outputs) for shift, sd in zip(SHIFTS, SPREADS, strict=True)]
    ratings = np.clip(np.round(noisy), 1, 5)
    ratings[rng.random(ratings.shape) < missing] = np.nan
    return ratings


def test_intervals_cover_leniency_and_consistency_of_raters() -> None:
    rng = np.random.default_rng(5)
    reference = [True, True, False, False]
    population = rate(50_000, rng)
    true = population.mean(axis=1) - population[:2].mean()
    fits = [rater_severities(rate(90, rng, missing=0.2), reference=reference) for _ in range(40)]
    errors = np.array([np.sqrt(np.diag(fit.covariance)) for fit in fits])
    covered = np.abs(np.array([fit.leniency for fit in fits]) - true) <= 1.99 * errors  # Student's t
    assert covered.mean() >= 0.9  # of 160; 0.95 would give less with a probability below 0.01
    assert abs(np.mean([fit.leniency for fit in fits], axis=0) - true).max() < 0.05
    order = np.mean([fit.consistency for fit in fits], axis=0)
    assert order[0] > order[2] > order[1] > order[3]


def test_leniency_is_corrected_for_the_outputs_that_a_rater_got() -> None:
    rng = np.random.default_rng(6)
    ratings = rate(400, rng)
    best = ratings[:2].mean(axis=0) > 3
    ratings[2, ~best] = np.nan  # a lenient rater of good outputs only
    ratings[3, best] = np.nan
    fit = rater_severities(ratings, reference=[True, True, False, False])
    assert fit.leniency[2] == pytest.approx(0.55, abs=0.15)
    raw = np.nanmean(ratings[2]) - ratings[:2].mean()
    assert raw > fit.leniency[2] + 0.3


def test_the_gradient_is_that_of_the_likelihood() -> None:
    from nlgauge.stats.estimation.severity import _Model

    rng = np.random.default_rng(7)
    codes = np.where(rng.random((40, 3)) < 0.2, -1, rng.integers(0, 4, (40, 3)))
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    model = _Model(codes, np.arange(4.0), nodes, weights / weights.sum())
    at = rng.normal(0, 0.3, 8)

    def likelihood(parameters: Array) -> float:
        return model.posterior(model.log_probabilities(parameters))[1]

    numeric = [(likelihood(at + step) - likelihood(at - step)) / 2e-6 for step in 1e-6 * np.eye(8)]
    assert model.scores(at).sum(axis=0) == pytest.approx(numeric, rel=1e-5, abs=1e-5)


def test_too_few_outputs_and_too_many_values_are_refused() -> None:
    rng = np.random.default_rng(8)
    with pytest.raises(NlgaugeError, match=r"at least 60 outputs with two or more ratings, .*; found 20 in 20"):
        rater_severities(rate(20, rng))
    with pytest.raises(NlgaugeError, match="found 100 in 5"):
        rater_severities(rate(100, rng), clusters=np.arange(100) % 5)
    with pytest.raises(NlgaugeError, match="2 to 10 different ratings; found 100"):
        rater_severities(rng.random((2, 50)))
