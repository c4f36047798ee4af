"""MACE (Hovy et al. 2013): estimate the competence of each annotator and the labels that competent ones agree on.

Each rating is either the true label (with probability `competence`) or a draw from the annotator's own guessing
distribution. Expectation maximization estimates competence, guessing distributions and labels together; the variational
form puts a Beta prior on competence and a Dirichlet prior on guessing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.types import Array, Ints

_FLOOR = 1e-300
SPAM_PRIOR, HABIT_PRIOR = 0.5, 10.0  # as in the authors' tool


@dataclass(frozen=True, slots=True)
class Mace:
    """Competence per annotator (NaN without ratings); consensus and posterior per unit (NaN if unrated)."""

    competence: Array
    consensus: Array
    posterior: Array
    habits: Array
    log_likelihood: float
    converged: bool


@dataclass(frozen=True, slots=True)
class _Votes:
    rater: Ints
    unit: Ints
    label: Ints
    raters: int
    units: int
    labels: int
    log_prior: Array


@dataclass(frozen=True, slots=True)
class _State:
    know: Array
    guess: Array
    habits: Array
    posterior: Array
    log_likelihood: float
    converged: bool


def mace(
    ratings: ArrayLike,
    rng: np.random.Generator,
    *,
    restarts: int = 10,
    iterations: int = 200,
    tolerance: float = 1e-9,
    label_prior: Literal["observed", "uniform"] = "observed",
) -> Mace:
    """Fit MACE to categorical ratings, annotators × units (or annotators × systems × inputs).

    The priors are those of the authors' tool; the best of `restarts` random starts is returned.

    `label_prior` is the share of each label among the ratings. The paper and its tool give all labels the same prior
    (`"uniform"`). Where most ratings have one value (fluency 5 of 5), agreement then looks like shared guessing, and
    the competence of good annotators falls to 0.

    >>> result = mace([[1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 2, 3], [2, 2, 2, 2, 2, 2]], np.random.default_rng(0))
    >>> result.consensus.tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
    """
    table = as_units(ratings)
    votes, values = _votes(table, label_prior)
    states = [_fit(votes, stream, iterations, tolerance) for stream in rng.spawn(restarts)]
    best = max(states, key=lambda state: state.log_likelihood)
    rated = np.bincount(votes.unit, minlength=votes.units) > 0
    heard = np.bincount(votes.rater, minlength=votes.raters) > 0
    likely = values[np.argmax(best.posterior, axis=1)]
    return Mace(
        competence=np.where(heard, best.know, np.nan),
        consensus=np.where(rated, likely, np.nan),
        posterior=np.where(rated[:, None], best.posterior, np.nan),
        habits=best.habits,
        log_likelihood=best.log_likelihood,
        converged=best.converged,
    )


def _votes(table: Array, label_prior: str) -> tuple[_Votes, Array]:
    rater, unit = np.nonzero(~np.isnan(table))
    if rater.size == 0:
        raise DataError("MACE needs at least one rating; all are missing")
    values, label = np.unique(table[rater, unit], return_inverse=True)
    label = label.reshape(-1)
    if label_prior not in ("uniform", "observed"):
        raise DataError(f"label_prior must be uniform or observed; found {label_prior!r}")
    counts = np.bincount(label) if label_prior == "observed" else np.ones(values.size)
    log_prior = np.log(counts / counts.sum())
    return _Votes(rater, unit, label, table.shape[0], table.shape[1], values.size, log_prior), values


def _fit(votes: _Votes, rng: np.random.Generator, iterations: int, tolerance: float) -> _State:
    state = _expect(votes, *_start(votes, rng))
    for _ in range(iterations):
        new = _expect(votes, *_maximize(votes, state))
        moved = abs(new.log_likelihood - state.log_likelihood)
        if moved <= tolerance * abs(state.log_likelihood):
            return replace(new, converged=True)
        state = new
    return state


def _start(votes: _Votes, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return near-uniform parameters with enough noise to make the starts differ."""
    spam = rng.uniform(1.0, 2.5, size=(votes.raters, 2))
    habits = rng.uniform(1.0, 2.5, size=(votes.raters, votes.labels))
    spam /= spam.sum(axis=1, keepdims=True)
    habits /= habits.sum(axis=1, keepdims=True)
    return spam[:, 1], spam[:, 0], habits


def _expect(votes: _Votes, know: Array, guess: Array, habits: Array) -> _State:
    """Compute the posterior over labels: a rating a multiplies the odds of a by 1 + competence / (guessing · share
    of a).
    """
    guessed = np.maximum(guess[votes.rater] * habits[votes.rater, votes.label], _FLOOR)
    base = np.bincount(votes.unit, weights=np.log(guessed), minlength=votes.units)
    gain = np.log1p(know[votes.rater] / guessed)
    cell = votes.unit * votes.labels + votes.label
    by_label = np.bincount(cell, weights=gain, minlength=votes.units * votes.labels)
    joint: Array = by_label.reshape(votes.units, votes.labels) + base[:, None] + votes.log_prior
    top = joint.max(axis=1)
    marginal = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
    return _State(know, guess, habits, np.exp(joint - marginal[:, None]), float(marginal.sum()), False)


def _maximize(votes: _Votes, state: _State) -> tuple[Array, Array, Array]:
    guessed = state.guess[votes.rater] * state.habits[votes.rater, votes.label]
    know = state.know[votes.rater]
    knew = state.posterior[votes.unit, votes.label] * know / np.maximum(guessed + know, _FLOOR)
    cell = votes.rater * votes.labels + votes.label
    spread = np.bincount(cell, weights=1.0 - knew, minlength=votes.raters * votes.labels)
    habits: Array = spread.reshape(votes.raters, votes.labels).astype(np.float64)
    available = np.bincount(votes.rater, weights=knew, minlength=votes.raters).astype(np.float64)
    both = _normalize(np.stack([available, habits.sum(axis=1)], axis=1) + SPAM_PRIOR)
    return both[:, 0], both[:, 1], _normalize(habits + HABIT_PRIOR)


def _normalize(total: Array) -> Array:
    return np.asarray(np.exp(digamma(total) - digamma(total.sum(axis=1, keepdims=True))))
