"""Groups prepared for resampling, and the kernels that walk them: what stands in named tuples here is flat there.

A *run* is a set of tied values; inside a run the cells are ordered by human level, so that pairs tied by both
are neighbours. For a permutation test both metrics are merged into one rising order: each draw then walks
that order and picks, for every cell, one of its two values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.kernels.shared import STRIP
from nlgauge.stats.correlation.group_layout import Bools, Floats, Ints, Layout

if TYPE_CHECKING:
    from nlgauge.stats.correlation.evaluate_groups import Slots
    from nlgauge.stats.resampling.draws import Masks


class Side(NamedTuple):
    """The human side. `n`, `levels`, `tied` (pairs) and `cubes` (Σ t³−t over ties) per group; `code` (dense
    level) and `rank` (twice the average rank, centred: a whole number) per cell.
    """

    n: Ints
    levels: Ints
    tied: Floats
    cubes: Floats
    code: Ints
    rank: Ints


class Pool(NamedTuple):
    """The metric side. Group g has the entries start[g] … start[g+1]; `end` is where the run of an entry ends
    (set at its first entry); `below`: entries before the run with a lower human level; `whole`: a run could
    fill the group.
    """

    start: Ints
    cell: Ints
    source: Ints
    below: Ints
    end: Ints
    whole: Bools


Times = NDArray[np.float64] | NDArray[np.uint8]  # how often something counts


class CellWeights(NamedTuple):
    """A cell counts rows[row] · cols[col] times inside its group, group g counts groups[g] times in the mean
    (the last row of `groups` stands for every further group)."""

    row: Ints
    col: Ints
    rows: Times
    cols: Times
    groups: Times


class Scales(NamedTuple):
    """How two metrics come on one scale: (x − mean) · unit. Kernels get the scores as they are and these numbers,
    because a standardised table has lost what is small beside the mean.
    """

    mean1: float
    unit1: float
    mean2: float
    unit2: float


def human_side(plan: Layout, order: Ints, z: Floats, valid: Bools) -> Side:
    from nlgauge.kernels import pool as kernel

    g, n = plan.groups, len(z)
    side = Side(
        np.zeros(g, np.int32),
        np.zeros(g, np.int32),
        np.zeros(g),
        np.zeros(g),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
    )
    kernel.levels(order, plan.size, z, valid.view(np.uint8), *side)
    return side


def pool_one(plan: Layout, order: Ints, x: Floats, side: Side, valid: Bools) -> Pool:
    """One metric alone, for weights (bootstrap, halves, leave-one-out)."""
    return _pooled(plan, (order, order[:0]), (x, x), Scales(0.0, 1.0, 0.0, 1.0), side, valid, 0.0)


def pool_two(
    plan: Layout,
    orders: tuple[Ints, Ints],
    x: tuple[Floats, Floats],
    scales: Scales,
    side: Side,
    valid: Bools,
    near: float,
) -> Pool:
    """Two metrics in one order. Inside a metric only equal scores are tied: standardising must not make equal what is
    not (1e-80 and 2e-80 beside .5). Between metrics a standardised score ties with one that lies within `near` of its
    size.
    """
    return _pooled(plan, orders, x, scales, side, valid, near)


def _pooled(
    plan: Layout,
    orders: tuple[Ints, Ints],
    x: tuple[Floats, Floats],
    scales: Scales,
    side: Side,
    valid: Bools,
    near: float,
) -> Pool:
    from nlgauge.kernels import pool as kernel

    cell, source, below, end = np.zeros((4, len(orders[0]) + len(orders[1])), np.int32)
    start, whole = np.zeros(plan.groups + 1, np.int32), np.zeros(plan.groups, np.bool_)
    pool = Pool(start, cell, source, below, end, whole)
    kernel.merge(
        *orders, plan.size, *x, side.n, side.levels, side.code, valid.view(np.uint8), *scales, near, len(orders[1]) > 0,
        start, cell, source, below, end, whole.view(np.uint8),
    )  # fmt: skip
    return pool


def swap_groups(
    plan: Layout, least: int, side: Side, pool: Pool, x1: Floats, x2: Floats, z: Floats,
    scales: Scales, valid: Bools, masks: Masks, slots: Slots, total: Floats, count: Floats,
) -> None:  # fmt: skip
    """Add up the coefficients of all groups under swap masks: total and count are 2 × coefficients × strips × STRIP."""
    from nlgauge.kernels import swap

    swap.swap_groups(
        plan.cells, plan.size, least, *side, *pool[:5], pool.whole.view(np.uint8), x1, x2, z, np.array(scales),
        valid.view(np.uint8), masks.rows, masks.cols, masks.row, masks.col, *slots, total.shape[1], _lanes(total), _lanes(count),
    )  # fmt: skip


def swap_systems(
    systems: int, x1: Floats, x2: Floats, human: Floats, scales: Scales, valid: Bools, near1: Floats, near2: Floats,
    masks: Masks, slots: Slots, total: Floats, count: Floats,
) -> None:  # fmt: skip
    """The same at the system level; `human` are people's means, `near1` and `near2` how far means may lie apart by rounding."""
    from nlgauge.kernels import system

    system.swap_systems(
        systems, x1, x2, human, np.array(scales), valid.view(np.uint8), near1, near2, masks.rows, masks.cols,
        masks.row, masks.col, *slots, total.shape[1], _lanes(total), _lanes(count),
    )  # fmt: skip


def weigh_groups(
    plan: Layout, least: int, side: Side, pool: Pool, x: Floats, z: Floats, valid: Bools,
    by: CellWeights, slots: Slots, total: Floats, count: Floats,
) -> None:  # fmt: skip
    """Add up the coefficients of all groups under weights: total and count are coefficients × strips × STRIP."""
    from nlgauge.kernels import weight

    weight.weigh_groups(
        plan.cells, plan.size, least, side.n, side.levels, side.code, pool.start, pool.cell, pool.end,
        x, z, valid.view(np.uint8), *by, *slots, _lanes(total), _lanes(count),
    )  # fmt: skip


def weigh_systems(
    systems: int, x: Floats, z: Floats, valid: Bools, near_x: Floats, near_z: Floats,
    rows: Times, cols: Times, slots: Slots, total: Floats, count: Floats,
) -> None:  # fmt: skip
    """The same at the system level, when systems count `rows` times and inputs `cols` times."""
    from nlgauge.kernels import system

    system.weigh_systems(
        systems, x, z, valid.view(np.uint8), near_x, near_z, rows, cols, *slots, _lanes(total), _lanes(count)
    )


def group_values(
    plan: Layout,
    least: int,
    side: Side,
    pool: Pool,
    x: Floats,
    z: Floats,
    valid: Bools,
    slots: Slots,
    values: Floats,
) -> None:
    """Every group's own coefficients, coefficients × groups; those without a value stay NaN."""
    from nlgauge.kernels import pool as kernel

    kernel.group_values(
        plan.cells, plan.size, least, side.n, side.tied, side.cubes, side.code, side.rank,
        pool.start, pool.cell, pool.below, pool.end, x, z, valid.view(np.uint8), *slots, values,
    )  # fmt: skip


def _lanes(sums: Floats) -> Floats:
    return sums.reshape(-1, STRIP)
