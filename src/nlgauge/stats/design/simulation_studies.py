"""The two simulation studies of Gao et al. (2025): relations between measures, and the effect of the scale size.

Every trial has its own seed. Within a trial all settings share the same noise, so that curves over a grid differ by the
setting alone and few trials suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nlgauge.stats.correlation.measure import TWELVE, Measure, evaluate
from nlgauge.stats.design.simulate import Noise, SimulationParams, discretize, human_scores, metric_scores
from nlgauge.types import Array, Ints

GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
EQUAL_SCALES = tuple((c, c) for c in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20))
UNEQUAL_SCALES = tuple((m, h) for h in (3, 5, 10, 50, 100) for m in (3, 5, 10, 50, 100) if m >= h)


class StudyMeans(NamedTuple):
    """Mean of each measure over trials (settings × measures), its standard error, and undefined values."""

    value: Array
    se: Array
    undefined: Ints


def relation_study(
    params: SimulationParams,
    seed: np.random.SeedSequence,
    *,
    rho_sys: Sequence[float] = GRID,
    mu_rho: Sequence[float] = GRID,
    trials: int = 1000,
    measures: Sequence[Measure] = TWELVE,
) -> StudyMeans:
    """Simulate how each measure depends on the capability of a metric at system level and within systems.

    Parameters
    ----------
    params : SimulationParams
    seed : SeedSequence
        Every trial has a seed of its own.
    rho_sys, mu_rho : sequence of float
        Capabilities at system level, and within systems.
    trials : int, default 1000
    measures : sequence of Measure
        The twelve by default.

    Returns
    -------
    StudyMeans
        `value`, standard error `se` and `undefined` values: ρ_sys × μ_ρ × measures.

    Notes
    -----
    Section 4.3 of Gao et al. (2025), without discretization. All settings of a trial share one noise.
    """
    chosen = tuple(measures)
    settings = [replace(params, rho_sys=a, mu_rho=b) for a in rho_sys for b in mu_rho]

    def trial(own: np.random.SeedSequence) -> Array:
        noise = Noise.draw(params.N, params.M, np.random.default_rng(own))
        metrics = np.stack([metric_scores(setting, noise) for setting in settings])
        return np.asarray(evaluate(metrics, human_scores(params, noise), chosen).value)

    result = np.stack([trial(own) for own in seed.spawn(trials)])
    shape = (len(rho_sys), len(mu_rho), len(chosen))
    value, se, undefined = _summary(result)
    return StudyMeans(value.reshape(shape), se.reshape(shape), undefined.reshape(shape))


def scale_study(
    params: SimulationParams,
    seed: np.random.SeedSequence,
    *,
    scales: Sequence[tuple[int, int]] = EQUAL_SCALES,
    trials: int = 100,
    redraws: int = 100,
    measures: Sequence[Measure] = TWELVE,
) -> StudyMeans:
    """Simulate the effect of the size of the rating scale on each measure.

    Parameters
    ----------
    params : SimulationParams
    seed : SeedSequence
        Every trial has a seed of its own.
    scales : sequence of (int, int)
        Distinct values of the metric and of the ratings.
    trials : int, default 100
    redraws : int, default 100
        Draws of thresholds in each trial.
    measures : sequence of Measure
        The twelve by default.

    Returns
    -------
    StudyMeans
        `value`, standard error `se` and `undefined` values: scales × measures.

    Notes
    -----
    Section 4.4 of Gao et al. (2025). The thresholds of a small scale are the first ones of a large scale: each is
    uniform as the algorithm requires, and all scales use the same draws.
    """
    chosen, pairs = tuple(measures), tuple(scales)
    largest = max(max(pair) for pair in pairs)

    def trial(own: np.random.SeedSequence) -> Array:
        rng = np.random.default_rng(own)
        noise = Noise.draw(params.N, params.M, rng)
        x, z = metric_scores(params, noise), human_scores(params, noise)
        result = np.empty((redraws, len(pairs), len(chosen)))
        for draw in range(redraws):
            cuts_m = rng.uniform(params.mu_m - params.sigma_m, params.mu_m + params.sigma_m, largest - 1)
            cuts_h = rng.uniform(params.mu_h - params.sigma_h, params.mu_h + params.sigma_h, largest - 1)
            for scale_h in sorted({pair[1] for pair in pairs}):
                rows = [row for row, pair in enumerate(pairs) if pair[1] == scale_h]
                metrics = np.stack([discretize(x, cuts_m[: pairs[row][0] - 1]) for row in rows])
                human = discretize(z, cuts_h[: scale_h - 1])
                result[draw, rows] = evaluate(metrics, human, chosen).value
        return result

    result = np.stack([trial(own) for own in seed.spawn(trials)])
    undefined = np.isnan(result).sum(axis=(0, 1))
    available = (~np.isnan(result)).sum(axis=1)
    by_trial = np.full(available.shape, np.nan)
    np.divide(np.nansum(result, axis=1), available, out=by_trial, where=available > 0)
    mean, se, _ = _summary(by_trial)
    return StudyMeans(mean, se, undefined.astype(np.int64))


def _summary(found: Array) -> StudyMeans:
    """Compute mean and standard error over the first axis; undefined values are left out and counted."""
    valid = ~np.isnan(found)
    count = valid.sum(axis=0)
    mean = np.full(count.shape, np.nan)
    np.divide(np.where(valid, found, 0.0).sum(axis=0), count, out=mean, where=count > 0)
    squares = np.where(valid, (found - mean) ** 2, 0.0).sum(axis=0)
    se = np.full(count.shape, np.nan)
    np.divide(squares, count * np.maximum(count - 1, 1), out=se, where=count > 1)
    return StudyMeans(mean, np.sqrt(se), (len(found) - count).astype(np.int64))
