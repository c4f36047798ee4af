"""One pass over all metrics of a panel: Pearson, Spearman and the pair counts of every group.

A cell that is not finite in the metric or in the human scores is missing and left out for that metric.
Small groups (16 systems) compare all pairs without branches. Big ones (1,000 inputs, or all cells) are sorted
by radix, with the human rating levels carried along; then one walk up the metric counts, for each point, the lower
points that people rated lower too: in a Fenwick tree over the levels, or by merge sort where there are very many.
The human side of a group is prepared once and shared by all metrics that miss none of its cells.
Pair counts are exact. Each (metric, group) is computed by itself, so the order of work changes nothing.

Arrays of three rows have people in row 0 (shared by all metrics), people where this metric has gaps in row 1, and the
metric in row 2. `order` is as in `ordered`.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel, two_ways

if cython.compiled:
    from cython.cimports.libc.math import NAN, isfinite, sqrt
    from cython.cimports.nlgauge.kernels.ordered import count_by_merging, count_by_tree, radix_sort, rank_levels, walk
else:
    from math import isfinite, sqrt
    from math import nan as NAN

    from nlgauge.kernels.ordered import count_by_merging, count_by_tree, radix_sort, rank_levels, walk

Int = cython.typedef(cython.Py_ssize_t)
Cube = cython.typedef(cython.const[cython.double][:, :, ::1])
Rows = cython.typedef(cython.double[:, ::1])
Numbers = cython.typedef(cython.int[:, ::1])
Places = cython.typedef(cython.int[::1])
Words = cython.typedef(cython.ulonglong[:, ::1])

SMALL = cython.declare(cython.Py_ssize_t, 48)  # up to here n² comparisons are cheaper than a sort
MANY = cython.declare(cython.Py_ssize_t, 1 << 16)  # levels; with more, the tree leaves the cache and merging is faster
MANY_LEVELS = 1 << 16


@kernel
def panel(
    x: Cube, z: Cube, want_r: cython.bint, want_rho: cython.bint, want_pairs: cython.bint,
    n: cython.longlong[:, ::1], state: cython.schar[:, ::1], r: Rows, rho: Rows,
    pairs: cython.longlong[:, :, ::1],
):  # fmt: skip
    """Statistics of metrics `x` (K×G×S) against people `z` (1×G×S or K×G×S), into the arrays behind (K×G).

    State: 0 defined, 1 too few (left as it is), 2 metric constant, 3 people constant, 4 both.
    """
    size: Int = x.shape[2]
    v: Rows = empty((3, size), "d")
    centred: Rows = empty((3, size), "d")
    position: Places = empty(size, "i")
    rank: Numbers = empty((3, size), "i")
    level: Numbers = empty((3, size), "i")
    order: Numbers = empty((2, size), "i")
    tree: Places = empty(min(size, MANY_LEVELS) + 1, "i")
    start: Numbers = empty((8, 256), "i")
    keys: Words
    plain: Rows
    keys, plain = two_ways(2, size)
    with cython.nogil:
        _panel(x, z, want_r, want_rho, want_pairs, n, state, r, rho, pairs, v, centred, position, rank, level, order,
               tree, start, keys, plain)  # fmt: skip


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _panel(
    x: Cube, z: Cube, want_r: cython.bint, want_rho: cython.bint, want_pairs: cython.bint,
    n: cython.longlong[:, ::1], state: cython.schar[:, ::1], r: Rows, rho: Rows, pairs: cython.longlong[:, :, ::1],
    v: Rows, centred: Rows, position: Places, rank: Numbers, level: Numbers, order: Numbers, tree: Places,
    start: Numbers, keys: Words, plain: Rows,
) -> cython.void:  # fmt: skip
    cython.declare(g=Int, i=Int, k=Int)
    cython.declare(xz=cython.double, xx=cython.double, zz=cython.double, own=cython.double, shared_norm=cython.double)
    cython.declare(classes=Int, shared_classes=Int)
    ranks: cython.bint = want_rho or want_pairs
    one_human: cython.bint = z.shape[0] == 1
    for g in range(x.shape[1]):
        cells: Int = 0
        for k in range(x.shape[0]):
            if k == 0 or not one_human:
                cells = _present(z, 0 if one_human else k, g, v, position)
                shared_classes, shared_norm = _centre(v, 0, cells, want_r, centred)
                shared_tied: Int = 0
                if ranks:
                    shared_tied, shared_classes = _rank(v, 0, cells, rank, level, order, keys, plain, start)
                shared_norm: cython.double = _dot(centred, 0, 0, cells) if want_r and shared_classes > 1 else 0.0
            m: Int = _shared_cells(x, k, g, v, position, cells)
            n[k, g] = m
            if m < 2:
                continue
            h: Int = 0
            tied_h: Int = shared_tied
            classes_h: Int = shared_classes
            norm: cython.double = shared_norm
            if m < cells:
                h = 1
                classes_h, norm = _centre(v, 1, m, want_r, centred)
                if ranks:
                    tied_h, classes_h = _rank(v, 1, m, rank, level, order, keys, plain, start)
            classes, own = _centre(v, 2, m, want_r, centred)
            tied: Int = 0
            concordant: Int = 0
            both: Int = 0
            cosine: cython.double = NAN
            if ranks and m <= SMALL:
                tied, classes = _rank(v, 2, m, rank, level, order, keys, plain, start)
                if want_rho:
                    cosine = _whole_cosine(rank, h, m)
                if want_pairs:
                    concordant, both = _count_small(v, h, m)
            elif ranks:
                for i in range(m):
                    order[0, i] = level[h, i]
                radix_sort(v, 2, m, order, keys, plain, start)
                tied, classes, xz, xx, zz = walk(keys, m, order, rank, h)
                cosine = _quotient(xz, xx, zz)
                if want_pairs and classes_h <= MANY:
                    concordant, both = count_by_tree(keys, m, order, classes_h, tree)
                elif want_pairs:
                    discordant: Int
                    discordant, both = count_by_merging(keys, m, order)
                    concordant = m * (m - 1) // 2 - discordant - tied - tied_h + both
            if classes == 1 or classes_h == 1:
                state[k, g] = 4 if classes == classes_h else 2 if classes == 1 else 3
            else:
                state[k, g] = 0
                if want_r:
                    r[k, g] = _quotient(_dot(centred, 2, h, m), own, norm)
                    if m == 2:
                        r[k, g] = 1.0 if r[k, g] > 0 else -1.0
                if want_rho:
                    rho[k, g] = cosine
            if want_pairs:
                pairs[0, k, g] = concordant
                pairs[1, k, g] = m * (m - 1) // 2 - concordant - tied - tied_h + both
                pairs[2, k, g] = tied_h - both
                pairs[3, k, g] = tied - both
                pairs[4, k, g] = both
                pairs[5, k, g] = min(classes, classes_h)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _present(z: Cube, k: Int, g: Int, v: Rows, position: Places) -> Int:
    cython.declare(i=Int)
    cells: Int = 0
    for i in range(z.shape[2]):
        v[0, cells] = z[k, g, i]
        position[cells] = i
        if isfinite(z[k, g, i]):
            cells += 1
    return cells


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shared_cells(x: Cube, k: Int, g: Int, v: Rows, position: Places, cells: Int) -> Int:
    cython.declare(i=Int)
    m: Int = 0
    for i in range(cells):
        value: cython.double = x[k, g, position[i]]
        v[2, m] = value
        v[1, m] = v[0, i]
        if isfinite(value):
            m += 1
    return m


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sum(v: Rows, row: Int, n: Int) -> cython.double:
    """In eight sums side by side, in the same order on every machine."""
    cython.declare(i=Int)
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(0, n - 7, 8):
        a += v[row, i]
        b += v[row, i + 1]
        c += v[row, i + 2]
        d += v[row, i + 3]
        e += v[row, i + 4]
        f += v[row, i + 5]
        g += v[row, i + 6]
        h += v[row, i + 7]
    for i in range(n - n % 8, n):
        a += v[row, i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _dot(v: Rows, p: Int, q: Int, n: Int) -> cython.double:
    """Likewise the sum of the products of two rows."""
    cython.declare(i=Int)
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(0, n - 7, 8):
        a += v[p, i] * v[q, i]
        b += v[p, i + 1] * v[q, i + 1]
        c += v[p, i + 2] * v[q, i + 2]
        d += v[p, i + 3] * v[q, i + 3]
        e += v[p, i + 4] * v[q, i + 4]
        f += v[p, i + 5] * v[q, i + 5]
        g += v[p, i + 6] * v[q, i + 6]
        h += v[p, i + 7] * v[q, i + 7]
    for i in range(n - n % 8, n):
        a += v[p, i] * v[q, i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _quotient(ab: cython.double, aa: cython.double, bb: cython.double) -> cython.double:
    if aa == 0.0 or bb == 0.0:
        return NAN
    return min(1.0, max(-1.0, ab / sqrt(aa) / sqrt(bb)))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _centre(v: Rows, row: Int, n: Int, wanted: cython.bint, out: Rows) -> tuple[cython.Py_ssize_t, cython.double]:
    """1 if all values are equal, else 2; and, if wanted, their deviations from the mean, centred twice, and their sum
    of squares.

    Extreme values are scaled by a power of two, which is exact, so that no square overflows or vanishes.
    """
    cython.declare(i=Int, _=Int)
    if n == 0:
        return 0, 0.0
    first: Int = 1
    while first < n and v[row, first] == v[row, 0]:
        first += 1
    if first == n:
        return 1, 0.0
    if not wanted:
        return 2, 0.0
    mean: cython.double = _sum(v, row, n) / n
    for i in range(n):
        out[row, i] = v[row, i] - mean
    mean = _sum(out, row, n) / n
    for i in range(n):
        out[row, i] -= mean
    squares: cython.double = _dot(out, row, row, n)
    if squares > 1e-200 and squares < 1e200:  # which is not so if it is no number
        return 2, squares
    scale: cython.double = 2.0**700 if squares <= 1e-200 else 2.0**-700
    for i in range(n):
        out[row, i] = v[row, i] * scale
    for _ in range(2):
        mean = _sum(out, row, n) / n
        for i in range(n):
            out[row, i] -= mean
    return 2, _dot(out, row, row, n)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _whole_cosine(rank: Numbers, h: Int, n: Int) -> cython.double:
    cython.declare(i=Int)
    ab: Int = 0
    aa: Int = 0
    bb: Int = 0
    for i in range(n):
        ab += rank[2, i] * rank[h, i]
        aa += rank[2, i] * rank[2, i]
        bb += rank[h, i] * rank[h, i]
    return _quotient(ab, aa, bb)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _rank(
    v: Rows, row: Int, n: Int, rank: Numbers, level: Numbers, order: Numbers, keys: Words, plain: Rows, start: Numbers
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Tied pairs and distinct values; ranks are twice the average rank, centred: whole numbers.

    Small: rank[i] of point i. Big: level[i] of point i, counted up from 0, and rank[l] of level l.
    """
    cython.declare(i=Int, j=Int)
    tied: Int = 0
    classes: Int = 0
    if n <= SMALL:
        for i in range(n):
            value: cython.double = v[row, i]
            less: Int = 0
            equal: Int = 0
            first: Int = 0
            for j in range(n):
                less += v[row, j] < value
                equal += v[row, j] == value
            for j in range(i):
                first += v[row, j] == value
            rank[row, i] = 2 * less + equal - n
            tied += equal - 1
            classes += first == 0
        return tied // 2, classes
    return rank_levels(v, row, n, rank, level, order, keys, plain, start)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_small(v: Rows, h: Int, n: Int) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Concordant pairs and pairs tied by both."""
    cython.declare(i=Int, j=Int)
    z: Int = 1 if h else 0
    concordant: Int = 0
    both: Int = 0
    for i in range(n):
        a: cython.double = v[2, i]
        b: cython.double = v[z, i]
        for j in range(n):
            concordant += (v[2, j] < a) * (v[z, j] < b)
            both += (v[2, j] == a) * (v[z, j] == b)
    return concordant, (both - n) // 2
