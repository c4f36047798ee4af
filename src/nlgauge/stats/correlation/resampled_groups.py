"""Groups prepared for resampling, and the kernels that walk them: what stands in named tuples here is flat there.

A *run* is a set of tied values; inside a run the cells are ordered by human level, so that pairs tied by both
are neighbours. For a permutation test both metrics are merged into one rising order: each draw then walks
that order and picks, for every cell, one of its two values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nlgauge.kernels.shared import STRIP
from nlgauge.stats.correlation.group_layout import GroupLayout
from nlgauge.types import Array, Ids, Mask

if TYPE_CHECKING:
    from nlgauge.stats.correlation.evaluate_groups import Slots
    from nlgauge.stats.resampling.draws import Masks


class HumanSide(NamedTuple):
    """The human side. `n`, `levels`, `tied` (pairs) and `cubes` (Σ t³−t over ties) per group; `code` (dense
    level) and `rank` (twice the average rank, centred: a whole number) per cell.
    """

    n: Ids
    levels: Ids
    tied: Array
    cubes: Array
    code: Ids
    rank: Ids


class Pool(NamedTuple):
    """The metric side. Group g has the entries start[g] … start[g+1]; `end` is where the run of an entry ends (set at
    its first entry); `below`: entries before the run with a lower human level; `whole`: a run could fill the group.
    """

    start: Ids
    cell: Ids
    source: Ids
    below: Ids
    end: Ids
    whole: Mask


class CellWeights(NamedTuple):
    """A cell counts rows[row] · cols[col] times inside its group, group g counts groups[g] times in the mean
    (the last row of `groups` stands for every further group)."""

    row: Ids
    col: Ids
    rows: Array
    cols: Array
    groups: Array


class Scales(NamedTuple):
    """How two metrics come on one scale: (x − mean) · unit. Kernels get the scores as they are and these numbers,
    because a standardised table has lost what is small beside the mean.
    """

    mean1: float
    unit1: float
    mean2: float
    unit2: float


def human_side(plan: GroupLayout, order: Ids, z: Array, valid: Mask) -> HumanSide:
    from nlgauge.kernels import pool as kernel

    g, n = plan.groups, len(z)
    side = HumanSide(
        np.zeros(g, np.int32),
        np.zeros(g, np.int32),
        np.zeros(g),
        np.zeros(g),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
    )
    kernel.levels(order, plan.size, z, valid.view(np.uint8), *side)
    return side


def pool_one(plan: GroupLayout, order: Ids, x: Array, side: HumanSide, valid: Mask) -> Pool:
    """One metric alone, for weights (bootstrap, halves, leave-one-out)."""
    return pool_two(plan, (order, order[:0]), (x, x), Scales(0.0, 1.0, 0.0, 1.0), side, valid, 0.0)


def pool_two(
    plan: GroupLayout,
    orders: tuple[Ids, Ids],
    x: tuple[Array, Array],
    scales: Scales,
    side: HumanSide,
    valid: Mask,
    near: float,
) -> Pool:
    """Two metrics in one order. Inside a metric only equal scores are tied: standardising must not make equal what is
    not (1e-80 and 2e-80 beside .5). Between metrics a standardised score ties with one that lies within `near` of its
    size.
    """
    from nlgauge.kernels import pool as kernel

    cell, source, below, end = np.zeros((4, len(orders[0]) + len(orders[1])), np.int32)
    start, whole = np.zeros(plan.groups + 1, np.int32), np.zeros(plan.groups, np.bool_)
    pool = Pool(start, cell, source, below, end, whole)
    kernel.merge(
        *orders, plan.size, *x, side.n, side.levels, side.code, valid.view(np.uint8), *scales, near, len(orders[1]) > 0,
        start, cell, source, below, end, whole.view(np.uint8),
    )  # fmt: skip
    return pool


class Walk(NamedTuple):
    """One grouping of a metric (or of two), ready for any draw; groups of fewer than `least` cells have no value."""

    plan: GroupLayout
    least: int
    side: HumanSide
    pool: Pool


class GroupSums(NamedTuple):
    """Sums over groups and how many groups were added: … × coefficients × strips × STRIP each."""

    total: Array
    groups: Array

    @classmethod
    def zeros(cls, *shape: int) -> GroupSums:
        return cls(np.zeros((*shape, STRIP)), np.zeros((*shape, STRIP)))

    def mean(self) -> Array:
        out = np.full_like(self.total, np.nan)
        np.divide(self.total, self.groups, out=out, where=self.groups > 0)
        return out

    def lanes(self) -> tuple[Array, Array]:
        return self.total.reshape(-1, STRIP), self.groups.reshape(-1, STRIP)


def swap_groups(
    walk: Walk, x: tuple[Array, Array], z: Array, valid: Mask, scales: Scales, masks: Masks, slots: Slots,
    sums: GroupSums
) -> None:  # fmt: skip
    """Add up the coefficients of all groups under swap masks; sums are 2 × coefficients × strips × STRIP."""
    from nlgauge.kernels import swap

    plan, least, side, pool = walk
    swap.swap_groups(
        plan.cells, plan.size, least, *side, *pool[:5], pool.whole.view(np.uint8), *x, z, np.array(scales),
        valid.view(np.uint8), masks.rows, masks.cols, masks.row, masks.col, *slots, sums.total.shape[1], *sums.lanes(),
    )  # fmt: skip


def swap_systems(
    x: tuple[Array, Array], human: Array, valid: Mask, near: tuple[Array, Array], scales: Scales,
    masks: Masks, slots: Slots, sums: GroupSums,
) -> None:  # fmt: skip
    """The same at the system level; `human` are people's means, `near` how far means may lie apart by rounding."""
    from nlgauge.kernels import system

    system.swap_systems(
        len(human), *x, human, np.array(scales), valid.view(np.uint8), *near, masks.rows, masks.cols,
        masks.row, masks.col, *slots, sums.total.shape[1], *sums.lanes(),
    )  # fmt: skip


def weigh_groups(walk: Walk, x: Array, z: Array, valid: Mask, by: CellWeights, slots: Slots, sums: GroupSums) -> None:
    """Add up the coefficients of all groups under weights; sums are coefficients × strips × STRIP."""
    from nlgauge.kernels import weight

    plan, least, side, pool = walk
    weight.weigh_groups(
        plan.cells, plan.size, least, side.n, side.levels, side.code, pool.start, pool.cell, pool.end,
        x, z, valid.view(np.uint8), *by, *slots, *sums.lanes(),
    )  # fmt: skip


def weigh_systems(
    x: Array, z: Array, valid: Mask, near: tuple[Array, Array], rows: Array, cols: Array, slots: Slots,
    sums: GroupSums
) -> None:  # fmt: skip
    """The same at the system level, when systems count `rows` times and inputs `cols` times."""
    from nlgauge.kernels import system

    system.weigh_systems(
        len(near[0]), x, z, valid.view(np.uint8), *near, rows, cols, *slots, *sums.lanes()
    )  # fmt: skip


def group_values(walk: Walk, x: Array, z: Array, valid: Mask, slots: Slots, values: Array) -> None:
    """Every group's own coefficients, coefficients × groups; those without a value stay NaN."""
    from nlgauge.kernels import pool as kernel

    plan, least, side, pool = walk
    kernel.group_values(
        plan.cells, plan.size, least, side.n, side.tied, side.cubes, side.code, side.rank,
        pool.start, pool.cell, pool.below, pool.end, x, z, valid.view(np.uint8), *slots, values,
    )  # fmt: skip
