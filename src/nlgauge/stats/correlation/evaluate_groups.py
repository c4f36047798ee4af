"""Between tests and kernels: which coefficient goes where, and one metric or pair in all groupings."""

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
from nlgauge.stats.correlation.coefficients import FORMS
from nlgauge.stats.correlation.group_layout import GROUPED, GroupLayout, layout, sorted_cells
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.resampled_groups import (
    CellWeights,
    GroupSums,
    Scales,
    Walk,
    group_values,
    human_side,
    pool_one,
    pool_two,
    swap_groups,
    swap_systems,
    weigh_groups,
    weigh_systems,
)
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.resampling.draws import Masks, Weights, joined
from nlgauge.types import Array, Ids, Ints, Mask, Steps

J = TypeVar("J")
R = TypeVar("R")
CUT = 1 - 1e-6  # correlations are cut here before Fisher's z
LEAST = {"global": 3, "input": 2, "item": 2}  # points a group needs, as in measure.evaluate


class Slots(NamedTuple):
    """The places of one grouping's coefficients among the measures; −1 for what is not wanted."""

    pearson: int
    spearman: int
    forms: Array
    places: Ints

    def used(self) -> list[int]:
        return [i for i in (self.pearson, self.spearman, *self.places.tolist()) if i >= 0]


@dataclass(frozen=True)
class Wanted:
    """The measures asked for: `fast` by grouping for the kernels, `slow` for `evaluate` draw by draw."""

    measures: tuple[Measure, ...]
    fast: dict[str, Slots]
    slow: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(m) for m in self.measures)

    def fisher_z(self, values: Array) -> Array:
        """Fisher's z of values (metrics × measures × …); shares are mapped to -1 … 1 first."""
        return fisher_z(np.stack([m.signed(values[:, j]) for j, m in enumerate(self.measures)], axis=1))

    @property
    def slow_measures(self) -> list[Measure]:
        return [self.measures[i] for i in self.slow]


def fisher_z(values: Array) -> Array:
    """Fisher's z of correlations."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.arctanh(np.clip(values, -CUT, CUT)))


def wanted(measures: Iterable[object]) -> Wanted:
    """Sort measures: names such as "input/kendall", (grouping, coefficient) pairs or Measure objects."""
    parsed = [_measure(m) for m in measures]
    if not parsed:
        raise DataError("no measure given: name at least one, such as input/kendall")
    places: dict[str, dict[str, int]] = {}
    slow: list[int] = []
    for i, m in enumerate(parsed):
        known = m.coefficient in FORMS or m.coefficient in ("pearson", "spearman")
        if known and m.coefficient not in places.get(m.grouping, {}):
            places.setdefault(m.grouping, {})[m.coefficient] = i
        else:
            slow.append(i)
    fast = {}
    for grouping, at in places.items():
        family = [c for c in at if c in FORMS]
        forms = np.array([FORMS[c] for c in family]).reshape(len(family), 3, 5)
        slots = np.array([at[c] for c in family], np.int64)
        fast[grouping] = Slots(at.get("pearson", -1), at.get("spearman", -1), forms, slots)
    return Wanted(tuple(parsed), fast, tuple(slow))


def _measure(m: object) -> Measure:
    if isinstance(m, Measure):
        return m
    return Measure.parse("/".join(m) if isinstance(m, tuple) else str(m))


class Sorted(NamedTuple):
    """One metric: its cells as a flat table, and sorted inside the groups of each grouping."""

    x: Array
    orders: dict[str, Ids]


@dataclass(frozen=True)
class SortedPanel:
    """Metrics (K×N×M) and people (N×M), flat, ready to be resampled."""

    systems: int
    inputs: int
    z: Array
    there: Mask
    plans: dict[str, GroupLayout]
    orders: dict[str, Ids]
    metrics: tuple[Sorted, ...]

    def shared(self, *metrics: int) -> Mask:
        """Cells that people and all of these metrics have."""
        valid = self.there.copy()
        for k in metrics:
            valid &= np.isfinite(self.metrics[k].x)
        return valid


def all_pairs(metrics: int) -> Ints:
    """Each two of K metrics, in the order of `combinations`."""
    return np.array(list(combinations(range(metrics), 2)), np.int64).reshape(-1, 2)


def arrays(metrics: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    """Metrics as K×N×M and people as N×M, NaN for anything that is not a finite number."""
    x, z = np.array(metrics, np.float64), np.array(human, np.float64)
    if x.ndim == 2:
        x = x[None]
    if x.ndim != 3 or z.ndim != 2 or x.shape[1:] != z.shape:
        raise DataError(
            f"metrics must be metrics × systems × inputs and people systems × inputs; found {x.shape} and {z.shape}"
        )
    for values in (*x, z):
        values[~np.isfinite(values)] = np.nan
        size = float(largest(values, axis=(0, 1)))
        if size > 1e300:  # sums would overflow; a power of two changes no digit (except of scores below 1e-288)
            values[:] = np.ldexp(values, -64)
    return x, z


def table(x: Array, z: Array, want: Wanted) -> SortedPanel:
    """Sort every metric once; all draws share the result."""
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
    want: Wanted,
    *,
    near: float = NEAR,
    standardise: bool = True,
    constant_is_zero: bool = False,
) -> Array:
    """Both correlations of a metric pair in every draw: 2 × measures × (1 + draws), unswapped data first."""
    valid = data.shared(*pair)
    first, second = (data.metrics[k] for k in pair)
    x1, x2 = (np.where(valid, m.x, 0.0) for m in (first, second))
    scales = Scales(*scale_of(x1, valid, standardise), *scale_of(x2, valid, standardise))
    sums, groups = GroupSums.zeros(2, len(want), len(masks.rows)), np.ones(len(want))
    for grouping, slots in want.fast.items():
        if grouping == "system":
            close = rounding(x1, valid, data.systems), rounding(x2, valid, data.systems)
            human = people_means(data.z, valid, data.systems)
            swap_systems((x1, x2), human, valid, close, scales, masks, slots, sums)
            continue
        plan, orders = data.plans[grouping], (first.orders[grouping], second.orders[grouping])
        side = human_side(plan, data.orders[grouping], data.z, valid)
        pool = pool_two(plan, orders, (x1, x2), scales, side, valid, near)
        walk = Walk(plan, LEAST[grouping], side, pool)
        swap_groups(walk, (x1, x2), data.z, valid, scales, masks, slots, sums)
        groups[slots.used()] = max(1, int((side.n >= walk.least).sum()))
    if constant_is_zero:
        return joined(sums.total / groups[:, None, None], masks.draws + 1)
    return joined(sums.mean(), masks.draws + 1)


@dataclass(frozen=True)
class Weighing:
    """One metric beside people, sorted into groups: what the correlations under any weights share.

    `values` (coefficients × inputs) are there where systems count once in every draw: the groups of the input level
    then stay as they are, and each draw only averages them anew.
    """

    data: SortedPanel
    want: Wanted
    x: Array
    valid: Mask
    near: tuple[Array, Array]
    walks: dict[str, Walk]
    values: Array | None

    @classmethod
    def of(cls, data: SortedPanel, k: int, want: Wanted, systems_once: bool) -> Weighing:
        metric, valid = data.metrics[k], data.shared(k)
        x = np.where(valid, metric.x, 0.0)
        near = rounding(x, valid, data.systems), rounding(data.z, valid, data.systems)
        walks, values = {}, None
        for grouping in want.fast.keys() & data.plans.keys():
            plan = data.plans[grouping]
            side = human_side(plan, data.orders[grouping], data.z, valid)
            pool = pool_one(plan, metric.orders[grouping], x, side, valid)
            walks[grouping] = Walk(plan, LEAST[grouping], side, pool)
        if systems_once and "input" in walks:
            values = np.full((len(want), data.inputs), np.nan)
            group_values(walks["input"], x, data.z, valid, want.fast["input"], values)
        return cls(data, want, x, valid, near, walks, values)

    def under(self, weights: Weights) -> Array:
        """Measures × draws."""
        from nlgauge.kernels.pool import mean_values

        data, (systems, inputs, draws) = self.data, weights
        sums = GroupSums.zeros(len(self.want), len(systems))
        cells = np.arange(len(self.x), dtype=np.int32)
        row, col, none = cells // np.int32(data.inputs), cells % np.int32(data.inputs), np.zeros_like(cells)
        ones = np.ones((len(systems), 1, STRIP), systems.dtype)
        # inside its group a cell counts as often as its system (input level), its input (item level), or their
        # product; the other one says how often the whole group counts
        by = {
            "global": CellWeights(row, col, systems, inputs, ones),
            "input": CellWeights(row, none, systems, ones, inputs),
            "item": CellWeights(none, col, ones, inputs, systems),
        }
        for grouping, slots in self.want.fast.items():
            if grouping == "system":
                weigh_systems(self.x, data.z, self.valid, self.near, systems, inputs, slots, sums)
            elif grouping == "input" and self.values is not None:
                for s, times in enumerate(inputs):
                    total, groups = np.zeros((2, len(self.want), STRIP))
                    mean_values(self.values, times, total, groups)
                    sums.total[slots.used(), s], sums.groups[slots.used(), s] = (
                        total[slots.used()],
                        groups[slots.used()],
                    )
            else:
                weigh_groups(self.walks[grouping], self.x, data.z, self.valid, by[grouping], slots, sums)
        return joined(sums.mean(), draws)


def scale_of(x: Array, valid: Mask, standardise: bool = True) -> tuple[float, float]:
    """Mean and 1 / sd over the cells in use, for (x − mean) · unit; a constant metric is only centred."""
    used = x[valid]
    size = float(largest(used, axis=0))
    if not standardise or size == 0.0:
        return 0.0, 1.0
    power = int(np.frexp(size)[1])  # of numbers about 1 no square overflows or vanishes
    used = np.ldexp(used, -power)
    sd = float(used.std())
    return float(np.ldexp(used.mean(), power)), float(np.ldexp(1.0 / sd, -power)) if sd > 0 else 1.0


def rounding(x: Array, valid: Mask, systems: int) -> Array:
    """How far two means of each system may lie apart by rounding: relative to the largest score that it adds up."""
    return NEAR * largest(_by_system(np.where(valid, x, 0.0), systems), axis=1)


def people_means(z: Array, valid: Mask, systems: int) -> Array:
    """People's mean of every system over the cells in use, equal ones made equal; 0 where there is no cell."""
    kept, n = _by_system(np.where(valid, z, 0.0), systems), _by_system(valid, systems).sum(axis=1)
    means = np.where(n > 0, kept.sum(axis=1) / np.maximum(n, 1), np.nan)
    return np.nan_to_num(snap(means, scale=largest(kept, axis=1)))


def _by_system(flat: NDArray[Any], systems: int) -> NDArray[Any]:
    return flat.reshape(systems, len(flat) // max(systems, 1))


def run_all(work: Callable[[J], R], jobs: Sequence[J], progress: Steps | None = None) -> Iterator[R]:
    """The results of the jobs in their order, on the engine in use.

    `progress` is told after each job, in this thread; an exception there, or Ctrl-C, stops between two jobs.
    """
    for done, found in enumerate(current().run(work, jobs), 1):
        if progress is not None:
            progress(done, len(jobs))
        yield found
