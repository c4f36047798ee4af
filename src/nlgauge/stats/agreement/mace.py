"""MACE (Hovy et al. 2013): how competent is each rater, and what do the competent ones say?

Each rating is either the true label (the rater knew, with probability `competence`) or a draw from the
rater's own habit. Expectation maximisation finds competence, habits and labels together; the variational form
puts a Beta prior on knowing and a Dirichlet prior on habits. An alternative to the mean and the median.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import FloatArray, IntArray, as_units

_FLOOR = 1e-300


@dataclass(frozen=True, slots=True)
class Mace:
    """Competence per rater; consensus, expected value, entropy and posterior per unit (NaN where unrated)."""

    competence: FloatArray
    consensus: FloatArray
    expected: FloatArray
    entropy: FloatArray
    posterior: FloatArray
    values: FloatArray
    habits: FloatArray
    log_likelihood: float
    restarts: FloatArray
    iterations: int
    converged: bool
    silent_raters: int
    unrated_units: int
    method: str


@dataclass(frozen=True, slots=True)
class _Votes:
    rater: IntArray
    unit: IntArray
    label: IntArray
    raters: int
    units: int
    labels: int
    log_prior: FloatArray


@dataclass(frozen=True, slots=True)
class _State:
    know: FloatArray
    guess: FloatArray
    habits: FloatArray
    posterior: FloatArray
    log_likelihood: float
    iterations: int
    converged: bool


@dataclass(frozen=True, slots=True)
class _Prior:
    method: Literal["vb", "em"]
    know: float
    guess: float
    habit: float


def mace(
    ratings: ArrayLike,
    rng: np.random.Generator,
    *,
    method: Literal["vb", "em"] = "vb",
    restarts: int = 10,
    iterations: int = 200,
    tolerance: float = 1e-9,
    label_prior: Literal["observed", "uniform"] = "observed",
) -> Mace:
    """Fit MACE to categorical ratings, raters × units (or raters × systems × inputs).

    The variational form has the priors of the authors' tool; `em` adds 0.01 / number of labels to every count
    instead. The best of `restarts` random starts is kept.

    `label_prior` is the share of each label among the ratings. The paper and its tool give all labels the
    same prior (`"uniform"`); where most ratings are one value (fluency 5 of 5), agreement then looks like a
    shared habit and the competence of good raters falls to 0.

    >>> found = mace([[1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 2, 3], [2, 2, 2, 2, 2, 2]], np.random.default_rng(0))
    >>> found.consensus.tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
    """
    if method not in ("vb", "em"):
        raise DataError(f"method must be vb or em; found {method!r}")
    table = as_units(ratings)
    votes, values = _votes(table, label_prior)
    add = 0.01 / votes.labels
    weights = _Prior("vb", know=0.5, guess=0.5, habit=10.0) if method == "vb" else _Prior("em", add, add, add)
    states = [_fit(votes, weights, stream, iterations, tolerance) for stream in rng.spawn(restarts)]
    best = max(states, key=lambda state: state.log_likelihood)
    rated = np.bincount(votes.unit, minlength=votes.units) > 0
    heard = np.bincount(votes.rater, minlength=votes.raters) > 0
    posterior = np.where(rated[:, None], best.posterior, np.nan)
    likely = values[np.argmax(best.posterior, axis=1)]
    return Mace(
        competence=np.where(heard, best.know, np.nan),
        consensus=np.where(rated, likely, np.nan),
        expected=posterior @ values,
        entropy=-(posterior * np.log(np.maximum(posterior, _FLOOR))).sum(axis=1),
        posterior=posterior,
        values=values,
        habits=best.habits,
        log_likelihood=best.log_likelihood,
        restarts=np.array([state.log_likelihood for state in states]),
        iterations=best.iterations,
        converged=best.converged,
        silent_raters=int((~heard).sum()),
        unrated_units=int((~rated).sum()),
        method=f"MACE, {_NAMES[method]}, best of {restarts} random starts, {votes.labels} labels, "
        f"{label_prior} label prior",
    )


_NAMES = {"vb": "variational Bayes", "em": "expectation maximisation with smoothing"}


def _votes(table: FloatArray, label_prior: str) -> tuple[_Votes, FloatArray]:
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


def _fit(votes: _Votes, prior: _Prior, rng: np.random.Generator, iterations: int, tolerance: float) -> _State:
    state = _expect(votes, *_start(votes, rng))
    for step in range(1, iterations + 1):
        know, guess, habits = _maximise(votes, prior, state)
        new = _expect(votes, know, guess, habits)
        moved = abs(new.log_likelihood - state.log_likelihood)
        still = moved <= tolerance * abs(state.log_likelihood)
        state = _State(new.know, new.guess, new.habits, new.posterior, new.log_likelihood, step, converged=still)
        if still:
            break
    return state


def _start(votes: _Votes, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Near even, with enough noise that the starts differ."""
    spam = rng.uniform(1.0, 2.5, size=(votes.raters, 2))
    habits = rng.uniform(1.0, 2.5, size=(votes.raters, votes.labels))
    spam /= spam.sum(axis=1, keepdims=True)
    habits /= habits.sum(axis=1, keepdims=True)
    return spam[:, 1], spam[:, 0], habits


def _expect(votes: _Votes, know: FloatArray, guess: FloatArray, habits: FloatArray) -> _State:
    """Posterior over labels: a vote for a multiplies the odds of a by 1 + know / (guess·habit)."""
    guessed = np.maximum(guess[votes.rater] * habits[votes.rater, votes.label], _FLOOR)
    base = np.bincount(votes.unit, weights=np.log(guessed), minlength=votes.units)
    gain = np.log1p(know[votes.rater] / guessed)
    cell = votes.unit * votes.labels + votes.label
    by_label = np.bincount(cell, weights=gain, minlength=votes.units * votes.labels)
    joint: FloatArray = by_label.reshape(votes.units, votes.labels) + base[:, None] + votes.log_prior
    top = joint.max(axis=1)
    marginal = top + np.log(np.exp(joint - top[:, None]).sum(axis=1))
    return _State(know, guess, habits, np.exp(joint - marginal[:, None]), float(marginal.sum()), 0, False)


def _maximise(votes: _Votes, prior: _Prior, state: _State) -> tuple[FloatArray, FloatArray, FloatArray]:
    guessed = state.guess[votes.rater] * state.habits[votes.rater, votes.label]
    know = state.know[votes.rater]
    knew = state.posterior[votes.unit, votes.label] * know / np.maximum(guessed + know, _FLOOR)
    cell = votes.rater * votes.labels + votes.label
    spread = np.bincount(cell, weights=1.0 - knew, minlength=votes.raters * votes.labels)
    habits: FloatArray = spread.reshape(votes.raters, votes.labels).astype(np.float64)
    known = np.bincount(votes.rater, weights=knew, minlength=votes.raters).astype(np.float64)
    both = _normalise(np.stack([known, habits.sum(axis=1)], axis=1), np.array([prior.know, prior.guess]), prior)
    return both[:, 0], both[:, 1], _normalise(habits, np.full(votes.labels, prior.habit), prior)


def _normalise(counts: FloatArray, add: FloatArray, prior: _Prior) -> FloatArray:
    total = counts + add
    if prior.method == "em":
        return np.asarray(total / np.maximum(total.sum(axis=1, keepdims=True), _FLOOR))
    return np.asarray(np.exp(digamma(total) - digamma(total.sum(axis=1, keepdims=True))))
