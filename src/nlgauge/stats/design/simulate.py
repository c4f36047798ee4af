"""Simulated meta-evaluation (Gao et al. 2025, Algorithm 1): metric and human scores of systems × inputs.

The capability of a metric has two parts: ρ_sys, its correlation across systems, and ρ_i (mean μ_ρ, SD σ_ρ), its
correlation within a system. All randomness of a panel is in one `Noise`, from which human scores are built first and
any number of metrics afterwards: a study varies the metric with everything else fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from nlgauge.errors import DataError
from nlgauge.types import Array


@dataclass(frozen=True, slots=True)
class SimulationParams:
    """Parameters of Algorithm 1 with the paper's settings as defaults; m is the metric, and h the human ratings.

    `within_m`, `within_h` are the SDs inside a system (σ_i), one number or one per system; None takes σ_m,
    σ_h as the paper does. `scale_m`, `scale_h` are numbers of distinct values; None keeps scores continuous.
    """

    mu_m: float = 0.0
    mu_h: float = 0.0
    sigma_m: float = 0.15
    sigma_h: float = 0.10
    rho_sys: float = 0.8
    mu_rho: float = 0.4
    sigma_rho: float = 0.15
    N: int = 15
    M: int = 200
    scale_m: int | None = None
    scale_h: int | None = None
    within_m: float | tuple[float, ...] | None = None
    within_h: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.N < 2 or self.M < 2:
            raise DataError(f"a simulation needs at least 2 systems and 2 inputs; found {self.N} × {self.M}")
        for name in ("rho_sys", "mu_rho"):
            if not -1.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name} must lie between -1 and 1; found {getattr(self, name)}")
        for name in ("sigma_m", "sigma_h", "sigma_rho"):
            if getattr(self, name) < 0.0:
                raise DataError(f"{name} must not be negative; found {getattr(self, name)}")
        for name in ("scale_m", "scale_h"):
            scale = getattr(self, name)
            if scale is not None and scale < 2:
                raise DataError(f"{name} needs at least 2 values; found {scale}")
        for name in ("within_m", "within_h"):
            within = getattr(self, name)
            if isinstance(within, tuple) and len(within) != self.N:
                raise DataError(f"{name} has {len(within)} values for {self.N} systems")


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard normal draws of one panel: per system and per cell for human and metric scores, and for ρ_i."""

    system_h: Array
    system_m: Array
    rho: Array
    cell_h: Array
    cell_m: Array

    @classmethod
    def draw(cls, systems: int, inputs: int, rng: np.random.Generator) -> Noise:
        """Draw the noise of a panel of systems × inputs."""
        return cls(
            rng.standard_normal(systems),
            rng.standard_normal(systems),
            rng.random(systems),
            rng.standard_normal((systems, inputs)),
            rng.standard_normal((systems, inputs)),
        )


def simulate_panel(params: SimulationParams, rng: np.random.Generator) -> tuple[Array, Array]:
    """Simulate one panel of Algorithm 1: metric scores X and human scores Z, both N × M.

    >>> X, Z = simulate_panel(SimulationParams(N=5, M=100, scale_h=5), np.random.default_rng(0))
    >>> X.shape, len(np.unique(Z))
    ((5, 100), 5)
    """
    noise = Noise.draw(params.N, params.M, rng)
    x, z = metric_scores(params, noise), human_scores(params, noise)
    if params.scale_m is not None:
        x = discretize(x, thresholds(params.scale_m, params.mu_m, params.sigma_m, rng))
    if params.scale_h is not None:
        z = discretize(z, thresholds(params.scale_h, params.mu_h, params.sigma_h, rng))
    return x, z


def human_scores(params: SimulationParams, noise: Noise) -> Array:
    """Return continuous human scores, which depend on no parameter of the metric."""
    means = params.mu_h + params.sigma_h * noise.system_h
    return means[:, None] + _within(params.within_h, params.sigma_h) * noise.cell_h


def metric_scores(params: SimulationParams, noise: Noise) -> Array:
    """Return continuous metric scores that are correlated with the human scores of the same noise."""
    means = params.mu_m + params.sigma_m * _mix(params.rho_sys, noise.system_h, noise.system_m)
    rho = truncated_normal(noise.rho, params.mu_rho, params.sigma_rho)
    cells = _mix(rho[:, None], noise.cell_h, noise.cell_m)
    return means[:, None] + _within(params.within_m, params.sigma_m) * cells


def truncated_normal(uniform: ArrayLike, mean: float, sd: float) -> Array:
    """Draw Normal(mean, sd) truncated to [-1, 1], by inverting its distribution function at uniform draws."""
    u = np.asarray(uniform, dtype=np.float64)
    if sd == 0.0:
        return np.full(u.shape, float(np.clip(mean, -1.0, 1.0)))
    low, high = ndtr((-1.0 - mean) / sd), ndtr((1.0 - mean) / sd)
    return np.asarray(np.clip(mean + sd * ndtri(low + u * (high - low)), -1.0, 1.0))


def thresholds(scale: int, mu: float, sigma: float, rng: np.random.Generator) -> Array:
    """Draw scale - 1 cut points, uniform within μ ± σ (μ = 0 in the paper), sorted."""
    return np.sort(rng.uniform(mu - sigma, mu + sigma, size=scale - 1))


def discretize(x: ArrayLike, cuts: ArrayLike) -> Array:
    """Count the cut points at or below each value, in a new array; NaN stays NaN.

    >>> discretize([-1.0, 0.2, 3.0], [0.0, 1.0]).tolist()
    [0.0, 1.0, 2.0]
    """
    values = np.asarray(x, dtype=np.float64)
    steps = np.searchsorted(np.sort(np.asarray(cuts, dtype=np.float64)), values, side="right")
    return np.where(np.isnan(values), np.nan, steps.astype(np.float64))


def _mix(rho: ArrayLike, shared: Array, own: Array) -> Array:
    r = np.asarray(rho, dtype=np.float64)
    return np.asarray(r * shared + np.sqrt(1.0 - r**2) * own)


def _within(given: float | tuple[float, ...] | None, default: float) -> Array:
    return np.asarray(default if given is None else given, dtype=np.float64).reshape(-1, 1)


@dataclass(frozen=True, slots=True)
class ScoreFit:
    """One variable as in Table 5 of Gao et al. (2025): mean, SD of system means and within systems, values, ties."""

    mean: float
    sigma: float
    within: tuple[float, ...]
    unique: int
    tie_ratio: float
    cells: int


def coarsen(scores: ArrayLike, levels: int) -> Array:
    """Discretize scores into bins of equal width between the lowest and the highest score.

    Parameters
    ----------
    scores : array
        NaN where missing.
    levels : int
        Number of steps.

    Returns
    -------
    array
        Number of the bin, from 0; the scores themselves if all are equal.

    Examples
    --------
    >>> coarsen(np.array([0.0, 0.3, 0.5, 1.0, np.nan]), 2).tolist()
    [0.0, 0.0, 1.0, 1.0, nan]
    """
    values = np.asarray(scores, np.float64)
    available = values[np.isfinite(values)]
    if available.size == 0 or np.ptp(available) == 0:
        return values
    steps = np.floor((values - available.min()) / np.ptp(available) * levels)
    return np.asarray(np.minimum(steps, levels - 1))


def fit_scores(scores: ArrayLike) -> ScoreFit:
    """Describe a table of scores: mean, spread, distinct values and ties.

    Parameters
    ----------
    scores : array of N × M
        Systems × inputs, NaN where missing.

    Returns
    -------
    ScoreFit
        `mean`, `sigma` (sample SD of the system means), `within` (SD of each system), `unique` (distinct values),
        `tie_ratio` (share of pairs of outputs with equal scores), `cells`.

    Notes
    -----
    The quantities of Table 5 of Gao et al. (2025). Values that agree to nine decimals are treated as equal.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"scores must be systems × inputs; found {table.ndim} dimensions")
    available = table[~np.isnan(table)]
    means = np.array([_mean(row) for row in table])
    spread = tuple(_sd(row) for row in table)
    # Means of three ratings written with six or sixteen digits are the same value.
    _, counts = np.unique(np.round(available, 9), return_counts=True)
    pairs = available.size * (available.size - 1)
    return ScoreFit(
        mean=_mean(available),
        sigma=_sd(means),
        within=spread,
        unique=int(counts.size),
        tie_ratio=float((counts * (counts - 1)).sum() / pairs) if pairs else np.nan,
        cells=int(available.size),
    )


def fit_panel(x: ArrayLike, z: ArrayLike) -> SimulationParams:
    """Estimate the parameters of Algorithm 1 from a metric X and human ratings Z, both N × M (shared outputs only).

    Systems with constant scores have no correlation and are left out of its mean. Scores are not rescaled; scale them
    to 0..1 to compare with the tables of the paper.
    """
    metric, human = np.array(x, dtype=np.float64), np.array(z, dtype=np.float64)
    if metric.shape != human.shape or metric.ndim != 2:
        raise DataError(f"X and Z must both be systems × inputs; found {metric.shape} and {human.shape}")
    missing = np.isnan(metric) | np.isnan(human)
    metric[missing] = human[missing] = np.nan
    by_system = np.array([_pearson(a, b) for a, b in zip(metric, human, strict=True)])
    m, h = fit_scores(metric), fit_scores(human)
    system_means = ([_mean(row) for row in metric], [_mean(row) for row in human])
    return replace(
        SimulationParams(N=metric.shape[0], M=metric.shape[1]),
        mu_m=m.mean,
        mu_h=h.mean,
        sigma_m=m.sigma,
        sigma_h=h.sigma,
        rho_sys=_pearson(np.array(system_means[0]), np.array(system_means[1])),
        mu_rho=_mean(by_system),
        sigma_rho=_sd(by_system),
        within_m=m.within,
        within_h=h.within,
    )


def _mean(values: Array | Sequence[float]) -> float:
    array = np.asarray(values, dtype=np.float64)
    available = array[~np.isnan(array)]
    return float(available.mean()) if available.size else np.nan


def _sd(values: Array) -> float:
    available = values[~np.isnan(values)]
    return float(available.std(ddof=1)) if available.size > 1 else np.nan


def _pearson(a: Array, b: Array) -> float:
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < 2:
        return np.nan
    p, q = a[both] - a[both].mean(), b[both] - b[both].mean()
    norm = float(np.sqrt((p @ p) * (q @ q)))
    # The spread of a constant group is the rounding error of its mean.
    floor = 1e-12 * both.sum() * max(float(np.abs(a[both]).max() * np.abs(b[both]).max()), 1e-300)
    return float(p @ q) / norm if norm > floor else np.nan
