"""Resampling groups whose members do not change: each group is correlated once, a draw says only how often it counts.

That is the input level when inputs are resampled: as many draws as one likes cost no more than one. The numbers are those
of `weigh_groups` to the last bit: pair counts and ranks are whole numbers, sums are added up in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from nlgauge.stats.kernels_finish import STRIP, lift


@njit(cache=True, nogil=True, error_model="numpy")
def _cosine(above: Any, one: Any, two: Any, known: Any) -> Any:
    if not (known and one > 0.0 and two > 0.0):
        return np.nan
    return min(1.0, max(-1.0, above / (np.sqrt(one) * np.sqrt(two))))


@njit(cache=True, nogil=True, error_model="numpy")
def _pearson(members: Any, x: Any, z: Any, valid: Any, n: Any, known: Any) -> Any:
    """Centred by the plain means first, as in kernels_weight."""
    ax, az = 0.0, 0.0
    for cell in members:
        if valid[cell]:
            ax += x[cell]
            az += z[cell]
    ax, az = ax / n, az / n
    size_x, size_z = 0.0, 0.0
    for cell in members:
        if valid[cell]:
            size_x, size_z = max(size_x, abs(x[cell] - ax)), max(size_z, abs(z[cell] - az))
    lift_x, lift_z = lift(size_x), lift(size_z)
    xz, xx, zz, sx, sz = 0.0, 0.0, 0.0, 0.0, 0.0
    for cell in members:
        if valid[cell]:
            u, v = (x[cell] - ax) * lift_x, (z[cell] - az) * lift_z
            xz += u * v
            xx += u * u
            zz += v * v
            sx += u
            sz += v
    return _cosine(xz - sx * sz / n, xx - sx * sx / n, zz - sz * sz / n, known)


@njit(cache=True, nogil=True)
def _counts(g: Any, side: Any, pool: Any) -> Any:
    """Concordant pairs, pairs tied by the metric, by both, the product of the ranks, and the metric's cubes of ties."""
    n = float(side.n[g])
    concordant, tied, both, product, cubes, seen = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    e = pool.start[g]
    while e < pool.start[g + 1]:
        end = pool.end[e]
        run, ranks = float(end - e), 0.0
        while e < end:
            level, knot = side.code[pool.cell[e]], 0.0
            while e < end and side.code[pool.cell[e]] == level:
                concordant += pool.below[e]
                ranks += side.rank[pool.cell[e]]
                knot += 1.0
                e += 1
            both += knot * (knot - 1.0) / 2.0
        tied += run * (run - 1.0) / 2.0
        product += ranks * (2.0 * seen + run - n)
        cubes += run * run * run - run
        seen += run
    return concordant, tied, both, product, cubes


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_family(form: Any, c: Any, d: Any, th: Any, tm: Any, thm: Any) -> Any:
    above = form[0, 0] * c + form[0, 1] * d + form[0, 2] * th + form[0, 3] * tm + form[0, 4] * thm
    one = form[1, 0] * c + form[1, 1] * d + form[1, 2] * th + form[1, 3] * tm + form[1, 4] * thm
    two = form[2, 0] * c + form[2, 1] * d + form[2, 2] * th + form[2, 3] * tm + form[2, 4] * thm
    return above / (np.sqrt(one) * np.sqrt(two)) if one > 0.5 and two > 0.5 else np.nan


@njit(cache=True, nogil=True, error_model="numpy")
def group_values(
    cells: Any,
    size: Any,
    least: Any,
    side: Any,
    pool: Any,
    x: Any,
    z: Any,
    valid: Any,
    slots: Any,
    values: Any,
) -> None:
    """Every group's own coefficients, coefficients × groups; those without a value stay NaN."""
    for g in range(len(side.n)):
        if side.n[g] < max(least, 1):
            continue
        n, tied_h = float(side.n[g]), side.tied[g]
        pairs = n * (n - 1.0) / 2.0
        c, tied, both, product, cubes = _counts(g, side, pool)
        known = tied < pairs - 0.25 and tied_h < pairs - 0.25
        if slots.pearson >= 0:
            members = cells[g * size : (g + 1) * size]
            values[slots.pearson, g] = _pearson(members, x, z, valid, n, known)
        if slots.spearman >= 0:
            whole = n * n * n - n
            values[slots.spearman, g] = _cosine(
                product, (whole - cubes) / 3.0, (whole - side.cubes[g]) / 3.0, known
            )
        th, tm = tied_h - both, tied - both
        for k in range(len(slots.places)):
            values[slots.places[k], g] = _pair_family(
                slots.forms[k], c, pairs - th - tm - both - c, th, tm, both
            )


@njit(cache=True, nogil=True)
def mean_values(values: Any, groups: Any, total: Any, count: Any) -> None:
    """Add up a strip of draws: values × times each group counts (groups × STRIP), in the order of the groups."""
    for i in range(len(values)):
        for g in range(values.shape[1]):
            value = values[i, g]
            if np.isnan(value):
                continue
            for t in range(STRIP):
                total[i, t] += groups[g, t] * value
                count[i, t] += groups[g, t]
