"""The rarer members of the ROUGE family: union LCS over sentences, weighted LCS, skip-bigrams."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

TOO_LONG = -1
CELLS = 1 << 30  # of a table of one byte each
PAIRS = 1 << 27


@njit(cache=True, nogil=True)
def _common(ids: Any, r: Any, m: Any, c: Any, n: Any, way: Any, row: Any, member: Any) -> None:
    """Mark the tokens of a reference sentence that one LCS with an output sentence uses.

    Of several LCS the one that rouge_score reads out: from the end, a match first, then the longer side, then up.
    """
    row[: n + 1] = 0
    for i in range(m):
        diagonal = 0
        for j in range(n):
            above = row[j + 1]
            if ids[r + i] == ids[c + j]:
                row[j + 1] = diagonal + 1
                way[i * n + j] = 0
            elif row[j] > above:
                row[j + 1] = row[j]
                way[i * n + j] = 1
            else:
                row[j + 1] = above
                way[i * n + j] = 2
            diagonal = above
    i, j = m - 1, n - 1
    while i >= 0 and j >= 0:
        step = way[i * n + j]
        if step == 0:
            member[i] = True
        i -= step != 1
        j -= step != 2


@njit(cache=True, nogil=True)
def _line_end(lines: Any, at: Any, last: Any) -> Any:
    end = at + 1
    while end < last and lines[end] == lines[at]:
        end += 1
    return end


@njit(cache=True, nogil=True)
def union_lcs(ids: Any, lines: Any, begin: Any, length: Any, output: Any, reference: Any, kinds: Any) -> Any:
    """Hits of summary-level ROUGE-L per pair; each token counts at most as often as output and reference have it."""
    hits = np.zeros(reference.size, np.int64)
    widest, cells = 1, 1
    for p in range(reference.size):
        widest = max(widest, length[output[p]], length[reference[p]])
        size = length[output[p]] * length[reference[p]]
        if size <= CELLS:
            cells = max(cells, size)
    way, row, member = np.empty(cells, np.uint8), np.empty(widest + 1, np.int32), np.empty(widest, np.bool_)
    in_output, in_reference = np.zeros(kinds, np.int32), np.zeros(kinds, np.int32)
    for p in range(reference.size):
        c, c_end = begin[output[p]], begin[output[p]] + length[output[p]]
        r, r_end = begin[reference[p]], begin[reference[p]] + length[reference[p]]
        if (c_end - c) * (r_end - r) > CELLS:
            hits[p] = TOO_LONG
            continue
        for k in range(c, c_end):
            in_output[ids[k]] += 1
        for k in range(r, r_end):
            in_reference[ids[k]] += 1
        at = r
        while at < r_end:
            stop = _line_end(lines, at, r_end)
            member[: stop - at] = False
            other = c
            while other < c_end:
                end = _line_end(lines, other, c_end)
                _common(ids, at, stop - at, other, end - other, way, row, member)
                other = end
            for k in range(at, stop):
                if member[k - at] and in_output[ids[k]] > 0 and in_reference[ids[k]] > 0:
                    hits[p] += 1
                    in_output[ids[k]] -= 1
                    in_reference[ids[k]] -= 1
            at = stop
        for k in range(c, c_end):
            in_output[ids[k]] = 0
        for k in range(r, r_end):
            in_reference[ids[k]] = 0
    return hits


@njit(cache=True, nogil=True)
def weighted_lcs(ids: Any, begin: Any, length: Any, output: Any, reference: Any, power: Any) -> Any:
    """WLCS of each pair: a run of k matches in a row is worth k to that power (Lin 2004, figure 1)."""
    found = np.zeros(reference.size)
    widest = 1
    for p in range(reference.size):
        widest = max(widest, length[output[p]], length[reference[p]])
    worth = np.empty(widest + 2)
    for k in range(widest + 2):
        worth[k] = float(k) ** power
    row, run = np.empty(widest + 1), np.empty(widest + 1, np.int32)
    for p in range(reference.size):
        c, n, r, m = begin[output[p]], length[output[p]], begin[reference[p]], length[reference[p]]
        row[: n + 1] = 0.0
        run[: n + 1] = 0
        for i in range(m):
            corner, ran = 0.0, 0
            for j in range(n):
                above, before = row[j + 1], run[j + 1]
                if ids[r + i] == ids[c + j]:
                    row[j + 1] = corner + worth[ran + 1] - worth[ran]
                    run[j + 1] = ran + 1
                else:
                    row[j + 1] = max(above, row[j])
                    run[j + 1] = 0
                corner, ran = above, before
        found[p] = row[n]
    return found


@njit(cache=True, nogil=True)
def skip_bigrams(ids: Any, begin: Any, length: Any, output: Any, reference: Any, reach: Any) -> Any:
    """Clipped matches of pairs of tokens in order, at most `reach` places apart."""
    hits = np.zeros(reference.size, np.int64)
    most = 1
    for p in range(reference.size):
        pairs = length[output[p]] * min(reach, length[output[p]])
        if pairs <= PAIRS:
            most = max(most, pairs)
    size = 2
    while size < 2 * most:
        size *= 2
    keys, counts = np.empty(size, np.int64), np.empty(size, np.int32)
    for p in range(reference.size):
        c, n, r, m = begin[output[p]], length[output[p]], begin[reference[p]], length[reference[p]]
        if max(n * min(reach, n), m * min(reach, m)) > PAIRS:
            hits[p] = TOO_LONG
            continue
        mask = 2
        while mask < 2 * n * min(reach, n):
            mask *= 2
        mask -= 1
        keys[: mask + 1] = -1
        for side in range(2):
            at, many = (c, n) if side == 0 else (r, m)
            for i in range(many):
                for j in range(i + 1, min(many, i + reach + 1)):
                    key = (np.int64(ids[at + i]) << 32) | np.int64(ids[at + j])
                    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
                    while keys[slot] != key and keys[slot] != -1:
                        slot = (slot + 1) & mask
                    if side == 0:
                        if keys[slot] == -1:
                            keys[slot] = key
                            counts[slot] = 0
                        counts[slot] += 1
                    elif keys[slot] == key and counts[slot] > 0:
                        counts[slot] -= 1
                        hits[p] += 1
    return hits
