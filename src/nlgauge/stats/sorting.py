"""Sorting that carries something along, and counts what it does. Both pass over memory in order, so big is not slow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

BLOCK = 16  # runs of so many are sorted by insertion before merging


@njit(cache=True, nogil=True)
def radix_sort(v: Any, carried: Any, keys: Any, spare: Any) -> None:
    """Sort finite `v` upward and take `carried` (int32) along; ties keep their order.

    Leaves in keys[0] whole numbers in the order of the sorted values, equal where the values are equal. Eight bits
    at a time; digits that all values share are skipped. `keys` (2×n) and `spare` are room to work in.
    """
    n = len(v)
    start = np.zeros((8, 256), np.int32)
    a, b = keys[0], keys[1]
    plain = a.view(np.float64)
    for i in range(n):
        plain[i] = v[i] + 0.0  # -0.0 becomes 0.0
    sign, byte, eight = np.uint64(1) << np.uint64(63), np.uint64(255), np.uint64(8)
    for i in range(n):
        key = a[i]
        # order of bits = order of values: flip all bits of negative numbers, the sign bit of the others
        key = ~key if key & sign else key | sign
        a[i] = key
        for d in range(8):
            start[d, key & byte] += 1
            key >>= eight
    here, there = carried, spare
    moved = False
    for d in range(8):
        shift = np.uint64(8 * d)
        if start[d, (a[0] >> shift) & byte] == n:
            continue
        before = 0
        for c in range(256):
            before, start[d, c] = before + start[d, c], before
        for i in range(n):
            digit = (a[i] >> shift) & byte
            to = start[d, digit]
            start[d, digit] = to + 1
            b[to] = a[i]
            there[to] = here[i]
        a, b = b, a
        here, there = there, here
        moved = not moved
    if moved:
        for i in range(n):  # a slice assignment would take seconds to compile
            b[i] = a[i]
            there[i] = here[i]


@njit(cache=True, nogil=True)
def merge_sort(v: Any, spare: Any) -> Any:
    """Sort whole numbers upward in place and count the inversions: pairs that stood the wrong way round."""
    n = len(v)
    inversions = np.int64(0)
    for start in range(0, n, BLOCK):
        for i in range(start + 1, min(start + BLOCK, n)):
            value, j = v[i], i
            while j > start and v[j - 1] > value:
                v[j] = v[j - 1]
                j -= 1
            v[j] = value
            inversions += i - j
    a, b = v, spare
    width, moved = BLOCK, False
    while width < n:
        for start in range(0, n, 2 * width):
            inversions += _merge(a, b, start, min(start + width, n), min(start + 2 * width, n))
        a, b = b, a
        width *= 2
        moved = not moved
    if moved:
        for i in range(n):
            v[i] = spare[i]
    return inversions


@njit(cache=True, nogil=True)
def _merge(a: Any, b: Any, start: Any, middle: Any, end: Any) -> Any:
    inversions = np.int64(0)
    i, j, to = start, middle, start
    while i < middle and j < end:
        left, right = a[i], a[j]
        take_right = np.int64(right < left)  # no branch: which side comes next cannot be guessed
        b[to] = right if take_right else left
        inversions += take_right * (middle - i)
        i += 1 - take_right
        j += take_right
        to += 1
    while i < middle:
        b[to] = a[i]
        i += 1
        to += 1
    while j < end:
        b[to] = a[j]
        j += 1
        to += 1
    return inversions
