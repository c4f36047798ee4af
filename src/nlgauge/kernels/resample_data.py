"""What resampling needs besides the walk: one order of two metrics' scores, sums over cells, pairs of system means."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import kernel

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import STRIP
else:
    from nlgauge.kernels.shared import STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Ints = cython.typedef(cython.const[cython.int][::1])
Times = cython.typedef(cython.const[cython.short][:, :, ::1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def run_end(order: Ints, x: Reals, at: Int, stop: Int) -> Int:
    """Return the end of the run of scores equal to that of order[at]."""
    end: Int = at + 1
    while end < stop and x[order[end]] == x[order[at]]:
        end += 1
    return end


@kernel
def merge_orders(orders, bounds, x, scales, near, code, entries):
    """Merge the scores of two metrics into one rising order per group and fill in the entries: cell, source, end.

    `orders` are the cells in use, sorted inside the groups by each metric; group g has those from bounds[g] to
    bounds[g + 1]. Scores of one metric are tied if they are equal, those of two metrics if they lie within `near` of
    their size; the entries of a tied run are ordered by human level (`code`).
    """
    cython.declare(g=Int)
    o1: Ints = orders[0]
    o2: Ints = orders[1]
    x1: Reals = x[0]
    x2: Reals = x[1]
    limits: Ints = bounds
    level: Ints = code
    cell: cython.int[::1] = entries[0]
    source: cython.int[::1] = entries[1]
    ends: cython.int[::1] = entries[2]
    mean1: cython.double = scales[0]
    unit1: cython.double = scales[1]
    mean2: cython.double = scales[2]
    unit2: cython.double = scales[3]
    part: cython.double = near
    # the size of the terms that standardization adds, because rounding errors are relative to it
    shift: cython.double = abs(mean1) * unit1 + abs(mean2) * unit2
    e: Int = 0
    with cython.nogil:
        for g in range(len(limits) - 1):
            stop: Int = limits[g + 1]
            a: Int = limits[g]
            b: Int = a
            while a < stop or b < stop:
                take1: cython.bint = b >= stop
                take2: cython.bint = a >= stop
                if a < stop and b < stop:
                    v1: cython.double = (x1[o1[a]] - mean1) * unit1
                    v2: cython.double = (x2[o2[b]] - mean2) * unit2
                    tolerance: cython.double = part * (abs(v1) + abs(v2) + shift)
                    take1 = v1 - v2 <= tolerance
                    take2 = v2 - v1 <= tolerance
                a_end: Int = run_end(o1, x1, a, stop) if take1 else a
                b_end: Int = run_end(o2, x2, b, stop) if take2 else b
                begin: Int = e
                while a < a_end or b < b_end:
                    first: cython.bint = b >= b_end or (a < a_end and level[o1[a]] <= level[o2[b]])
                    cell[e] = o1[a] if first else o2[b]
                    source[e] = 0 if first else 1
                    a += first
                    b += not first
                    e += 1
                ends[begin] = e


@kernel
def sum_cells(values, to, draws, sums):
    """Add up each row of values over the cells, as often as they count: sums[s, k, to[cell]] is a strip of draws."""
    cython.declare(s=Int, k=Int, t=Int, i=Int)
    own: cython.const[cython.double][:, ::1] = values
    place: Ints = to
    out: cython.double[:, :, :, ::1] = sums
    row: Ints = draws[0]
    col: Ints = draws[1]
    rows: Times = draws[2]
    cols: Times = draws[3]
    swap: cython.bint = draws[5]
    with cython.nogil:
        for s in range(out.shape[0]):
            for i in range(len(place)):
                for k in range(own.shape[0]):
                    value: cython.double = own[k, i]
                    if swap:
                        for t in range(STRIP):
                            out[s, k, place[i], t] += value * (rows[s, row[i], t] ^ cols[s, col[i], t])
                    else:
                        for t in range(STRIP):
                            out[s, k, place[i], t] += value * (rows[s, row[i], t] * cols[s, col[i], t])


@kernel
def compare_points(points, weight, above, counts):
    """Compare each two points of both variables (2 × systems × draws) in every draw, as often as both count.

    `above` (as `points`, or empty) gets the weight of the points below each one less that above it; `counts`
    (4 × draws, or empty) the weight of the pairs in the same order less those in the opposite one, of those neither
    variable ties, and of those that the first and the second do not tie.
    """
    cython.declare(i=Int, j=Int, t=Int)
    p: cython.const[cython.double][:, :, ::1] = points
    w: cython.const[cython.double][:, ::1] = weight
    rank: cython.double[:, :, ::1] = above
    out: cython.double[:, ::1] = counts
    draws: Int = w.shape[1]
    ranked: cython.bint = rank.shape[0] > 0
    paired: cython.bint = out.shape[0] > 0
    with cython.nogil:
        for i in range(w.shape[0]):
            for j in range(i):
                if ranked:
                    for t in range(draws):
                        x = (1.0 if p[0, i, t] > p[0, j, t] else 0.0) - (1.0 if p[0, i, t] < p[0, j, t] else 0.0)
                        z = (1.0 if p[1, i, t] > p[1, j, t] else 0.0) - (1.0 if p[1, i, t] < p[1, j, t] else 0.0)
                        rank[0, i, t] += w[j, t] * x
                        rank[0, j, t] -= w[i, t] * x
                        rank[1, i, t] += w[j, t] * z
                        rank[1, j, t] -= w[i, t] * z
                if paired:
                    for t in range(draws):
                        x = (1.0 if p[0, i, t] > p[0, j, t] else 0.0) - (1.0 if p[0, i, t] < p[0, j, t] else 0.0)
                        z = (1.0 if p[1, i, t] > p[1, j, t] else 0.0) - (1.0 if p[1, i, t] < p[1, j, t] else 0.0)
                        both = w[i, t] * w[j, t]
                        out[0, t] += both * x * z
                        out[1, t] += both * (x * x) * (z * z)
                        out[2, t] += both * (x * x)
                        out[3, t] += both * (z * z)
