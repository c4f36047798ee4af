"""The human ceiling: the highest agreement that a metric can reach with ratings that are themselves noisy.

A metric that knew the true score T of every output would still correlate with the mean rating H at less than 1, because
H is T plus noise from disagreement between annotators. T is unknown, but the ratings show how large the noise is (from
outputs with several ratings) and how much H varies between systems, between inputs, and beyond both. Each of these
three parts of H is shrunk by its own reliability, and the remaining uncertainty about T is drawn at random. The measure
of such a T with the observed H is the ceiling, for any measure and with ties; many draws give its interval.

The Spearman-Brown correction (the square root of the reliability) is valid for Pearson's r over many points. Over the
five systems of an input it gives .84 for Spearman's rho where the true score reaches .78 (bench/_coverage_ceiling.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import mean_of_raters
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.types import Array, Mask

DRAWS = 400
MODEL = 0.012  # model error for rank measures, because ratings are not normal: off by .006 in simulations
WIDER = 1.15  # factor by which intervals are widened, from simulations with ratings on scales of a few levels


@dataclass(frozen=True, slots=True)
class SplitHalves:
    """For each measure: the correlation between two halves of the annotators (mean over splits), and annotators per
    half.
    """

    half: Array
    raters: float
    half_raters: float


@dataclass(frozen=True, slots=True)
class Ceiling:
    """For each measure: the value that the true score would reach, with its 95% interval; NaN with the reason."""

    ceiling: Array
    low: Array
    high: Array
    reasons: tuple[str, ...]
    method: str


@dataclass(frozen=True, slots=True)
class RatersLeftOut:
    """Each annotator compared with the mean of the others (annotators × measures), and each metric compared with the
    same means on the outputs that the annotator rated (annotators × metrics × measures).
    """

    raters: Array
    metrics: Array

    @property
    def closer(self) -> Array:
        """Return the share of annotators that a metric exceeds in agreement with the others (metrics × measures)."""
        valid = ~(np.isnan(self.metrics) | np.isnan(self.raters)[:, None, :])
        wins = (self.metrics >= self.raters[:, None, :]) & valid
        share = np.full(valid.shape[1:], np.nan)
        np.divide(wins.sum(axis=0), valid.sum(axis=0), out=share, where=valid.any(axis=0))
        return share


def ceilings(
    ratings: ArrayLike,
    measures: Sequence[Measure],
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    persons: bool = False,
) -> Ceiling:
    """Estimate the human ceiling: the value of each measure for a metric that knew the true score.

    With `persons` (a row is the same annotator throughout and no rating is missing), an annotator who is severe on
    every output does not lower the ceiling, and systematic preferences for a system or an input count as error of that
    part.
    """
    table = _cube(ratings)
    count = (~np.isnan(table)).sum(axis=0)
    chosen = tuple(measures)
    human = snap(mean_of_raters(table), scale=largest(table, axis=0))
    if (count >= 2).any():
        truth = true_scores(table, rng, draws=draws, persons=persons)
        result = evaluate(truth, human, chosen).value
    else:
        result = np.full((1, len(chosen)), np.nan)
    exists = np.isfinite(evaluate(human[None], human, chosen).value[0])
    ends, why = np.full((3, len(chosen)), np.nan), []
    for j, column in enumerate(result.T):
        available = np.where(
            np.isnan(column), 0.0, column
        )  # all true scores are equal: no variance that annotators agree on
        mean = float(available.mean())
        off = WIDER * (np.quantile(available, [0.025, 0.975]) - mean)
        if chosen[j].coefficient != "pearson":
            off = np.sign(off) * np.hypot(off, MODEL)
        low, high = np.clip(mean + off, -1.0, 1.0)
        if not exists[j]:
            why.append("the mean human ratings are too few or all equal here")
        elif not (count >= 2).any():
            why.append("no output was rated twice")
        elif low <= 0.0:
            why.append("the annotators agree no better than by chance, so there is no ceiling")
        else:
            ends[:, j] = mean, low, high
            why.append("")
    apart = persons and bool((count == len(table)).all())
    return Ceiling(
        ceiling=ends[0],
        low=ends[1],
        high=ends[2],
        reasons=tuple(why),
        method=f"{draws} draws of true scores given the ratings (systems, inputs and the rest each shrunk by its "
        f"reliability, {'with the error of each part between persons' if apart else 'with the error inside outputs'}), "
        f"correlated with the mean rating; 95% interval over the draws, widened by a factor of {WIDER:g}, for ranks "
        f"with an error of the model of {MODEL:g}",
    )


def true_scores(ratings: Array, rng: np.random.Generator, *, draws: int = DRAWS, persons: bool = False) -> Array:
    """Draw true scores given the ratings: draws × systems × inputs, NaN for unrated outputs.

    The variances of the noise and of the parts are uncertain too and are drawn as well: over inputs by the Bayesian
    bootstrap (ratings on a scale are not normal), over systems (often few) from a chi-square distribution.
    """
    raters, systems, inputs = ratings.shape
    given = ~np.isnan(ratings)
    count = given.sum(axis=0)
    there = count > 0
    human = mean_of_raters(ratings)
    rows, cols, rest = _parts(human, there)
    off = np.where(given, ratings - np.where(there, human, 0.0), 0.0)
    weight = rng.standard_exponential((draws, inputs))
    weight *= there.any(axis=0)

    def over_inputs(squares: Array, each: Array) -> Array:
        below = weight @ each
        return np.asarray(weight @ squares / np.where(below > 0, below, 1.0))

    per_input = there.sum(axis=0).astype(np.float64)
    used_inputs, used_systems, cells = (int((per_input > 0).sum()), int(there.any(axis=1).sum()), int(there.sum()))
    free = {"rows": used_systems - 1, "cols": used_inputs - 1, "rest": max(cells - used_systems - used_inputs + 1, 0)}
    total = {
        "rows": _drawn((there * rows[:, None] ** 2).sum(), free["rows"], draws, rng),
        "cols": over_inputs(per_input * cols**2, np.ones(inputs) * (per_input > 0)) * _more(used_inputs),
        "rest": over_inputs((rest**2).sum(axis=0), per_input) * (cells / max(free["rest"], 1)),
    }
    inside = over_inputs((off**2).sum(axis=(0, 1)), np.maximum(count - 1, 0).sum(axis=0).astype(np.float64))
    noise = dict.fromkeys(free, inside)
    if persons and given.all() and systems > 1 and inputs > 1:
        off = off - off.mean(axis=(1, 2), keepdims=True)
        by_row, by_col = off.mean(axis=2), off.mean(axis=1)
        left = off - by_row[:, :, None] - by_col[:, None, :]
        others = raters - 1.0
        noise = {
            "rows": _drawn(inputs * (by_row**2).sum(), int(others) * (systems - 1), draws, rng),
            "cols": over_inputs(systems * (by_col**2).sum(axis=0) / others, np.ones(inputs)) * _more(inputs),
            "rest": over_inputs((left**2).sum(axis=(0, 1)) / others / (systems - 1), np.ones(inputs)) * _more(inputs),
        }
    share = np.where(
        there, 1.0 / np.maximum(count, 1), 0.0
    )  # share of the noise of one rating that remains in the mean
    out = np.zeros((draws, systems, inputs))
    sides: list[tuple[str, Array, Array, Array]] = [
        ("rows", rows[:, None], _over(share, there, 1)[:, None], there.sum(axis=1)[:, None].astype(np.float64)),
        ("cols", cols[None, :], _over(share, there, 0)[None, :], per_input[None, :]),
        ("rest", rest, share, np.ones((1, 1))),
    ]
    for part, values, of, size in sides:
        if not free[part]:
            continue
        error = noise[part][:, None, None]
        true = np.maximum(total[part][:, None, None] - error * share[there].mean(), 0.0)
        both = true + error * of
        keep = np.divide(true, both, out=np.zeros_like(both), where=both > 0)
        open_ = np.sqrt(keep * error * of / np.maximum(size, 1))
        out += keep * values + open_ * _centered(rng.standard_normal((draws, *values.shape)), part)
    if not off.any():  # annotators never disagree: the ratings are the true scores
        out[:] = human
    out[:, ~there] = np.nan
    return out


def _parts(human: Array, there: Mask) -> tuple[Array, Array, Array]:
    """Return the deviations of systems and of inputs from the mean, and the residual of each output (0 if unrated)."""
    rest = np.where(there, human, 0.0)
    rest = np.where(there, rest - rest[there].mean(), 0.0)
    rows, cols = np.zeros(human.shape[0]), np.zeros(human.shape[1])
    for _ in range(1 if there.all() else 30):
        step = rest.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        rows, rest = rows + step, np.where(there, rest - step[:, None], 0.0)
        step = rest.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        cols, rest = cols + step, np.where(there, rest - step[None, :], 0.0)
    return rows, cols, rest


def _drawn(squares: float, free: int, draws: int, rng: np.random.Generator) -> Array:
    """Draw a mean square given the sum of squares and its degrees of freedom."""
    return np.asarray(squares / rng.chisquare(free, draws)) if free > 0 else np.zeros(draws)


def _centered(noise: Array, part: str) -> Array:
    """Center noise so that it sums to 0 over systems, over inputs, or over both."""
    if part != "cols" and noise.shape[1] > 1:
        noise = noise - noise.mean(axis=1, keepdims=True)
    if part != "rows" and noise.shape[2] > 1:
        noise = noise - noise.mean(axis=2, keepdims=True)
    return noise


def _more(n: int) -> float:
    """Return the factor n / (n - 1) by which a mean square around the own mean of n deviations is too small."""
    return n / (n - 1.0) if n > 1 else 1.0


def _over(values: Array, there: Mask, axis: int) -> Array:
    return np.asarray(values.sum(axis=axis) / np.maximum(there.sum(axis=axis), 1))


def split_half(
    ratings: ArrayLike, measures: Sequence[Measure], rng: np.random.Generator, *, splits: int = 100
) -> SplitHalves:
    """Compute the agreement between two halves of the annotators under each measure, from annotators × systems ×
    inputs.

    Every output is split anew. With an odd number of annotators one is left out of each split, so that both halves are
    equally reliable; outputs with one rating are dropped.
    """
    table = _cube(ratings)
    count = (~np.isnan(table)).sum(axis=0)
    usable = count >= 2
    table = np.where(usable, table, np.nan)
    chosen = tuple(measures)
    result = np.full((splits, len(chosen)), np.nan)
    for draw, stream in enumerate(rng.spawn(splits) if usable.any() else []):
        first, second = _halves(table, stream)
        result[draw] = evaluate(first[None], second, chosen).value[0]
    half = np.array([_mean(column) for column in result.T])
    return SplitHalves(half, _mean(count[usable]), _mean(count[usable] // 2))


def share_of_ceiling(values: ArrayLike, ceiling: Ceiling, measures: Sequence[Measure]) -> Array:
    """Return values (metrics × measures) as a share of the ceiling, both above chance (0, or 0.5 for a share).

    The result can exceed 1 by chance; it is NaN without a ceiling.
    """
    chance = np.array([m.chance for m in measures])
    return np.asarray((np.asarray(values, dtype=np.float64) - chance) / (ceiling.ceiling - chance))


def leave_one_out(ratings: ArrayLike, metrics: ArrayLike, measures: Sequence[Measure]) -> RatersLeftOut:
    """Compare each metric with each annotator in agreement with the remaining annotators, under each measure.

    `ratings` is annotators × systems × inputs, `metrics` is metrics × systems × inputs.
    """
    table, scores = _cube(ratings), np.asarray(metrics, dtype=np.float64)
    if scores.ndim != 3 or scores.shape[1:] != table.shape[1:]:
        raise DataError(f"metrics {scores.shape} and ratings {table.shape} must share systems × inputs")
    chosen = tuple(measures)
    raters = np.full((len(table), len(chosen)), np.nan)
    result = np.full((len(table), len(scores), len(chosen)), np.nan)
    for left_out, own in enumerate(table):
        others = mean_of_raters(np.delete(table, left_out, axis=0))
        others = np.where(np.isnan(own), np.nan, others)
        if np.isnan(others).all():
            continue
        value = evaluate(np.concatenate([own[None], scores]), others, chosen).value
        raters[left_out], result[left_out] = value[0], value[1:]
    return RatersLeftOut(raters, result)


def _cube(ratings: ArrayLike) -> Array:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 3:
        raise DataError(f"ratings must be raters × systems × inputs; found {table.ndim} dimensions")
    if len(table) < 2:
        raise DataError("a human ceiling needs at least two raters")
    return table


def _halves(table: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the means of two random halves of equal size for every output."""
    given = ~np.isnan(table)
    key = np.where(given, rng.random(table.shape), np.inf)
    place = np.argsort(np.argsort(key, axis=0), axis=0)
    size = given.sum(axis=0) // 2
    first = mean_of_raters(np.where(place < size, table, np.nan))
    return first, mean_of_raters(np.where((place >= size) & (place < 2 * size), table, np.nan))


def _mean(values: NDArray[Any]) -> float:
    available = values[~np.isnan(values)]
    return float(available.mean()) if available.size else np.nan
