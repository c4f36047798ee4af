"""System level: correlate the systems' means, which change with every draw.

There are few systems, so every pair is compared. Means that are equal on paper may differ in the last bit, so
two means tie when they lie within a tolerance.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.finish import cosine, pair_family
    from cython.cimports.nlgauge.kernels.shared import STRIP
else:
    from nlgauge.kernels.finish import cosine, pair_family
    from nlgauge.kernels.shared import STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Ints = cython.typedef(cython.const[cython.int][::1])
Longs = cython.typedef(cython.const[cython.longlong][::1])
Bools = cython.typedef(cython.const[cython.uchar][::1])
Forms = cython.typedef(cython.const[cython.double][:, :, ::1])
Bits = cython.typedef(cython.const[cython.schar][:, :, ::1])
Lanes = cython.typedef(cython.double[:, ::1])
Times = cython.fused_type(cython.double, cython.uchar)  # how often something counts

LEAST = cython.declare(cython.Py_ssize_t, 3)  # one correlation of two points says nothing (as in measure.evaluate)
# Rows of the block.
CONCORDANT = cython.declare(cython.Py_ssize_t, 0)
TIED = cython.declare(cython.Py_ssize_t, 1)
TIED_H = cython.declare(cython.Py_ssize_t, 2)
BOTH = cython.declare(cython.Py_ssize_t, 3)
PAIRS = cython.declare(cython.Py_ssize_t, 4)
KNOWN = cython.declare(cython.Py_ssize_t, 5)
ONES = cython.declare(cython.Py_ssize_t, 6)
SUMS = cython.declare(cython.Py_ssize_t, 7)  # cross product, both sums of squares
MEANS = cython.declare(cython.Py_ssize_t, 10)  # weights, both means
ROWS = 13


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fill(b: Lanes, row: Int, value: cython.double) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        b[row, t] = value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pearson(x: Lanes, z: Lanes, weight: Lanes, b: Lanes) -> cython.void:
    """The rows SUMS, around the weighted means."""
    cython.declare(i=Int, t=Int)
    for i in range(6):
        _fill(b, SUMS + i, 0.0)
    for i in range(x.shape[0]):
        for t in range(STRIP):
            b[MEANS, t] += weight[i, t]
            b[MEANS + 1, t] += weight[i, t] * x[i, t]
            b[MEANS + 2, t] += weight[i, t] * z[i, t]
    for t in range(STRIP):
        n = b[MEANS, t] if b[MEANS, t] > 0.0 else 1.0  # where nothing counts nothing is known either
        b[MEANS + 1, t] /= n
        b[MEANS + 2, t] /= n
    for i in range(x.shape[0]):
        for t in range(STRIP):
            u, v = x[i, t] - b[MEANS + 1, t], z[i, t] - b[MEANS + 2, t]
            b[SUMS, t] += weight[i, t] * u * v
            b[SUMS + 1, t] += weight[i, t] * u * u
            b[SUMS + 2, t] += weight[i, t] * v * v


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pair_counts(
    x: Lanes, z: Lanes, weight: Lanes, near_x: cython.double, near_z: cython.double, b: Lanes, rx: Lanes, rz: Lanes
) -> cython.void:
    cython.declare(i=Int, k=Int, t=Int)
    for i in range(4):
        _fill(b, i, 0.0)
    for i in range(x.shape[0]):
        _fill(rx, i, 0.0)
        _fill(rz, i, 0.0)
        for t in range(STRIP):  # a system drawn several times ties with itself
            own = weight[i, t] * (weight[i, t] - 1.0) / 2.0
            b[TIED, t] += own
            b[TIED_H, t] += own
            b[BOTH, t] += own
        for k in range(i):
            for t in range(STRIP):
                dx, dz = x[i, t] - x[k, t], z[i, t] - z[k, t]
                sx = (1.0 if dx > near_x else 0.0) - (1.0 if dx < -near_x else 0.0)
                sz = (1.0 if dz > near_z else 0.0) - (1.0 if dz < -near_z else 0.0)
                one, other = weight[i, t], weight[k, t]
                two = one * other
                same_x, same_z = 1.0 - sx * sx, 1.0 - sz * sz
                b[CONCORDANT, t] += two if sx * sz > 0.0 else 0.0
                b[TIED, t] += two * same_x
                b[TIED_H, t] += two * same_z
                b[BOTH, t] += two * (same_x * same_z)
                rx[i, t] += other * sx
                rx[k, t] -= one * sx
                rz[i, t] += other * sz
                rz[k, t] -= one * sz


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _means_strip(
    x: Lanes, z: Lanes, weight: Lanes, near_x: cython.double, near_z: cython.double,
    pearson: Int, spearman: Int, forms: Forms, places: Longs,
    b: Lanes, rx: Lanes, rz: Lanes, total: Lanes, count: Lanes, first: Int, strips: Int, s: Int,
) -> cython.void:  # fmt: skip
    """All coefficients of weighted points, for one strip of draws; coefficient i is row (first + i) · strips + s."""
    cython.declare(i=Int, k=Int, t=Int)
    _pair_counts(x, z, weight, near_x, near_z, b, rx, rz)
    _fill(b, PAIRS, 0.0)
    for i in range(x.shape[0]):
        for t in range(STRIP):
            b[PAIRS, t] += weight[i, t]
    for t in range(STRIP):
        n = b[PAIRS, t]
        b[ONES, t] = 1.0 if n >= LEAST else 0.0
        b[PAIRS, t] = n * (n - 1.0) / 2.0
        edge = b[PAIRS, t] - 0.25
        b[KNOWN, t] = (1.0 if b[TIED, t] < edge else 0.0) * (1.0 if b[TIED_H, t] < edge else 0.0)
    for k in range(len(places)):
        pair_family(forms, k, b, PAIRS, TIED_H, TIED, BOTH, CONCORDANT, ONES, total, count,
                    (first + places[k]) * strips + s)  # fmt: skip
    if pearson >= 0:
        _pearson(x, z, weight, b)
        cosine(b, SUMS, SUMS + 1, SUMS + 2, KNOWN, ONES, total, count, (first + pearson) * strips + s)
    if spearman >= 0:
        for i in range(3):
            _fill(b, SUMS + i, 0.0)
        for i in range(x.shape[0]):
            for t in range(STRIP):
                b[SUMS, t] += weight[i, t] * rx[i, t] * rz[i, t]
                b[SUMS + 1, t] += weight[i, t] * rx[i, t] * rx[i, t]
                b[SUMS + 2, t] += weight[i, t] * rz[i, t] * rz[i, t]
        cosine(b, SUMS, SUMS + 1, SUMS + 2, KNOWN, ONES, total, count, (first + spearman) * strips + s)


@kernel
def swap_systems(
    systems: Int, x1: Reals, x2: Reals, z: Reals, valid: Bools, near_x: cython.double, near_z: cython.double,
    rows: Bits, cols: Bits, row: Ints, col: Ints,
    pearson: Int, spearman: Int, forms: Forms, places: Longs, coefficients: Int, total: Lanes, count: Lanes,
):  # fmt: skip
    """System level under swap masks, as `swap_groups`."""
    cython.declare(s=Int, i=Int, t=Int, cell=Int)
    inputs: Int = len(x1) // max(systems, 1)
    strips: Int = rows.shape[0]
    mean1: Lanes = zeros((systems, STRIP), "d")
    mean2: Lanes = zeros((systems, STRIP), "d")
    people: Lanes = zeros((systems, STRIP), "d")
    weight: Lanes = zeros((systems, STRIP), "d")
    rx: Lanes = empty((systems, STRIP), "d")
    rz: Lanes = empty((systems, STRIP), "d")
    b: Lanes = empty((ROWS, STRIP), "d")
    with cython.nogil:
        for s in range(strips):
            for i in range(systems):
                n, a1, a2, az = 0.0, 0.0, 0.0, 0.0
                _fill(b, 0, 0.0)
                for cell in range(i * inputs, (i + 1) * inputs):
                    if not valid[cell]:
                        continue
                    n += 1.0
                    a1 += x1[cell]
                    a2 += x2[cell]
                    az += z[cell]
                    d = x2[cell] - x1[cell]
                    r: Int = row[cell]
                    c: Int = col[cell]
                    for t in range(STRIP):
                        b[0, t] += d * (rows[s, r, t] ^ cols[s, c, t])
                if n > 0.0:  # a system without shared cells keeps weight 0: it is left out
                    _fill(weight, i, 1.0)
                    _fill(people, i, az / n)
                    for t in range(STRIP):
                        mean1[i, t] = (a1 + b[0, t]) / n
                        mean2[i, t] = (a2 - b[0, t]) / n
            _means_strip(mean1, people, weight, near_x, near_z, pearson, spearman, forms, places, b, rx, rz,
                         total, count, 0, strips, s)  # fmt: skip
            _means_strip(mean2, people, weight, near_x, near_z, pearson, spearman, forms, places, b, rx, rz,
                         total, count, coefficients, strips, s)  # fmt: skip


@kernel
def weigh_systems(
    systems: Int, x: Reals, z: Reals, valid: Bools, near_x: cython.double, near_z: cython.double,
    rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1],
    pearson: Int, spearman: Int, forms: Forms, places: Longs, total: Lanes, count: Lanes,
):  # fmt: skip
    """System level when systems count `rows` times and inputs `cols` times, as `weigh_groups`."""
    cython.declare(s=Int, i=Int, j=Int, t=Int)
    inputs: Int = len(x) // max(systems, 1)
    strips: Int = rows.shape[0]
    mean: Lanes = empty((systems, STRIP), "d")
    people: Lanes = empty((systems, STRIP), "d")
    weight: Lanes = empty((systems, STRIP), "d")
    rx: Lanes = empty((systems, STRIP), "d")
    rz: Lanes = empty((systems, STRIP), "d")
    b: Lanes = empty((ROWS, STRIP), "d")
    with cython.nogil:
        for s in range(strips):
            for i in range(systems):
                _fill(mean, i, 0.0)
                _fill(people, i, 0.0)
                _fill(b, 0, 0.0)
                for j in range(inputs):
                    cell: Int = i * inputs + j
                    if not valid[cell]:
                        continue
                    u: cython.double = x[cell]
                    v: cython.double = z[cell]
                    for t in range(STRIP):
                        times: cython.double = cols[s, j, t]
                        b[0, t] += times
                        mean[i, t] += times * u
                        people[i, t] += times * v
                for t in range(STRIP):
                    n = b[0, t] if b[0, t] > 1.0 else 1.0
                    mean[i, t] /= n
                    people[i, t] /= n
                    weight[i, t] = rows[s, i, t] * (1.0 if b[0, t] > 0.0 else 0.0)
            _means_strip(mean, people, weight, near_x, near_z, pearson, spearman, forms, places, b, rx, rz,
                         total, count, 0, strips, s)  # fmt: skip
