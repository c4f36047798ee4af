"""Differences between the scores of one metric within groups, for tie calibration: counted, put into buckets, or
collected.

Points are stored group by group, sorted by the metric within each group; group g has start[g] … start[g + 1].
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, kernel, two_ways, zeros

if cython.compiled:
    from cython.cimports.libc.math import isfinite
    from cython.cimports.nlgauge.kernels.ordered import radix_sort
else:
    from math import isfinite

    from nlgauge.kernels.ordered import radix_sort

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Longs = cython.typedef(cython.const[cython.longlong][::1])


@kernel
def sorted_points(x: cython.const[cython.double][:, ::1], z: cython.const[cython.double][:, ::1]):
    """Return the points of each group that have a score and a rating, sorted by score, and the start of each group."""
    cython.declare(g=Int, i=Int)
    groups: Int = x.shape[0]
    size: Int = x.shape[1]
    xs: cython.double[::1] = empty(groups * size, "d")
    zs: cython.double[::1] = empty(groups * size, "d")
    start: cython.longlong[::1] = zeros(groups + 1, "q")
    v: cython.double[:, ::1] = empty((2, size), "d")
    order: cython.int[:, ::1] = empty((2, size), "i")
    count: cython.int[:, ::1] = empty((8, 256), "i")
    keys: cython.ulonglong[:, ::1]
    plain: cython.double[:, ::1]
    keys, plain = two_ways(2, size)
    at: Int = 0
    with cython.nogil:
        for g in range(groups):
            n: Int = 0
            for i in range(size):
                if isfinite(x[g, i]) and isfinite(z[g, i]):
                    v[0, n] = x[g, i]
                    v[1, n] = z[g, i]
                    n += 1
            if n > 0:
                for i in range(n):
                    order[0, i] = i
                radix_sort(v, 0, n, order, keys, plain, count)
            for i in range(n):
                xs[at + i] = v[0, order[0, i]]
                zs[at + i] = v[1, order[0, i]]
            at += n
            start[g + 1] = at
    return array(xs)[:at], array(zs)[:at], array(start)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _first_above(x: Reals, i: Int, first: Int, stop: Int, bound: cython.double, inclusive: cython.bint) -> Int:
    """Find the first of the points first … stop whose difference to i is at least the bound, or
    above it (`inclusive`).
    """
    while first < stop:
        middle: Int = (first + stop) // 2
        difference = x[middle] - x[i]
        if difference < bound or (inclusive and difference == bound):
            first = middle + 1
        else:
            stop = middle
    return first


@kernel
def count_range(x: Reals, start: Longs, low: cython.double, high: cython.double):
    """Count the differences in [low, high], and return their minimum and maximum."""
    cython.declare(g=Int, i=Int)
    count: Int = 0
    smallest, largest = high, low
    with cython.nogil:
        for g in range(len(start) - 1):
            for i in range(start[g], start[g + 1]):
                first: Int = _first_above(x, i, i + 1, start[g + 1], low, False)
                last: Int = _first_above(x, i, first, start[g + 1], high, True)
                if first < last:
                    count += last - first
                    smallest = min(smallest, x[first] - x[i])
                    largest = max(largest, x[last - 1] - x[i])
    return count, smallest, largest


@kernel
def fill_buckets(
    x: Reals,
    z: Reals,
    start: Longs,
    weight: Longs,
    low: cython.double,
    high: cython.double,
    shift: Int,
    buckets: cython.longlong[:, ::1],
):
    """Sum the weights per bucket of differences and kind of pair: 0 discordant, 1 tied by the ratings, 2 concordant."""
    cython.declare(g=Int, i=Int, j=Int)
    size: Int = 0
    for g in range(len(start) - 1):
        size = max(size, start[g + 1] - start[g])
    bits: cython.ulonglong[:, ::1]
    difference: cython.double[:, ::1]
    bits, difference = two_ways(1, size + 1)
    with cython.nogil:
        difference[0, size] = low
        lowest: cython.ulonglong = bits[0, size]
        for g in range(len(start) - 1):
            for i in range(start[g], start[g + 1]):
                first: Int = _first_above(x, i, i + 1, start[g + 1], low, False)
                last: Int = _first_above(x, i, first, start[g + 1], high, True)
                for j in range(first, last):
                    difference[0, j - first] = x[j] - x[i]
                for j in range(first, last):
                    kind: Int = (z[j] == z[i]) + 2 * (z[j] > z[i])
                    buckets[(bits[0, j - first] - lowest) >> shift, kind] += weight[g]


@kernel
def collect(
    x: Reals,
    z: Reals,
    start: Longs,
    weight: Longs,
    low: cython.double,
    high: cython.double,
    difference: cython.double[::1],
    gain: cython.longlong[::1],
):
    """Collect the differences in [low, high] of pairs that the ratings tie or order in the same way, and the gain of a
    tie.
    """
    cython.declare(g=Int, i=Int, j=Int)
    count: Int = 0
    with cython.nogil:
        for g in range(len(start) - 1):
            for i in range(start[g], start[g + 1]):
                first: Int = _first_above(x, i, i + 1, start[g + 1], low, False)
                last: Int = _first_above(x, i, first, start[g + 1], high, True)
                for j in range(first, last):
                    if z[j] >= z[i]:
                        difference[count] = x[j] - x[i]
                        gain[count] = weight[g] if z[j] == z[i] else -weight[g]
                        count += 1
    return count


@kernel
def gained(x: Reals, z: Reals, start: Longs, epsilon: cython.double):
    """Count the pairs per group that a tie at ε makes correct, minus those that it makes wrong."""
    cython.declare(g=Int, i=Int, j=Int)
    found: cython.longlong[::1] = zeros(len(start) - 1, "q")
    with cython.nogil:
        for g in range(len(start) - 1):
            for i in range(start[g], start[g + 1]):
                first: Int = _first_above(x, i, i + 1, start[g + 1], 5e-324, False)
                last: Int = _first_above(x, i, first, start[g + 1], epsilon, True)
                net: Int = 0
                for j in range(first, last):
                    net += z[j] == z[i]
                    net -= z[j] > z[i]
                found[g] += net
    return array(found)
