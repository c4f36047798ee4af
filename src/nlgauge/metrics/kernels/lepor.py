"""Word alignment of LEPOR and extractive fragments: both walk over an output and the places of its words in another text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _index(ids: Any, first: Any, n: Any, head: Any, after: Any) -> None:
    """Link the places of each token in order: `head[token]` is the first, `after[j]` the next one, −1 ends."""
    for j in range(n - 1, -1, -1):
        after[j] = head[ids[first + j]]
        head[ids[first + j]] = j


@njit(cache=True, nogil=True)
def positions(ids: Any, begin: Any, length: Any, output: Any, reference: Any, window: Any, kinds: Any) -> Any:
    """Aligned words and the sum of their position differences, of each pair.

    A word of the output, from left to right, is aligned with a free equal word of the reference: one with an equal
    neighbour at the same offset within `window` words before one without, then the nearest, then the first.
    """
    found, apart = np.zeros(reference.size, np.int64), np.zeros(reference.size)
    longest = 1
    for p in range(reference.size):
        longest = max(longest, length[reference[p]])
    head, after, taken = (
        np.full(kinds, -1, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest, np.bool_),
    )
    for p in range(reference.size):
        h, m, r, n = begin[output[p]], length[output[p]], begin[reference[p]], length[reference[p]]
        _index(ids, r, n, head, after)
        for j in range(n):
            taken[j] = False
        for i in range(m):
            best, near, supported = -1, 0, False
            j = head[ids[h + i]]
            while j >= 0:
                if not taken[j]:
                    context = False
                    for k in range(-window, window + 1):
                        inside = k != 0 and 0 <= i + k < m and 0 <= j + k < n
                        context = context or (inside and ids[h + i + k] == ids[r + j + k])
                    distance = abs(i - j)
                    if best < 0 or (context and not supported) or (context == supported and distance < near):
                        best, near, supported = j, distance, context
                j = after[j]
            if best >= 0:
                taken[best] = True
                found[p] += 1
                apart[p] += abs((i + 1) / m - (best + 1) / n)
        for j in range(n):
            head[ids[r + j]] = -1
    return found, apart


@njit(cache=True, nogil=True)
def fragments(ids: Any, begin: Any, length: Any, output: Any, source: Any, kinds: Any) -> Any:
    """Words of the output in fragments copied from the source, and the sum of squared fragment lengths.

    The greedy procedure of Grusky et al. (2018), figure 2: at each word of the output the longest match, where a match
    that was read is skipped in the source.
    """
    words, squares = np.zeros(output.size, np.int64), np.zeros(output.size, np.int64)
    longest = 1
    for p in range(output.size):
        longest = max(longest, length[source[p]])
    head, after = np.full(kinds, -1, np.int32), np.empty(longest, np.int32)
    for p in range(output.size):
        h, m, s, n = begin[output[p]], length[output[p]], begin[source[p]], length[source[p]]
        _index(ids, s, n, head, after)
        i = 0
        while i < m:
            best, free = 0, 0
            j = head[ids[h + i]]
            while j >= 0:
                if j >= free:
                    size = 1
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
    return words, squares
