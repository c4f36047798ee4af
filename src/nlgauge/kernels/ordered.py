"""Sorting of values with an index, and counts on sorted values, all in sequential passes over memory.

`order` has two rows: the index that is sorted, and a buffer for sorting.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL
else:
    from nlgauge.kernels.shared import ALL

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Rows = cython.typedef(cython.double[:, ::1])
Numbers = cython.typedef(cython.int[:, ::1])
Places = cython.typedef(cython.int[::1])
Words = cython.typedef(cython.ulonglong[:, ::1])

SIGN = cython.declare(cython.ulonglong, 1 << 63)


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def radix_sort(v: Rows, row: Int, n: Int, order: Numbers, keys: Words, plain: Rows, start: Numbers) -> cython.void:
    """Sort the first n values of that row upward, all finite, and take row 0 of `order` along; ties keep their order.

    Leaves in keys[0] whole numbers in the order of the sorted values, equal where the values are equal. Eight bits at a
    time; digits that all values share are skipped. `plain` is `keys` seen as floats; `start` (8×256) is room to count
    in.
    """
    cython.declare(c=Int, d=Int, i=Int)
    here: Int = 0
    for d in range(8):
        for c in range(256):
            start[d, c] = 0
    for i in range(n):
        plain[0, i] = v[row, i] + 0.0  # -0.0 becomes 0.0
    for i in range(n):
        key: Word = keys[0, i]
        # order of bits = order of values: flip all bits of negative numbers, the sign bit of the others
        key = key ^ ALL if key & SIGN else key | SIGN
        keys[0, i] = key
        for d in range(8):
            start[d, key & 255] += 1
            key >>= 8
    for d in range(8):
        shift: Int = 8 * d
        if start[d, (keys[here, 0] >> shift) & 255] == n:
            continue
        before: cython.int = 0
        for c in range(256):
            many: cython.int = start[d, c]
            start[d, c] = before
            before += many
        for i in range(n):
            key = keys[here, i]
            digit: Int = (key >> shift) & 255
            to: Int = start[d, digit]
            start[d, digit] += 1
            keys[1 - here, to] = key
            order[1 - here, to] = order[here, i]
        here = 1 - here
    if here:
        for i in range(n):
            keys[0, i] = keys[1, i]
            order[0, i] = order[1, i]


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def merge_sort(order: Numbers, at: Int, n: Int) -> Int:
    """Sort n numbers of row 0 upward, from `at` on, and count the inversions: pairs that stood the wrong way round.

    Runs of 16 are sorted by insertion, then merged.
    """
    cython.declare(i=Int)
    inversions: Int = 0
    stop: Int = at + n
    first: Int = at
    while first < stop:
        for i in range(first + 1, min(first + 16, stop)):
            value: cython.int = order[0, i]
            j: Int = i
            while j > first and order[0, j - 1] > value:
                order[0, j] = order[0, j - 1]
                j -= 1
            order[0, j] = value
            inversions += i - j
        first += 16
    here: Int = 0
    width: Int = 16
    while width < n:
        first = at
        while first < stop:
            inversions += _merge(order, here, first, min(first + width, stop), min(first + 2 * width, stop))
            first += 2 * width
        here = 1 - here
        width *= 2
    if here:
        for i in range(at, stop):
            order[0, i] = order[1, i]
    return inversions


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _merge(order: Numbers, here: Int, start: Int, middle: Int, end: Int) -> Int:
    inversions: Int = 0
    there: Int = 1 - here
    i: Int = start
    j: Int = middle
    to: Int = start
    while i < middle and j < end:
        left: cython.int = order[here, i]
        right: cython.int = order[here, j]
        take_right: Int = right < left  # no branch: which side comes next cannot be guessed
        order[there, to] = right if right < left else left
        inversions += take_right * (middle - i)
        i += 1 - take_right
        j += take_right
        to += 1
    while i < middle:
        order[there, to] = order[here, i]
        i += 1
        to += 1
    while j < end:
        order[there, to] = order[here, j]
        j += 1
        to += 1
    return inversions


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _run_end(keys: Words, start: Int, n: Int) -> Int:
    end: Int = start + 1
    while end < n and keys[0, end] == keys[0, start]:
        end += 1
    return end


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def rank_levels(
    v: Rows, row: Int, n: Int, rank: Numbers, level: Numbers, order: Numbers, keys: Words, plain: Rows, start: Numbers
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Rank a row: count its tied pairs and distinct values, and fill in each point's level from 0 up and twice the
    centered rank.
    """
    cython.declare(i=Int)
    tied: Int = 0
    classes: Int = 0
    for i in range(n):
        order[0, i] = i
    radix_sort(v, row, n, order, keys, plain, start)
    at: Int = 0
    while at < n:
        end: Int = _run_end(keys, at, n)
        for i in range(at, end):
            level[row, order[0, i]] = classes
        rank[row, classes] = at + end - n
        tied += (end - at) * (end - at - 1) // 2
        classes += 1
        at = end
    return tied, classes


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def walk(
    keys: Words, n: Int, order: Numbers, rank: Numbers, h: Int
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t, cython.double, cython.double, cython.double]:
    """Walk up the sorted metric: its tied pairs, its distinct values, and the products and squares of the ranks."""
    cython.declare(i=Int)
    tied: Int = 0
    classes: Int = 0
    xz, xx, zz = 0.0, 0.0, 0.0
    start: Int = 0
    while start < n:
        end: Int = _run_end(keys, start, n)
        mine: cython.double = start + end - n
        for i in range(start, end):
            other: cython.double = rank[h, order[0, i]]
            xz += mine * other
            zz += other * other
        xx += mine * mine * (end - start)
        tied += (end - start) * (end - start - 1) // 2
        classes += 1
        start = end
    return tied, classes, xz, xx, zz


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def count_by_tree(
    keys: Words, n: Int, order: Numbers, classes: Int, tree: Places
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Count concordant pairs and pairs tied by both, from human levels in the order of the metric.

    The points of a run that the metric ties are first looked up and then entered, so that the run needs no sorting.
    """
    cython.declare(i=Int)
    at: Int
    concordant: Int = 0
    both: Int = 0
    for i in range(classes + 1):
        tree[i] = 0
    for i in range(classes):
        order[1, i] = 0  # how often the run has each level
    start: Int = 0
    while start < n:
        end: Int = _run_end(keys, start, n)
        for i in range(start, end):
            at = order[0, i]
            both += order[1, at]
            order[1, at] += 1
            while at > 0:
                concordant += tree[at]
                at &= at - 1
        for i in range(start, end):
            at = order[0, i]
            order[1, at] = 0
            at += 1
            while at <= classes:
                tree[at] += 1
                at += at & -at
        start = end
    return concordant, both


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def count_by_merging(keys: Words, n: Int, order: Numbers) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Count discordant pairs and pairs tied by both.

    The discordant pairs are the exchanges needed once each tied run is in order (Knight 1966).
    """
    cython.declare(i=Int)
    both: Int = 0
    start: Int = 0
    while start < n:
        end: Int = _run_end(keys, start, n)
        if end - start > 1:
            merge_sort(order, start, end - start)
            first: Int = start
            for i in range(start + 1, end + 1):
                if i == end or order[0, i] != order[0, first]:
                    both += (i - first) * (i - first - 1) // 2
                    first = i
        start = end
    return merge_sort(order, 0, n), both
