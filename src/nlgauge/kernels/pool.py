"""Prepare the groups of one grouping for resampling: human levels, and the metric's values in rising order; and
resampling of groups whose members do not change.

A *run* is a set of tied values; inside a run the cells are ordered by human level, so that pairs tied by both
are neighbours. For a permutation test both metrics are merged into one rising order: each draw then walks
that order and picks, for every cell, one of its two values.

When inputs are resampled at the input level, each group is correlated once (`group_values`) and a draw says only how
often it counts (`mean_values`): as many draws as one likes cost no more than one. The numbers are those of
`weigh_groups` to the last bit: pair counts and ranks are whole numbers, sums are added up in the same order.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, full, kernel

if cython.compiled:
    from cython.cimports.libc.math import NAN, isnan, sqrt
    from cython.cimports.nlgauge.kernels.finish import lift
    from cython.cimports.nlgauge.kernels.shared import STRIP
else:
    from math import isnan, sqrt
    from math import nan as NAN

    from nlgauge.kernels.finish import lift
    from nlgauge.kernels.shared import STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Ints = cython.typedef(cython.const[cython.int][::1])
Places = cython.typedef(cython.int[::1])
Bools = cython.typedef(cython.const[cython.uchar][::1])
Forms = cython.typedef(cython.const[cython.double][:, :, ::1])
Lanes = cython.typedef(cython.double[:, ::1])
Times = cython.fused_type(cython.double, cython.uchar)  # how often something counts


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _present(order: Ints, first: Int, last: Int, valid: Bools, out: Places) -> Int:
    cython.declare(s=Int)
    n: Int = 0
    for s in range(first, last):
        out[n] = order[s]
        n += valid[order[s]]
    return n


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _run_end(cells: Places, x: Reals, start: Int, n: Int) -> Int:
    end: Int = start + 1
    while end < n and x[cells[end]] == x[cells[start]]:
        end += 1
    return end


@kernel
def levels(
    order: Ints, size: Int, z: Reals, valid: Bools,
    points: Places, many: Places, tied: cython.double[::1], cubes: cython.double[::1], code: Places, rank: Places,
):  # fmt: skip
    """The human side: the last six are filled in, as `Side` in stats says what they are."""
    cython.declare(g=Int, i=Int)
    cells: Places = empty(size + 1, "i")
    with cython.nogil:
        for g in range(len(points)):
            n: Int = _present(order, g * size, (g + 1) * size, valid, cells)
            points[g] = n
            start: Int = 0
            while start < n:
                end: Int = _run_end(cells, z, start, n)
                t: cython.double = end - start
                tied[g] += t * (t - 1) / 2
                cubes[g] += t * t * t - t
                for i in range(start, end):
                    code[cells[i]] = many[g]
                    rank[cells[i]] = start + end - n
                many[g] += 1
                start = end


@kernel
def merge(
    o1: Ints, o2: Ints, size: Int, x1: Reals, x2: Reals, points: Ints, many: Ints, code: Ints, valid: Bools,
    mean1: cython.double, unit1: cython.double, mean2: cython.double, unit2: cython.double, near: cython.double,
    two: cython.bint,
    starts: Places, cells: Places, source: Places, below: Places, ends: Places, whole: cython.uchar[::1],
):  # fmt: skip
    """The metric side: the last six are filled in, as `Pool` in stats says what they are."""
    cython.declare(g=Int, i=Int)
    first: Places = empty(size + 1, "i")
    second: Places = empty(size + 1, "i")
    tree: Places = empty(size + 2, "i")
    seen: Places = full(len(x1), -1, "i")
    e: Int = 0
    # the size of what standardising adds: its rounding errors are relative to that
    shift: cython.double = abs(mean1) * unit1 + abs(mean2) * unit2
    with cython.nogil:
        for g in range(len(points)):
            n: Int = _present(o1, g * size, (g + 1) * size, valid, first)
            m: Int = 0
            if two:
                m = _present(o2, g * size, (g + 1) * size, valid, second)
            levels: Int = many[g]
            for i in range(levels + 1):
                tree[i] = 0
            a: Int = 0
            b: Int = 0
            while a < n or b < m:
                a_end: Int = a
                b_end: Int = b
                take1: cython.bint = b >= m
                take2: cython.bint = a >= n
                if a < n and b < m:
                    v1 = (x1[first[a]] - mean1) * unit1
                    v2 = (x2[second[b]] - mean2) * unit2
                    tolerance = near * (abs(v1) + abs(v2) + shift)
                    take1 = v1 - v2 <= tolerance
                    take2 = v2 - v1 <= tolerance
                if take1:
                    a_end = _run_end(first, x1, a, n)
                if take2:
                    b_end = _run_end(second, x2, b, m)
                begin: Int = e
                covered: Int = 0
                while a < a_end or b < b_end:  # by human level
                    if b >= b_end or (a < a_end and code[first[a]] <= code[second[b]]):
                        cells[e] = first[a]
                        source[e] = 0
                        a += 1
                    else:
                        cells[e] = second[b]
                        source[e] = 1
                        b += 1
                    covered += seen[cells[e]] != begin
                    seen[cells[e]] = begin
                    e += 1
                ends[begin] = e
                if covered == points[g]:
                    whole[g] = 1
                level: Int
                for i in range(begin, e):
                    level = code[cells[i]]
                    while level > 0:
                        below[i] += tree[level]
                        level &= level - 1
                for i in range(begin, e):
                    level = code[cells[i]] + 1
                    while level <= levels:
                        tree[level] += 1
                        level += level & -level
            starts[g + 1] = e


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cosine(above: cython.double, one: cython.double, two: cython.double, known: cython.bint) -> cython.double:
    if not (known and one > 0.0 and two > 0.0):
        return NAN
    return min(1.0, max(-1.0, above / (sqrt(one) * sqrt(two))))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pearson(
    cells: Ints, first: Int, stop: Int, x: Reals, z: Reals, valid: Bools, n: cython.double, known: cython.bint
) -> cython.double:
    """Centred by the plain means first, as in `weight`."""
    cython.declare(i=Int, size_x=cython.double, size_z=cython.double)
    ax, az, xz, xx, zz, sx, sz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(first, stop):
        if valid[cells[i]]:
            ax += x[cells[i]]
            az += z[cells[i]]
    ax, az = ax / n, az / n
    size_x, size_z = 0.0, 0.0
    for i in range(first, stop):
        if valid[cells[i]]:
            size_x = max(size_x, abs(x[cells[i]] - ax))
            size_z = max(size_z, abs(z[cells[i]] - az))
    lift_x, lift_z = lift(size_x), lift(size_z)
    for i in range(first, stop):
        if valid[cells[i]]:
            u, v = (x[cells[i]] - ax) * lift_x, (z[cells[i]] - az) * lift_z
            xz += u * v
            xx += u * u
            zz += v * v
            sx += u
            sz += v
    return _cosine(xz - sx * sz / n, xx - sx * sx / n, zz - sz * sz / n, known)


@kernel
def group_values(
    cells: Ints, size: Int, least: Int,
    points: Ints, tied_h: Reals, cubes_h: Reals, code: Ints, rank: Ints, starts: Ints, cell: Ints, below: Ints,
    ends: Ints,
    x: Reals, z: Reals, valid: Bools,
    pearson: Int, spearman: Int, forms: Forms, places: cython.const[cython.longlong][::1], values: Lanes,
):  # fmt: skip
    """Every group's own coefficients, coefficients × groups; those without a value stay NaN."""
    cython.declare(g=Int, k=Int)
    with cython.nogil:
        for g in range(len(points)):
            if points[g] < max(least, 1):
                continue
            n: cython.double = points[g]
            pairs = n * (n - 1.0) / 2.0
            # concordant pairs, pairs tied by the metric, by both, the product of the ranks, the metric's cubes of ties
            c, tied, both, product, cubes, seen = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            e: Int = starts[g]
            while e < starts[g + 1]:
                end: Int = ends[e]
                run: cython.double = end - e
                ranks: cython.double = 0.0
                while e < end:
                    level: Int = code[cell[e]]
                    knot: cython.double = 0.0
                    while e < end and code[cell[e]] == level:
                        c += below[e]
                        ranks += rank[cell[e]]
                        knot += 1.0
                        e += 1
                    both += knot * (knot - 1.0) / 2.0
                tied += run * (run - 1.0) / 2.0
                product += ranks * (2.0 * seen + run - n)
                cubes += run * run * run - run
                seen += run
            known: cython.bint = tied < pairs - 0.25 and tied_h[g] < pairs - 0.25
            if pearson >= 0:
                values[pearson, g] = _pearson(cells, g * size, (g + 1) * size, x, z, valid, n, known)
            if spearman >= 0:
                all_cubes = n * n * n - n
                values[spearman, g] = _cosine(product, (all_cubes - cubes) / 3.0, (all_cubes - cubes_h[g]) / 3.0, known)
            th, tm = tied_h[g] - both, tied - both
            d = pairs - th - tm - both - c
            for k in range(len(places)):
                above = _form(forms, k, 0, c, d, th, tm, both)
                one = _form(forms, k, 1, c, d, th, tm, both)
                two = _form(forms, k, 2, c, d, th, tm, both)
                values[places[k], g] = above / (sqrt(one) * sqrt(two)) if one > 0.5 and two > 0.5 else NAN


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _form(
    forms: Forms, k: Int, i: Int,
    c: cython.double, d: cython.double, th: cython.double, tm: cython.double, both: cython.double,
) -> cython.double:  # fmt: skip
    return forms[k, i, 0] * c + forms[k, i, 1] * d + forms[k, i, 2] * th + forms[k, i, 3] * tm + forms[k, i, 4] * both


@kernel
def mean_values(
    values: cython.const[cython.double][:, ::1], groups: cython.const[Times][:, ::1], total: Lanes, count: Lanes
):
    """Add up a strip of draws: values × times each group counts (groups × STRIP), in the order of the groups."""
    cython.declare(i=Int, g=Int, t=Int)
    with cython.nogil:
        for i in range(values.shape[0]):
            for g in range(values.shape[1]):
                value: cython.double = values[i, g]
                if isnan(value):
                    continue
                for t in range(STRIP):
                    times: cython.double = groups[g, t]
                    total[i, t] += times * value
                    count[i, t] += times
