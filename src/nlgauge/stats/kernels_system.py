"""System level: correlate the systems' means, which change with every draw.

There are few systems, so every pair is compared. Means that are equal on paper may differ in the last bit: such ones
are made equal first, by the rule of `ties.snap`. A comparison of all pairs finds out whether there are any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from nlgauge.stats.kernels_finish import STRIP, cosine, lift, pair_family
from nlgauge.stats.ties import NEAR

LEAST = 3  # one correlation of two points says nothing (as in measure.evaluate)


@njit(cache=True, nogil=True, error_model="numpy")
def _pearson(x: Any, z: Any, weight: Any, f: Any) -> None:
    """Rows 0-2 of f: cross product and both sums of squares, around the weighted means."""
    f[:, :] = 0.0
    for i in range(len(x)):
        for t in range(STRIP):
            f[3, t] += weight[i, t]
            f[4, t] += weight[i, t] * x[i, t]
            f[5, t] += weight[i, t] * z[i, t]
    for t in range(STRIP):
        f[4, t] /= f[3, t]
        f[5, t] /= f[3, t]
    for i in range(len(x)):
        for t in range(STRIP):
            there = 1.0 if weight[i, t] > 0.0 else 0.0
            f[0, t] = max(f[0, t], there * abs(x[i, t] - f[4, t]))
            f[1, t] = max(f[1, t], there * abs(z[i, t] - f[5, t]))
    for t in range(STRIP):
        f[3, t], f[6, t] = lift(f[0, t]), lift(f[1, t])
    f[:3] = 0.0
    for i in range(len(x)):
        for t in range(STRIP):
            u, v = (x[i, t] - f[4, t]) * f[3, t], (z[i, t] - f[5, t]) * f[6, t]
            f[0, t] += weight[i, t] * u * v
            f[1, t] += weight[i, t] * u * u
            f[2, t] += weight[i, t] * v * v


@njit(cache=True, nogil=True, error_model="numpy")
def _nearly_tied(x: Any, near: Any) -> Any:
    """Is there a draw in which two means differ by rounding only?"""
    found = 0
    for i in range(len(x)):
        for k in range(i):
            for t in range(STRIP):
                d = abs(x[i, t] - x[k, t])
                found |= (d > 0.0) & (d <= max(near[i, t], near[k, t]))
    return found != 0


@njit(cache=True, nogil=True)
def _uneven(x: Any, valid: Any, systems: Any) -> Any:
    """Are scores of one system of very different size, so that rounding depends on which of them are drawn?"""
    inputs = len(x) // systems
    for i in range(systems):
        low, high = np.inf, 0.0
        for cell in range(i * inputs, (i + 1) * inputs):
            if valid[cell] and x[cell] != 0.0:
                low, high = min(low, abs(x[cell])), max(high, abs(x[cell]))
        if low < 0.01 * high:
            return True
    return False


@njit(cache=True, nogil=True)
def _rounding(x: Any, valid: Any, cols: Any, near: Any) -> None:
    """`near` of the scores that are drawn, for one strip."""
    inputs = len(x) // len(near)
    near[:, :] = 0.0
    for i in range(len(near)):
        for j in range(inputs):
            if valid[i * inputs + j]:
                own = NEAR * abs(x[i * inputs + j])
                for t in range(STRIP):
                    near[i, t] = max(near[i, t], own) if cols[j, t] > 0.0 else near[i, t]


@njit(cache=True, nogil=True)
def _snap(x: Any, near: Any, weight: Any, order: Any) -> None:
    """Make means equal that differ by rounding only, draw by draw; as `ties.snap`, with `near` for its tolerances."""
    n = len(x)
    down = np.empty(n + 1)
    for i in range(n):
        order[i] = i
    for t in range(STRIP):
        for i in range(1, n):  # the order of the draw before is a good beginning
            own, k = order[i], i
            while k > 0 and x[order[k - 1], t] > x[own, t]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = own
        down[n] = np.inf
        for k in range(n - 1, -1, -1):
            i = order[k]
            down[k] = min(down[k + 1], x[i, t] - near[i, t]) if weight[i, t] > 0.0 else down[k + 1]
        up, value, first = -np.inf, -np.inf, 0.0
        for k in range(n):
            i = order[k]
            if weight[i, t] > 0.0:
                own = x[i, t]
                first = first if (up >= own) | (down[k] <= value) else own
                up, value, x[i, t] = max(up, own + near[i, t]), own, first


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_counts(
    x: Any, z: Any, weight: Any, c: Any, tied_m: Any, tied_h: Any, both: Any, rx: Any, rz: Any
) -> None:
    rx[:, :] = 0.0
    rz[:, :] = 0.0
    for t in range(STRIP):
        c[t] = tied_m[t] = tied_h[t] = both[t] = 0.0
    for i in range(len(x)):
        for t in range(STRIP):  # a system drawn several times ties with itself
            own = weight[i, t] * (weight[i, t] - 1.0) / 2.0
            tied_m[t] += own
            tied_h[t] += own
            both[t] += own
        for k in range(i):
            for t in range(STRIP):
                dx, dz = x[i, t] - x[k, t], z[i, t] - z[k, t]
                sx = (1.0 if dx > 0.0 else 0.0) - (1.0 if dx < 0.0 else 0.0)
                sz = (1.0 if dz > 0.0 else 0.0) - (1.0 if dz < 0.0 else 0.0)
                two = weight[i, t] * weight[k, t]
                c[t] += two if sx * sz > 0.0 else 0.0
                tied_m[t] += two if sx == 0.0 else 0.0
                tied_h[t] += two if sz == 0.0 else 0.0
                both[t] += two if (sx == 0.0) & (sz == 0.0) else 0.0
                rx[i, t] += weight[k, t] * sx
                rx[k, t] -= weight[i, t] * sx
                rz[i, t] += weight[k, t] * sz
                rz[k, t] -= weight[i, t] * sz


@njit(cache=True, nogil=True, error_model="numpy")
def _means_strip(
    x: Any, z: Any, weight: Any, s: Any, slots: Any, f: Any, rx: Any, rz: Any, total: Any, count: Any
) -> None:
    """All coefficients of weighted points, for one strip of draws (s); f is working space."""
    c, tied_m, tied_h, both, pairs, known, ones, space = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7:14]
    _pair_counts(x, z, weight, c, tied_m, tied_h, both, rx, rz)
    pairs[:] = 0.0
    for i in range(len(x)):
        for t in range(STRIP):
            pairs[t] += weight[i, t]
    for t in range(STRIP):
        ones[t] = 1.0 if pairs[t] >= LEAST else 0.0
        pairs[t] = pairs[t] * (pairs[t] - 1.0) / 2.0
        known[t] = 1.0 if (tied_m[t] < pairs[t] - 0.25) & (tied_h[t] < pairs[t] - 0.25) else 0.0
    pearson, spearman = slots.pearson, slots.spearman
    for k in range(len(slots.places)):
        i = slots.places[k]
        pair_family(slots.forms[k], pairs, tied_h, tied_m, both, c, ones, total[i, s], count[i, s])
    if pearson >= 0:
        _pearson(x, z, weight, space)
        cosine(space[0], space[1], space[2], known, ones, total[pearson, s], count[pearson, s])
    if spearman >= 0:
        space[:, :] = 0.0
        for i in range(len(x)):
            for t in range(STRIP):
                space[0, t] += weight[i, t] * rx[i, t] * rz[i, t]
                space[1, t] += weight[i, t] * rx[i, t] * rx[i, t]
                space[2, t] += weight[i, t] * rz[i, t] * rz[i, t]
        cosine(space[0], space[1], space[2], known, ones, total[spearman, s], count[spearman, s])


@njit(cache=True, nogil=True, error_model="numpy")
def swap_systems(
    systems: Any, x1: Any, x2: Any, human: Any, scales: Any, valid: Any, near1: Any, near2: Any,
    masks: Any, slots: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """System level under swap masks, as `swap_groups`. `human` are people's means of the systems, equal ones made equal;
    `near1` and `near2` say for each system how far two of its means may lie apart by rounding.

    A system's standardised mean is Σ x · unit / n, less what the metrics' means add to it, which depends only on the
    part of its cells that is swapped. Taken apart so, means keep their digits. Where all is swapped, or nothing, they are
    the means of the scores as they are.
    """
    inputs, shape = len(x1) // systems, (systems, STRIP)
    mean1, mean2, people, weight = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    near_one, near_two, part = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    mixed, plain1, plain2 = np.empty(STRIP), np.zeros(systems), np.zeros(systems)
    rx, rz, f, order = np.empty(shape), np.empty(shape), np.empty((14, STRIP)), np.empty(systems, np.int64)
    moved, swapped, part_first = f[0], np.empty(STRIP, np.int32), np.empty(STRIP)
    unit1, unit2 = scales.unit1, scales.unit2
    off = scales.mean1 * unit1 - scales.mean2 * unit2
    apart = NEAR * (abs(scales.mean1) * unit1 + abs(scales.mean2) * unit2)
    for s in range(masks.rows.shape[0]):
        first = True
        mixed[:] = 0.0
        for i in range(systems):
            n, a1, a2, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0
            moved[:] = 0.0
            swapped[:] = 0
            for cell in range(i * inputs, (i + 1) * inputs):
                if not valid[cell]:
                    continue
                n += 1.0
                v1, v2 = x1[cell] * unit1, x2[cell] * unit2
                a1, a2, b1, b2 = a1 + v1, a2 + v2, b1 + x1[cell], b2 + x2[cell]
                d = v2 - v1
                r, c = masks.rows[s, masks.row[cell]], masks.cols[s, masks.col[cell]]
                for t in range(STRIP):
                    bit = r[t] ^ c[t]
                    swapped[t] += bit
                    moved[t] += d * np.float64(bit)
            if n == 0.0:  # a system without shared cells keeps weight 0: it is left out
                continue
            weight[i, :] = 1.0
            people[i, :] = human[i]
            plain1[i], plain2[i] = b1 / n, b2 / n
            own1, own2 = near1[i] * unit1, near2[i] * unit2
            either = max(own1, own2)
            for t in range(STRIP):
                none, every = swapped[t] == 0, float(swapped[t]) == n
                part[i, t] = float(swapped[t]) / n
                near_one[i, t] = own1 if none else own2 if every else either
                near_two[i, t] = own2 if none else own1 if every else either
                mean1[i, t] = (a1 if none else a2 if every else a1 + moved[t]) / n
                mean2[i, t] = (a2 if none else a1 if every else a2 - moved[t]) / n
            if first:
                part_first[:] = part[i]
                first = False
            for t in range(
                STRIP
            ):  # only differences matter: nothing is added where all systems are swapped alike
                more = part[i, t] - part_first[t]
                mean1[i, t] += more * off
                mean2[i, t] -= more * off
                mixed[t] = 1.0 if more != 0.0 else mixed[t]
        for i in range(systems):
            for t in range(STRIP):
                none, every = part_first[t] == 0.0, part_first[t] == 1.0
                if (mixed[t] == 0.0) & (none | every):
                    mean1[i, t] = plain1[i] if none else plain2[i]
                    mean2[i, t] = plain2[i] if none else plain1[i]
                    near_one[i, t] = near1[i] if none else near2[i]
                    near_two[i, t] = near2[i] if none else near1[i]
                else:
                    near_one[i, t] += mixed[t] * apart
                    near_two[i, t] += mixed[t] * apart
        if _nearly_tied(mean1, near_one):
            _snap(mean1, near_one, weight, order)
        if _nearly_tied(mean2, near_two):
            _snap(mean2, near_two, weight, order)
        _means_strip(mean1, people, weight, s, slots, f, rx, rz, total[0], count[0])
        _means_strip(mean2, people, weight, s, slots, f, rx, rz, total[1], count[1])


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_systems(
    systems: Any, x: Any, z: Any, valid: Any, near_x: Any, near_z: Any,
    rows: Any, cols: Any, slots: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """System level when systems count `rows` times and inputs `cols` times, as `weigh_groups`.

    `near_x` and `near_z` say for each system how far two of its means may lie apart by rounding.
    """
    inputs, shape = len(x) // systems, (systems, STRIP)
    mean, people, weight = np.empty(shape), np.empty(shape), np.empty(shape)
    rx, rz, f, order = np.empty(shape), np.empty(shape), np.empty((14, STRIP)), np.empty(systems, np.int64)
    n, near_m, near_h = f[0], np.empty(shape), np.empty(shape)
    for i in range(systems):
        near_m[i, :] = near_x[i]
        near_h[i, :] = near_z[i]
    uneven_m, uneven_h = _uneven(x, valid, systems), _uneven(z, valid, systems)
    for s in range(rows.shape[0]):
        mean[:] = 0.0
        people[:] = 0.0
        for i in range(systems):
            n[:] = 0.0
            for j in range(inputs):
                cell = i * inputs + j
                if not valid[cell]:
                    continue
                u, v = x[cell], z[cell]
                for t in range(STRIP):
                    n[t] += cols[s, j, t]
                    mean[i, t] += cols[s, j, t] * u
                    people[i, t] += cols[s, j, t] * v
            for t in range(STRIP):
                weight[i, t] = rows[s, i, t] if n[t] > 0.0 else 0.0
                mean[i, t] /= max(n[t], 1.0)
                people[i, t] /= max(n[t], 1.0)
        for k in range(2):
            means, near = (people, near_h) if k else (mean, near_m)
            if _nearly_tied(means, near):
                if uneven_h if k else uneven_m:
                    exact = np.empty(shape)
                    _rounding(z if k else x, valid, cols[s], exact)
                    _snap(means, exact, weight, order)
                else:
                    _snap(means, near, weight, order)
        _means_strip(mean, people, weight, s, slots, f, rx, rz, total, count)
