"""Longest common subsequences and edit distances, 64 cells of the table at a time.

Bit i of a word stands for token i of the output. LCS: Hyyrö (2004); edit distance: Myers (1999) in Hyyrö's blocks.
Every token of the output has the list of its places, so a text of 100,000 tokens needs no table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE, ZERO = np.uint64(1), np.uint64(0)


@njit(cache=True, nogil=True)
def _places(ids: Any, first: Any, m: Any, last: Any, before: Any) -> None:
    """Link the places of each token: `last[token]` is the last one, `before[i]` the one before place i, −1 ends."""
    for i in range(m):
        before[i] = last[ids[first + i]]
        last[ids[first + i]] = i


@njit(cache=True, nogil=True)
def popcount(x: Any) -> Any:
    x = x - ((x >> ONE) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def _lcs(ids: Any, m: Any, other: Any, n: Any, last: Any, before: Any, v: Any, hit: Any, u: Any) -> Any:
    words = (m + 63) // 64
    if words == 1:
        v0 = ONES
        for j in range(n):
            mask, i = ZERO, last[ids[other + j]]
            while i >= 0:
                mask |= ONE << np.uint64(i)
                i = before[i]
            both = v0 & mask
            v0 = (v0 + both) | (v0 - both)
        found = 0
        for i in range(m):
            found += (v0 >> np.uint64(i)) & ONE == ZERO
        return found
    v[:words] = ONES
    for j in range(n):
        i = last[ids[other + j]]
        if i < 0:
            continue
        touched = 0
        while i >= 0:  # from the last word to the first
            w, mask = i >> 6, ZERO
            while i >= 0 and i >> 6 == w:
                mask |= ONE << np.uint64(i & 63)
                i = before[i]
            hit[touched], u[touched] = w, mask
            touched += 1
        carry, w = ZERO, 0
        for k in range(touched - 1, -1, -1):
            while carry and w < hit[k]:
                carry, w = _ripple(v, w), w + 1
            w = hit[k]
            both = v[w] & u[k]
            partial = v[w] + both
            total = partial + carry
            carry = ONE if partial < v[w] or total < partial else ZERO
            v[w] = total | (v[w] - both)
            w += 1
        while carry and w < words:
            carry, w = _ripple(v, w), w + 1
    found = 0
    for w in range(words):
        miss = ~v[w]
        if w == words - 1 and m & 63:
            miss &= (ONE << np.uint64(m & 63)) - ONE
        found += popcount(miss)
    return found


@njit(cache=True, nogil=True)
def _ripple(v: Any, w: Any) -> Any:
    """A carry into a word without a match: it sets the lowest free bit, or runs on."""
    if v[w] == ONES:
        return ONE
    v[w] |= v[w] + ONE
    return ZERO


@njit(cache=True, nogil=True)
def _distance(
    ids: Any, m: Any, other: Any, n: Any, last: Any, before: Any, plus: Any, minus: Any, eq: Any
) -> Any:
    if m == 0 or n == 0:
        return max(m, n)
    words = (m + 63) // 64
    plus[:words] = ONES
    minus[:words] = ZERO
    score, top = m, ONE << np.uint64((m - 1) & 63)
    for j in range(n):
        i = last[ids[other + j]]
        while i >= 0:
            eq[i >> 6] |= ONE << np.uint64(i & 63)
            i = before[i]
        up, down = ONE, ZERO  # the first row counts the tokens of the reference
        for w in range(words):
            p, q, e = plus[w], minus[w], eq[w]
            x = e | q
            e |= down
            d = (((e & p) + p) ^ p) | e
            rise, fall = q | ~(d | p), p & d
            if w == words - 1:
                score += (rise & top) != ZERO
                score -= (fall & top) != ZERO
            rise_out, fall_out = rise >> np.uint64(63), fall >> np.uint64(63)
            rise, fall = (rise << ONE) | up, (fall << ONE) | down
            plus[w], minus[w] = fall | ~(x | rise), rise & x
            up, down = rise_out, fall_out
        i = last[ids[other + j]]
        while i >= 0:
            eq[i >> 6] = ZERO
            i = before[i]
    return score


@njit(cache=True, nogil=True)
def alignments(ids: Any, begin: Any, length: Any, output: Any, reference: Any, kinds: Any, edits: Any) -> Any:
    """The length of the LCS, or the edit distance, of each pair of texts; `kinds` is larger than every token id.

    Pairs of one output should follow each other: its places are listed once.
    """
    found = np.zeros(reference.size, np.int64)
    longest = 1
    for p in range(reference.size):
        longest = max(longest, length[output[p]])
    words = (longest + 63) // 64
    last, before = np.full(kinds, -1, np.int32), np.empty(longest, np.int32)
    a, b, c = np.empty(words, np.uint64), np.zeros(words, np.uint64), np.empty(words, np.int64)
    d = np.zeros(words, np.uint64)
    listed = -1
    for p in range(reference.size):
        h, r = output[p], reference[p]
        if h != listed:
            if listed >= 0:
                for i in range(length[listed]):
                    last[ids[begin[listed] + i]] = -1
            _places(ids, begin[h], length[h], last, before)
            listed = h
        if edits:
            found[p] = _distance(ids, length[h], begin[r], length[r], last, before, a, b, d)
        else:
            found[p] = _lcs(ids, length[h], begin[r], length[r], last, before, a, c, d)
            d[:] = ZERO
    return found
