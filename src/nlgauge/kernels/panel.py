"""One pass over all metrics of a panel: Pearson, Spearman and the pair counts of every group.

A cell that is not finite in the metric or in the human scores is missing and left out for that metric.
Small groups (16 systems) compare all pairs without branches. Big ones (1,000 inputs, or all cells) are sorted
by radix, with the human rating levels carried along; then one walk up the metric counts, for each point, the lower
points with lower human ratings too: in a Fenwick tree over the levels, or by merge sort where there are very many.
The human side of a group is prepared once and shared by all metrics that miss none of its cells.
Pair counts are exact. Each (metric, group) is computed by itself, so the order of work changes nothing.

Arrays of three rows have human ratings in row 0 (shared by all metrics), human ratings where this metric has gaps in
row 1, and the metric in row 2. `order` is as in `ordered`.
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


class PanelRoom:
    """Preallocated buffers for the data points of one group; the types are declared in panel.pxd."""

    def __init__(self, size):
        self.v = empty((3, size), "d")
        self.centered = empty((3, size), "d")
        self.position = empty(size, "i")
        self.rank = empty((3, size), "i")
        self.level = empty((3, size), "i")
        self.order = empty((2, size), "i")
        self.tree = empty(min(size, MANY_LEVELS) + 1, "i")
        self.start = empty((8, 256), "i")
        self.keys, self.plain = two_ways(2, size)


@kernel
def panel(
    x: Cube,
    z: Cube,
    want_r: cython.bint,
    want_rho: cython.bint,
    want_pairs: cython.bint,
    n: cython.longlong[:, ::1],
    state: cython.schar[:, ::1],
    r: Rows,
    rho: Rows,
    pairs: cython.longlong[:, :, ::1],
):
    """Compute statistics of metrics `x` (K×G×S) against human ratings `z` (1×G×S or K×G×S), and write them to the
    arrays (K×G).

    The state is 0 if defined, 1 if there are too few values (left unchanged), 2 if the metric is constant, 3 if the
    ratings are constant, and 4 if both are.
    """
    cython.declare(g=Int, k=Int, tied=Int, classes=Int, norm=cython.double)
    cython.declare(shared_tied=Int, shared_classes=Int, shared_norm=cython.double)
    room: PanelRoom = PanelRoom(x.shape[2])
    ranks: cython.bint = want_rho or want_pairs
    one_human: cython.bint = z.shape[0] == 1
    with cython.nogil:
        for g in range(x.shape[1]):
            cells: Int = 0
            for k in range(x.shape[0]):
                if k == 0 or not one_human:
                    cells = _present(z, 0 if one_human else k, g, room)
                    shared_tied, shared_classes, shared_norm = _prepare(room, 0, cells, want_r, ranks)
                m: Int = _shared_cells(x, k, g, room, cells)
                n[k, g] = m
                if m < 2:
                    continue
                h: Int = 0
                tied, classes, norm = shared_tied, shared_classes, shared_norm
                if m < cells:
                    h = 1
                    tied, classes, norm = _prepare(room, 1, m, want_r, ranks)
                _fill(k, g, m, h, tied, classes, norm, want_r, want_rho, want_pairs, state, r, rho, pairs, room)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _prepare(
    room: PanelRoom, row: Int, m: Int, want_r: cython.bint, ranks: cython.bint
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t, cython.double]:
    """Count tied pairs and distinct values of the first m values of a row, and sum their squares."""
    cython.declare(tied=Int, classes=Int, norm=cython.double)
    tied = 0
    classes, norm = _centre(room.v, row, m, want_r, room.centered)
    if ranks:
        tied, classes = _rank(room, row, m)
    return tied, classes, norm


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    k: Int,
    g: Int,
    m: Int,
    h: Int,
    tied_h: Int,
    classes_h: Int,
    norm: cython.double,
    want_r: cython.bint,
    want_rho: cython.bint,
    want_pairs: cython.bint,
    state: cython.schar[:, ::1],
    r: Rows,
    rho: Rows,
    pairs: cython.longlong[:, :, ::1],
    room: PanelRoom,
) -> cython.void:
    """Fill in metric k and group g from their m shared cells; h is the row of human ratings."""
    cython.declare(classes=Int, own=cython.double)
    classes, own = _centre(room.v, 2, m, want_r, room.centered)
    tied: Int = 0
    concordant: Int = 0
    both: Int = 0
    cosine: cython.double = NAN
    if want_rho or want_pairs:
        tied, classes, concordant, both, cosine = _compare(room, m, h, tied_h, classes_h, want_pairs)
    if classes == 1 or classes_h == 1:
        state[k, g] = 4 if classes == classes_h else 2 if classes == 1 else 3
    else:
        state[k, g] = 0
        if want_r:
            r[k, g] = _quotient(_dot(room.centered, 2, h, m), own, norm)
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
def _compare(
    room: PanelRoom, m: Int, h: Int, tied_h: Int, classes_h: Int, want_pairs: cython.bint
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t, cython.Py_ssize_t, cython.Py_ssize_t, cython.double]:
    """Compute tied pairs and distinct values of the metric, concordant pairs, pairs tied by both, and Spearman's
    correlation.
    """
    cython.declare(i=Int, tied=Int, classes=Int, xz=cython.double, xx=cython.double, zz=cython.double)
    concordant: Int = 0
    both: Int = 0
    if m <= SMALL:
        tied, classes = _rank(room, 2, m)
        if want_pairs:
            concordant, both = _count_small(room.v, h, m)
        return tied, classes, concordant, both, _whole_cosine(room.rank, h, m)
    for i in range(m):
        room.order[0, i] = room.level[h, i]
    radix_sort(room.v, 2, m, room.order, room.keys, room.plain, room.start)
    tied, classes, xz, xx, zz = walk(room.keys, m, room.order, room.rank, h)
    if want_pairs and classes_h <= MANY:
        concordant, both = count_by_tree(room.keys, m, room.order, classes_h, room.tree)
    elif want_pairs:
        discordant: Int
        discordant, both = count_by_merging(room.keys, m, room.order)
        concordant = m * (m - 1) // 2 - discordant - tied - tied_h + both
    return tied, classes, concordant, both, _quotient(xz, xx, zz)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _present(z: Cube, k: Int, g: Int, room: PanelRoom) -> Int:
    cython.declare(i=Int)
    cells: Int = 0
    for i in range(z.shape[2]):
        room.v[0, cells] = z[k, g, i]
        room.position[cells] = i
        if isfinite(z[k, g, i]):
            cells += 1
    return cells


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shared_cells(x: Cube, k: Int, g: Int, room: PanelRoom, cells: Int) -> Int:
    cython.declare(i=Int)
    m: Int = 0
    for i in range(cells):
        value: cython.double = x[k, g, room.position[i]]
        room.v[2, m] = value
        room.v[1, m] = room.v[0, i]
        if isfinite(value):
            m += 1
    return m


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sum(v: Rows, row: Int, n: Int) -> cython.double:
    """Sum a row in eight parallel sums, in the same order on every machine."""
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
    """Sum the products of two rows in eight parallel sums, in the same order on every machine."""
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
    """Return 1 if all values are equal and 2 otherwise, and compute the deviations and their sum of squares if
    `wanted`.

    The deviations from the mean are centered twice. Extreme values are scaled by a power of two, which is exact, so
    that no square overflows or underflows.
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
    if squares > 1e-200 and squares < 1e200:  # false for NaN
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
def _rank(room: PanelRoom, row: Int, n: Int) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Rank a row: count tied pairs and distinct values; ranks are twice the average rank, centered, and thus integers.

    Small rows have rank[i] of point i. Large rows have level[i] of point i, counted from 0, and rank[l] of level l.
    """
    cython.declare(i=Int, j=Int)
    tied: Int = 0
    classes: Int = 0
    if n > SMALL:
        return rank_levels(room.v, row, n, room.rank, room.level, room.order, room.keys, room.plain, room.start)
    for i in range(n):
        value: cython.double = room.v[row, i]
        less: Int = 0
        equal: Int = 0
        first: Int = 0
        for j in range(n):
            less += room.v[row, j] < value
            equal += room.v[row, j] == value
        for j in range(i):
            first += room.v[row, j] == value
        room.rank[row, i] = 2 * less + equal - n
        tied += equal - 1
        classes += first == 0
    return tied // 2, classes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_small(v: Rows, h: Int, n: Int) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Count concordant pairs and pairs tied by both."""
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
