"""Clipped n-gram overlaps of long outputs with their references, all orders in one pass, in time linear in their
length.

An n-gram of the output gets a small number, found by the numbers of its first and of its last n−1 tokens: n-grams whose
parts no reference has are never looked at. The number is looked up in a table with a place for every pair of parts
where that is small enough, else in a hash table; both are exact.
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

PLACES = 1 << 17
SMALL = cython.declare(cython.Py_ssize_t, 1 << 12)  # places of the table that stay in the nearest cache


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _slot(a: Int, b: Int, keys: Words, mask: Int) -> Int:
    """Where the pair stands in the hash table, or would stand."""
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
    ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, start: Texts, long: Int,
    by_pair: Found, by_sample: Found,
):  # fmt: skip
    """As `block_overlaps`: fill in the samples whose output has more than `long` tokens."""
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
    size: Int = 2
    while size < 2 * longest:
        size *= 2
    table: Ids = full(max(PLACES, size), -1, "i")
    keys: Words = full(size, ALL, "Q")
    out: Ids = empty(longest, "i")  # the number of the n-gram at each place
    flat: Ids = empty(most, "i")
    counts: Ids = empty(longest, "i")
    seen: Ids = empty(longest, "i")
    best: Ids = empty(longest, "i")
    used: Ids = empty(longest, "i")
    with cython.nogil:
        for s in range(len(output)):
            if start[s + 1] > start[s] and length[output[s]] > long:
                _sample(ids, begin, length, output, reference, start, s, by_pair, by_sample,
                        table, keys, out, flat, counts, seen, best, used)  # fmt: skip


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sample(
    ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, start: Texts, s: Int,
    by_pair: Found, by_sample: Found,
    table: Ids, keys: Words, out: Ids, flat: Ids, counts: Ids, seen: Ids, best: Ids, used: Ids,
) -> cython.void:  # fmt: skip
    cython.declare(i=Int, j=Int, k=Int, p=Int)
    a: Int
    b: Int
    g: Int
    slot: Int
    text: Int = begin[output[s]]
    m: Int = length[output[s]]
    mask: Int = 2
    while mask < 2 * m:
        mask *= 2
    mask -= 1
    kinds: Int = 0
    places: Int = 1 << 17
    for k in range(min(by_pair.shape[1], m)):
        parts: Int = kinds
        direct: cython.bint = parts * parts <= SMALL
        if k == 0:
            direct = True
            for i in range(m):
                if ids[text + i] >= places:
                    direct = False
        kinds = 0
        for i in range(m - k):
            a = 0
            b = ids[text + i]
            if k > 0:
                if out[i] < 0 or out[i + 1] < 0:
                    out[i] = -1
                    continue
                a = out[i]
                b = out[i + 1]
            slot = a * parts + b if direct else _slot(a, b, keys, mask)
            g = table[slot]
            if g < 0:
                g = kinds
                table[slot] = g
                if not direct:
                    keys[slot] = _key(a, b)
                used[g] = slot
                counts[g] = 0
                best[g] = 0
                seen[g] = 0
                kinds += 1
            out[i] = g
            counts[g] += 1
        place: Int = 0
        together: Int = 0
        for p in range(start[s], start[s + 1]):
            other: Int = begin[reference[p]]
            size: Int = length[reference[p]]
            if k == 0:
                for j in range(size):
                    flat[place + j] = ids[other + j]
            hits: Int = 0
            for j in range(place, place + size - k):
                a = 0
                b = flat[j]
                if k > 0:
                    if flat[j] < 0 or flat[j + 1] < 0:
                        flat[j] = -1
                        continue
                    a = flat[j]
                    b = flat[j + 1]
                elif direct and b >= places:
                    flat[j] = -1
                    continue
                g = table[a * parts + b if direct else _slot(a, b, keys, mask)]
                flat[j] = g
                if g >= 0:
                    now: cython.int = seen[g] + 1
                    seen[g] = now
                    hits += now <= counts[g]
                    if now > best[g]:
                        best[g] = now
                        together += now <= counts[g]
            by_pair[p, k] = hits
            place += size
            for g in range(kinds):
                seen[g] = 0
        by_sample[s, k] = together
        for g in range(kinds):
            table[used[g]] = -1
            if not direct:
                keys[used[g]] = ALL
        if together == 0:
            break
        for i in range(m - k):
            if out[i] >= 0 and best[out[i]] == 0:
                out[i] = -1
