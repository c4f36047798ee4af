"""Can a measure tell metrics apart? Discriminative power and ranking consistency (paper "measures")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.errors import DataError
from nlgauge.stats.draws import halves
from nlgauge.stats.engine import Progress, arrays, wanted
from nlgauge.stats.intervals import Interval, percentile_interval
from nlgauge.stats.layout import Floats
from nlgauge.stats.ties import snap
from nlgauge.stats.weighted import weighted


def discriminative_power(p: ArrayLike) -> Floats:
    """Mean p-value over the metric pairs (first axis), Algorithm 2; lower is better. Undefined tests are left
    out.

    >>> discriminative_power([[0.01, 0.2], [0.03, 0.4]]).tolist()
    [0.02, 0.30000000000000004]
    """
    values = np.asarray(p, np.float64)
    tested = np.isfinite(values).sum(axis=0)
    return np.where(tested > 0, np.nansum(values, axis=0) / np.maximum(tested, 1), np.nan)


def p_value_curve(p: ArrayLike) -> Floats:
    """The p-values of each measure from high to low; the area under the curve is the discriminative power.

    >>> p_value_curve([0.01, 0.5, 0.2]).tolist()
    [0.5, 0.2, 0.01]
    """
    return -np.sort(-np.asarray(p, np.float64), axis=0)


def discriminative_power_interval(
    p: ArrayLike, pairs: ArrayLike | None = None, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Interval:
    """Percentile interval of the discriminative power, by resampling *metrics* with replacement.

    The pairs of one metric share it, so pairs are not independent and resampling them would give too narrow
    an interval. A pair counts as often as both its metrics were drawn; a metric is never paired with itself.
    `pairs` (P×2) names the metrics of each row of `p`; by default all pairs in the order of `combinations`.
    """
    values = np.asarray(p, np.float64)
    flat = values.reshape(len(values), -1)
    named = _all_pairs(len(values)) if pairs is None else np.asarray(pairs, np.int64).reshape(-1, 2)
    named, metrics = _by_content(flat, named)
    tested = (named < metrics).all(axis=1)
    flat, named = flat[tested], named[tested]
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    times = np.stack(
        [np.bincount(rng.integers(0, metrics, metrics), minlength=metrics) for _ in range(draws)]
    )
    weight = (times[:, named[:, 0]] * times[:, named[:, 1]]).astype(np.float64)
    there = np.isfinite(flat)
    total, n = weight @ np.where(there, flat, 0.0), weight @ there
    samples = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return Interval(*(end.reshape(values.shape[1:]) for end in percentile_interval(samples.T.copy(), level)))


def _by_content(p: Floats, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Metrics numbered by their own p-values, so that resampling does not depend on their order; those without any
    p-value, such as constant ones, come last and are not counted."""
    keys: dict[int, tuple[object, ...]] = {}
    for k in np.unique(pairs).tolist():
        mine = np.sort(p[(pairs == k).any(axis=1)], axis=0)
        keys[k] = (bool(np.isnan(mine).all()), *np.nan_to_num(mine, nan=2.0).ravel().tolist())
    ordered = sorted(keys, key=lambda k: (keys[k][0], len(keys[k]), keys[k]))
    place = {k: i for i, k in enumerate(ordered)}
    return np.vectorize(place.__getitem__, otypes=[np.int64])(pairs), max(
        1, sum(not key[0] for key in keys.values())
    )


def _all_pairs(rows: int) -> NDArray[np.int64]:
    metrics = round((1 + np.sqrt(1 + 8 * rows)) / 2)
    if metrics * (metrics - 1) // 2 != rows:
        raise DataError(f"{rows} p-values are not all pairs of some number of metrics: give `pairs`")
    return np.array(list(combinations(range(metrics), 2)), np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Consistency:
    """Ranking consistency: `value` per measure, `trials` (L×T) the tau-b of each split (NaN: no two metrics
    to compare).
    """

    measures: tuple[str, ...]
    value: Floats
    trials: Floats
    method: str

    def interval(self, level: float = 0.95) -> Interval:
        """Interval of the mean over splits, by resampling the trials: how much the number of trials leaves
        open.
        """
        rng = np.random.default_rng(np.random.SeedSequence(0))
        times = rng.multinomial(
            self.trials.shape[1], np.full(self.trials.shape[1], 1 / self.trials.shape[1]), 1000
        )
        there = np.isfinite(self.trials)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (np.where(there, self.trials, 0.0) @ times.T) / (there @ times.T)
        return percentile_interval(means, level)

    def spread(self, level: float = 0.95) -> Interval:
        """The middle `level` of the trials themselves: how far two halves of the data may disagree."""
        return percentile_interval(self.trials, level)


def ranking_consistency(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    trials: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Consistency:
    """Split the inputs in two halves, rank the K metrics on each, tau-b of the two rankings; mean over trials
    (Algorithm 3).

    Splits are shared by all measures. With an odd number of inputs the second half has one more. Correlations
    that differ by rounding only are tied; a metric whose correlation is undefined on a half is left out of
    that trial.
    """
    metrics, human = arrays(x, z)
    want = wanted(measures)
    if len(metrics) < 2 or human.shape[1] < 2:
        raise DataError("ranking consistency needs at least 2 metrics and 2 inputs")
    first = halves(human.shape[1], trials, seed)
    cols = np.concatenate([first, 1.0 - first])
    rows = np.ones((2 * trials, human.shape[0]))
    found = weighted(metrics, human, rows, cols, want, threads=threads, progress=progress)
    taus = np.stack(
        [
            _tau_b(snap(v[:, :trials].T, axis=1, scale=1.0), snap(v[:, trials:].T, axis=1, scale=1.0))
            for v in found.transpose(1, 0, 2)
        ]
    )
    method = (
        f"mean tau-b between the rankings of {len(metrics)} metrics on two random halves of the inputs, "
        f"{trials} splits, seed {seed}"
    )
    n = np.isfinite(taus).sum(axis=1)
    value = np.where(n > 0, np.nansum(taus, axis=1) / np.maximum(n, 1), np.nan)
    return Consistency(want.names, value, taus, method)


def _tau_b(a: Floats, b: Floats) -> Floats:
    """tau-b of each row of a with the same row of b; NaN values are left out."""
    c, told_a, told_b = np.zeros(len(a)), np.zeros(len(a)), np.zeros(len(a))
    for i, k in combinations(range(a.shape[1]), 2):
        with np.errstate(invalid="ignore"):
            s, t = np.sign(a[:, i] - a[:, k]), np.sign(b[:, i] - b[:, k])
        there = np.isfinite(s) & np.isfinite(t)
        s, t = np.where(there, s, 0.0), np.where(there, t, 0.0)
        c += s * t
        told_a += np.abs(s)
        told_b += np.abs(t)
    below = np.sqrt(told_a) * np.sqrt(told_b)
    out = np.full(len(a), np.nan)
    np.divide(c, below, out=out, where=below > 0)
    return out
