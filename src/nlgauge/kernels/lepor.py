"""Word alignment of LEPOR and extractive fragments: both use the positions of an output's words in another text."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, full, kernel, zeros

Int = cython.typedef(cython.Py_ssize_t)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _index(ids: Tokens, first: Int, n: Int, head: Ids, after: Ids) -> cython.void:
    """Link the places of each token in order: `head[token]` is the first, `after[j]` the next one, −1 ends."""
    cython.declare(j=Int)
    for j in range(n - 1, -1, -1):
        after[j] = head[ids[first + j]]
        head[ids[first + j]] = j


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _same_neighbors(ids: Tokens, h: Int, i: Int, m: Int, r: Int, j: Int, n: Int, window: Int) -> cython.bint:
    """Return whether positions i and j have equal neighbors at the same offset."""
    cython.declare(k=Int)
    for k in range(-window, window + 1):
        if k != 0 and 0 <= i + k < m and 0 <= j + k < n and ids[h + i + k] == ids[r + j + k]:
            return True
    return False


@kernel
def positions(ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, window: Int, kinds: Int):
    """Count the aligned words of each pair, and sum their position differences.

    A word of the output, from left to right, is aligned with a free equal word of the reference: one with an equal
    neighbor at the same offset within `window` words before one without, then the nearest, then the first.
    """
    cython.declare(p=Int, i=Int)
    j: Int
    found: Longs = zeros(len(reference), "q")
    apart: cython.double[::1] = zeros(len(reference), "d")
    longest: Int = 1
    for p in range(len(reference)):
        longest = max(longest, length[reference[p]])
    head: Ids = full(kinds, -1, "i")
    after: Ids = empty(longest, "i")
    taken: cython.uchar[::1] = empty(longest, "B")
    with cython.nogil:
        for p in range(len(reference)):
            h: Int = begin[output[p]]
            m: Int = length[output[p]]
            r: Int = begin[reference[p]]
            n: Int = length[reference[p]]
            _index(ids, r, n, head, after)
            for j in range(n):
                taken[j] = 0
            for i in range(m):
                best: Int = -1
                near: Int = 0
                supported: cython.bint = False
                j = head[ids[h + i]]
                while j >= 0:
                    if not taken[j]:
                        context: cython.bint = _same_neighbors(ids, h, i, m, r, j, n, window)
                        distance: Int = i - j if i > j else j - i
                        if best < 0 or (context and not supported) or (context == supported and distance < near):
                            best = j
                            near = distance
                            supported = context
                    j = after[j]
                if best >= 0:
                    taken[best] = 1
                    found[p] += 1
                    here: cython.double = i + 1
                    there: cython.double = best + 1
                    apart[p] += abs(here / m - there / n)
            for j in range(n):
                head[ids[r + j]] = -1
    return array(found), array(apart)


@kernel
def fragments(ids: Tokens, begin: Texts, length: Texts, output: Texts, source: Texts, kinds: Int):
    """Count the words of the output in fragments copied from the source, and sum the squared fragment lengths.

    The greedy procedure of Grusky et al. (2018), figure 2: at each word of the output the longest match, where a match
    that was read is skipped in the source.
    """
    cython.declare(p=Int)
    j: Int
    words: Longs = zeros(len(output), "q")
    squares: Longs = zeros(len(output), "q")
    longest: Int = 1
    for p in range(len(output)):
        longest = max(longest, length[source[p]])
    head: Ids = full(kinds, -1, "i")
    after: Ids = empty(longest, "i")
    with cython.nogil:
        for p in range(len(output)):
            h: Int = begin[output[p]]
            m: Int = length[output[p]]
            s: Int = begin[source[p]]
            n: Int = length[source[p]]
            _index(ids, s, n, head, after)
            i: Int = 0
            while i < m:
                best: Int = 0
                free: Int = 0
                j = head[ids[h + i]]
                while j >= 0:
                    if j >= free:
                        size: Int = 1
                        while i + size < m and j + size < n and ids[h + i + size] == ids[s + j + size]:
                            size += 1
                        best = max(best, size)
                        free = j + size
                    j = after[j]
                words[p] += best
                squares[p] += best * best
                i += max(best, 1)
            for j in range(n):
                head[ids[s + j]] = -1
    return array(words), array(squares)
