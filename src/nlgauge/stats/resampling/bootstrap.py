"""Bootstrap of correlations over inputs, systems, both, or annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.engines import Local, using
from nlgauge.errors import DataError
from nlgauge.stats.correlation.evaluate_groups import MeasurePlan, arrays, plan_measures
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.correlation.profiles import Profile, apply_missing, profile_of
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.correlation.weighted import weighted
from nlgauge.stats.resampling.bootstrap_intervals import Interval, bca_interval, percentile_interval
from nlgauge.stats.resampling.draws import bootstrap_counts
from nlgauge.types import Array, Ints, Steps

Unit = Literal["inputs", "systems", "both", "raters"]


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap of K metrics under L measures.

    `value` (K×L) is the estimate, `samples` (K×L×draws) the draws, NaN where a resampled table has no defined
    correlation; `undefined` (K×L) counts those. `leave_one_out` is for BCa and computed on demand: it takes as many
    evaluations as there are inputs.
    """

    measures: tuple[str, ...]
    value: Array
    samples: Array
    method: str
    left_out: Callable[[], tuple[Array, ...]]

    @cached_property
    def leave_one_out(self) -> tuple[Array, ...]:
        """Return the values without each unit, one array for each side that was resampled (K×L×units)."""
        return self.left_out()

    @cached_property
    def undefined(self) -> Ints:
        """Count the draws without a value (K×L)."""
        return np.asarray(np.isnan(self.samples).sum(axis=2), np.int64)

    def interval(self, kind: Literal["percentile", "bca"] = "percentile", level: float = 0.95) -> Interval:
        """Return the limits of the interval, K×L each."""
        if kind == "percentile":
            return percentile_interval(self.samples, level)
        if kind != "bca":
            raise DataError(f"the interval must be percentile or bca; found {kind!r}")
        return bca_interval(self.samples, self.value, self.leave_one_out, level)


def bootstrap(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    how: Unit = "both",
    draws: int = 1000,
    seed: int = 0,
    profile: str | Profile = "nlgauge",
    progress: Steps | None = None,
) -> Bootstrap:
    """Resample inputs, systems, both or annotators with replacement, and recompute every measure of every metric.

    Parameters
    ----------
    x : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing; or one table.
    z : array of N × M
        Ratings; or annotators × systems × inputs, which are averaged.
    measures : sequence of Measure or str
    how : {'both', 'inputs', 'systems', 'raters'}
        What is resampled. Resamples are shared by all metrics and measures.
    draws : int, default 1000
    seed : int, default 0
    profile : str, default 'nlgauge'
        Conventions of another tool.
    progress : callable, optional
        Called with the number of steps done and the total.

    Returns
    -------
    Bootstrap
        `value` (K × L), `samples` (K × L × draws), `undefined` draws, and `interval(kind, level)` with the ends of
        percentile or BCa intervals.

    Notes
    -----
    An output counts where it has a rating and a score of the metric. The bootstrap of Deutsch, Dror and Roth (2021);
    BCa intervals after Efron (1987).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> z = rng.integers(1, 6, (8, 30)).astype(float)
    >>> b = bootstrap(z + rng.normal(0, 1, z.shape), z, ["global/pearson"], how="inputs", seed=1)
    >>> low, high = b.interval()
    >>> bool(low[0, 0] < b.value[0, 0] < high[0, 0])
    True
    """
    ratings = np.array(z, np.float64)
    if how == "raters" and ratings.ndim != 3:
        raise DataError("resampling raters needs human scores as raters × systems × inputs")
    rules, want = profile_of(profile), plan_measures(measures)
    people = _mean_rating(ratings, np.ones(len(ratings))) if ratings.ndim == 3 else ratings
    metrics, human = arrays(x, people)
    metrics, human = apply_missing(rules.missing, metrics, human)
    method = bootstrap_words(how, draws, seed, rules.legacy)
    if how == "raters":
        samples, value, left = _raters(metrics, ratings, draws, seed, want)
        return Bootstrap(want.names, value, samples, method, lambda: (left,))
    n, m = human.shape
    counts = list(bootstrap_counts(how, n, m, draws, seed, rules.legacy))
    whole = [(np.ones((1, n)), np.ones((1, m)))]
    rows, cols = (np.concatenate(part) for part in zip(*whole, *counts, strict=True))
    result = weighted(metrics, human, rows, cols, want, progress)

    def left_out() -> tuple[Array, ...]:
        sides = [(1.0 - np.eye(n), np.ones((n, m)))] * (how != "inputs")
        sides += [(np.ones((m, n)), 1.0 - np.eye(m))] * (how != "systems")
        return tuple(weighted(metrics, human, *side, want) for side in sides)

    return Bootstrap(want.names, result[:, :, 0], result[:, :, 1:], method, left_out)


def bootstrap_words(how: Unit, draws: int, seed: int, legacy: bool = False) -> str:
    """Describe a bootstrap in one line, for notes of tables."""
    return (
        f"bootstrap over {'systems and inputs' if how == 'both' else how}, {draws} draws with replacement, "
        f"{'legacy stream, ' if legacy else ''}seed {seed}; outputs without a human rating or a score are left out; "
        "groups that are constant in a draw are left out of it"
    )


def bootstrap_test(
    x1: ArrayLike,
    x2: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    how: Literal["inputs", "systems", "both"] = "both",
    draws: int = 1000,
    seed: int = 0,
    profile: str | Profile = "nlgauge",
) -> tuple[Array, Array]:
    """Return (p, difference) per measure for metric 1 against metric 2, over outputs with a rating and both scores.

    The resampled differences d* are centered at 0, the null hypothesis: two-sided p = share of |d* − d| ≥ |d|, with the
    +1 of the count rule. The profile `sacrerouge` uses |d*| ≥ 2|d| instead.
    """
    rules = profile_of(profile)
    both, human = arrays(np.stack([np.asarray(x1, float), np.asarray(x2, float)]), z)
    both[:, np.isnan(both).any(axis=0)] = np.nan
    with using(Local(threads=1)):
        result = bootstrap(both, human, measures, how=how, draws=draws, seed=seed, profile=rules)
    d, moved = result.value[0] - result.value[1], result.samples[0] - result.samples[1]
    seen, near = d[:, None], rules.tolerance
    with np.errstate(invalid="ignore"):
        if rules.alternative == "two-sided":
            extreme = (
                np.abs(moved) >= 2 * np.abs(seen) - near
                if rules.double
                else np.abs(moved - seen) >= np.abs(seen) - near
            )
        else:
            sign = 1.0 if rules.alternative == "greater" else -1.0
            extreme = sign * (moved - seen) >= sign * seen - near
    defined = np.isfinite(moved).sum(axis=1)
    one = 1 if rules.count == "plus-one" else 0
    p = np.where((defined > 0) & np.isfinite(d), (extreme.sum(axis=1) + one) / np.maximum(defined + one, 1), np.nan)
    return p, d


def _mean_rating(ratings: Array, times: Array) -> Array:
    """Return the weighted mean over the annotators who rated an output; equal means are exactly equal."""
    there = np.isfinite(ratings)
    n = np.tensordot(times, there.astype(np.float64), 1)
    total = np.tensordot(times, np.where(there, ratings, 0.0), 1)
    return snap(np.where(n > 0, total / np.maximum(n, 1), np.nan), scale=largest(ratings, axis=0))


def _raters(metrics: Array, ratings: Array, draws: int, seed: int, want: MeasurePlan) -> tuple[Array, Array, Array]:
    """Evaluate each distinct resample of annotators once: 3 annotators have only 10."""
    r = len(ratings)
    drawn = np.concatenate([cols for _, cols in bootstrap_counts("inputs", 1, r, draws, seed)])
    times = np.concatenate([np.ones((1, r)), drawn, 1.0 - np.eye(r)])
    distinct, where = np.unique(times, axis=0, return_inverse=True)
    values = np.stack([evaluate(metrics, _mean_rating(ratings, t), want.measures).value for t in distinct], axis=2)
    result = values[:, :, where.reshape(-1)]
    return result[:, :, 1 : draws + 1], result[:, :, 0], result[:, :, draws + 1 :]
