"""Sample size: the power to distinguish two metrics for a number of inputs, systems and annotators, and chance levels.

Two metrics of given strengths are simulated (Algorithm 1 of Gao et al. 2025, one set of outputs and human scores for
both) and compared by a paired test; power is the share of trials in which the better one is significantly better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.simulate import Noise, SimulationParams, human_scores, metric_scores
from nlgauge.stats.resampling.draws import Swap
from nlgauge.stats.tests.permutation import permutation_test
from nlgauge.types import Array

PairTest = Callable[[Array, Array, Array, Measure, np.random.Generator], float]
Axis = Literal["inputs", "systems", "raters"]


@dataclass(frozen=True, slots=True)
class Strength:
    """Correlation of a metric with the true human score: across systems, and within a system on average."""

    rho_sys: float
    mu_rho: float


@dataclass(frozen=True, slots=True)
class Raters:
    """Number of annotators per output, and the reliability of a single one (one-way ICC)."""

    count: int
    reliability: float

    def __post_init__(self) -> None:
        if self.count < 1 or not 0.0 < self.reliability <= 1.0:
            raise DataError(f"raters need a count of 1 or more and a reliability in (0, 1]; found {self}")


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Two metrics as a simulation: common parameters, the strength of each, and the annotators.

    `between` is the correlation of the two metrics' own errors (two n-gram metrics make similar errors); `raters` adds
    annotation noise.
    """

    params: SimulationParams
    first: Strength
    second: Strength
    between: float = 0.0
    raters: Raters | None = None

    def sized(self, axis: Axis, size: int) -> MetricPair:
        """Return the same two metrics with another number of inputs, systems or annotators."""
        if axis == "raters":
            return replace(self, raters=self.raters and replace(self.raters, count=size))
        return replace(self, params=replace(self.params, **{"M" if axis == "inputs" else "N": size}))


@dataclass(frozen=True, slots=True)
class Power:
    """Shares of trials: significant for the better metric, significant for the other, and without a p-value."""

    power: float
    se: float
    wrong: float
    difference: float
    trials: int
    undefined: int


@dataclass(frozen=True, slots=True)
class Chance:
    """Value of a random continuous score for these human scores: mean, SD and central 95% of draws."""

    mean: float
    sd: float
    low: float
    high: float
    draws: int
    undefined: int


def swap_test(how: Swap = "systems", draws: int = 300) -> PairTest:
    """Return the permutation test as a paired test for planning; it swaps whole systems by default.

    For two equally strong simulated metrics (12 systems × 100 inputs, 150 trials), swapping systems rejects .04 to .05
    of the time at every level. Swapping inputs, outputs or both tests whether the metrics are exchangeable on these
    very systems and rejects .5 to .8 at system, input and global level (.03 at item level). With fewer than six systems
    no swap of systems can reach p = .05.
    """

    def test(x1: Array, x2: Array, z: Array, measure: Measure, rng: np.random.Generator) -> float:
        seed = int(rng.integers(2**31))
        return float(np.ravel(permutation_test(x1, x2, z, [measure], how=how, draws=draws, seed=seed).p)[0])

    return test


def simulate_pair(pair: MetricPair, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Simulate two metrics and the human scores of the same outputs."""
    params, between, raters = pair.params, pair.between, pair.raters
    noise = Noise.draw(params.N, params.M, rng)
    fresh = Noise.draw(params.N, params.M, rng)
    rest = float(np.sqrt(1.0 - between**2))
    other = replace(
        noise,
        system_m=between * noise.system_m + rest * fresh.system_m,
        cell_m=between * noise.cell_m + rest * fresh.cell_m,
    )
    x1 = metric_scores(replace(params, rho_sys=pair.first.rho_sys, mu_rho=pair.first.mu_rho), noise)
    x2 = metric_scores(replace(params, rho_sys=pair.second.rho_sys, mu_rho=pair.second.mu_rho), other)
    z = human_scores(params, noise)
    if raters is not None:
        within = params.sigma_h if params.within_h is None else np.asarray(params.within_h)
        true_variance = params.sigma_h**2 + float(np.mean(np.square(within)))
        error = true_variance * (1.0 - raters.reliability) / raters.reliability / raters.count
        z = z + np.sqrt(error) * rng.standard_normal(z.shape)
    return x1, x2, z


def power(
    pair: MetricPair,
    measure: Measure,
    seed: np.random.SeedSequence,
    *,
    test: PairTest | None = None,
    level: float = 0.05,
    trials: int = 200,
) -> Power:
    """Estimate the power of a study of this size to find the better metric significantly better."""
    paired = test or swap_test()
    difference, p = np.full(trials, np.nan), np.full(trials, np.nan)
    for draw, own in enumerate(seed.spawn(trials)):
        rng = np.random.default_rng(own)
        x1, x2, z = simulate_pair(pair, rng)
        value = np.asarray(evaluate(np.stack([x1, x2]), z, [measure]).value)[:, 0]
        difference[draw] = value[0] - value[1]
        p[draw] = paired(x1, x2, z, measure, rng)
    valid = ~(np.isnan(p) | np.isnan(difference))
    if not valid.any():
        return Power(np.nan, np.nan, np.nan, np.nan, trials, trials)
    mean = float(difference[valid].mean())
    significant = valid & (p <= level)
    right = np.sign(difference) == np.sign(mean)
    # A trial without a p-value is not significant: it stays in the denominator.
    share = float((significant & right).mean())
    return Power(
        power=share,
        se=float(np.sqrt(share * (1.0 - share) / trials)),
        wrong=float((significant & ~right).mean()),
        difference=mean,
        trials=trials,
        undefined=int((~valid).sum()),
    )


def chance_level(human: ArrayLike, measure: Measure, rng: np.random.Generator, *, draws: int = 200) -> Chance:
    """Estimate the value of a random continuous score: 0 for correlations, but not for acc-eq and SPA.

    Ties of the human scores matter: a continuous score never ties, so it never agrees on a tied pair.
    """
    z = np.asarray(human, dtype=np.float64)
    if z.ndim != 2:
        raise DataError(f"human scores must be systems × inputs; found {z.ndim} dimensions")
    value = np.asarray(evaluate(rng.standard_normal((draws, *z.shape)), z, [measure]).value)[:, 0]
    available = value[~np.isnan(value)]
    if available.size == 0:
        return Chance(np.nan, np.nan, np.nan, np.nan, draws, draws)
    low, high = np.quantile(available, [0.025, 0.975])
    sd = float(available.std(ddof=1)) if available.size > 1 else np.nan
    return Chance(float(available.mean()), sd, float(low), float(high), draws, draws - available.size)
