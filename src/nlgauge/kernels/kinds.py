"""Multinomial resampling of kinds of units, and their ordinal disagreement."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, kernel

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Reals = cython.typedef(cython.double[::1])
Table = cython.typedef(cython.double[:, ::1])
Places = cython.typedef(cython.const[cython.longlong][::1])


@kernel
@cython.overflowcheck(False)
def tally(words: cython.const[cython.ulonglong][::1], members: Places, size: Int, counts: Table):
    """Draw `size` of the members with replacement for each row of `counts` and add up the kinds; how many rows were
    filled.

    `words` are random bits; each half of one draws a member, all with the same probability (Lemire 2019: the few
    numbers that would favor some members are left out). A row for which the words do not suffice is 0.
    """
    cython.declare(row=Int, k=Int)
    many: Word = len(members)
    span: Word = 1
    span <<= 32
    unfair: Word = span % many
    low: Word = span - 1
    done: Int = 0
    at: Int = 0
    last: Int = 2 * len(words)
    with cython.nogil:
        for row in range(counts.shape[0]):
            for k in range(counts.shape[1]):
                counts[row, k] = 0.0
            drawn: Int = 0
            while drawn < size and at < last:
                word: Word = words[at >> 1]
                half: Word = word >> 32 if at & 1 else word & low
                at += 1
                product: Word = half * many
                if product & low >= unfair:
                    counts[row, members[product >> 32]] += 1.0
                    drawn += 1
            if drawn < size:
                for k in range(counts.shape[1]):
                    counts[row, k] = 0.0
                break
            done += 1
    return done


@kernel
def ordinal(counts: cython.const[cython.double][:, ::1], start: Places, code: Places, values: Int):
    """Compute the sums of Krippendorff's alpha for mid-ranks, for each row of counts: observed and expected
    disagreement.

    Kind k has the ratings code[start[k]:start[k + 1]]; kinds of one size should follow each other. Mid-ranks are halves
    of whole numbers, so sums of them are exact.
    """
    cython.declare(row=Int, k=Int, i=Int)
    rows: Int = counts.shape[0]
    rank: Reals = empty(values, "d")
    found: Table = empty((2, rows), "d")
    with cython.nogil:
        for row in range(rows):
            for i in range(values):
                rank[i] = 0.0
            for k in range(counts.shape[1]):
                times = counts[row, k]
                for i in range(start[k], start[k + 1]):
                    rank[code[i]] += times
            n = 0.0
            for i in range(values):
                n += rank[i]
            below = -n / 2.0
            for i in range(values):
                own = rank[i]
                rank[i] = below + own / 2.0
                below += own
            observed, expected = 0.0, 0.0
            for k in range(counts.shape[1]):
                total, squares = 0.0, 0.0
                for i in range(start[k], start[k + 1]):
                    own = rank[code[i]]
                    total += own
                    squares += own * own
                times = counts[row, k]
                many: cython.double = start[k + 1] - start[k]
                observed += times * 2.0 * (many * squares - total * total) / (many - 1.0)
                expected += times * squares
            found[0, row] = observed
            found[1, row] = 2.0 * n * expected / (n - 1.0)
    return array(found)
