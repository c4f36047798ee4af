"""Clipped n-gram overlaps of outputs with their references, 64 places of the output at a time.

Bit i of a word stands for place i of a block of the output. For each place j of a reference the word says where in the
block the n-gram that begins at j stands; the next order is an "and" with the places of one more token, shifted. A match
takes the first place that is free, so the places taken are the clipped count; and as each reference takes the first
ones, the places that any reference has taken are the count against the highest of them. Texts of more than LONG tokens
go by hash tables.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from typing import Any

import numpy as np

from nlgauge.kernels._room import empty, kernel, zeros
from nlgauge.kernels.long_overlaps import long_overlaps

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, bit, popcount
else:
    from nlgauge.kernels.shared import ALL, bit, popcount

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Words = cython.typedef(cython.ulonglong[::1])
Grid = cython.typedef(cython.ulonglong[:, ::1])
Found = cython.typedef(cython.int[:, ::1])

LONG = 768  # tokens of an output: from about here on hash tables are quicker
ORDERS = 32  # half a block


def overlaps(ids: Any, begin: Any, length: Any, output: Any, reference: Any, start: Any, kinds: Any, order: Any) -> Any:
    """Count the matches of each pair (pairs × order), and of each output with the highest counts of any reference
    (samples × order).

    `reference[start[s]:start[s + 1]]` are the references of sample s. All texts are indices into `begin` and `length`;
    `kinds` is larger than every token ID.
    """
    found = np.zeros((len(reference), order), np.int32), np.zeros((len(output), order), np.int32)
    long = LONG if order <= ORDERS else 0
    if long:
        block_overlaps(ids, begin, length, output, reference, start, kinds, long, *found)
    if length[output].max(initial=0) > long:
        long_overlaps(ids, begin, length, output, reference, start, long, *found)
    return found


@kernel
def block_overlaps(
    ids: Tokens,
    begin: Texts,
    length: Texts,
    output: Texts,
    reference: Texts,
    start: Texts,
    kinds: Int,
    long: Int,
    by_pair: Found,
    by_sample: Found,
):
    """Fill in the samples whose output has at most `long` tokens; see `overlaps` for what they are."""
    cython.declare(s=Int, p=Int, i=Int, j=Int, k=Int)
    order: Int = by_pair.shape[1]
    samples: Int = len(output)
    most: Int = _most(length, reference, start)
    stands: Words = zeros(kinds, "Q")  # where the block has each token
    places: Words = empty(most + order + 1, "Q")
    alive: cython.uint[::1] = empty(most + 1, "I")
    grams: Words = empty(most + 1, "Q")
    matched: Grid = empty((order, most + 1), "Q")
    taken: Words = empty(order, "Q")
    by_any: Words = empty(order, "Q")
    with cython.nogil:
        for s in range(samples):
            h: Int = begin[output[s]]
            m: Int = length[output[s]]
            if start[s + 1] == start[s] or m > long:
                continue
            # Several blocks overlap, so that an n-gram that begins in a block also ends there.
            step: Int = 64 if m <= 64 else 65 - order
            first: Int = 0
            while first < m:
                size: Int = min(64, m - first)
                begins: Word = ALL if first + size == m else ALL >> (64 - step)
                for i in range(size):
                    stands[ids[h + first + i]] |= bit(i)
                for k in range(order):
                    by_any[k] = 0
                at: Int = 0
                for p in range(start[s], start[s + 1]):
                    r: Int = begin[reference[p]]
                    n: Int = length[reference[p]]
                    _look(ids, r, n, stands, places, order, matched, at, first == 0)
                    _take(places, n, begins, alive, grams, matched, at, taken)
                    at += n
                    for k in range(order):
                        by_pair[p, k] += popcount(taken[k])
                        by_any[k] |= taken[k]
                for k in range(order):
                    by_sample[s, k] += popcount(by_any[k])
                for i in range(size):
                    stands[ids[h + first + i]] = 0
                if first + size == m:
                    break
                first += step


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _most(length: Texts, reference: Texts, start: Texts) -> Int:
    """Return the largest total number of tokens in the references of one sample."""
    cython.declare(s=Int, p=Int)
    most: Int = 0
    for s in range(len(start) - 1):
        total: Int = 0
        for p in range(start[s], start[s + 1]):
            total += length[reference[p]]
        most = max(most, total)
    return most


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _look(
    ids: Tokens, r: Int, n: Int, stands: Words, places: Words, order: Int, matched: Grid, at: Int, begun: cython.bint
) -> cython.void:
    """Look up the positions at which the block has each token of a reference, and clear the matches if `begun`."""
    cython.declare(j=Int, k=Int)
    for j in range(n):
        places[j] = stands[ids[r + j]]
    for j in range(n, n + order):
        places[j] = 0
    if begun:
        for k in range(order):
            for j in range(at, at + n):
                matched[k, j] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _take(
    places: Words, n: Int, begins: Word, alive: cython.uint[::1], grams: Words, matched: Grid, at: Int, taken: Words
) -> cython.void:
    """Assign the positions of a block to a reference, by order; `places[j]` are those of its token j.

    `matched[k, at + j]` is 1 if its n-gram at j has been matched in this block or an earlier one. No branch depends on
    the texts: list entries are always written, and the list only grows if the entry is to stay.
    """
    cython.declare(j=Int, k=Int, x=Int)
    left: Int = n
    for j in range(n):
        alive[j] = j
        grams[j] = places[j]
    for k in range(len(taken)):
        used: Word = 0
        kept: Int = 0
        more: Int = k + 1
        for x in range(left):
            j = alive[x]
            where: Word = grams[x]
            free: Word = where & begins & (ALL ^ used) & (ALL ^ matched[k, at + j])
            place: Word = free & ((ALL ^ free) + 1)  # the lowest
            used |= place
            matched[k, at + j] |= ALL if place else 0
            where &= places[j + more] >> more
            alive[kept] = j
            grams[kept] = where
            kept += where != 0
        taken[k] = used
        left = kept
