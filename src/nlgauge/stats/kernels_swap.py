"""Permutation kernels: both correlations of a metric pair under many swap masks, with no sorting inside.

The order of the pooled 2n values of a pair never changes; a draw only says which of its two values each cell
shows. So the walk up that order is the same for every draw, and a strip of draws is walked at once, one SIMD
lane per draw: a Fenwick tree over human levels with one row of lanes per node counts concordant pairs, a
running count gives ranks. Cells tied by both metric and people (a *knot*) are handled as one. The second
metric gets the values that the first did not take, so its counts are the totals minus the first's: in every
pair of arrays below the first belongs to metric 1 and the second to metric 2. Masks are 0 (keep) or 1 (swap).
Counts are whole numbers in floats, exact up to 2^53.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from nlgauge.stats.kernels_finish import CANCELLED, STRIP, cosine, lift, pair_family

CONCORDANT, TIED, BOTH, PRODUCT, CUBES = 0, 2, 4, 6, 8  # rows of the integer results, each for two metrics


@njit(cache=True, nogil=True)
def _show(rows: Any, cols: Any, source: Any, out: Any) -> None:
    flip = np.int32(1 - source)  # metric 1 shows its own value where nothing is swapped
    for t in range(STRIP):
        out[t] = rows[t] ^ cols[t] ^ flip


@njit(cache=True, nogil=True)
def _show_more(rows: Any, cols: Any, source: Any, out: Any) -> None:
    flip = np.int32(1 - source)
    for t in range(STRIP):
        out[t] += rows[t] ^ cols[t] ^ flip


@njit(cache=True, nogil=True)
def _add(out: Any, row: Any) -> None:
    for t in range(STRIP):
        out[t] += row[t]


@njit(cache=True, nogil=True)
def _concordant(tree: Any, level: Any, below: Any, taken: Any, size: Any, q: Any, c1: Any, c2: Any) -> None:
    if below == 0:
        return
    for t in range(STRIP):
        q[t] = tree[level, t]
    level &= level - 1
    while level > 0:
        _add(q, tree[level])
        level &= level - 1
    all_below, all_taken = float(below), float(size)
    for t in range(STRIP):
        c1[t] += float(q[t]) * float(taken[t])
        c2[t] += (all_below - float(q[t])) * (all_taken - float(taken[t]))


@njit(cache=True, nogil=True)
def _enter(tree: Any, level: Any, levels: Any, taken: Any) -> None:
    level += 1
    while level <= levels:
        _add(tree[level], taken)
        level += level & -level


@njit(cache=True, nogil=True)
def _tied_pairs(taken: Any, size: Any, out1: Any, out2: Any) -> None:
    for t in range(STRIP):
        one = float(taken[t])
        two = float(size) - one
        out1[t] += one * (one - 1.0) * 0.5
        out2[t] += two * (two - 1.0) * 0.5


@njit(cache=True, nogil=True)
def _rank_one(rank: Any, before: Any, taken: Any, seen: Any, s1: Any, s2: Any) -> None:
    """Σ rank_h · rank_m for one untied value; constants of rank_m vanish because the ranks of people sum to
    0.
    """
    twice, all_seen = 2.0 * rank, float(before)
    for t in range(STRIP):
        one, earlier = float(taken[t]), float(seen[t])
        s1[t] += twice * one * earlier
        s2[t] += twice * (1.0 - one) * (all_seen - earlier)
        seen[t] += taken[t]


@njit(cache=True, nogil=True)
def _rank_run(ranks: Any, all_ranks: Any, before: Any, taken: Any, size: Any, seen: Any, out: Any) -> None:
    """The same for a run: its values share the average rank."""
    for t in range(STRIP):
        one, earlier = float(taken[t]), float(seen[t])
        two = float(size) - one
        out[PRODUCT, t] += ranks[t] * (2.0 * earlier + one - 1.0)
        out[PRODUCT + 1, t] += (all_ranks - ranks[t]) * (2.0 * (float(before) - earlier) + two - 1.0)
        out[CUBES, t] += one * one * one - one
        out[CUBES + 1, t] += two * two * two - two
        seen[t] += taken[t]


@njit(cache=True, nogil=True)
def _walk(
    g: Any, side: Any, pool: Any, masks: Any, s: Any, counts: Any, ranks: Any,
    tree: Any, knots: Any, knot_level: Any, ints: Any, run_ranks: Any, out: Any,
) -> None:  # fmt: skip
    """Walk the pooled order of group g for strip s of the draws and fill `out`."""
    rows, cols, row, col = masks.rows[s], masks.cols[s], masks.row, masks.col
    q, seen, run = ints[0], ints[1], ints[2]
    levels, first, e = side.levels[g], pool.start[g], pool.start[g]
    out[:] = 0.0
    seen[:] = 0
    if counts:
        tree[: levels + 1] = 0
    while e < pool.start[g + 1]:
        end = pool.end[e]
        before, alone = e - first, end == e + 1
        if not alone:
            run[:] = 0
            run_ranks[:] = 0.0
        all_ranks, n_knots = 0.0, 0
        while e < end:
            cell = pool.cell[e]
            level, below, knot, size = side.code[cell], pool.below[e], knots[n_knots], 1
            _show(rows[row[cell]], cols[col[cell]], pool.source[e], knot)
            e += 1
            while e < end and side.code[pool.cell[e]] == level:
                other = pool.cell[e]
                _show_more(rows[row[other]], cols[col[other]], pool.source[e], knot)
                size += 1
                e += 1
            knot_level[n_knots] = level
            n_knots += 1
            if counts:
                _concordant(tree, level, below, knot, size, q, out[CONCORDANT], out[CONCORDANT + 1])
            if alone:
                if ranks:
                    _rank_one(side.rank[cell], before, knot, seen, out[PRODUCT], out[PRODUCT + 1])
                continue
            _tied_pairs(knot, size, out[BOTH], out[BOTH + 1])
            _add(run, knot)
            rank = float(side.rank[cell])
            all_ranks += rank * size
            for t in range(STRIP):
                run_ranks[t] += rank * float(knot[t])
        if not alone:
            size = end - first - before
            _tied_pairs(run, size, out[TIED], out[TIED + 1])
            if ranks:
                _rank_run(run_ranks, all_ranks, before, run, size, seen, out)
        if counts:  # entered only after the whole run was looked up: tied values are not concordant
            for k in range(n_knots):
                _enter(tree, knot_level[k], levels, knots[k])


@njit(cache=True, nogil=True)
def _sums(
    cells: Any, x1: Any, x2: Any, z: Any, scales: Any, valid: Any, masks: Any, s: Any,
    mask: Any, swapped: Any, sums: Any, fixed: Any,
) -> None:  # fmt: skip
    """Pearson needs only sums of masked cells: Σ m·d, Σ m·x1·d, Σ m·x2·d, Σ m·z·d with d = x2 − x1, standardised.

    Each metric is centred by its own mean in the group, so the sums of the unswapped data lose no digits.
    `fixed` gets n, mean difference, both sums of squares and cross products (of the scores as they are, lifted), people's
    sum of squares, the factors that standardise those, people's `lift`, and the three means; `swapped` the number of
    swapped cells.
    """
    n, a1, a2, az = 0.0, 0.0, 0.0, 0.0
    for cell in cells:
        if valid[cell]:
            n += 1
            a1 += x1[cell]
            a2 += x2[cell]
            az += z[cell]
    a1, a2, az = a1 / n, a2 / n, az / n
    size1, size2, size_z = 0.0, 0.0, 0.0
    rest1, rest2, rest_z = 0.0, 0.0, 0.0  # centred twice, as `evaluate` does: a mean is rounded too
    for cell in cells:
        if valid[cell]:
            u1, u2, v = x1[cell] - a1, x2[cell] - a2, z[cell] - az
            size1, size2, size_z = max(size1, abs(u1)), max(size2, abs(u2)), max(size_z, abs(v))
            rest1, rest2, rest_z = rest1 + u1 / n, rest2 + u2 / n, rest_z + v / n
    unit1, unit2 = scales.unit1, scales.unit2
    lift1, lift2, lift_z = lift(size1), lift(size2), lift(size_z)
    shift = (a2 - scales.mean2) * unit2 - (a1 - scales.mean1) * unit1
    fixed[:] = 0.0
    fixed[0], fixed[1], fixed[7], fixed[8], fixed[9] = n, shift, unit1 / lift1, unit2 / lift2, lift_z
    fixed[10], fixed[11], fixed[12] = a1, a2, az
    sums[:] = 0.0
    swapped[:] = 0
    p, p1, p2, pz = sums[0], sums[1], sums[2], sums[3]
    for cell in cells:
        if not valid[cell]:
            continue
        u1, u2 = (x1[cell] - a1 - rest1) * lift1, (x2[cell] - a2 - rest2) * lift2
        v = (z[cell] - az - rest_z) * lift_z
        fixed[2] += u1 * u1
        fixed[3] += u2 * u2
        fixed[4] += u1 * v
        fixed[5] += u2 * v
        fixed[6] += v * v
        u1, u2 = u1 * fixed[7], u2 * fixed[8]
        d = u2 - u1 + shift
        u1, u2, v = u1 * d, u2 * d, v * d
        r, c = masks.rows[s, masks.row[cell]], masks.cols[s, masks.col[cell]]
        for t in range(STRIP):
            bit = r[t] ^ c[t]
            swapped[t] += bit
            mask[t] = np.float64(bit)
        for t in range(STRIP):
            p[t] += mask[t] * d
            p1[t] += mask[t] * u1
            p2[t] += mask[t] * u2
            pz[t] += mask[t] * v


@njit(cache=True, nogil=True, error_model="numpy")
def _moments(swapped: Any, sums: Any, fixed: Any) -> Any:
    """Turn the sums into the two sums of squares (rows 0, 1) and the two cross products (rows 2, 3).

    Where all cells of the group are swapped, or none, they are those of one metric alone: adding and taking away the
    other one would leave its rounding errors. True if the digits of some draw cancel out all the same.
    """
    n, shift, q1, q2, h1, h2 = fixed[0], fixed[1], fixed[2], fixed[3], fixed[4], fixed[5]
    m1, m2 = q1 * fixed[7] * fixed[7], q2 * fixed[8] * fixed[8]
    g1, g2 = h1 * fixed[7], h2 * fixed[8]
    small = CANCELLED * (m1 + m2 + n * shift * shift)
    lost = 0
    for t in range(STRIP):
        p, p1, p2, pz = sums[0, t], sums[1, t], sums[2, t], sums[3, t]
        squares = p2 - p1 + shift * p - p * p / n
        none, every = swapped[t] == 0, float(swapped[t]) == n
        sums[0, t] = q1 if none else q2 if every else m1 + 2.0 * p1 + squares
        sums[1, t] = q2 if none else q1 if every else m2 - 2.0 * p2 + squares
        sums[2, t] = h1 if none else h2 if every else g1 + pz
        sums[3, t] = h2 if none else h1 if every else g2 - pz
        lost |= (not none) & (not every) & ((sums[0, t] < small) | (sums[1, t] < small))
    return lost != 0


@njit(cache=True, nogil=True, error_model="numpy")
def _moments_again(
    cells: Any, x1: Any, x2: Any, z: Any, scales: Any, valid: Any, masks: Any, s: Any,
    swapped: Any, sums: Any, fixed: Any,
) -> None:  # fmt: skip
    """Draws whose digits cancel out (one large score was swapped away from small ones), value by value."""
    n, shift, lift_z, a1, a2, az = fixed[0], fixed[1], fixed[9], fixed[10], fixed[11], fixed[12]
    unit1, unit2 = scales.unit1, scales.unit2
    m1, m2 = fixed[2] * fixed[7] * fixed[7], fixed[3] * fixed[8] * fixed[8]
    small = CANCELLED * (m1 + m2 + n * shift * shift)
    for t in range(STRIP):
        for m in range(2):
            if swapped[t] == 0 or float(swapped[t]) == n or sums[m, t] >= small:
                continue
            mean, squares, product = 0.0, 0.0, 0.0
            for turn in range(2):
                for cell in cells:
                    if not valid[cell]:
                        continue
                    bit = masks.rows[s, masks.row[cell], t] ^ masks.cols[s, masks.col[cell], t]
                    u = (x1[cell] - a1) * unit1 if bit == m else (x2[cell] - a2) * unit2 + shift
                    if turn == 0:
                        mean += u / n
                    else:
                        squares += (u - mean) * (u - mean)
                        product += (u - mean) * ((z[cell] - az) * lift_z)
            sums[m, t], sums[2 + m, t] = squares, product


@njit(cache=True, nogil=True, error_model="numpy")
def swap_groups(
    cells: Any, size: Any, least: Any, side: Any, pool: Any, x1: Any, x2: Any, z: Any, scales: Any, valid: Any,
    masks: Any, slots: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """Add up the coefficients of all groups: total and count are 2 metrics × coefficients × strips × STRIP.

    Groups of fewer than `least` points are left out; so is a group, for one metric, in draws where that
    metric is constant in it.
    """
    deepest = 1
    for g in range(len(side.n)):
        deepest = max(deepest, side.levels[g])
    tree, knots = np.empty((deepest + 1, STRIP), np.int32), np.empty((deepest + 1, STRIP), np.int32)
    knot_level, ints = np.empty(deepest + 1, np.int32), np.empty((3, STRIP), np.int32)
    out, run_ranks, f = np.empty((10, STRIP)), np.empty(STRIP), np.empty((3, STRIP))
    sums, fixed, ones, known = np.empty((4, STRIP)), np.empty(13), np.ones(STRIP), np.ones(STRIP)
    pearson, spearman, counts, ranks = (
        slots.pearson,
        slots.spearman,
        len(slots.places) > 0,
        slots.spearman >= 0,
    )
    for s in range(masks.rows.shape[0]):
        for g in range(len(side.n)):
            n = float(side.n[g])
            if n < least:
                continue
            if counts or ranks or pool.whole[g]:
                _walk(g, side, pool, masks, s, counts, ranks, tree, knots, knot_level, ints, run_ranks, out)
            if pearson >= 0:
                members = cells[g * size : (g + 1) * size]
                _sums(members, x1, x2, z, scales, valid, masks, s, f[0], ints[0], sums, fixed)
                if _moments(ints[0], sums, fixed):
                    _moments_again(members, x1, x2, z, scales, valid, masks, s, ints[0], sums, fixed)
                f[1] = fixed[6] if side.levels[g] > 1 else 0.0
                for m in range(2):
                    known[:] = 1.0
                    if pool.whole[g]:  # rounding hides that a metric is constant, its ties do not
                        for t in range(STRIP):
                            known[t] = out[TIED + m, t] < n * (n - 1.0) / 2.0
                    cosine(
                        sums[2 + m], sums[m], f[1], known, ones, total[m, pearson, s], count[m, pearson, s]
                    )
                known[:] = 1.0
            for m in range(2):
                if ranks:
                    for t in range(STRIP):
                        f[1, t] = (n * n * n - n - out[CUBES + m, t]) / 3.0
                    f[2] = (n * n * n - n - side.cubes[g]) / 3.0
                    to = total[m, spearman, s], count[m, spearman, s]
                    cosine(out[PRODUCT + m], f[1], f[2], known, ones, to[0], to[1])
                f[1] = n * (n - 1.0) / 2.0
                f[2] = side.tied[g]
                for k in range(len(slots.places)):
                    pair_family(
                        slots.forms[k], f[1], f[2], out[TIED + m], out[BOTH + m], out[CONCORDANT + m], ones,
                        total[m, slots.places[k], s], count[m, slots.places[k], s],
                    )  # fmt: skip
