"""Weight kernels: the correlation of one metric when systems and inputs count several times, or not at all.

A bootstrap sample, a half of the inputs and a leave-one-out sample are all the same data with other weights,
so the sorted order is walked as in kernels_swap, one SIMD lane per draw, with whole-number weights in place
of masks. A cell drawn twice is two equal points: it ties with itself on both sides, as in a resampled table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from nlgauge.stats.kernels_finish import CANCELLED, STRIP, cosine, lift, pair_family
from nlgauge.stats.layout import Floats, Ints

N, TIED_H, CUBES_H, CONCORDANT, TIED, BOTH, PRODUCT, CUBES = range(8)  # rows of the results of a walk


class CellWeights(NamedTuple):
    """A cell counts rows[row] · cols[col] times inside its group, group g counts groups[g] times in the mean
    (the last row of `groups` stands for every further group)."""

    row: Ints
    col: Ints
    rows: Floats
    cols: Floats
    groups: Floats


@njit(cache=True, nogil=True)
def _weigh(rows: Any, cols: Any, out: Any) -> None:
    for t in range(STRIP):
        out[t] = rows[t] * cols[t]


@njit(cache=True, nogil=True)
def _weigh_more(rows: Any, cols: Any, out: Any) -> None:
    for t in range(STRIP):
        out[t] += rows[t] * cols[t]


@njit(cache=True, nogil=True)
def _add(out: Any, row: Any) -> None:
    for t in range(STRIP):
        out[t] += row[t]


@njit(cache=True, nogil=True)
def _ties(weight: Any, pairs: Any) -> None:
    for t in range(STRIP):
        pairs[t] += weight[t] * (weight[t] - 1.0) / 2.0


@njit(cache=True, nogil=True)
def _human(cells: Any, levels: Any, side: Any, valid: Any, by: Any, s: Any, rank: Any, out: Any) -> None:
    """Points, ties and ranks (twice the average, centred) of people's levels under the weights."""
    rank[:levels] = 0.0
    out[:] = 0.0
    for cell in cells:
        if valid[cell]:
            _weigh_more(by.rows[s, by.row[cell]], by.cols[s, by.col[cell]], rank[side.code[cell]])
    for level in range(levels):
        _add(out[N], rank[level])
        _ties(rank[level], out[TIED_H])
        for t in range(STRIP):
            c = rank[level, t]
            out[CUBES_H, t] += c * c * c - c
    seen = out[CUBES]  # free until the walk
    for level in range(levels):
        for t in range(STRIP):
            c = rank[level, t]
            rank[level, t] = 2.0 * seen[t] + c - out[N, t]
            seen[t] += c
    seen[:] = 0.0


@njit(cache=True, nogil=True)
def _walk(
    g: Any, side: Any, pool: Any, by: Any, s: Any, counts: Any, ranks: Any,
    rank: Any, tree: Any, knots: Any, knot_level: Any, f: Any, out: Any,
) -> None:  # fmt: skip
    """Walk the metric's order of group g for strip s of the draws and fill `out`."""
    q, seen, run, run_ranks = f[0], f[1], f[2], f[3]
    levels, e = side.levels[g], pool.start[g]
    seen[:] = 0.0
    if counts:
        tree[: levels + 1] = 0.0
    while e < pool.start[g + 1]:
        end = pool.end[e]
        run[:] = 0.0
        run_ranks[:] = 0.0
        n_knots = 0
        while e < end:
            cell = pool.cell[e]
            level, knot = side.code[cell], knots[n_knots]
            _weigh(by.rows[s, by.row[cell]], by.cols[s, by.col[cell]], knot)
            e += 1
            while e < end and side.code[pool.cell[e]] == level:
                cell = pool.cell[e]
                _weigh_more(by.rows[s, by.row[cell]], by.cols[s, by.col[cell]], knot)
                e += 1
            knot_level[n_knots] = level
            n_knots += 1
            _ties(knot, out[BOTH])
            _add(run, knot)
            if ranks:
                for t in range(STRIP):
                    run_ranks[t] += knot[t] * rank[level, t]
            if counts and level > 0:
                q[:] = tree[level]
                level &= level - 1
                while level > 0:
                    _add(q, tree[level])
                    level &= level - 1
                for t in range(STRIP):
                    out[CONCORDANT, t] += q[t] * knot[t]
        _ties(run, out[TIED])
        if ranks:
            for t in range(STRIP):
                c = run[t]
                out[PRODUCT, t] += run_ranks[t] * (2.0 * seen[t] + c - out[N, t])
                out[CUBES, t] += c * c * c - c
                seen[t] += c
        if counts:  # entered only after the whole run was looked up: tied values are not concordant
            for k in range(n_knots):
                level = knot_level[k] + 1
                while level <= levels:
                    _add(tree[level], knots[k])
                    level += level & -level


@njit(cache=True, nogil=True, error_model="numpy")
def _sums(cells: Any, x: Any, z: Any, valid: Any, by: Any, s: Any, n: Any, f: Any) -> None:
    """Rows 0-2 of f: cross product and both sums of squares, centred by the plain means first."""
    points, ax, az = 0.0, 0.0, 0.0
    for cell in cells:
        if valid[cell]:
            points += 1.0
            ax += x[cell]
            az += z[cell]
    ax, az = ax / points, az / points
    size_x, size_z = 0.0, 0.0
    for cell in cells:
        if valid[cell]:
            size_x, size_z = max(size_x, abs(x[cell] - ax)), max(size_z, abs(z[cell] - az))
    lift_x, lift_z = lift(size_x), lift(size_z)
    f[:] = 0.0
    weight = f[5]
    for cell in cells:
        if not valid[cell]:
            continue
        u, v = (x[cell] - ax) * lift_x, (z[cell] - az) * lift_z
        uv, uu, vv = u * v, u * u, v * v
        _weigh(by.rows[s, by.row[cell]], by.cols[s, by.col[cell]], weight)
        for t in range(STRIP):
            f[0, t] += weight[t] * uv
            f[1, t] += weight[t] * uu
            f[2, t] += weight[t] * vv
            f[3, t] += weight[t] * u
            f[4, t] += weight[t] * v
    lost = 0
    for t in range(STRIP):
        xx, zz = f[1, t], f[2, t]
        f[0, t] -= f[3, t] * f[4, t] / n[t]
        f[1, t] -= f[3, t] * f[3, t] / n[t]
        f[2, t] -= f[4, t] * f[4, t] / n[t]
        weight[t] = 1.0 if (f[1, t] < CANCELLED * xx) | (f[2, t] < CANCELLED * zz) else 0.0
        lost |= weight[t] > 0.0
    if lost:
        _sums_again(cells, x, z, valid, by, s, n, f)


@njit(cache=True, nogil=True, error_model="numpy")
def _sums_again(cells: Any, x: Any, z: Any, valid: Any, by: Any, s: Any, n: Any, f: Any) -> None:
    """Draws whose digits cancel out (the one large score was not drawn), around their own means."""
    for t in range(STRIP):
        if f[5, t] == 0.0:
            continue
        ax, az, size_x, size_z = 0.0, 0.0, 0.0, 0.0
        xz, xx, zz, lift_x, lift_z = 0.0, 0.0, 0.0, 1.0, 1.0
        for turn in range(3):
            for cell in cells:
                weight = by.rows[s, by.row[cell], t] * by.cols[s, by.col[cell], t]
                if not valid[cell] or weight == 0.0:
                    continue
                if turn == 0:
                    ax += weight * x[cell] / n[t]
                    az += weight * z[cell] / n[t]
                    continue
                u, v = x[cell] - ax, z[cell] - az
                if turn == 1:
                    size_x, size_z = max(size_x, abs(u)), max(size_z, abs(v))
                    continue
                u, v = u * lift_x, v * lift_z
                xz += weight * u * v
                xx += weight * u * u
                zz += weight * v * v
            lift_x, lift_z = lift(size_x), lift(size_z)
        f[0, t], f[1, t], f[2, t] = xz, xx, zz


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_groups(
    cells: Any, size: Any, least: Any, side: Any, pool: Any, x: Any, z: Any, valid: Any,
    by: Any, slots: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """Add up the coefficients of all groups: total and count are coefficients × strips × STRIP.

    Groups that are constant under a draw's weights, or have fewer than `least` points, are left out of that
    draw.
    """
    deepest = 1
    for g in range(len(side.n)):
        deepest = max(deepest, side.levels[g])
    shape = (deepest + 1, STRIP)
    tree, knots, rank, knot_level = (
        np.empty(shape),
        np.empty(shape),
        np.empty(shape),
        np.empty(shape[0], np.int32),
    )
    out, f = np.empty((8, STRIP)), np.empty((6, STRIP))
    pairs, known, weight = np.empty(STRIP), np.empty(STRIP), np.empty(STRIP)
    pearson, spearman, counts, ranks = (
        slots.pearson,
        slots.spearman,
        len(slots.places) > 0,
        slots.spearman >= 0,
    )
    for s in range(by.rows.shape[0]):
        for g in range(len(side.n)):
            if side.n[g] < 1:
                continue
            members, times = cells[g * size : (g + 1) * size], by.groups[s, min(g, by.groups.shape[1] - 1)]
            _human(members, side.levels[g], side, valid, by, s, rank, out)
            _walk(g, side, pool, by, s, counts, ranks, rank, tree, knots, knot_level, f, out)
            for t in range(STRIP):
                n = out[N, t]
                weight[t] = times[t] if n >= least else 0.0
                pairs[t] = n * (n - 1.0) / 2.0
                varies = (out[TIED, t] < pairs[t] - 0.25) & (out[TIED_H, t] < pairs[t] - 0.25)
                known[t] = 1.0 if varies else 0.0
            if pearson >= 0:
                _sums(members, x, z, valid, by, s, out[N], f)
                cosine(f[0], f[1], f[2], known, weight, total[pearson, s], count[pearson, s])
            if ranks:
                for t in range(STRIP):
                    n = out[N, t]
                    f[1, t] = (n * n * n - n - out[CUBES, t]) / 3.0
                    f[2, t] = (n * n * n - n - out[CUBES_H, t]) / 3.0
                cosine(out[PRODUCT], f[1], f[2], known, weight, total[spearman, s], count[spearman, s])
            for k in range(len(slots.places)):
                i = slots.places[k]
                pair_family(
                    slots.forms[k], pairs, out[TIED_H], out[TIED], out[BOTH], out[CONCORDANT], weight,
                    total[i, s], count[i, s],
                )  # fmt: skip
