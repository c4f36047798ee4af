"""Clipped n-gram overlaps of outputs with their references, 64 places of the output at a time.

Bit i of a word stands for place i of a block of the output. For each place j of a reference the word says where in the
block the n-gram that begins at j stands; the next order is an "and" with the places of one more token, shifted. A match
takes the first place that is free, so the places taken are the clipped count; and as each reference takes the first ones,
the places that any reference has taken are the count against the highest of them.
Texts of more than LONG tokens go by hash tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nlgauge.metrics.kernels.long_overlaps import long_overlaps
from nlgauge.metrics.kernels.sequences import popcount

LONG = 768  # tokens of an output: from about here on hash tables are quicker
ORDERS = 32  # half a block
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE, ZERO = np.uint64(1), np.uint64(0)


def overlaps(
    ids: Any, begin: Any, length: Any, output: Any, reference: Any, start: Any, kinds: int, order: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Matches of each pair (pairs × order) and of each output with the highest counts of any reference (samples × order).

    `reference[start[s]:start[s + 1]]` are the references of sample s; all texts are numbers into `begin` and `length`;
    `kinds` is above every token id.
    """
    found = np.zeros((len(reference), order), np.int32), np.zeros((len(output), order), np.int32)
    long = LONG if order <= ORDERS else 0
    if long:
        block_overlaps(ids, begin, length, output, reference, start, kinds, long, *found)
    if length[output].max(initial=0) > long:
        long_overlaps(ids, begin, length, output, reference, start, long, *found)
    return found


@njit(cache=True, nogil=True)
def block_overlaps(
    ids: Any, begin: Any, length: Any, output: Any, reference: Any, start: Any, kinds: Any, long: Any, by_pair: Any,
    by_sample: Any,
) -> None:  # fmt: skip
    """Fill in the samples whose output has at most `long` tokens."""
    order, most = by_pair.shape[1], 0
    for s in range(output.size):
        total = 0
        for p in range(start[s], start[s + 1]):
            total += length[reference[p]]
        most = max(most, total)
    stands = np.zeros(kinds, np.uint64)  # where the block has each token
    places, alive = np.empty(most + order, np.uint64), np.empty(most, np.uint32)
    grams, matched = np.empty(most, np.uint64), np.empty((order, most), np.uint64)
    taken, by_any = np.empty(order, np.uint64), np.empty(order, np.uint64)
    for s in range(output.size):
        h, m = begin[output[s]], length[output[s]]
        if start[s + 1] == start[s] or m > long:
            continue
        # Several blocks overlap, so that an n-gram that begins in a block also ends there.
        step = 64 if m <= 64 else 65 - order
        for first in range(0, m, step):
            size = min(64, m - first)
            begins = ONES if first + size == m else ONES >> np.uint64(64 - step)
            for i in range(size):
                stands[np.uint32(ids[h + first + i])] |= ONE << np.uint64(i)
            by_any[:] = ZERO
            at = 0
            for p in range(start[s], start[s + 1]):
                r, n = begin[reference[p]], length[reference[p]]
                for j in range(n):
                    places[j] = stands[np.uint32(ids[r + j])]
                places[n : n + order] = ZERO
                if first == 0:
                    matched[:, at : at + n] = ZERO
                _take(places, n, begins, alive, grams, matched[:, at:], taken)
                at += n
                for k in range(order):
                    by_pair[p, k] += popcount(taken[k])
                    by_any[k] |= taken[k]
            for k in range(order):
                by_sample[s, k] += popcount(by_any[k])
            for i in range(size):
                stands[np.uint32(ids[h + first + i])] = ZERO
            if first + size == m:
                break


@njit(cache=True, nogil=True)
def _take(places: Any, n: Any, begins: Any, alive: Any, grams: Any, matched: Any, taken: Any) -> None:
    """The places of a block that a reference takes, by order; `places[j]` are those of its token j.

    `matched[k, j]` are ones where its n-gram at j has found a place in this block or one before. No branch depends on the
    texts: lists are written first, and grow after if what was written is to stay.
    """
    left = np.uint64(n)
    for j in range(left):
        alive[j], grams[j] = j, places[j]
    for k in range(taken.size):
        used, kept, more = ZERO, ZERO, np.uint64(k + 1)
        for x in range(left):
            j, where = alive[x], grams[x]
            free = where & begins & ~used & ~matched[k, j]
            place = free & (ZERO - free)  # the lowest
            used |= place
            matched[k, j] |= ZERO - np.uint64(place != ZERO)
            where &= places[j + more] >> more
            alive[kept], grams[kept] = j, where
            kept += np.uint64(where != ZERO)
        taken[k], left = used, kept
