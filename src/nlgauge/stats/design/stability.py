"""Discriminative power and ranking consistency of measures (Gao et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from nlgauge.errors import DataError
from nlgauge.stats.correlation.evaluate_groups import all_pairs, arrays, plan_measures
from nlgauge.stats.correlation.ties import snap
from nlgauge.stats.correlation.weighted import weighted
from nlgauge.stats.resampling.bootstrap_intervals import Interval
from nlgauge.stats.resampling.draws import halves
from nlgauge.types import Array, Ints

LEAST_POWER = (
    0.25  # equal metrics have a mean p-value of .5; above half of that, a measure has little discriminative power
)
LEVEL = 0.95  # level of the intervals behind the recommendation
AVERAGED = 255  # draws for a mean over all pairs of metrics: with the unswapped data they fill two strips of 128
MAX_PAIRS = 2500  # pairs of metrics tested for discriminative power: all pairs of 71 metrics
CHUNK = 4_000_000  # pairs of metrics × trials compared at once
ENOUGH = 6  # metrics needed to recommend a single measure


def discriminative_power(p: ArrayLike) -> Array:
    """Compute the discriminative power of measures from the p-values of all pairs of metrics.

    Parameters
    ----------
    p : array of P or P × L
        p-values of P pairs of metrics (by L measures); NaN where a test is not defined.

    Returns
    -------
    array of L
        The mean p-value; lower is better. NaN where no test is defined.

    Notes
    -----
    Algorithm 2 of Gao et al. (2025). The pairs share metrics; `over_metrics` computes an interval that accounts for
    this.

    Examples
    --------
    >>> discriminative_power([[0.01, 0.2], [0.03, 0.4]]).tolist()
    [0.02, 0.30000000000000004]
    """
    values = np.asarray(p, np.float64)
    tested = np.isfinite(values).sum(axis=0)
    return np.where(tested > 0, np.nansum(values, axis=0) / np.maximum(tested, 1), np.nan)


def pairs_to_test(metrics: int, seed: int = 0) -> Ints:
    """Return all pairs of metrics, or `MAX_PAIRS` of them drawn at random where there are more.

    Discriminative power is a mean over pairs, so that of a random part of them is not biased.

    >>> len(pairs_to_test(20)), len(pairs_to_test(500))
    (190, 2500)
    """
    every = all_pairs(metrics)
    if len(every) <= MAX_PAIRS:
        return every
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    return every[np.sort(rng.choice(len(every), MAX_PAIRS, replace=False))]


def p_value_curve(p: ArrayLike) -> Array:
    """Sort the p-values of each measure in decreasing order; the area under the curve is the discriminative power.

    >>> p_value_curve([0.01, 0.5, 0.2]).tolist()
    [0.5, 0.2, 0.01]
    """
    return -np.sort(-np.asarray(p, np.float64), axis=0)


def over_metrics(values: ArrayLike, pairs: ArrayLike | None = None, *, level: float = 0.95) -> Interval:
    """Compute a confidence interval of a mean over pairs of metrics that generalizes to other metrics.

    Parameters
    ----------
    values : array of P × …
        A value for each of P pairs of metrics.
    pairs : array of P × 2, optional
        The two metrics of each row; all pairs in the order of `itertools.combinations` by default.
    level : float, default 0.95

    Returns
    -------
    Interval
        `low` and `high`; NaN below three metrics.

    Notes
    -----
    Jackknife over metrics, with Student's t and the number of metrics minus 1 as degrees of freedom. Pairs that share
    a metric are dependent, so an interval that treats pairs (or draws) as independent is too narrow.
    """
    given = np.asarray(values, np.float64)
    flat = given.reshape(len(given), -1)
    named = _pairs_of(len(given)) if pairs is None else np.asarray(pairs, np.int64).reshape(-1, 2)
    metrics = np.unique(named)
    there = np.isfinite(flat)
    total, n = np.where(there, flat, 0.0).sum(axis=0), there.sum(axis=0)
    left = np.full((len(metrics), flat.shape[1]), np.nan)
    for i, k in enumerate(metrics):
        own = (named == k).any(axis=1)
        rest = n - there[own].sum(axis=0)
        valid = (rest > 0) & there[own].any(axis=0)  # a metric without any value is left out
        np.divide(total - np.where(there[own], flat[own], 0.0).sum(axis=0), rest, out=left[i], where=valid)
    count = np.isfinite(left).sum(axis=0)
    middle = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    off = np.where(np.isfinite(left), left - np.nansum(left, axis=0) / np.maximum(count, 1), 0.0)
    error = np.sqrt((off**2).sum(axis=0) * (count - 1) / np.maximum(count, 1))
    half = np.where(count > 2, stdtrit(np.maximum(count - 1, 1), 0.5 + level / 2) * error, np.nan)
    return Interval((middle - half).reshape(given.shape[1:]), (middle + half).reshape(given.shape[1:]))


def _pairs_of(rows: int) -> Ints:
    metrics = round((1 + np.sqrt(1 + 8 * rows)) / 2)
    if metrics * (metrics - 1) // 2 != rows:
        raise DataError(f"{rows} p-values are not all pairs of some number of metrics: give `pairs`")
    return all_pairs(metrics)


@dataclass(frozen=True)
class RankingConsistency:
    """Ranking consistency: `value` per measure, and `trials` (L×T) with the tau-b of each split (NaN: no comparable
    pair).

    `by_pair` (P×L) is the contribution of each pair of metrics to tau-b, mean over splits; its mean over pairs is
    `value`.
    """

    measures: tuple[str, ...]
    value: Array
    trials: Array
    by_pair: Array
    method: str

    def interval(self, level: float = 0.95) -> Interval:
        """Compute the interval for other metrics like these. It does not depend on the number of splits."""
        low, high = over_metrics(self.by_pair, level=level)
        return Interval(np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0))


def ranking_consistency(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    over: Literal["inputs", "systems"] = "inputs",
    trials: int = 1000,
    seed: int = 0,
) -> RankingConsistency:
    """Compute the agreement of the rankings of metrics on two random halves of the inputs.

    Parameters
    ----------
    x : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing.
    z : array of N × M
        Ratings.
    measures : sequence of Measure or str
    over : {'inputs', 'systems'}
        What is split.
    trials : int, default 1000
        Random splits, shared by all measures. With an odd number of inputs the second half has one more.
    seed : int, default 0

    Returns
    -------
    RankingConsistency
        `value` of each measure (higher is better), `trials`, and `by_pair`; `interval()` generalizes to other metrics.

    Notes
    -----
    Algorithm 3 of Gao et al. (2025): the mean of Kendall's tau-b between the two rankings. Correlations that differ by
    rounding only are tied; a metric without a value on a half is left out of that split.
    """
    metrics, human = arrays(x, z)
    want = plan_measures(measures)
    units, others = human.shape[::-1] if over == "inputs" else human.shape
    if len(metrics) < 2 or units < 2:
        raise DataError(f"ranking consistency needs at least 2 metrics and 2 {over}")
    first = halves(units, trials, seed)
    moved, fixed = np.concatenate([first, 1.0 - first]), np.ones((2 * trials, others))
    rows, cols = (fixed, moved) if over == "inputs" else (moved, fixed)
    result = weighted(metrics, human, rows, cols, want)
    both = [
        _tau_b(snap(v[:, :trials].T, axis=1, scale=1.0), snap(v[:, trials:].T, axis=1, scale=1.0))
        for v in result.transpose(1, 0, 2)
    ]
    taus, by_pair = np.stack([t for t, _ in both]), np.stack([p for _, p in both], axis=1)
    method = (
        f"mean tau-b between the rankings of {len(metrics)} metrics on two random halves of the {over}, "
        f"{trials} splits, seed {seed}"
    )
    n = np.isfinite(taus).sum(axis=1)
    value = np.where(n > 0, np.nansum(taus, axis=1) / np.maximum(n, 1), np.nan)
    return RankingConsistency(want.names, value, taus, by_pair, method)


def _tau_b(a: Array, b: Array) -> tuple[Array, Array]:
    """Compute tau-b of each row of a with the same row of b (NaN is left out), and the contribution of each pair of
    columns.
    """
    i, k = np.triu_indices(a.shape[1], 1)
    step = max(1, CHUNK // max(1, len(i)))
    parts = [_compared(a[index : index + step], b[index : index + step], i, k) for index in range(0, len(a), step)]
    taus, added, told = zip(*parts, strict=True)
    brings, times = np.full(len(i), np.nan), sum(told)
    np.divide(sum(added), times, out=brings, where=times > 0)
    return np.concatenate(taus), brings


def _compared(a: Array, b: Array, i: Ints, k: Ints) -> tuple[Array, Array, Ints]:
    """Compute tau-b of some rows, and for each pair of columns the sum of contributions and the number of rows."""
    with np.errstate(invalid="ignore"):
        s, t = np.sign(a[:, i] - a[:, k]), np.sign(b[:, i] - b[:, k])
    there = np.isfinite(s) & np.isfinite(t)
    s, t = np.where(there, s, 0.0), np.where(there, t, 0.0)
    below = np.sqrt(np.abs(s).sum(axis=1)) * np.sqrt(np.abs(t).sum(axis=1))
    out = np.full(len(a), np.nan)
    np.divide((s * t).sum(axis=1), below, out=out, where=below > 0)
    counted = np.where(below > 0, there.sum(axis=1) / np.where(below > 0, below, 1.0), 0.0)
    told = (there & (below > 0)[:, None]).sum(axis=0)
    return out, (s * t * counted[:, None]).sum(axis=0), told


@dataclass(frozen=True)
class Advice:
    """Reliable measures, and those of all that are not significantly different from the best of them (itself first)."""

    steady: tuple[int, ...]
    alike: tuple[int, ...]

    @property
    def one(self) -> bool:
        """Return whether a single measure is significantly better than all others."""
        return len(self.alike) == 1


def advise(p: Array, pairs: Ints, kept: Sequence[Array], order: Sequence[int]) -> Advice:
    """Recommend measures from p-values of `pairs` (P×L) and ranking consistencies of all pairs of metrics (on inputs,
    systems).

    A measure is reliable if the interval of its discriminative power (DP) ends below LEAST_POWER and that of each
    ranking consistency (RC) begins above 0. Two measures differ significantly if the intervals of their differences, in
    DP and in RC on inputs, both exclude 0 (simultaneously at LEVEL) and there are at least ENOUGH metrics. `order`: the
    measures, best first.
    """
    strict = 1.0 - (1.0 - LEVEL) / p.shape[1]  # among twelve measures some would look reliable by chance
    steady = over_metrics(p, pairs, level=LEVEL).high < LEAST_POWER
    for values, sure in zip(kept, (LEVEL, strict), strict=False):
        steady &= over_metrics(values, level=sure).low > 0.0
    results = [j for j in order if steady[j]]
    if not results:
        return Advice((), ())
    best, others = results[0], [j for j in order if j != results[0]]
    strict = 1.0 - (1.0 - LEVEL) / max(len(others), 1)
    power = over_metrics(p[:, others] - p[:, [best]], pairs, level=strict).low > 0.0
    again = over_metrics(kept[0][:, [best]] - kept[0][:, others], level=strict).low > 0.0
    enough = len(np.unique(pairs)) >= ENOUGH
    alike = [j for j, a, b in zip(others, power, again, strict=True) if not (a and b and enough)]
    return Advice(tuple(results), (best, *alike))
