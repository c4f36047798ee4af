"""Which metric agrees best with the human ratings? Differences between metrics, one by one and all at once.

The difference of two metrics over the outputs that both scored is divided by its two-way jackknife standard error and
compared with Student's t. For many metrics the p-values of all pairs are made simultaneous: the largest of all
standardized differences has a null distribution that depends on the correlation of the metrics' errors, which the
leave-one-out values show (max-t; Hothorn, Bretz and Westfall 2008). The set of metrics that may be the best, the ranks
and the corrected p-values are read from this one set of simultaneous intervals, so they cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtrit

from nlgauge.stats.correlation.evaluate_groups import MeasurePlan, all_pairs, arrays, plan_measures
from nlgauge.stats.ranking.simultaneous_tests import AllPairs
from nlgauge.stats.resampling.jackknife import (
    SYSTEMS,
    UNITS,
    LeaveOneOut,
    Spread,
    generalizes_to,
    input_groups,
    left_out,
    student_p,
    system_groups,
    too_few,
    units_left_out,
)
from nlgauge.stats.tests.permutation import PairTests, permutation_pairs
from nlgauge.types import Array, Ints, Mask, Steps

Unit = Literal["both", "inputs"]
DRAWS = 8192  # draws of the largest standardized error; fewer with very many pairs
WORK = 1e9  # draws × pairs
NO_ERROR = 1e-12  # standard errors up to this are rounding errors, for example of the difference of two copies


class Swaps(NamedTuple):
    """Random draws of the test that swaps two metrics on whole systems."""

    draws: int = 2000
    seed: int = 0


@dataclass(frozen=True)
class Contrasts:
    """Values of K metrics and all their differences, with simultaneous 95% (or `level`) statements.

    Attributes
    ----------
    value : array of K
    pairs : AllPairs
        Differences (row minus column), simultaneous p-values, and which metric is significantly better.
    tests : PairTests
        The tests of single pairs, without correction.
    marginal_level : float
        The level at which intervals of single metrics hold for all K metrics together, and so for the best one too.
    """

    value: Array
    pairs: AllPairs
    tests: PairTests
    marginal_level: float

    @property
    def may_be_best(self) -> Mask:
        """A confidence set for the best metric: those that no other metric is significantly better than."""
        return np.isfinite(self.value) & ~self.pairs.better.any(axis=0)


def difference_tests(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    clusters: ArrayLike | None = None,
    families: ArrayLike | None = None,
    swaps: Swaps | None = None,
    progress: Steps | None = None,
) -> PairTests:
    """Test all pairs of metrics for a difference in agreement that generalizes to other systems and inputs.

    Parameters
    ----------
    x : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing.
    z : array of N × M
        Ratings.
    measures : sequence of Measure or str
    clusters : array of M, optional
        Cluster of each input; inputs of the same cluster, such as a document, are not independent.
    families : array of N, optional
        Family of each system; systems of the same family are not independent.
    swaps : Swaps, optional
        Number of draws and seed of the test for measures of system means.
    progress : callable, optional
        Called with the number of steps done and the total.

    Returns
    -------
    PairTests
        `pairs`, `difference` and two-sided `p` (pairs × measures), and the `method` in words, which says what would be
        needed where too few systems or inputs leave p NaN.

    Notes
    -----
    The difference over its two-way jackknife standard error against Student's t. Measures of system means other than
    Pearson's r are tested by swapping the two metrics on whole systems, which takes the metrics as exchangeable.
    """
    metrics, human = arrays(x, z)
    want, unit = plan_measures(measures), _unit(human, families)
    gaps = _pair_gaps(metrics, human, want, unit, clusters, families, progress)
    return _pair_tests(metrics, human, want, unit, gaps, clusters, families, swaps or Swaps())


def _unit(human: Array, families: ArrayLike | None) -> Unit:
    """Return what the results generalize to: systems and inputs, or inputs only."""
    return generalizes_to("auto", int(system_groups(len(human), families).max()) + 1)


def _pair_tests(
    metrics: Array,
    human: Array,
    want: MeasurePlan,
    unit: Unit,
    gaps: _PairGaps,
    clusters: ArrayLike | None,
    families: ArrayLike | None,
    swaps: Swaps,
) -> PairTests:
    """Compute p-values of all pairs: by the jackknife, and by swapping systems for rank measures of system means."""
    p, undefined = gaps.p.copy(), np.zeros(gaps.p.shape, np.int64)
    means = [
        j
        for j, m in enumerate(want.measures)
        if m.grouping == "system" and m.coefficient != "pearson" and unit == "both"
    ]
    if means and len(human) >= SYSTEMS:
        which = [want.measures[j] for j in means]
        swapped = permutation_pairs(metrics, human, which, how="systems", draws=swaps.draws, seed=swaps.seed)
        p[:, means], undefined[:, means] = swapped.p, swapped.undefined
    method = _test_method(want, unit, units_left_out(unit, clusters, families), swaps if means else None)
    pairs = all_pairs(len(metrics))
    return PairTests(want.names, pairs, gaps.difference, p, undefined, gaps.cells, swaps.draws if means else 0, method)


def contrasts(
    x: ArrayLike,
    z: ArrayLike,
    measure: object,
    *,
    clusters: ArrayLike | None = None,
    families: ArrayLike | None = None,
    level: float = 0.95,
    swaps: Swaps | None = None,
    progress: Steps | None = None,
) -> Contrasts:
    """Compute simultaneous tests of all differences between K metrics (K × N × M) under one measure.

    >>> rng = np.random.default_rng(3)
    >>> z = rng.normal(size=(12, 80))
    >>> x = np.stack([z + s * rng.normal(size=z.shape) for s in (0.5, 0.52, 3.0)])
    >>> contrasts(x, z, "input/pairwise-accuracy").may_be_best.tolist()
    [True, True, False]
    """
    metrics, human = arrays(x, z)
    want, unit = plan_measures([measure]), _unit(human, families)
    gaps = _pair_gaps(metrics, human, want, unit, clusters, families, progress)
    tests = _pair_tests(metrics, human, want, unit, gaps, clusters, families, swaps or Swaps())
    left = left_out(metrics, human, want, unit, clusters, None, families)
    largest = largest_differences(deviations(left.transform(lambda v: v[:, 0])))
    reach = max(_critical_value(largest, level), float(ndtri((1 + level) / 2)))
    with np.errstate(invalid="ignore"):
        half = stdtrit(gaps.spread.free[:, 0], ndtr(reach)) * np.sqrt(gaps.spread.variance[:, 0])
    shape = (len(metrics), len(metrics))
    gap, error, p = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)
    i, j = tests.pairs.T
    for a, b, sign in ((i, j, 1.0), (j, i, -1.0)):
        gap[a, b], error[a, b], p[a, b] = sign * gaps.difference[:, 0], half / reach, tests.p[:, 0]
    return Contrasts(
        left.value[:, 0],
        AllPairs(np.nan_to_num(gap), _testable(error, gap, p, reach), _at_once(p, largest), reach),
        tests,
        simultaneous_level(deviations(left.transform(lambda v: want.fisher_z(v)[:, 0])), level),
    )


@dataclass(frozen=True)
class _PairGaps:
    """Differences of pairs × measures with standard errors and p-values, and the number of outputs both metrics
    scored.
    """

    difference: Array
    spread: Spread
    p: Array
    cells: Ints


def _pair_gaps(
    metrics: Array,
    human: Array,
    want: MeasurePlan,
    unit: Unit,
    clusters: ArrayLike | None,
    families: ArrayLike | None,
    progress: Steps | None,
) -> _PairGaps:
    """Compute the difference of every pair over the outputs that both metrics scored."""
    chosen = all_pairs(len(metrics))
    shape = (len(chosen), len(want))
    difference, variance, free, p = (np.full(shape, np.nan) for _ in range(4))
    cells = np.zeros(len(chosen), np.int64)
    there = np.isfinite(metrics) & np.isfinite(human)
    groups = input_groups(metrics, human, clusters) if clusters is not None else np.arange(human.shape[1])
    kin = system_groups(len(human), families)
    for mask, rows in _by_shared(there, chosen).items():
        shared: Mask = np.frombuffer(mask, bool).reshape(human.shape)
        cells[rows] = int(shared.sum())
        used = np.unique(chosen[rows])
        place = np.full(len(metrics), -1, np.int64)
        place[used] = np.arange(len(used))
        left = left_out(metrics[used], np.where(shared, human, np.nan), want, unit, clusters, None, families)
        gap = left.difference(place[chosen[rows, 0]], place[chosen[rows, 1]])
        spread = gap.spread(of_differences=True)
        systems, inputs = len(np.unique(kin[shared.any(axis=1)])), len(np.unique(groups[shared.any(axis=0)]))
        difference[rows], p[rows] = gap.value, student_p(gap, of_differences=True)
        variance[rows], free[rows] = spread.variance, spread.free
        for j, measure in enumerate(want.measures):
            if too_few(systems, inputs, unit, measure.grouping):
                p[rows, j] = np.nan
        if progress is not None:
            progress(int((cells > 0).sum()), len(chosen))
    return _PairGaps(difference, Spread(variance, free), p, cells)


def deviations(left: LeaveOneOut) -> Array:
    """Return the contribution of each unit (system, input) to the error of K values: K × units; squares sum to the
    variance.
    """
    parts = [left.inputs] if left.systems is None else [left.systems, left.inputs]
    moves = []
    for values in parts:
        there, n = np.isfinite(values), values.shape[-1]
        mean = np.where(there, values, 0.0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
        moves.append(np.where(there, values - mean[..., None], 0.0) * np.sqrt((n - 1) / n))
    return np.concatenate(moves, axis=-1)


def simultaneous_level(moves: Array, level: float = 0.95) -> float:
    """Return the level of single intervals that hold simultaneously at `level`, from the deviations of K values.

    >>> round(simultaneous_level(np.eye(2)), 3), round(simultaneous_level(np.ones((2, 5))), 3)
    (0.977, 0.95)
    """
    size = np.sqrt((moves**2).sum(axis=1))
    scaled = moves[size > NO_ERROR] / size[size > NO_ERROR, None]
    if len(scaled) < 2:
        return level
    reach = np.quantile(np.abs(_normal(scaled.shape[1], DRAWS) @ scaled.T).max(axis=1), level)
    return float(max(level, 2 * ndtr(reach) - 1))


def largest_differences(moves: Array) -> Array:
    """Draw the largest absolute standardized difference between any two of K values."""
    k = len(moves)
    draws = int(np.clip(WORK / max(1, k * (k - 1) / 2), 1000, DRAWS))
    errors = np.ascontiguousarray((_normal(moves.shape[1], draws) @ moves.T).T)
    largest = np.zeros(draws)
    for i in range(k - 1):
        size = np.sqrt(((moves[i + 1 :] - moves[i]) ** 2).sum(axis=1))
        some = size > NO_ERROR
        if some.any():
            apart = np.abs(errors[i + 1 :][some] - errors[i]) / size[some, None]
            np.maximum(largest, apart.max(axis=0), out=largest)
    return largest if largest.any() else np.abs(_normal(1, draws)[:, 0])


@lru_cache(maxsize=4)
def _normal(units: int, draws: int) -> Array:
    """Return fixed standard normal draws, so that results depend on the data alone."""
    return np.random.default_rng(20).standard_normal((draws, units))


def _critical_value(largest: Array, level: float) -> float:
    """Return the standardized difference whose simultaneous p-value (`_at_once`) is 1 - level."""
    most = math.ceil((1 - level) * (len(largest) + 1)) - 2  # number of draws that may be as large
    return float(np.sort(largest)[-1 - most]) if most >= 0 else np.inf


def _at_once(p: Array, largest: Array) -> Array:
    """Compute simultaneous p-values: the probability that the largest of all differences is at least as extreme as
    this one.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        surprise = -ndtri(p / 2)
    beyond = len(largest) - np.searchsorted(np.sort(largest), surprise.ravel(), side="left").reshape(p.shape)
    return np.where(np.isfinite(p), np.maximum((beyond + 1) / (len(largest) + 1), p), np.nan)


def _testable(error: Array, gap: Array, p: Array, reach: float) -> Array:
    """Return errors for which `gap > reach * error` agrees with the simultaneous p-value; infinite without a test."""
    with np.errstate(invalid="ignore"):
        surprise = -ndtri(p / 2)
    agreeing = np.where(surprise > 0, np.abs(gap) / np.where(surprise > 0, surprise, 1.0), np.inf)
    error = np.where(np.isfinite(error) & (error > 0), error, agreeing)
    inconsistent = (np.abs(gap) > reach * error) != (surprise > reach)
    return np.where(np.isfinite(p), np.where(inconsistent, agreeing, error), np.inf)


def _by_shared(there: Mask, pairs: Ints) -> dict[bytes, Ints]:
    """Group pairs by the outputs that both metrics scored."""
    groups: dict[bytes, list[int]] = {}
    for row, (i, j) in enumerate(pairs):
        groups.setdefault(np.asarray(there[i] & there[j]).tobytes(), []).append(row)
    return {mask: np.array(rows, np.int64) for mask, rows in groups.items()}


def _test_method(want: MeasurePlan, unit: str, whole: str, swaps: Swaps | None) -> str:
    parts, left = [], "systems and inputs" if unit == "both" else "inputs"
    if any(m.grouping != "system" or m.coefficient == "pearson" for m in want.measures) or swaps is None:
        parts.append(
            f"difference divided by its jackknife standard error over {left}{whole}, compared with Student's "
            "t, two-sided"
        )
    if swaps is not None:
        parts.append(
            "rank measures of system means: the two metrics are swapped on whole systems, two-sided, "
            f"{swaps.draws} draws, seed {swaps.seed}; this assumes that they are exchangeable (equally distributed "
            "errors), not only equally good"
        )
    return f"test for {UNITS[unit]}: " + "; ".join(parts) + "; outputs that both metrics and humans scored count"
