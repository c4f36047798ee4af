"""Clipped n-gram overlaps of outputs with their references, all orders in one pass.

An n-gram of the output gets a small number from the numbers of its first and of its last n−1 tokens, so n-grams whose
parts were not matched are never looked at. The number is looked up in a table with a place for every pair of parts
where that is small enough, else in a hash table; both are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

PLACES = 1 << 17


@njit(cache=True, nogil=True)
def overlaps(ids: Any, begin: Any, length: Any, output: Any, reference: Any, start: Any, order: Any) -> Any:
    """Matches of each pair (pairs × order) and of each output with the highest counts of any reference (samples × order).

    `reference[start[s]:start[s + 1]]` are the references of sample s; all texts are numbers into `begin` and `length`.
    """
    n = output.size
    by_pair, by_sample = np.zeros((reference.size, order), np.int32), np.zeros((n, order), np.int32)
    longest, most = 1, 1
    for s in range(n):
        if start[s + 1] > start[s]:
            longest = max(longest, length[output[s]])
            total = 0
            for p in range(start[s], start[s + 1]):
                total += length[reference[p]]
            most = max(most, total)
    size = 2
    while size < 2 * longest:
        size *= 2
    table, keys = np.full(max(PLACES, size), -1, np.int32), np.full(size, -1, np.int64)
    out, ref = (
        np.empty(longest, np.int32),
        np.empty(most, np.int32),
    )  # the number of the n-gram at each place, or −1
    counts, seen, best = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.int32)
    used = np.empty(longest, np.int64)
    for s in range(n):
        if start[s + 1] == start[s]:
            continue
        first, m = begin[output[s]], length[output[s]]
        mask = 2
        while mask < 2 * m:
            mask *= 2
        mask -= 1
        kinds, matched = 0, True
        for k in range(order):
            if not matched or m <= k:
                break
            parts = kinds
            if k == 0:
                direct = True
                for i in range(m):
                    direct = direct and ids[first + i] < PLACES
            else:
                direct = parts * parts <= 4096
            kinds = 0
            for i in range(m - k):
                a, b = np.int64(0), np.int64(0)
                if k == 0:
                    b = np.int64(ids[first + i])
                else:
                    a, b = np.int64(out[i]), np.int64(out[i + 1])
                    if a < 0 or b < 0 or best[a] == 0 or best[b] == 0:
                        out[i] = -1
                        continue
                slot = _slot(a, b, direct, parts, keys, mask)
                g = table[slot]
                if g < 0:
                    g = np.int32(kinds)
                    table[slot] = g
                    if not direct:
                        keys[slot] = (a << 32) | b
                    used[kinds] = slot
                    seen[kinds] = 0
                    kinds += 1
                out[i] = g
                seen[g] += 1
            for g in range(kinds):
                counts[g] = seen[g]
                best[g] = 0
            place, together = 0, 0
            for p in range(start[s], start[s + 1]):
                begins, size_r = begin[reference[p]], length[reference[p]]
                for g in range(kinds):
                    seen[g] = 0
                hits = 0
                for j in range(size_r - k):
                    a, b = np.int64(0), np.int64(0)
                    if k == 0:
                        b = np.int64(ids[begins + j])
                        if direct and b >= PLACES:
                            ref[place + j] = -1
                            continue
                    else:
                        a, b = np.int64(ref[place + j]), np.int64(ref[place + j + 1])
                        if a < 0 or b < 0:
                            ref[place + j] = -1
                            continue
                    g = table[_slot(a, b, direct, parts, keys, mask)]
                    ref[place + j] = g
                    if g >= 0:
                        seen[g] += 1
                        hits += seen[g] <= counts[g]
                        if seen[g] > best[g]:
                            best[g] = seen[g]
                            together += best[g] <= counts[g]
                by_pair[p, k] = hits
                place += size_r
            by_sample[s, k] = together
            matched = together > 0
            for g in range(kinds):
                table[used[g]] = -1
                if not direct:
                    keys[used[g]] = -1
    return by_pair, by_sample


@njit(cache=True, nogil=True)
def _slot(a: Any, b: Any, direct: Any, parts: Any, keys: Any, mask: Any) -> Any:
    """Where the pair stands in the table, or would stand."""
    if direct:
        return a * parts + b
    key = (a << 32) | b
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while keys[slot] != key and keys[slot] != -1:
        slot = (slot + 1) & mask
    return slot
