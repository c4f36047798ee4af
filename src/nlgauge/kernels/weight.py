"""Weight kernels: the correlation of one metric when systems and inputs count several times, or not at all.

A bootstrap sample, a half of the inputs and a leave-one-out sample are all the same data with other weights,
so the sorted order is walked as in `swap`, one SIMD lane per draw, with whole-number weights in place
of masks. A cell drawn twice is two equal points: it ties with itself on both sides, as in a resampled table.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel

if cython.compiled:
    from cython.cimports.nlgauge.kernels.finish import cosine, lift, pair_family
    from cython.cimports.nlgauge.kernels.shared import CANCELLED, STRIP
else:
    from nlgauge.kernels.finish import cosine, lift, pair_family
    from nlgauge.kernels.shared import CANCELLED, STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Ints = cython.typedef(cython.const[cython.int][::1])
Bools = cython.typedef(cython.const[cython.uchar][::1])
Forms = cython.typedef(cython.const[cython.double][:, :, ::1])
Lanes = cython.typedef(cython.double[:, ::1])
Times = cython.fused_type(cython.double, cython.uchar)  # how often something counts

# Rows of the block: results of a walk, then room to work in.
N = cython.declare(cython.Py_ssize_t, 0)
TIED_H = cython.declare(cython.Py_ssize_t, 1)
CUBES_H = cython.declare(cython.Py_ssize_t, 2)
CONCORDANT = cython.declare(cython.Py_ssize_t, 3)
TIED = cython.declare(cython.Py_ssize_t, 4)
BOTH = cython.declare(cython.Py_ssize_t, 5)
PRODUCT = cython.declare(cython.Py_ssize_t, 6)
CUBES = cython.declare(cython.Py_ssize_t, 7)
LOOK = cython.declare(cython.Py_ssize_t, 8)
SEEN = cython.declare(cython.Py_ssize_t, 9)
RUN = cython.declare(cython.Py_ssize_t, 10)
RUN_RANKS = cython.declare(cython.Py_ssize_t, 11)
SUMS = cython.declare(cython.Py_ssize_t, 12)  # five
OWN = cython.declare(cython.Py_ssize_t, 17)
PAIRS = cython.declare(cython.Py_ssize_t, 18)
KNOWN = cython.declare(cython.Py_ssize_t, 19)
WEIGHT = cython.declare(cython.Py_ssize_t, 20)
ONE = cython.declare(cython.Py_ssize_t, 21)
TWO = cython.declare(cython.Py_ssize_t, 22)
ROWS = 23


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _zero(b: Lanes, row: Int) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        b[row, t] = 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _weigh(
    rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1], s: Int, row: Int, col: Int,
    out: Lanes, k: Int, more: cython.bint,
) -> cython.void:  # fmt: skip
    """How often a cell counts in each draw; added to what is there already if it is one `more`."""
    cython.declare(t=Int)
    if more:
        for t in range(STRIP):
            out[k, t] += rows[s, row, t] * cols[s, col, t]
    else:
        for t in range(STRIP):
            out[k, t] = rows[s, row, t] * cols[s, col, t]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add(out: Lanes, i: Int, a: Lanes, k: Int) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        out[i, t] += a[k, t]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _ties(weight: Lanes, k: Int, b: Lanes, row: Int) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        b[row, t] += weight[k, t] * (weight[k, t] - 1.0) / 2.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _human(
    cells: Ints, first: Int, stop: Int, levels: Int, code: Ints, valid: Bools,
    row: Ints, col: Ints, rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1],
    s: Int, rank: Lanes, b: Lanes,
) -> cython.void:  # fmt: skip
    """Points, ties and ranks (twice the average, centred) of people's levels under the weights."""
    cython.declare(i=Int, t=Int, level=Int)
    for level in range(levels):
        _zero(rank, level)
    for i in range(8):
        _zero(b, i)
    _zero(b, SEEN)
    for i in range(first, stop):
        cell: Int = cells[i]
        if valid[cell]:
            _weigh(rows, cols, s, row[cell], col[cell], rank, code[cell], True)
    for level in range(levels):
        for t in range(STRIP):
            c = rank[level, t]
            b[N, t] += c
            b[TIED_H, t] += c * (c - 1.0) / 2.0
            b[CUBES_H, t] += c * c * c - c
    for level in range(levels):
        for t in range(STRIP):
            c = rank[level, t]
            rank[level, t] = 2.0 * b[SEEN, t] + c - b[N, t]
            b[SEEN, t] += c


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk(
    e: Int, stop: Int, levels: Int, code: Ints, cells: Ints, ends: Ints,
    row: Ints, col: Ints, rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1], s: Int,
    counts: cython.bint, ranks: cython.bint, rank: Lanes, tree: Lanes, knots: Lanes, knot_level: cython.int[::1],
    b: Lanes,
) -> cython.void:  # fmt: skip
    """Walk the metric's order of a group for strip s of the draws and fill the results in `b`."""
    cython.declare(k=Int, t=Int)
    _zero(b, SEEN)
    if counts:
        for k in range(levels + 1):
            _zero(tree, k)
    while e < stop:
        end: Int = ends[e]
        _zero(b, RUN)
        _zero(b, RUN_RANKS)
        n_knots: Int = 0
        while e < end:
            level: Int = code[cells[e]]
            _weigh(rows, cols, s, row[cells[e]], col[cells[e]], knots, n_knots, False)
            e += 1
            while e < end and code[cells[e]] == level:
                _weigh(rows, cols, s, row[cells[e]], col[cells[e]], knots, n_knots, True)
                e += 1
            knot_level[n_knots] = level
            _ties(knots, n_knots, b, BOTH)
            _add(b, RUN, knots, n_knots)
            if ranks:
                for t in range(STRIP):
                    b[RUN_RANKS, t] += knots[n_knots, t] * rank[level, t]
            if counts and level > 0:
                for t in range(STRIP):
                    b[LOOK, t] = tree[level, t]
                level &= level - 1
                while level > 0:
                    _add(b, LOOK, tree, level)
                    level &= level - 1
                for t in range(STRIP):
                    b[CONCORDANT, t] += b[LOOK, t] * knots[n_knots, t]
            n_knots += 1
        _ties(b, RUN, b, TIED)
        if ranks:
            for t in range(STRIP):
                c = b[RUN, t]
                b[PRODUCT, t] += b[RUN_RANKS, t] * (2.0 * b[SEEN, t] + c - b[N, t])
                b[CUBES, t] += c * c * c - c
                b[SEEN, t] += c
        if counts:  # entered only after the whole run was looked up: tied values are not concordant
            for k in range(n_knots):
                level = knot_level[k] + 1
                while level <= levels:
                    _add(tree, level, knots, k)
                    level += level & -level


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sums(
    cells: Ints, first: Int, stop: Int, x: Reals, z: Reals, valid: Bools,
    row: Ints, col: Ints, rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1], s: Int, b: Lanes,
) -> cython.void:  # fmt: skip
    """The rows SUMS: cross product and both sums of squares, centred by the plain means first."""
    cython.declare(i=Int, t=Int, size_x=cython.double, size_z=cython.double)
    points, ax, az = 0.0, 0.0, 0.0
    for i in range(first, stop):
        if valid[cells[i]]:
            points += 1.0
            ax += x[cells[i]]
            az += z[cells[i]]
    ax, az = ax / points, az / points
    size_x, size_z = 0.0, 0.0
    for i in range(first, stop):
        if valid[cells[i]]:
            size_x = max(size_x, abs(x[cells[i]] - ax))
            size_z = max(size_z, abs(z[cells[i]] - az))
    lift_x, lift_z = lift(size_x), lift(size_z)
    for i in range(5):
        _zero(b, SUMS + i)
    for i in range(first, stop):
        cell: Int = cells[i]
        if not valid[cell]:
            continue
        u, v = (x[cell] - ax) * lift_x, (z[cell] - az) * lift_z
        uv, uu, vv = u * v, u * u, v * v
        _weigh(rows, cols, s, row[cell], col[cell], b, OWN, False)
        for t in range(STRIP):
            own = b[OWN, t]
            b[SUMS, t] += own * uv
            b[SUMS + 1, t] += own * uu
            b[SUMS + 2, t] += own * vv
            b[SUMS + 3, t] += own * u
            b[SUMS + 4, t] += own * v
    for t in range(STRIP):
        # a draw without points has sums of 0 and no weight; only that it must not divide by 0
        n = b[N, t] if b[N, t] > 0.5 else 1.0
        sx, sz = b[SUMS + 3, t], b[SUMS + 4, t]
        small_x, small_z = CANCELLED * b[SUMS + 1, t], CANCELLED * b[SUMS + 2, t]
        xx, zz = b[SUMS + 1, t] - sx * sx / n, b[SUMS + 2, t] - sz * sz / n
        b[SUMS, t] -= sx * sz / n
        b[SUMS + 1, t] = xx
        b[SUMS + 2, t] = zz
        b[OWN, t] = (1.0 if xx < small_x else 0.0) + (1.0 if zz < small_z else 0.0)
    lost: Int = 0
    for t in range(STRIP):
        lost += b[OWN, t] > 0.0
    if lost:
        _sums_again(cells, first, stop, x, z, valid, row, col, rows, cols, s, b)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sums_again(
    cells: Ints, first: Int, stop: Int, x: Reals, z: Reals, valid: Bools,
    row: Ints, col: Ints, rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1], s: Int, b: Lanes,
) -> cython.void:  # fmt: skip
    """Draws whose digits cancel out (the one large score was not drawn), around their own means."""
    cython.declare(i=Int, t=Int, turn=Int, size_x=cython.double, size_z=cython.double)
    for t in range(STRIP):
        if b[OWN, t] == 0.0:
            continue
        ax, az, size_x, size_z, xz, xx, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        lift_x, lift_z = 1.0, 1.0
        for turn in range(3):
            for i in range(first, stop):
                cell: Int = cells[i]
                weight: cython.double = rows[s, row[cell], t] * cols[s, col[cell], t]
                if not valid[cell] or weight == 0.0:
                    continue
                if turn == 0:
                    ax += weight * x[cell] / b[N, t]
                    az += weight * z[cell] / b[N, t]
                    continue
                u, v = x[cell] - ax, z[cell] - az
                if turn == 1:
                    size_x = max(size_x, abs(u))
                    size_z = max(size_z, abs(v))
                    continue
                u, v = u * lift_x, v * lift_z
                xz += weight * u * v
                xx += weight * u * u
                zz += weight * v * v
            lift_x, lift_z = lift(size_x), lift(size_z)
        b[SUMS, t] = xz
        b[SUMS + 1, t] = xx
        b[SUMS + 2, t] = zz


@kernel
def weigh_groups(
    cells: Ints, size: Int, least: Int,
    points: Ints, levels: Ints, code: Ints, start: Ints, cell: Ints, end: Ints,
    x: Reals, z: Reals, valid: Bools,
    row: Ints, col: Ints, rows: cython.const[Times][:, :, ::1], cols: cython.const[Times][:, :, ::1],
    times: cython.const[Times][:, :, ::1],
    pearson: Int, spearman: Int, forms: Forms, places: cython.const[cython.longlong][::1],
    total: Lanes, count: Lanes,
):  # fmt: skip
    """Add up the coefficients of all groups: total and count are coefficients × strips rows of STRIP.

    A cell counts rows[row] · cols[col] times inside its group, group g counts times[g] times in the mean (the last row
    of
    `times` stands for every further group). Groups that are constant under a draw's weights, or have fewer than `least`
    points, are left out of that draw.
    """
    cython.declare(g=Int, s=Int, k=Int, t=Int)
    groups: Int = len(points)
    strips: Int = rows.shape[0]
    deepest: Int = 1
    for g in range(groups):
        deepest = max(deepest, levels[g])
    tree: Lanes = empty((deepest + 1, STRIP), "d")
    knots: Lanes = empty((deepest + 1, STRIP), "d")
    rank: Lanes = empty((deepest + 1, STRIP), "d")
    knot_level: cython.int[::1] = empty(deepest + 1, "i")
    b: Lanes = empty((ROWS, STRIP), "d")
    counts: cython.bint = len(places) > 0
    ranks: cython.bint = spearman >= 0
    with cython.nogil:
        for s in range(strips):
            for g in range(groups):
                if points[g] < 1:
                    continue
                _human(cells, g * size, (g + 1) * size, levels[g], code, valid, row, col, rows, cols, s, rank, b)
                _walk(start[g], start[g + 1], levels[g], code, cell, end, row, col, rows, cols, s, counts, ranks, rank,
                      tree, knots, knot_level, b)  # fmt: skip
                last: Int = min(g, times.shape[1] - 1)
                for t in range(STRIP):
                    n = b[N, t]
                    b[WEIGHT, t] = times[s, last, t]
                    b[WEIGHT, t] = b[WEIGHT, t] if n >= least else 0.0
                    b[PAIRS, t] = n * (n - 1.0) / 2.0
                    edge = b[PAIRS, t] - 0.25
                    b[KNOWN, t] = (1.0 if b[TIED, t] < edge else 0.0) * (1.0 if b[TIED_H, t] < edge else 0.0)
                if pearson >= 0:
                    _sums(cells, g * size, (g + 1) * size, x, z, valid, row, col, rows, cols, s, b)
                    cosine(b, SUMS, SUMS + 1, SUMS + 2, KNOWN, WEIGHT, total, count, pearson * strips + s)
                if ranks:
                    for t in range(STRIP):
                        n = b[N, t]
                        b[ONE, t] = (n * n * n - n - b[CUBES, t]) / 3.0
                        b[TWO, t] = (n * n * n - n - b[CUBES_H, t]) / 3.0
                    cosine(b, PRODUCT, ONE, TWO, KNOWN, WEIGHT, total, count, spearman * strips + s)
                for k in range(len(places)):
                    pair_family(forms, k, b, PAIRS, TIED_H, TIED, BOTH, CONCORDANT, WEIGHT, total, count,
                                places[k] * strips + s)  # fmt: skip
