"""Prepare the groups of one grouping for resampling: human levels, and the metric's values in rising order.

A *run* is a set of tied values; inside a run the cells are ordered by human level, so that pairs tied by both
are neighbours. For a permutation test both metrics are merged into one rising order: each draw then walks
that order and picks, for every cell, one of its two values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from nlgauge.stats.layout import Bools, Floats, Ints, Layout


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


class Scales(NamedTuple):
    """How two metrics come on one scale: (x − mean) · unit. Kernels get the scores as they are and these numbers,
    because a standardised table has lost what is small beside the mean.
    """

    mean1: float
    unit1: float
    mean2: float
    unit2: float


def human_side(plan: Layout, order: Ints, z: Floats, valid: Bools) -> Side:
    g, n = plan.groups, len(z)
    side = Side(
        np.zeros(g, np.int32),
        np.zeros(g, np.int32),
        np.zeros(g),
        np.zeros(g),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
    )
    _levels(order, plan.size, z, valid, side)
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
    cell, source, below, end = np.zeros((4, len(orders[0]) + len(orders[1])), np.int32)
    start, whole = np.zeros(plan.groups + 1, np.int32), np.zeros(plan.groups, np.bool_)
    pool = Pool(start, cell, source, below, end, whole)
    _merge(*orders, plan.size, *x, scales, side, valid, near, len(orders[1]) > 0, pool)
    return pool


@njit(cache=True, nogil=True)
def _levels(order: Any, size: Any, z: Any, valid: Any, side: Any) -> None:
    cells = np.empty(size, np.int32)
    for g in range(len(side.n)):
        n = 0
        for s in range(g * size, (g + 1) * size):
            cells[n] = order[s]
            n += valid[order[s]]
        side.n[g] = n
        start = 0
        while start < n:
            end = start + 1
            while end < n and z[cells[end]] == z[cells[start]]:
                end += 1
            t = float(end - start)
            side.tied[g] += t * (t - 1) / 2
            side.cubes[g] += t * t * t - t
            for i in range(start, end):
                side.code[cells[i]] = side.levels[g]
                side.rank[cells[i]] = start + end - n
            side.levels[g] += 1
            start = end


@njit(cache=True, nogil=True)
def _present(order: Any, first: Any, last: Any, valid: Any, out: Any) -> Any:
    n = 0
    for s in range(first, last):
        out[n] = order[s]
        n += valid[order[s]]
    return n


@njit(cache=True, nogil=True)
def _run_end(cells: Any, x: Any, start: Any, n: Any) -> Any:
    end = start + 1
    while end < n and x[cells[end]] == x[cells[start]]:
        end += 1
    return end


@njit(cache=True, nogil=True)
def _merge(
    o1: Any,
    o2: Any,
    size: Any,
    x1: Any,
    x2: Any,
    scales: Any,
    side: Any,
    valid: Any,
    near: Any,
    two: Any,
    pool: Any,
) -> None:
    # the size of what standardising adds: its rounding errors are relative to that
    shift = abs(scales.mean1) * scales.unit1 + abs(scales.mean2) * scales.unit2
    first, second = np.empty(size, np.int32), np.empty(size, np.int32)
    tree = np.empty(size + 2, np.int32)
    seen = np.full(len(x1), -1, np.int32)
    e = 0
    for g in range(len(side.n)):
        n = _present(o1, g * size, (g + 1) * size, valid, first)
        m = _present(o2, g * size, (g + 1) * size, valid, second) if two else 0
        levels = side.levels[g]
        tree[: levels + 1] = 0
        a, b = 0, 0
        while a < n or b < m:
            take1, take2 = b >= m, a >= n
            if a < n and b < m:
                v1 = (x1[first[a]] - scales.mean1) * scales.unit1
                v2 = (x2[second[b]] - scales.mean2) * scales.unit2
                tolerance = near * (abs(v1) + abs(v2) + shift)
                take1, take2 = v1 - v2 <= tolerance, v2 - v1 <= tolerance
            a_end = _run_end(first, x1, a, n) if take1 else a
            b_end = _run_end(second, x2, b, m) if take2 else b
            begin = e
            covered = 0
            while a < a_end or b < b_end:  # by human level
                from1 = b >= b_end or (a < a_end and side.code[first[a]] <= side.code[second[b]])
                cell = first[a] if from1 else second[b]
                a, b = a + from1, b + (not from1)
                pool.cell[e] = cell
                pool.source[e] = 0 if from1 else 1
                covered += seen[cell] != begin
                seen[cell] = begin
                e += 1
            pool.end[begin] = e
            if covered == side.n[g]:
                pool.whole[g] = True
            for i in range(begin, e):
                level = side.code[pool.cell[i]]
                while level > 0:
                    pool.below[i] += tree[level]
                    level &= level - 1
            for i in range(begin, e):
                level = side.code[pool.cell[i]] + 1
                while level <= levels:
                    tree[level] += 1
                    level += level & -level
        pool.start[g + 1] = e
