"""Two-way jackknife over systems and inputs: confidence intervals of measures of agreement.

Systems and inputs are both samples: outputs of one system share its weaknesses, outputs of one input its difficulty.
Each system (or family of systems) is left out in turn, then each input (or document), and the spread of the
leave-one-out values gives two variances. Their common part (the variation of single outputs, which is in both) is
counted once; it is estimated by leaving out sets of outputs that are balanced over systems and inputs. Nothing is drawn
at random, so nothing depends on a seed. `bench/coverage.py` measures the coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.stats.correlation.evaluate_groups import MeasurePlan, arrays, plan_measures
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.weighted import weighted
from nlgauge.stats.resampling.canonical import canonical_order
from nlgauge.stats.resampling.rank_intervals import kendall_interval, perfect, spearman_interval
from nlgauge.types import Array, Ints, Steps

Over = Literal["auto", "both", "inputs"]
Labels = Ints

SYSTEMS = 6  # with fewer, results do not generalize to other systems
INPUTS = 10  # with fewer there is no interval
MAX_OUTPUT_SETS = 20  # maximum number of sets of outputs that are left out together
GROUPS = 250  # inputs beyond this number are left out in groups
PERFECT = 1 - 1e-12  # correlations above this count as perfect
LARGE_T = 3.0  # |t| of differences up to which tests are calibrated

UNITS = {"both": "systems and inputs like these", "inputs": "these systems and inputs like these"}


class Spread(NamedTuple):
    """Variance of a value and its degrees of freedom, any shape; NaN where unknown."""

    variance: Array
    free: Array


@dataclass(frozen=True)
class LeaveOneOut:
    """Values, and the values without each system, group of inputs and set of outputs (last axis)."""

    value: Array
    systems: Array | None
    inputs: Array
    outputs: Array | None

    def transform(self, change: Callable[..., Array], *others: LeaveOneOut) -> LeaveOneOut:
        """Return the same on another scale, or a function of these and other leave-one-out values."""
        all_of = [(each.value, each.systems, each.inputs, each.outputs) for each in (self, *others)]
        value, systems, inputs, outputs = (
            None if any(v is None for v in values) else change(*values) for values in zip(*all_of, strict=True)
        )
        return LeaveOneOut(value, systems, inputs, outputs)  # type: ignore[arg-type]

    def difference(self, first: Labels, second: Labels) -> LeaveOneOut:
        """Return differences between values of the first axis."""
        return self.transform(lambda values: values[first] - values[second])

    def spread(self, *, of_differences: bool = False) -> Spread:
        """Compute V = V(systems) + V(inputs) − V(outputs), at least each of the first two; degrees of freedom by
        Satterthwaite.

        The jackknife over n systems overestimates the variance of a mean over pairs of systems, because it counts
        pair-specific variation twice. For the interval of a value this is accepted, with a factor n / (n - 0.5),
        because some populations need it. For differences between two metrics it would cost power, so their factor is (n
        - 2) / n (docs/trust.md; chosen on other seeds than those reported).
        """
        inputs, m = _delete_one(self.inputs)
        if self.systems is None:
            return Spread(inputs, m - 1)
        systems, n = _delete_one(self.systems)
        systems = systems * ((n - 2) / np.maximum(n, 1) if of_differences else n / (n - 0.5))
        outputs = np.nan_to_num(_delete_one(self.outputs)[0]) if self.outputs is not None else 0.0
        own = np.maximum(inputs - outputs, 0.0)
        variance = np.maximum(systems + own, inputs)
        with np.errstate(invalid="ignore", divide="ignore"):
            free = (systems + own) ** 2 / (systems**2 / (n - 1) + own**2 / (m - 1))
        least = np.minimum(n, m) - 1
        return Spread(variance, np.where(np.isfinite(free), np.clip(free, least, np.maximum(n, m) - 1), least))

    def asymmetry(self) -> Array:
        """Return the third moment of the error over systems divided by V^1.5: positive if large values have large
        errors.
        """
        if self.systems is None:
            return np.zeros_like(self.value)
        there = np.isfinite(self.systems)
        n = np.maximum(there.sum(axis=-1), 3).astype(np.float64)
        mean = np.where(there, self.systems, 0.0).sum(axis=-1) / n
        moves = np.where(there, mean[..., None] - self.systems, 0.0)
        third = (moves**3).sum(axis=-1) * (n - 1) / (n - 2)
        inputs = _delete_one(self.inputs)[0]
        outputs = np.nan_to_num(_delete_one(self.outputs)[0]) if self.outputs is not None else 0.0
        whole = np.maximum(_delete_one(self.systems)[0] + np.maximum(inputs - outputs, 0.0), inputs)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(whole > 0, third / whole**1.5, 0.0)

    def output_share(self) -> Array:
        """Return the jackknife variance over sets of outputs, divided by the sum of it and that over systems."""
        if self.systems is None or self.outputs is None:
            return np.zeros_like(self.value)
        systems, outputs = (np.nan_to_num(_delete_one(values)[0]) for values in (self.systems, self.outputs))
        return np.asarray(outputs / np.maximum(systems + outputs, np.finfo(np.float64).tiny))


@dataclass(frozen=True)
class Intervals:
    """Limits K×L with the value; `reason` says why there is none."""

    value: Array
    low: Array
    high: Array
    reason: NDArray[np.object_]
    over: str
    method: str


def generalizes_to(over: Over, systems: int) -> Literal["both", "inputs"]:
    """Return what results generalize to: systems and inputs, or inputs only with too few systems."""
    if over == "auto":
        return "both" if systems >= SYSTEMS else "inputs"
    if over not in UNITS:
        raise NlgaugeError(f"over must be 'both' (systems and inputs) or 'inputs'; got {over!r}")
    return over


def too_few(
    systems: int,
    inputs: int,
    over: Literal["both", "inputs"],
    grouping: str = "input",
    word: str = "inputs",
    what: str = "an interval",
    families: ArrayLike | None = None,
) -> str | None:
    """Return the reason why there is no interval (or test) and what would be needed; None if there is one."""
    if over == "both" and systems < SYSTEMS:
        units = "systems" if families is None else "families of systems"
        return f"{what} for other systems needs at least {SYSTEMS} {units}; here are {systems}"
    if inputs < INPUTS and not (over == "both" and grouping == "system"):
        return f"{what} needs at least {INPUTS} {word}; here are {inputs}"
    return None


def unit_word(clusters: ArrayLike | None) -> str:
    """Return the name of the units: inputs, or the documents or conversations that contain them."""
    return "inputs" if clusters is None else "documents or conversations"


def units_left_out(unit: str, clusters: ArrayLike | None, families: ArrayLike | None) -> str:
    """Describe what is left out as a whole, in parentheses; empty for single systems and inputs."""
    whole = ["families of systems"] * (families is not None and unit == "both") + ["clusters"] * (clusters is not None)
    return f" (whole {' and '.join(whole)})" if whole else ""


def intervals(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    over: Over = "auto",
    clusters: ArrayLike | None = None,
    families: ArrayLike | None = None,
    level: float = 0.95,
    progress: Steps | None = None,
) -> Intervals:
    """Compute intervals of K metrics (K×N×M) under every measure, on Fisher's z scale with Student's t.

    Rank correlations of system means take few values when a system is left out; their intervals are `kendall_interval`
    and `spearman_interval`. The target is the mean of the measure over other sets of as many systems and inputs.
    `clusters` is the document or conversation of each input, `families` the family of each system; both are left out
    whole.

    >>> rng = np.random.default_rng(1)
    >>> z = rng.integers(1, 6, (8, 30)).astype(float)
    >>> result = intervals(z + rng.normal(0, 1, z.shape), z, ["input/kendall"])
    >>> bool(result.low[0, 0] < result.value[0, 0] < result.high[0, 0])
    True
    """
    if not 0 < level < 1:
        raise NlgaugeError(f"the confidence level must lie between 0 and 1; found {level}")
    metrics, human = arrays(x, z)
    kin = system_groups(len(human), families)
    want, unit = plan_measures(measures), generalizes_to(over, int(kin.max()) + 1)
    left = left_out(metrics, human, want, unit, clusters, progress, families)
    wide = left.transform(want.fisher_z)
    spread = wide.spread()
    half = stdtrit(spread.free, 0.5 + level / 2) * np.sqrt(spread.variance)
    low, high = np.tanh(wide.value - half), np.tanh(wide.value + half)
    reason = np.full(left.value.shape, None, object)
    there = np.isfinite(metrics) & np.isfinite(human)
    groups = np.arange(human.shape[1]) if clusters is None else input_groups(metrics, human, clusters)
    for k, j in np.ndindex(left.value.shape):
        measure = want.measures[j]
        value = float(measure.signed(left.value[k, j]))
        systems, inputs = (len(np.unique(g[there[k].any(axis=1 - a)])) for a, g in enumerate((kin, groups)))
        if unit == "both" and str(measure) in ("system/kendall", "system/pairwise-accuracy"):
            low[k, j], high[k, j] = kendall_interval(value, systems, level, _cluster_variance(wide, k, j, clusters))
        elif unit == "both" and str(measure) == "system/spearman":
            tau = evaluate(metrics[k : k + 1], human, [Measure("system", "kendall")]).value[0, 0]
            extra = _cluster_variance(wide, k, j, clusters)
            low[k, j], high[k, j] = spearman_interval(value, float(tau), systems, level, extra)
        elif abs(value) >= PERFECT:
            end = perfect(systems if unit == "both" else inputs, level)
            low[k, j], high[k, j] = (end, 1.0) if value > 0 else (-1.0, -end)
        low[k, j], high[k, j] = measure.unsigned(low[k, j]), measure.unsigned(high[k, j])
        reason[k, j] = too_few(systems, inputs, unit, measure.grouping, unit_word(clusters), families=families)
        if reason[k, j] is None and unit == "inputs" and _is_rank_of_systems(measure):
            reason[k, j] = "rank correlations of a few fixed systems take too few values for an interval"
        if reason[k, j] is None and np.isfinite(value) and not np.isfinite(low[k, j]):
            reason[k, j] = "too many leave-one-out values are undefined"
        if reason[k, j] is not None:
            low[k, j], high[k, j] = np.nan, np.nan
    units = ("systems and inputs" if unit == "both" else "inputs") + units_left_out(unit, clusters, families)
    method = f"{level:.0%} interval for {UNITS[unit]}: jackknife over {units}, Fisher's z, Student's t; no random draws"
    return Intervals(left.value, low, high, reason, unit, method)


def _is_rank_of_systems(measure: Measure) -> bool:
    return measure.grouping == "system" and measure.coefficient != "pearson"


def change_intervals(
    old: ArrayLike,
    new: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Intervals:
    """Compute the new minus the old value of every measure (1×L) over the outputs in both runs, with Student's t."""
    pair, human = arrays(np.stack([np.asarray(old, np.float64), np.asarray(new, np.float64)]), z)
    human = np.where(np.isfinite(pair).all(axis=0), human, np.nan)
    want, unit = plan_measures(measures), generalizes_to("auto", int(np.isfinite(human).any(axis=1).sum()))
    there = np.isfinite(human)
    groups = input_groups(pair, human, clusters) if clusters is not None else np.arange(human.shape[1])
    inputs = len(np.unique(groups[there.any(axis=0)]))
    gap = left_out(pair, human, want, unit, clusters).difference(np.array([1]), np.array([0]))
    spread = gap.spread()
    half = stdtrit(spread.free, 0.5 + level / 2) * np.sqrt(spread.variance)
    reason = np.full(gap.value.shape, None, object)
    for j, measure in enumerate(want.measures):
        reason[0, j] = too_few(int(there.any(axis=1).sum()), inputs, unit, measure.grouping, unit_word(clusters)) or (
            "changes of rank correlations of system means take too few values for an interval"
            if _is_rank_of_systems(measure)
            else None
            if np.isfinite(half[0, j])
            else "not defined in one of the two runs"
        )
    half = np.where(reason == None, half, np.nan)  # noqa: E711
    return Intervals(
        gap.value, gap.value - half, gap.value + half, reason, unit, "leave-one-out jackknife, Student's t"
    )


def left_out(
    x: Array,
    z: Array,
    want: MeasurePlan,
    over: Literal["both", "inputs"],
    clusters: ArrayLike | None = None,
    progress: Steps | None = None,
    families: ArrayLike | None = None,
) -> LeaveOneOut:
    """Compute all measures of all metrics, on all data and without each unit."""
    kin = system_groups(len(z), families)
    one = int(kin.max()) + 1 if over == "both" else 0
    rows, cols = without_each(z.shape, input_groups(x, z, clusters), over, kin)
    result = weighted(x, z, rows, cols, want, progress=progress)
    outputs = None
    if over == "both":
        sets = output_sets(z)
        outputs = np.stack(
            [
                evaluate(x, np.where(sets == s, np.nan, z), want.measures).value
                for s in range(int(sets.max(initial=-1)) + 1)
            ],
            axis=-1,
        )
    systems = result[:, :, 1 : 1 + one] if one else None
    return LeaveOneOut(result[:, :, 0], systems, result[:, :, 1 + one :], outputs)


def without_each(
    shape: tuple[int, int], groups: Labels, over: Literal["both", "inputs"], kin: Labels | None = None
) -> tuple[Array, Array]:
    """Return the weights of systems and inputs: all 1, then without each system (or group of `kin`), then without
    each group of inputs.
    """
    n, m = shape
    inputs = _all_but_one(groups)
    systems = _all_but_one(np.arange(n) if kin is None else kin) if over == "both" else np.empty((0, n))
    rows = np.concatenate([np.ones((1, n)), systems, np.ones((len(inputs), n))])
    return rows, np.concatenate([np.ones((1, m)), np.ones((len(systems), m)), inputs])


def _all_but_one(groups: Labels) -> Array:
    """Return a row per group: 0 for its members, 1 for all others."""
    return np.asarray(groups[None, :] != np.arange(int(groups.max(initial=-1)) + 1)[:, None], np.float64)


def system_groups(n: int, families: ArrayLike | None) -> Labels:
    """Return the number of the family of each system; without families, every system is its own."""
    if families is None:
        return np.arange(n)
    return np.unique(np.asarray(families), return_inverse=True)[1].reshape(-1).astype(np.int64)


def input_groups(x: Array, z: Array, clusters: ArrayLike | None = None) -> Labels:
    """Return the groups of inputs that are left out together: clusters, single inputs, or equal-sized groups of very
    many.
    """
    m = z.shape[1]
    if clusters is not None:
        return np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1).astype(np.int64)
    if m <= GROUPS:
        return np.arange(m)
    groups = np.empty(m, np.int64)
    groups[canonical_order([z], list(x)).inputs] = np.arange(m) % GROUPS
    return groups


def output_sets(z: Array) -> Labels:
    """Number sets of outputs that have at most one system of every input and an equal share of every system.

    With more than MAX_OUTPUT_SETS systems, a set has every MAX_OUTPUT_SETS-th system of an input.

    The start in each input depends on its human ratings, not on its position in the file or its name.
    """
    n, m = z.shape
    size = min(n, MAX_OUTPUT_SETS)
    order = canonical_order([z]).systems
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    ranks = np.zeros(z.shape, np.int64)
    there = np.isfinite(z)
    ranks[there] = np.unique(z[there], return_inverse=True)[1] + 1
    start = [
        int.from_bytes(digest(column.tobytes(), 4), "big") % size for column in np.ascontiguousarray(ranks[order].T)
    ]
    return np.asarray((place[:, None] + np.array(start, np.int64).reshape(1, m)) % max(size, 1), np.int64)


def _delete_one(values: Array) -> tuple[Array, Array]:
    """Return the jackknife variance over the last axis and the number of units; NaN where a fifth of the values is
    undefined.
    """
    there = np.isfinite(values)
    n = there.sum(axis=-1).astype(np.float64)
    some = np.maximum(n, 1.0)
    mean = np.where(there, values, 0.0).sum(axis=-1) / some
    square = (np.where(there, values - mean[..., None], 0.0) ** 2).sum(axis=-1)
    enough = (n >= 2) & (n >= 0.8 * values.shape[-1])
    return np.where(enough, (n - 1) / some * square, np.nan), n


def _cluster_variance(wide: LeaveOneOut, k: int, j: int, clusters: ArrayLike | None) -> float:
    """Return the cluster jackknife variance of a rank correlation between system means; 0 without clusters."""
    return 0.0 if clusters is None else float(np.nan_to_num(_delete_one(wide.inputs[k, j])[0]))


def student_p(gap: LeaveOneOut, *, of_differences: bool = False) -> Array:
    """Return the two-sided p-value that values are 0; 1 where a value is constantly 0 (two metrics that never differ).

    With `of_differences`, t is that of differences between two metrics (`_t_of_differences`).
    """
    spread = gap.spread(of_differences=of_differences)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = gap.value / np.sqrt(spread.variance)
        p = 2 * stdtr(spread.free, -(_t_of_differences(t, gap) if of_differences else np.abs(t)))
    same = (np.abs(gap.value) < 1e-12) & ~(spread.variance > 0)
    return np.where(same, 1.0, np.where(spread.variance > 0, p, np.nan))


def _t_of_differences(t: Array, gap: LeaveOneOut) -> Array:
    """Return |t| of differences, calibrated so that tests of two equally good metrics have their nominal size.

    Notes
    -----
    Three steps, whose constants were chosen by simulation on other populations and seeds than those of docs/trust.md.

    1. With fewer than 16 systems the variance over systems counts 0.87 of the jackknife variance, not (n - 2) / n.
    2. Where the error grows with the difference, small errors occur with differences of the other sign, and t is too
       large there. t is corrected for this skewness (Hall 1992), but never away from 0. The skewness of few systems is
       underestimated, so it counts 1 + 1.5 (6 / n)^4 times. Beyond the critical value for p = 0.01 the correction does
       not grow as long as |t| stays below 3, since its higher powers would cost power.
    3. Student's t with n - 1 degrees of freedom assumes that the variance is known from n systems alone. The part due
       to single outputs is known from all outputs, so the critical value moves toward the normal one as this part
       grows. This ends where |t| exceeds 3: the small p-values of simultaneous tests of many metrics do not change.
    """
    if gap.systems is None:
        return np.abs(t)
    n = np.maximum(np.isfinite(gap.systems).sum(axis=-1), 3).astype(np.float64)
    size = np.abs(t) * np.sqrt(np.minimum(1.0, (n - 2) / (0.87 * n)))
    a = np.minimum(np.sign(t) * gap.asymmetry() * (1 + 1.5 * (6 / n) ** 4), 0.0)
    moderate = np.minimum(size, stdtrit(n - 1, 0.995))
    whole, limited = (v + a * v**2 / 3 + a**2 * v**3 / 27 + a / 6 for v in (size, moderate))
    corrected = np.maximum(whole, np.minimum(size - moderate + limited, LARGE_T))
    size = np.minimum(size, np.maximum(corrected, 0.0))
    excess = stdtrit(n - 1, 0.975) / ndtri(0.975) - 1
    return np.asarray(size * (1 + 2 * excess * gap.output_share() / (1 + (size / LARGE_T) ** 8)))
