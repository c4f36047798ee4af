"""System level: correlate the systems' means, which change with every draw.

There are few systems, so every pair is compared. Means that are equal on paper may differ in the last bit: such ones
are made equal first (`near`). A comparison of all pairs finds out whether there are any.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.finish import cosine, lift, pair_family
    from cython.cimports.nlgauge.kernels.near import nearly_tied, rounding, snap, uneven
    from cython.cimports.nlgauge.kernels.shared import NEAR, STRIP
else:
    from nlgauge.kernels.finish import cosine, lift, pair_family
    from nlgauge.kernels.near import nearly_tied, rounding, snap, uneven
    from nlgauge.kernels.shared import NEAR, STRIP

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
ABOVE_X = cython.declare(cython.Py_ssize_t, 13)  # 1, 0, −1: which of two systems is above; or a factor
ABOVE_Z = cython.declare(cython.Py_ssize_t, 14)
ROWS = 15


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
            there = 1.0 if weight[i, t] > 0.0 else 0.0
            u, v = there * abs(x[i, t] - b[MEANS + 1, t]), there * abs(z[i, t] - b[MEANS + 2, t])
            b[SUMS, t] = u if u > b[SUMS, t] else b[SUMS, t]
            b[SUMS + 1, t] = v if v > b[SUMS + 1, t] else b[SUMS + 1, t]
    for t in range(STRIP):
        b[ABOVE_X, t] = lift(b[SUMS, t])
        b[ABOVE_Z, t] = lift(b[SUMS + 1, t])
    for i in range(3):
        _fill(b, SUMS + i, 0.0)
    for i in range(x.shape[0]):
        for t in range(STRIP):
            u, v = (x[i, t] - b[MEANS + 1, t]) * b[ABOVE_X, t], (z[i, t] - b[MEANS + 2, t]) * b[ABOVE_Z, t]
            b[SUMS, t] += weight[i, t] * u * v
            b[SUMS + 1, t] += weight[i, t] * u * u
            b[SUMS + 2, t] += weight[i, t] * v * v


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pair_counts(
    x: Lanes, z: Lanes, weight: Lanes, b: Lanes, rx: Lanes, rz: Lanes,
    kinds: cython.bint, ranks: cython.bint, people: cython.bint,
) -> cython.void:  # fmt: skip
    """Tied pairs; with `kinds` also the other kinds of pairs, with `ranks` how many systems each one is above, less
    those it is below. Without `people` what is theirs alone, ties and ranks, stays as the call before left it.
    """
    cython.declare(i=Int, k=Int, t=Int)
    people = people or kinds  # whether a pair is concordant depends on both
    for i in range(4):
        if i != TIED_H or people:
            _fill(b, i, 0.0)
    for i in range(x.shape[0]):
        _fill(rx, i, 0.0)
        if people:
            _fill(rz, i, 0.0)
        for t in range(STRIP):  # a system drawn several times ties with itself
            own = weight[i, t] * (weight[i, t] - 1.0) / 2.0
            b[TIED, t] += own
            b[BOTH, t] += own
            b[TIED_H, t] += own if people else 0.0
        # Small loops, each with little to check before it; one measure alone wants few of them.
        for k in range(i):
            for t in range(STRIP):
                d = x[i, t] - x[k, t]
                above = (1.0 if d > 0.0 else 0.0) - (1.0 if d < 0.0 else 0.0)
                b[TIED, t] += weight[i, t] * weight[k, t] * (1.0 - above * above)
                b[ABOVE_X, t] = above
            if ranks:
                for t in range(STRIP):
                    rx[i, t] += weight[k, t] * b[ABOVE_X, t]
                    rx[k, t] -= weight[i, t] * b[ABOVE_X, t]
            if not people:
                continue
            for t in range(STRIP):
                d = z[i, t] - z[k, t]
                above = (1.0 if d > 0.0 else 0.0) - (1.0 if d < 0.0 else 0.0)
                b[TIED_H, t] += weight[i, t] * weight[k, t] * (1.0 - above * above)
                b[ABOVE_Z, t] = above
            if ranks:
                for t in range(STRIP):
                    rz[i, t] += weight[k, t] * b[ABOVE_Z, t]
                    rz[k, t] -= weight[i, t] * b[ABOVE_Z, t]
            if kinds:
                for t in range(STRIP):
                    sx, sz = b[ABOVE_X, t], b[ABOVE_Z, t]
                    two = weight[i, t] * weight[k, t]
                    b[CONCORDANT, t] += two if sx * sz > 0.0 else 0.0
                    b[BOTH, t] += two * ((1.0 - sx * sx) * (1.0 - sz * sz))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _means_strip(
    x: Lanes, z: Lanes, weight: Lanes,
    pearson: Int, spearman: Int, forms: Forms, places: Longs, b: Lanes, rx: Lanes, rz: Lanes, people: cython.bint,
    total: Lanes, count: Lanes, first: Int, strips: Int, s: Int,
) -> cython.void:  # fmt: skip
    """All coefficients of weighted points, for one strip of draws; coefficient i is row (first + i) · strips + s.

    Without `people` these are the same z and weights as in the call before.
    """
    cython.declare(i=Int, k=Int, t=Int)
    _pair_counts(x, z, weight, b, rx, rz, len(places) > 0, spearman >= 0, people)
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
    systems: Int, x1: Reals, x2: Reals, human: Reals, scales: Reals, valid: Bools, near1: Reals, near2: Reals,
    rows: Bits, cols: Bits, row: Ints, col: Ints,
    pearson: Int, spearman: Int, forms: Forms, places: Longs, coefficients: Int, total: Lanes, count: Lanes,
):  # fmt: skip
    """System level under swap masks, as `swap_groups`. `human` are people's means of the systems, equal ones made
    equal;
    `near1` and `near2` say for each system how far two of its means may lie apart by rounding; `scales` are mean1,
    unit1, mean2, unit2.

    A system's standardised mean is Σ x · unit / n, less what the metrics' means add to it, which depends only on the
    part of its cells that is swapped. Taken apart so, means keep their digits. Where all is swapped, or nothing, they
    are the means of the scores as they are.
    """
    cython.declare(s=Int, i=Int, t=Int, cell=Int)
    inputs: Int = len(x1) // max(systems, 1)
    strips: Int = rows.shape[0]
    mean1: Lanes = zeros((systems, STRIP), "d")
    mean2: Lanes = zeros((systems, STRIP), "d")
    people: Lanes = zeros((systems, STRIP), "d")
    weight: Lanes = zeros((systems, STRIP), "d")
    near_one: Lanes = zeros((systems, STRIP), "d")
    near_two: Lanes = zeros((systems, STRIP), "d")
    plain: Lanes = zeros((2, systems), "d")
    rx: Lanes = empty((systems, STRIP), "d")
    rz: Lanes = empty((systems, STRIP), "d")
    b: Lanes = empty((ROWS, STRIP), "d")
    f: Lanes = empty((3, STRIP), "d")  # 0 moved, 1 the swapped part of the first system, 2 whether parts differ
    swaps: cython.int[::1] = empty(STRIP, "i")
    order: cython.longlong[::1] = empty(systems, "q")
    down: cython.double[::1] = empty(systems + 1, "d")
    unit1: cython.double = scales[1]
    unit2: cython.double = scales[3]
    off: cython.double = scales[0] * unit1 - scales[2] * unit2
    apart: cython.double = NEAR * (abs(scales[0]) * unit1 + abs(scales[2]) * unit2)
    with cython.nogil:
        for s in range(strips):
            first: cython.bint = True
            _fill(f, 1, 0.0)
            _fill(f, 2, 0.0)
            for i in range(systems):
                n, a1, a2, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0
                _fill(f, 0, 0.0)
                for t in range(STRIP):
                    swaps[t] = 0
                for cell in range(i * inputs, (i + 1) * inputs):
                    if not valid[cell]:
                        continue
                    n += 1.0
                    v1, v2 = x1[cell] * unit1, x2[cell] * unit2
                    a1, a2, b1, b2 = a1 + v1, a2 + v2, b1 + x1[cell], b2 + x2[cell]
                    d = v2 - v1
                    r: Int = row[cell]
                    c: Int = col[cell]
                    for t in range(STRIP):
                        bit: cython.int = rows[s, r, t] ^ cols[s, c, t]
                        swaps[t] += bit
                        f[0, t] += d * bit
                if n == 0.0:  # a system without shared cells keeps weight 0: it is left out
                    continue
                _fill(weight, i, 1.0)
                _fill(people, i, human[i])
                plain[0, i] = b1 / n
                plain[1, i] = b2 / n
                own1, own2 = near1[i] * unit1, near2[i] * unit2
                either: cython.double = max(own1, own2)
                if first:
                    for t in range(STRIP):
                        f[1, t] = swaps[t] / n
                    first = False
                for t in range(STRIP):
                    swapped: cython.double = swaps[t]
                    none, every = (1.0 if swapped == 0.0 else 0.0), (1.0 if swapped == n else 0.0)
                    n1 = own2 if every > 0.0 else either
                    n2 = own1 if every > 0.0 else either
                    near_one[i, t] = own1 if none > 0.0 else n1
                    near_two[i, t] = own2 if none > 0.0 else n2
                    m1 = a2 if every > 0.0 else a1 + f[0, t]
                    m2 = a1 if every > 0.0 else a2 - f[0, t]
                    m1 = (a1 if none > 0.0 else m1) / n
                    m2 = (a2 if none > 0.0 else m2) / n
                    # only differences matter: nothing is added where all systems are swapped alike
                    more = swapped / n - f[1, t]
                    mean1[i, t] = m1 + more * off
                    mean2[i, t] = m2 - more * off
                    f[2, t] = 1.0 if more != 0.0 else f[2, t]
            some: cython.double = 0.0
            for t in range(STRIP):
                some += f[2, t]
            for i in range(systems):
                for t in range(STRIP):
                    near_one[i, t] += f[2, t] * apart
                    near_two[i, t] += f[2, t] * apart
                if some == STRIP:
                    continue
                for t in range(STRIP):  # everything is swapped, or nothing
                    if f[2, t] == 0.0 and (f[1, t] == 0.0 or f[1, t] == 1.0):
                        one: Int = 0 if f[1, t] == 0.0 else 1
                        mean1[i, t] = plain[one, i]
                        mean2[i, t] = plain[1 - one, i]
                        near_one[i, t] = near2[i] if one else near1[i]
                        near_two[i, t] = near1[i] if one else near2[i]
            if nearly_tied(mean1, near_one):
                snap(mean1, near_one, weight, order, down)
            if nearly_tied(mean2, near_two):
                snap(mean2, near_two, weight, order, down)
            _means_strip(mean1, people, weight, pearson, spearman, forms, places, b, rx, rz, s == 0,
                         total, count, 0, strips, s)  # fmt: skip
            _means_strip(mean2, people, weight, pearson, spearman, forms, places, b, rx, rz, False,
                         total, count, coefficients, strips, s)  # fmt: skip


@kernel
def weigh_systems(
    systems: Int, x: Reals, z: Reals, valid: Bools, near_x: Reals, near_z: Reals,
    rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1],
    pearson: Int, spearman: Int, forms: Forms, places: Longs, total: Lanes, count: Lanes,
):  # fmt: skip
    """System level when systems count `rows` times and inputs `cols` times, as `weigh_groups`.

    `near_x` and `near_z` say for each system how far two of its means may lie apart by rounding.
    """
    cython.declare(s=Int, i=Int, j=Int, t=Int)
    inputs: Int = len(x) // max(systems, 1)
    strips: Int = rows.shape[0]
    mean: Lanes = empty((systems, STRIP), "d")
    people: Lanes = empty((systems, STRIP), "d")
    weight: Lanes = empty((systems, STRIP), "d")
    near_m: Lanes = empty((systems, STRIP), "d")
    near_h: Lanes = empty((systems, STRIP), "d")
    exact: Lanes = empty((systems, STRIP), "d")
    rx: Lanes = empty((systems, STRIP), "d")
    rz: Lanes = empty((systems, STRIP), "d")
    b: Lanes = empty((ROWS, STRIP), "d")
    order: cython.longlong[::1] = empty(systems, "q")
    down: cython.double[::1] = empty(systems + 1, "d")
    uneven_m: cython.bint = uneven(x, valid, systems)
    uneven_h: cython.bint = uneven(z, valid, systems)
    drawn: Lanes = empty((inputs if uneven_m or uneven_h else 0, STRIP), "d")
    with cython.nogil:
        for i in range(systems):
            _fill(near_m, i, near_x[i])
            _fill(near_h, i, near_z[i])
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
            for j in range(drawn.shape[0]):
                for t in range(STRIP):
                    drawn[j, t] = cols[s, j, t]
            if nearly_tied(mean, near_m):
                if uneven_m:
                    rounding(x, valid, drawn, exact)
                    snap(mean, exact, weight, order, down)
                else:
                    snap(mean, near_m, weight, order, down)
            if nearly_tied(people, near_h):
                if uneven_h:
                    rounding(z, valid, drawn, exact)
                    snap(people, exact, weight, order, down)
                else:
                    snap(people, near_h, weight, order, down)
            _means_strip(mean, people, weight, pearson, spearman, forms, places, b, rx, rz, True,
                         total, count, 0, strips, s)  # fmt: skip
