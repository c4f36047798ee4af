"""System level: correlate the systems' means, which change with every draw.

There are few systems, so every pair is compared. Means that are equal on paper may differ in the last bit, so
two means tie when they lie within a tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from nlgauge.stats.kernels_finish import STRIP, cosine, pair_family

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
            u, v = x[i, t] - f[4, t], z[i, t] - f[5, t]
            f[0, t] += weight[i, t] * u * v
            f[1, t] += weight[i, t] * u * u
            f[2, t] += weight[i, t] * v * v


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_counts(
    x: Any,
    z: Any,
    weight: Any,
    near_x: Any,
    near_z: Any,
    c: Any,
    tied_m: Any,
    tied_h: Any,
    both: Any,
    rx: Any,
    rz: Any,
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
                sx = (1.0 if dx > near_x else 0.0) - (1.0 if dx < -near_x else 0.0)
                sz = (1.0 if dz > near_z else 0.0) - (1.0 if dz < -near_z else 0.0)
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
    x: Any, z: Any, weight: Any, near_x: Any, near_z: Any, s: Any, slots: Any,
    f: Any, rx: Any, rz: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """All coefficients of weighted points, for one strip of draws (s); f is working space."""
    c, tied_m, tied_h, both, pairs, known, ones, space = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7:13]
    _pair_counts(x, z, weight, near_x, near_z, c, tied_m, tied_h, both, rx, rz)
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
    systems: Any, x1: Any, x2: Any, z: Any, valid: Any, near_x: Any, near_z: Any,
    masks: Any, slots: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """System level under swap masks, as `swap_groups`."""
    inputs, shape = len(x1) // systems, (systems, STRIP)
    mean1, mean2, people, weight = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    rx, rz, f = np.empty(shape), np.empty(shape), np.empty((13, STRIP))
    moved = f[0]
    for s in range(masks.rows.shape[0]):
        for i in range(systems):
            n, a1, a2, az = 0.0, 0.0, 0.0, 0.0
            moved[:] = 0.0
            for cell in range(i * inputs, (i + 1) * inputs):
                if not valid[cell]:
                    continue
                n += 1.0
                a1, a2, az = a1 + x1[cell], a2 + x2[cell], az + z[cell]
                d = x2[cell] - x1[cell]
                r, c = masks.rows[s, masks.row[cell]], masks.cols[s, masks.col[cell]]
                for t in range(STRIP):
                    moved[t] += d * np.float64(r[t] ^ c[t])
            if n > 0.0:  # a system without shared cells keeps weight 0: it is left out
                weight[i, :] = 1.0
                people[i, :] = az / n
                for t in range(STRIP):
                    mean1[i, t] = (a1 + moved[t]) / n
                    mean2[i, t] = (a2 - moved[t]) / n
        _means_strip(mean1, people, weight, near_x, near_z, s, slots, f, rx, rz, total[0], count[0])
        _means_strip(mean2, people, weight, near_x, near_z, s, slots, f, rx, rz, total[1], count[1])


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_systems(
    systems: Any, x: Any, z: Any, valid: Any, near_x: Any, near_z: Any,
    rows: Any, cols: Any, slots: Any, total: Any, count: Any,
) -> None:  # fmt: skip
    """System level when systems count `rows` times and inputs `cols` times, as `weigh_groups`."""
    inputs, shape = len(x) // systems, (systems, STRIP)
    mean, people, weight = np.empty(shape), np.empty(shape), np.empty(shape)
    rx, rz, f = np.empty(shape), np.empty(shape), np.empty((13, STRIP))
    n = f[0]
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
        _means_strip(mean, people, weight, near_x, near_z, s, slots, f, rx, rz, total, count)
