"""Evaluation of coefficients on prepared groups: which coefficient uses which kernel, for a metric or a pair of
metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.engines import current
from nlgauge.errors import DataError
from nlgauge.kernels.shared import NEAR, STRIP
from nlgauge.stats.correlation.coefficients import COEFFICIENTS, FORMS
from nlgauge.stats.correlation.group_layout import GROUPED, GroupLayout, layout, sorted_cells
from nlgauge.stats.correlation.groups import cut
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.resampled_groups import (
    ONE_METRIC,
    CellScores,
    Draws,
    GroupSums,
    ResampledGroups,
    correlate_groups,
    prepare,
)
from nlgauge.stats.correlation.system_means import correlate_means, sums_under, swapped_means, weighted_means
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.resampling.draws import Masks, Weights, joined
from nlgauge.types import Array, Ids, Ints, Mask, Steps

J = TypeVar("J")
R = TypeVar("R")
CUT = 1 - 1e-6  # limit of correlations before Fisher's z
MIN_POINTS = {"global": 3, "input": 2, "item": 2}  # points a group needs, as in measure.evaluate


class Slots(NamedTuple):
    """Positions of one grouping's coefficients among the measures; −1 for coefficients that are not requested."""

    pearson: int
    spearman: int
    forms: Array
    places: Ints

    def used(self) -> list[int]:
        """Return the positions of the requested coefficients."""
        return [i for i in (self.pearson, self.spearman, *self.places.tolist()) if i >= 0]


@dataclass(frozen=True)
class MeasurePlan:
    """The requested measures: `fast` ones by grouping for the kernels, `slow` ones evaluated draw by draw."""

    measures: tuple[Measure, ...]
    fast: dict[str, Slots]
    slow: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the measures, such as input/kendall."""
        return tuple(str(m) for m in self.measures)

    def fisher_z(self, values: Array) -> Array:
        """Compute Fisher's z of values (metrics × measures × …); proportions are first mapped to [−1, 1]."""
        return fisher_z(np.stack([m.signed(values[:, j]) for j, m in enumerate(self.measures)], axis=1))

    @property
    def slow_measures(self) -> list[Measure]:
        """Return the measures that have no kernel."""
        return [self.measures[i] for i in self.slow]


def fisher_z(values: Array) -> Array:
    """Compute Fisher's z of correlations."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.arctanh(np.clip(values, -CUT, CUT)))


def plan_measures(measures: Iterable[object]) -> MeasurePlan:
    """Plan measures given as names such as "input/kendall", (grouping, coefficient) pairs, or Measure objects."""
    parsed = [_measure(m) for m in measures]
    if not parsed:
        raise DataError("no measure given: name at least one, such as input/kendall")
    places: dict[str, dict[str, int]] = {}
    slow: list[int] = []
    for i, m in enumerate(parsed):
        available = m.coefficient in FORMS or m.coefficient in ("pearson", "spearman")
        if available and m.coefficient not in places.get(m.grouping, {}):
            places.setdefault(m.grouping, {})[m.coefficient] = i
        else:
            slow.append(i)
    fast = {}
    for grouping, index in places.items():
        family = [c for c in index if c in FORMS]
        forms = np.array([FORMS[c] for c in family]).reshape(len(family), 3, 5)
        slots = np.array([index[c] for c in family], np.int64)
        fast[grouping] = Slots(index.get("pearson", -1), index.get("spearman", -1), forms, slots)
    return MeasurePlan(tuple(parsed), fast, tuple(slow))


def _measure(m: object) -> Measure:
    if isinstance(m, Measure):
        return m
    return Measure.parse("/".join(m) if isinstance(m, tuple) else str(m))


class Sorted(NamedTuple):
    """One metric: its outputs as a flat table, and sorted within the groups of each grouping."""

    x: Array
    orders: dict[str, Ids]


@dataclass(frozen=True)
class SortedPanel:
    """Metrics (K×N×M) and human ratings (N×M), flattened and ready to be resampled."""

    systems: int
    inputs: int
    z: Array
    there: Mask
    plans: dict[str, GroupLayout]
    orders: dict[str, Ids]
    metrics: tuple[Sorted, ...]

    def shared(self, *metrics: int) -> Mask:
        """Return the outputs with a human rating and scores of all of these metrics."""
        valid = self.there.copy()
        for k in metrics:
            valid &= np.isfinite(self.metrics[k].x)
        return valid


def all_pairs(metrics: int) -> Ints:
    """Return all pairs of K metrics, in the order of `combinations`."""
    return np.array(list(combinations(range(metrics), 2)), np.int64).reshape(-1, 2)


def arrays(metrics: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    """Return metrics as K×N×M and ratings as N×M, with NaN for anything that is not a finite number."""
    x, z = np.array(metrics, np.float64), np.array(human, np.float64)
    if x.ndim == 2:
        x = x[None]
    if x.ndim != 3 or z.ndim != 2 or x.shape[1:] != z.shape:
        raise DataError(
            f"metrics must be metrics × systems × inputs, ratings systems × inputs; found {x.shape} and {z.shape}"
        )
    for values in (*x, z):
        values[~np.isfinite(values)] = np.nan
        size = float(largest(values, axis=(0, 1)))
        if size > 1e300:  # sums would overflow; scaling by a power of two is exact (except for scores below 1e-288)
            values[:] = np.ldexp(values, -64)
    return x, z


def table(x: Array, z: Array, want: MeasurePlan) -> SortedPanel:
    """Sort every metric once; all draws use the result."""
    _, n, m = x.shape
    flat = z.reshape(-1)
    plans = {g: layout(g, n, m) for g in GROUPED if g in want.fast}
    metrics = tuple(
        Sorted(row, {g: sorted_cells(plan, row, flat) for g, plan in plans.items()}) for row in x.reshape(len(x), n * m)
    )
    orders = {g: sorted_cells(plan, flat) for g, plan in plans.items()}
    return SortedPanel(n, m, flat, np.isfinite(flat), plans, orders, metrics)


def swap_pair(
    data: SortedPanel,
    pair: tuple[int, int],
    masks: Masks,
    want: MeasurePlan,
    *,
    near: float = NEAR,
    standardize: bool = True,
    constant_is_zero: bool = False,
) -> Array:
    """Compute both correlations of a metric pair in every draw: 2 × measures × (1 + draws), unswapped data first."""
    valid = data.shared(*pair)
    metrics = [data.metrics[k] for k in pair]
    x = np.stack([np.where(valid, metric.x, 0.0) for metric in metrics])
    scores = CellScores(x, data.z, np.array([scale_of(row, valid, standardize) for row in x]).reshape(-1))
    once = np.ones((len(masks.rows), 1, STRIP), np.int16)
    draws = Draws(masks.row, masks.col, masks.rows, masks.cols, once, swap=True)
    sums, groups = GroupSums.zeros(2, len(want), len(masks.rows)), np.ones(len(want))
    for grouping, slots in want.fast.items():
        if grouping == "system":
            means = swapped_means(x, valid, data.systems, scores.scales, draws)
            human = np.repeat(human_means(data.z, valid, data.systems)[:, None], means.shape[2], axis=1)
            used = np.asarray(_by_system(valid, data.systems).any(axis=1), float)
            weight = np.broadcast_to(used[:, None], human.shape)
            for total, count, own in zip(*sums, means, strict=True):
                _add_means(own, human, weight, slots, total, count)
            continue
        orders = (data.orders[grouping], *(metric.orders[grouping] for metric in metrics))
        prepared = prepare(data.plans[grouping], orders, scores, valid, near, MIN_POINTS[grouping])
        correlate_groups(prepared, draws, scores, slots, sums)
        groups[slots.used()] = max(1, int((np.diff(prepared.start) >= 2 * prepared.least).sum()))
    if constant_is_zero:
        return joined(sums.total / groups[:, None, None], masks.draws + 1)
    return joined(sums.mean(), masks.draws + 1)


def _add_means(x: Array, z: Array, weight: Array, slots: Slots, total: Array, count: Array) -> None:
    """Add the coefficients of the systems' means to the sums: coefficients × strips × STRIP."""
    values = np.full((len(total), x.shape[1]), np.nan)
    correlate_means(x, z, weight, slots, values)
    used = slots.used()
    result = values[used].reshape(len(used), *total.shape[1:])
    total[used], count[used] = np.nan_to_num(result), np.isfinite(result)


@dataclass(frozen=True)
class Weighing:
    """One metric and the human ratings, sorted into groups: the part that the correlations under all weights share.

    `values` (coefficients × inputs) exists where every draw counts each system once: the groups of the input level are
    then the same in all draws, and each draw only averages them with other weights.
    """

    data: SortedPanel
    want: MeasurePlan
    scores: CellScores
    valid: Mask
    groups: dict[str, ResampledGroups]
    values: Array | None

    @classmethod
    def of(cls, data: SortedPanel, k: int, want: MeasurePlan, systems_once: bool) -> Weighing:
        """Sort the outputs of metric k into groups; `systems_once`: no draw repeats or omits a system."""
        metric, valid = data.metrics[k], data.shared(k)
        scores = CellScores(np.where(valid, metric.x, 0.0)[None], data.z, ONE_METRIC)
        groups = {
            g: prepare(plan, (data.orders[g], metric.orders[g]), scores, valid, 0.0, MIN_POINTS[g])
            for g, plan in data.plans.items()
            if g in want.fast
        }
        values = _input_values(data, k, want) if systems_once and "input" in groups else None
        return cls(data, want, scores, valid, groups, values)

    def under(self, weights: Weights) -> Array:
        """Compute the measures under these weights, measures × draws."""
        data, (systems, inputs, draws) = self.data, weights
        sums = GroupSums.zeros(1, len(self.want), len(systems))
        cells = np.arange(len(self.valid), dtype=np.int32)
        row, col, none = cells // np.int32(data.inputs), cells % np.int32(data.inputs), np.zeros_like(cells)
        ones = np.ones((len(systems), 1, STRIP), np.int16)
        # within its group an output counts as often as its system (input level), its input (item level), or their
        # product; the other weight is that of the whole group
        by = {
            "global": Draws(row, col, systems, inputs, ones, swap=False),
            "input": Draws(row, none, systems, ones, inputs, swap=False),
            "item": Draws(none, col, ones, inputs, systems, swap=False),
        }
        for grouping, slots in self.want.fast.items():
            if grouping == "system":
                means = weighted_means(self.scores.x[0], data.z, self.valid, data.systems, by["global"])
                _add_means(*means, slots, sums.total[0], sums.groups[0])
            elif grouping == "input" and self.values is not None:
                used = slots.used()
                values, there = np.nan_to_num(self.values[used]), np.isfinite(self.values[used])
                every = Draws(none, col[: data.inputs], ones, inputs, ones, swap=False)
                added = sums_under(np.concatenate([values, there]), 1, every)
                sums.total[0, used], sums.groups[0, used] = added.reshape(2, len(used), *sums.total.shape[2:])
            else:
                correlate_groups(self.groups[grouping], by[grouping], self.scores, slots, sums)
        return joined(sums.mean()[0], draws)


def _input_values(data: SortedPanel, k: int, want: MeasurePlan) -> Array:
    """Compute the coefficients of one metric for every input: coefficients × inputs."""
    shape = (data.systems, data.inputs)
    groups = cut(data.metrics[k].x.reshape(1, *shape), data.z.reshape(shape), "input")
    slots = want.fast["input"]
    stats = groups.stats(pearson=slots.pearson >= 0, spearman=slots.spearman >= 0, counts=len(slots.places) > 0)
    values = np.full((len(want), data.inputs), np.nan)
    for i in slots.used():
        values[i] = COEFFICIENTS[want.measures[i].coefficient].function(stats)[0]
    return values


def scale_of(x: Array, valid: Mask, standardize: bool = True) -> tuple[float, float]:
    """Return mean and 1 / sd over the outputs in use, for (x − mean) · unit; a constant metric is only centered."""
    used = x[valid]
    size = float(largest(used, axis=0))
    if not standardize or size == 0.0:
        return 0.0, 1.0
    power = int(np.frexp(size)[1])  # squares of numbers near 1 neither overflow nor vanish
    used = np.ldexp(used, -power)
    sd = float(used.std())
    return float(np.ldexp(used.mean(), power)), float(np.ldexp(1.0 / sd, -power)) if sd > 0 else 1.0


def human_means(z: Array, valid: Mask, systems: int) -> Array:
    """Return the mean human rating of every system over the outputs in use, 0 without outputs; equal means are
    exactly equal.
    """
    selected, n = _by_system(np.where(valid, z, 0.0), systems), _by_system(valid, systems).sum(axis=1)
    means = np.where(n > 0, selected.sum(axis=1) / np.maximum(n, 1), np.nan)
    return np.nan_to_num(snap(means, scale=largest(selected, axis=1)))


def _by_system(flat: NDArray[Any], systems: int) -> NDArray[Any]:
    return flat.reshape(systems, len(flat) // max(systems, 1))


def run_all(work: Callable[[J], R], jobs: Sequence[J], progress: Steps | None = None) -> Iterator[R]:
    """Return the results of the jobs in their order, computed on the engine in use.

    `progress` is called after each job, in this thread; an exception there, or Ctrl-C, stops between two jobs.
    """
    for done, result in enumerate(current().run(work, jobs), 1):
        if progress is not None:
            progress(done, len(jobs))
        yield result
