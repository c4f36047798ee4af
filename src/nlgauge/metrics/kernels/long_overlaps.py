"""Clipped n-gram overlaps of long outputs with their references, all orders in one pass, in time linear in their length.

An n-gram of the output gets a small number, found by the numbers of its first and of its last n−1 tokens: n-grams whose
parts no reference has are never looked at. The number is looked up in a table with a place for every pair of parts where
that is small enough, else in a hash table; both are exact. (Unsigned numbers, because a signed index may count from the
end, and to check that costs as much as the rest of the loop.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

PLACES = 1 << 17
SMALL = 1 << 12  # places of the table that stay in the nearest cache
NONE = np.uint32(0xFFFFFFFF)
FREE = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def long_overlaps(
    ids: Any,
    begin: Any,
    length: Any,
    output: Any,
    reference: Any,
    start: Any,
    long: Any,
    by_pair: Any,
    by_sample: Any,
) -> None:
    """As `overlaps`: fill in the samples whose output has more than `long` tokens."""
    n, order = output.size, by_pair.shape[1]
    longest, most = 1, 1
    for s in range(n):
        if start[s + 1] > start[s] and length[output[s]] > long:
            longest = max(longest, length[output[s]])
            total = 0
            for p in range(start[s], start[s + 1]):
                total += length[reference[p]]
            most = max(most, total)
    size = 2
    while size < 2 * longest:
        size *= 2
    table, keys = np.full(max(PLACES, size), NONE, np.uint32), np.full(size, FREE, np.uint64)
    out, flat = (
        np.empty(longest, np.uint32),
        np.empty(most, np.uint32),
    )  # the number of the n-gram at each place
    counts, seen = np.empty(longest, np.uint32), np.empty(longest, np.uint32)
    best, used = np.empty(longest, np.uint32), np.empty(longest, np.uint64)
    for s in range(n):
        m = length[output[s]]
        if start[s + 1] == start[s] or m <= long:
            continue
        text = ids[begin[output[s]] : begin[output[s]] + m]
        mask = 2
        while mask < 2 * m:
            mask *= 2
        mask -= 1
        kinds = np.uint64(0)
        for k in range(min(order, m)):
            parts = kinds
            direct = bool(parts * parts <= np.uint64(SMALL))
            if k == 0:
                highest = 0
                for i in range(m):
                    highest = max(highest, text[i])
                direct = highest < PLACES
            kinds = np.uint64(0)
            for i in range(m - k):
                a, b = np.uint64(0), np.uint64(text[i])
                if k > 0:
                    if out[i] == NONE or out[i + 1] == NONE:
                        out[i] = NONE
                        continue
                    a, b = np.uint64(out[i]), np.uint64(out[i + 1])
                slot = a * parts + b if direct else _slot(a, b, keys, mask)
                g = table[slot]
                if g == NONE:
                    g = np.uint32(kinds)
                    table[slot] = g
                    if not direct:
                        keys[slot] = (a << np.uint64(32)) | b
                    used[kinds] = slot
                    counts[kinds] = 0
                    best[kinds] = 0
                    seen[kinds] = 0
                    kinds += np.uint64(1)
                out[i] = g
                counts[g] += np.uint32(1)
            place, together = 0, 0
            for p in range(start[s], start[s + 1]):
                size_r = length[reference[p]]
                ref = flat[place : place + size_r]
                if k == 0:
                    other = ids[begin[reference[p]] : begin[reference[p]] + size_r]
                    for j in range(size_r):
                        ref[j] = other[j]
                hits = 0
                for j in range(size_r - k):
                    a, b = np.uint64(0), np.uint64(ref[j])
                    if k > 0:
                        if ref[j] == NONE or ref[j + 1] == NONE:
                            ref[j] = NONE
                            continue
                        a, b = np.uint64(ref[j]), np.uint64(ref[j + 1])
                    elif direct and b >= np.uint64(PLACES):
                        ref[j] = NONE
                        continue
                    g = table[a * parts + b if direct else _slot(a, b, keys, mask)]
                    ref[j] = g
                    if g != NONE:
                        now = seen[g] + np.uint32(1)
                        seen[g] = now
                        hits += now <= counts[g]
                        if now > best[g]:
                            best[g] = now
                            together += now <= counts[g]
                by_pair[p, k] = hits
                place += size_r
                for g in range(kinds):
                    seen[g] = 0
            by_sample[s, k] = together
            for g in range(kinds):
                table[used[g]] = NONE
                if not direct:
                    keys[used[g]] = FREE
            if together == 0:
                break
            for i in range(m - k):
                if out[i] != NONE and best[out[i]] == 0:
                    out[i] = NONE


@njit(cache=True, nogil=True)
def _slot(a: Any, b: Any, keys: Any, mask: Any) -> Any:
    """Where the pair stands in the hash table, or would stand."""
    key = (a << np.uint64(32)) | b
    slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & np.uint64(mask)
    while keys[slot] != key and keys[slot] != FREE:
        slot = (slot + np.uint64(1)) & np.uint64(mask)
    return slot
