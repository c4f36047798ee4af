"""Clipped n-gram overlaps of long outputs with their references, all orders in one pass, in time linear in their
length.

An n-gram of the output gets a small number, found in a hash table by the numbers of its first and of its last n−1
tokens: n-grams whose parts no reference has are never looked at.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, full, kernel

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, PRIME
else:
    from nlgauge.kernels.shared import ALL, PRIME

Int = cython.typedef(cython.Py_ssize_t)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Word = cython.typedef(cython.ulonglong)
Words = cython.typedef(cython.ulonglong[::1])
Found = cython.typedef(cython.int[:, ::1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _slot(a: Int, b: Int, keys: Words, mask: Int) -> Int:
    """Return the position of the pair in the hash table, or its free position."""
    key: Word = _key(a, b)
    slot: Int = ((key * PRIME & ALL) >> 32) & mask
    while keys[slot] != key and keys[slot] != ALL:
        slot = (slot + 1) & mask
    return slot


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(a: Int, b: Int) -> Word:
    high: Word = a
    low: Word = b
    return (high << 32) | low


@kernel
def long_overlaps(
    ids: Tokens,
    begin: Texts,
    length: Texts,
    output: Texts,
    reference: Texts,
    start: Texts,
    long: Int,
    by_pair: Found,
    by_sample: Found,
):
    """Fill in the samples whose output has more than `long` tokens, with the same result as `block_overlaps`."""
    cython.declare(s=Int, p=Int)
    longest: Int = 1
    most: Int = 1
    for s in range(len(output)):
        if start[s + 1] > start[s] and length[output[s]] > long:
            longest = max(longest, length[output[s]])
            total: Int = 0
            for p in range(start[s], start[s + 1]):
                total += length[reference[p]]
            most = max(most, total)
    room: OverlapRoom = OverlapRoom(longest, most)
    with cython.nogil:
        for s in range(len(output)):
            if start[s + 1] > start[s] and length[output[s]] > long:
                _sample(ids, begin, length, output, reference, start, s, by_pair, by_sample, room)


class OverlapRoom:
    """Room for outputs of `longest` tokens whose references have `most` together; its types are in long_overlaps.pxd.

    `out` and `flat` have the number of the n-gram at each place of the output and of its references.
    """

    def __init__(self, longest, most):
        size = 2
        while size < 2 * longest:
            size *= 2
        self.table = full(size, -1, "i")
        self.keys = full(size, ALL, "Q")
        self.out = empty(longest, "i")
        self.flat = empty(most, "i")
        self.counts = empty(longest, "i")
        self.seen = empty(longest, "i")
        self.best = empty(longest, "i")
        self.used = empty(longest, "i")


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sample(
    ids: Tokens,
    begin: Texts,
    length: Texts,
    output: Texts,
    reference: Texts,
    start: Texts,
    s: Int,
    by_pair: Found,
    by_sample: Found,
    room: OverlapRoom,
) -> cython.void:
    """Fill in one sample, order by order, until an order has no match."""
    cython.declare(i=Int, j=Int, k=Int, p=Int, g=Int, hits=Int, together=Int)
    m: Int = length[output[s]]
    mask: Int = 2
    while mask < 2 * m:
        mask *= 2
    mask -= 1
    for i in range(m):
        room.out[i] = ids[begin[output[s]] + i]
    for k in range(min(by_pair.shape[1], m)):
        kinds: Int = _number_output(m, k, mask, room)
        place: Int = 0
        for p in range(start[s], start[s + 1]):
            size: Int = length[reference[p]]
            if k == 0:
                for j in range(size):
                    room.flat[place + j] = ids[begin[reference[p]] + j]
            hits, together = _hits(place, size, k, mask, room)
            by_pair[p, k] = hits
            by_sample[s, k] += together
            place += size
            for g in range(kinds):
                room.seen[g] = 0
        for g in range(kinds):
            room.table[room.used[g]] = -1
            room.keys[room.used[g]] = ALL
        if by_sample[s, k] == 0:
            break
        for i in range(m - k):
            if room.out[i] >= 0 and room.best[room.out[i]] == 0:
                room.out[i] = -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _number_output(m: Int, k: Int, mask: Int, room: OverlapRoom) -> Int:
    """Number the n-grams of the output by those of their parts and count them; return the number of
    distinct n-grams.
    """
    cython.declare(i=Int)
    kinds: Int = 0
    for i in range(m - k):
        a: Int = 0
        b: Int = room.out[i]
        if k > 0:
            if room.out[i] < 0 or room.out[i + 1] < 0:
                room.out[i] = -1
                continue
            a = room.out[i]
            b = room.out[i + 1]
        slot: Int = _slot(a, b, room.keys, mask)
        g: Int = room.table[slot]
        if g < 0:
            g = kinds
            room.table[slot] = g
            room.keys[slot] = _key(a, b)
            room.used[g] = slot
            room.counts[g] = 0
            room.best[g] = 0
            room.seen[g] = 0
            kinds += 1
        room.out[i] = g
        room.counts[g] += 1
    return kinds


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hits(place: Int, size: Int, k: Int, mask: Int, room: OverlapRoom) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Count the matches of one reference, and those beyond the matches of earlier references."""
    cython.declare(j=Int)
    hits: Int = 0
    together: Int = 0
    for j in range(place, place + size - k):
        a: Int = 0
        b: Int = room.flat[j]
        if k > 0:
            if room.flat[j] < 0 or room.flat[j + 1] < 0:
                room.flat[j] = -1
                continue
            a = room.flat[j]
            b = room.flat[j + 1]
        g: Int = room.table[_slot(a, b, room.keys, mask)]
        room.flat[j] = g
        if g >= 0:
            now: cython.int = room.seen[g] + 1
            room.seen[g] = now
            hits += now <= room.counts[g]
            if now > room.best[g]:
                room.best[g] = now
                together += now <= room.counts[g]
    return hits, together
