"""Permutation kernels: both correlations of a metric pair under many swap masks, with no sorting inside.

The order of the pooled 2n values of a pair never changes; a draw only says which of its two values each cell
shows. So the walk up that order is the same for every draw, and a strip of draws is walked at once, one SIMD
lane per draw: a Fenwick tree over human levels with one row of lanes per node counts concordant pairs, a
running count gives ranks. Cells tied by both metric and people (a *knot*) are handled as one. The second
metric gets the values that the first did not take, so its counts are the totals minus the first's: in every
pair of rows below the first belongs to metric 1 and the second to metric 2. Masks are 0 (keep) or 1 (swap).
Counts are whole numbers in floats, exact up to 2^53.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel

if cython.compiled:
    from cython.cimports.nlgauge.kernels.finish import cosine, pair_family
    from cython.cimports.nlgauge.kernels.masked import moments, moments_again, sums
    from cython.cimports.nlgauge.kernels.shared import STRIP
else:
    from nlgauge.kernels.finish import cosine, pair_family
    from nlgauge.kernels.masked import moments, moments_again, sums
    from nlgauge.kernels.shared import STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Ints = cython.typedef(cython.const[cython.int][::1])
Bools = cython.typedef(cython.const[cython.uchar][::1])
Forms = cython.typedef(cython.const[cython.double][:, :, ::1])
Bits = cython.typedef(cython.const[cython.schar][:, :, ::1])
Lanes = cython.typedef(cython.double[:, ::1])
Counts = cython.typedef(cython.int[:, ::1])

# Rows of the block: results of a walk (each for two metrics), then room to work in.
CONCORDANT = cython.declare(cython.Py_ssize_t, 0)
TIED = cython.declare(cython.Py_ssize_t, 2)
BOTH = cython.declare(cython.Py_ssize_t, 4)
PRODUCT = cython.declare(cython.Py_ssize_t, 6)
CUBES = cython.declare(cython.Py_ssize_t, 8)
RUN_RANKS = cython.declare(cython.Py_ssize_t, 10)
SUMS = cython.declare(cython.Py_ssize_t, 11)  # five, see `masked`
ONE = cython.declare(cython.Py_ssize_t, 16)
TWO = cython.declare(cython.Py_ssize_t, 17)
ONES = cython.declare(cython.Py_ssize_t, 18)
KNOWN = cython.declare(cython.Py_ssize_t, 19)
ROWS = 20
# Rows of the whole numbers: a look into the tree, values seen so far, values of the run.
LOOK = cython.declare(cython.Py_ssize_t, 0)
SEEN = cython.declare(cython.Py_ssize_t, 1)
RUN = cython.declare(cython.Py_ssize_t, 2)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fill(b: Lanes, row: Int, value: cython.double) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        b[row, t] = value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _zero(b: Counts, row: Int) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        b[row, t] = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _show(
    rows: Bits, cols: Bits, s: Int, row: Int, col: Int, source: cython.int, out: Counts, k: Int, more: cython.bint
) -> cython.void:
    """In which draws metric 1 shows this value of the cell; added to what is there already if it is one `more`."""
    cython.declare(t=Int)
    flip: cython.int = 1 - source  # metric 1 shows its own value where nothing is swapped
    if more:
        for t in range(STRIP):
            out[k, t] += rows[s, row, t] ^ cols[s, col, t] ^ flip
    else:
        for t in range(STRIP):
            out[k, t] = rows[s, row, t] ^ cols[s, col, t] ^ flip


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add(out: Counts, i: Int, a: Counts, k: Int) -> cython.void:
    cython.declare(t=Int)
    for t in range(STRIP):
        out[i, t] += a[k, t]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _concordant(
    tree: Counts, level: Int, below: Int, knots: Counts, k: Int, size: Int, ints: Counts, b: Lanes
) -> cython.void:
    cython.declare(t=Int)
    if below == 0:
        return
    for t in range(STRIP):
        ints[LOOK, t] = tree[level, t]
    level &= level - 1
    while level > 0:
        _add(ints, LOOK, tree, level)
        level &= level - 1
    all_below: cython.double = below
    all_taken: cython.double = size
    for t in range(STRIP):
        q: cython.double = ints[LOOK, t]
        taken: cython.double = knots[k, t]
        b[CONCORDANT, t] += q * taken
        b[CONCORDANT + 1, t] += (all_below - q) * (all_taken - taken)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _tied_pairs(taken: Counts, k: Int, size: Int, b: Lanes, row: Int) -> cython.void:
    cython.declare(t=Int)
    everything: cython.double = size
    for t in range(STRIP):
        one: cython.double = taken[k, t]
        two: cython.double = everything - one
        b[row, t] += one * (one - 1.0) * 0.5
        b[row + 1, t] += two * (two - 1.0) * 0.5


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank_one(rank: cython.double, before: Int, knots: Counts, k: Int, ints: Counts, b: Lanes) -> cython.void:
    """Σ rank_h · rank_m for one untied value; constants of rank_m vanish because the ranks of people sum to 0."""
    cython.declare(t=Int)
    twice: cython.double = 2.0 * rank
    all_seen: cython.double = before
    for t in range(STRIP):
        one: cython.double = knots[k, t]
        earlier: cython.double = ints[SEEN, t]
        b[PRODUCT, t] += twice * one * earlier
        b[PRODUCT + 1, t] += twice * (1.0 - one) * (all_seen - earlier)
        ints[SEEN, t] += knots[k, t]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank_run(all_ranks: cython.double, before: Int, size: Int, ints: Counts, b: Lanes) -> cython.void:
    """The same for a run: its values share the average rank."""
    cython.declare(t=Int)
    all_seen: cython.double = before
    everything: cython.double = size
    for t in range(STRIP):
        one: cython.double = ints[RUN, t]
        earlier: cython.double = ints[SEEN, t]
        two: cython.double = everything - one
        ranks: cython.double = b[RUN_RANKS, t]
        b[PRODUCT, t] += ranks * (2.0 * earlier + one - 1.0)
        b[PRODUCT + 1, t] += (all_ranks - ranks) * (2.0 * (all_seen - earlier) + two - 1.0)
        b[CUBES, t] += one * one * one - one
        b[CUBES + 1, t] += two * two * two - two
        ints[SEEN, t] += ints[RUN, t]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk(
    first: Int, stop: Int, levels: Int, code: Ints, human_rank: Ints,
    cells: Ints, source: Ints, below: Ints, ends: Ints, rows: Bits, cols: Bits, row: Ints, col: Ints,
    s: Int, counts: cython.bint, ranks: cython.bint, tree: Counts, knots: Counts, knot_level: cython.int[::1],
    ints: Counts, b: Lanes,
) -> cython.void:  # fmt: skip
    """Walk the pooled order of a group for strip s of the draws and fill the results in `b`."""
    cython.declare(k=Int, t=Int)
    e: Int = first
    for k in range(10):
        _fill(b, k, 0.0)
    _zero(ints, SEEN)
    if counts:
        for k in range(levels + 1):
            _zero(tree, k)
    while e < stop:
        end: Int = ends[e]
        before: Int = e - first
        alone: cython.bint = end == e + 1
        if not alone:
            _zero(ints, RUN)
            _fill(b, RUN_RANKS, 0.0)
        all_ranks = 0.0
        n_knots: Int = 0
        while e < end:
            cell: Int = cells[e]
            level: Int = code[cell]
            under: Int = below[e]
            size: Int = 1
            _show(rows, cols, s, row[cell], col[cell], source[e], knots, n_knots, False)
            e += 1
            while e < end and code[cells[e]] == level:
                _show(rows, cols, s, row[cells[e]], col[cells[e]], source[e], knots, n_knots, True)
                size += 1
                e += 1
            knot_level[n_knots] = level
            if counts:
                _concordant(tree, level, under, knots, n_knots, size, ints, b)
            rank: cython.double = human_rank[cell]
            if alone:
                if ranks:
                    _rank_one(rank, before, knots, n_knots, ints, b)
            else:
                _tied_pairs(knots, n_knots, size, b, BOTH)
                _add(ints, RUN, knots, n_knots)
                all_ranks += rank * size
                for t in range(STRIP):
                    b[RUN_RANKS, t] += rank * knots[n_knots, t]
            n_knots += 1
        if not alone:
            _tied_pairs(ints, RUN, end - first - before, b, TIED)
            if ranks:
                _rank_run(all_ranks, before, end - first - before, ints, b)
        if counts:  # entered only after the whole run was looked up: tied values are not concordant
            for k in range(n_knots):
                level = knot_level[k] + 1
                while level <= levels:
                    _add(tree, level, knots, k)
                    level += level & -level


@kernel
def swap_groups(
    cells: Ints, size: Int, least: Int,
    points: Ints, levels: Ints, tied: Reals, cubes: Reals, code: Ints, rank: Ints,
    start: Ints, cell: Ints, source: Ints, below: Ints, end: Ints, whole: Bools,
    x1: Reals, x2: Reals, z: Reals, scales: Reals, valid: Bools, rows: Bits, cols: Bits, row: Ints, col: Ints,
    pearson: Int, spearman: Int, forms: Forms, places: cython.const[cython.longlong][::1],
    coefficients: Int, total: Lanes, count: Lanes,
):  # fmt: skip
    """Add up the coefficients of all groups: total and count are 2 metrics × coefficients × strips rows of STRIP.

    Groups of fewer than `least` points are left out; so is a group, for one metric, in draws where that
    metric is constant in it.
    """
    cython.declare(g=Int, k=Int, m=Int, s=Int, t=Int)
    groups: Int = len(points)
    strips: Int = rows.shape[0]
    deepest: Int = 1
    for g in range(groups):
        deepest = max(deepest, levels[g])
    tree: Counts = empty((deepest + 1, STRIP), "i")
    knots: Counts = empty((deepest + 1, STRIP), "i")
    knot_level: cython.int[::1] = empty(deepest + 1, "i")
    ints: Counts = empty((3, STRIP), "i")
    b: Lanes = empty((ROWS, STRIP), "d")
    fixed: cython.double[::1] = empty(13, "d")
    counts: cython.bint = len(places) > 0
    ranks: cython.bint = spearman >= 0
    with cython.nogil:
        _fill(b, ONES, 1.0)
        for s in range(strips):
            for g in range(groups):
                n: cython.double = points[g]
                if n < least:
                    continue
                pairs: cython.double = n * (n - 1.0) / 2.0
                if counts or ranks or whole[g]:
                    _walk(
                        start[g], start[g + 1], levels[g], code, rank, cell, source, below, end, rows, cols, row, col,
                        s, counts, ranks, tree, knots, knot_level, ints, b,
                    )  # fmt: skip
                if pearson >= 0:
                    sums(
                        cells, g * size, (g + 1) * size, x1, x2, z, scales, valid, rows, cols, row, col, s, ints, b,
                        SUMS, fixed,
                    )  # fmt: skip
                    if moments(ints, b, SUMS, fixed):
                        moments_again(
                            cells, g * size, (g + 1) * size, x1, x2, z, scales, valid, rows, cols, row, col, s, b, SUMS,
                            fixed,
                        )  # fmt: skip
                    _fill(b, ONE, fixed[6] if levels[g] > 1 else 0.0)
                    for m in range(2):
                        _fill(b, KNOWN, 1.0)
                        if whole[g]:  # rounding hides that a metric is constant, its ties do not
                            for t in range(STRIP):
                                b[KNOWN, t] = 1.0 if b[TIED + m, t] < pairs else 0.0
                        cosine(
                            b, SUMS + 2 + m, SUMS + m, ONE, KNOWN, ONES, total, count,
                            (m * coefficients + pearson) * strips + s,
                        )  # fmt: skip
                for m in range(2):
                    if ranks:
                        for t in range(STRIP):
                            b[ONE, t] = (n * n * n - n - b[CUBES + m, t]) / 3.0
                        _fill(b, TWO, (n * n * n - n - cubes[g]) / 3.0)
                        cosine(
                            b, PRODUCT + m, ONE, TWO, ONES, ONES, total, count,
                            (m * coefficients + spearman) * strips + s,
                        )  # fmt: skip
                    _fill(b, ONE, pairs)
                    _fill(b, TWO, tied[g])
                    for k in range(len(places)):
                        pair_family(
                            forms, k, b, ONE, TWO, TIED + m, BOTH + m, CONCORDANT + m, ONES, total, count,
                            (m * coefficients + places[k]) * strips + s,
                        )  # fmt: skip
