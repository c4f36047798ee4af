"""Translation edit rate with shifts, move for move as sacrebleu's copy of Tercom.

A shift is tried by the edit distance of the shifted output. Where Tercom's beam cannot cut anything off, that distance
comes from bit operations (Myers 1999) that go on from the first word that moved; else from the beam itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

MAX_SHIFT, MAX_DISTANCE, BEAM, MAX_TRIED = 10, 50, 25, 1000
FAR = 1 << 29
MATCH, CHANGE, HYP_ONLY, REF_ONLY = 0, 1, 2, 3
ONE, ZERO, ONES = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def _rows(h: Any, r: Any, at: Any, beam: Any, lows: Any, table: Any, way: Any, spare: Any, limit: Any) -> Any:
    """Edit distance inside the beam, from row `at` of the table on; more than `limit` is FAR.

    Cell j of row i stands in column j − lows[i]. With `limit` < 0 the rows and the ways are written into the table,
    else only two rows are kept.
    """
    nh, nr = h.size, r.size
    ratio, keep = nr / nh, limit < 0
    old_low, old = lows[at], table[at]
    for i in range(at + 1, nh + 1):
        row = table[i] if keep else spare[i & 1]
        centre = int(np.floor(i * ratio))
        first = max(0, centre - beam)
        stop = nr + 1 if i == nh else min(nr + 1, centre + beam)
        least, word, before = FAR, h[i - 1], FAR
        for j in range(first, stop):
            if j == 0:
                cost, op = i, HYP_ONLY
            else:
                if i == 1:
                    corner, above = j - 1, j
                else:
                    k = j - old_low
                    corner = int(old[k - 1]) if 0 < k <= old.size else FAR
                    above = int(old[k]) if 0 <= k < old.size else FAR
                cost, op = corner + (word != r[j - 1]), CHANGE if word != r[j - 1] else MATCH
                if above + 1 < cost:
                    cost, op = above + 1, HYP_ONLY
                if before + 1 < cost:
                    cost, op = before + 1, REF_ONLY
            before = min(cost, FAR)
            row[j - first] = before
            if keep:
                way[i, j - first] = op
            least = min(least, before)
        for k in range(stop - first, row.size):
            row[k] = FAR
        if keep:
            lows[i] = first
        elif least > limit:
            return FAR
        old_low, old = first, row
    return np.int64(old[nr - old_low])


@njit(cache=True, nogil=True)
def _myers(masks: Any, order: Any, at: Any, states: Any, size: Any) -> Any:
    """Levenshtein distance of the words `order[at:]` after the state of the first `at` words; `size` ≤ 64 reference words."""
    plus, minus, score = states[at, 0], states[at, 1], np.int64(states[at, 2])
    top = ONE << np.uint64(size - 1)
    for k in range(at, order.size):
        e = masks[order[k]]
        x = e | minus
        d = (((e & plus) + plus) ^ plus) | e
        rise, fall = minus | ~(d | plus), plus & d
        score += (rise & top) != ZERO
        score -= (fall & top) != ZERO
        rise = (rise << ONE) | ONE
        plus, minus = (fall << ONE) | ~(x | rise), rise & x
        if states.shape[1] == 4:  # the unshifted output: keep every state
            states[k + 1, 0], states[k + 1, 1], states[k + 1, 2] = plus, minus, np.uint64(score)
    return score


@njit(cache=True, nogil=True)
def _shifted(start: Any, length: Any, target: Any, source: Any, into: Any) -> Any:
    """Write the order of words after a shift into `into`; gives the first place that changed."""
    stop = target if target > start + length else min(source.size, length + target)
    low, high = (target, start + length) if target < start else (start, stop)
    to = target if target < start else stop - length
    for k in range(source.size):
        if k < low or k >= high:
            into[k] = source[k]
        elif to <= k < to + length:
            into[k] = source[start + k - to]
        else:
            into[k] = source[k - length if target < start else k + length]
    return low


@njit(cache=True, nogil=True)
def _edits(words: Any, r: Any) -> Any:
    """Shifts and edits that turn the output into the reference; `words` is changed on the way."""
    nh, nr = words.size, r.size
    if nr == 0 or nh == 0:
        return max(nh, nr)
    ratio = nr / nh
    beam = int(np.ceil(ratio / 2 + BEAM)) if ratio / 2 > BEAM else BEAM
    width = min(2 * beam + 2, nr + 1)
    table, way = np.empty((nh + 1, width), np.int32), np.empty((nh + 1, width), np.uint8)
    lows, spare = np.zeros(nh + 1, np.int64), np.empty((2, width), np.int32)
    align, ref_errors, hyp_errors = (
        np.empty(nr, np.int64),
        np.zeros(nr + 1, np.int64),
        np.zeros(nh + 1, np.int64),
    )
    tried_words, order, moved = np.empty(nh, words.dtype), np.arange(nh), np.empty(nh, np.int64)
    small = nr <= 64
    masks, states = np.zeros(nh if small else 1, np.uint64), np.empty((nh + 1 if small else 1, 4), np.uint64)
    last_states = states[:, :3]
    if small:
        for k in range(nh):
            for j in range(nr):
                if r[j] == words[k]:
                    masks[k] |= ONE << np.uint64(j)
    tried = shifts = 0
    while True:
        before = _rows(words, r, 0, beam, lows, table, way, spare, -1)
        _alignment(way, lows, nh, nr, align, ref_errors, hyp_errors)
        if before == 0:
            return shifts
        if small:
            states[0, 0], states[0, 1], states[0, 2] = ONES, ZERO, np.uint64(nr)
            _myers(masks, order, 0, states, nr)
        gain, size, origin, goal = 0, 0, 0, 0
        for h0 in range(nh):
            if tried >= MAX_TRIED:
                break
            if small and masks[h0] == ZERO:
                continue
            for r0 in range(max(0, h0 - MAX_DISTANCE), min(nr, h0 + MAX_DISTANCE + 1)):
                length = 0
                while (
                    length < MAX_SHIFT and h0 + length < nh and r0 + length < nr
                    and words[h0 + length] == r[r0 + length] and tried < MAX_TRIED
                ):  # fmt: skip
                    length += 1
                    if hyp_errors[h0 + length] == hyp_errors[h0] or ref_errors[r0 + length] == ref_errors[r0]:
                        continue
                    if h0 <= align[r0] < h0 + length:
                        continue
                    previous = -1
                    for offset in range(-1, length):
                        if r0 + offset == -1:
                            target = 0
                        elif r0 + offset < nr:
                            target = align[r0 + offset] + 1
                        else:
                            break
                        if target == previous:
                            continue
                        previous = target
                        tried += 1
                        at = _shifted(h0, length, target, order, moved)
                        distance = FAR
                        if small:
                            distance = _myers(masks, moved, at, last_states, nr)
                            # Inside the beam for sure? Of d edits at most (d + |nr − nh|) / 2 go one way, and the
                            # middle of the beam is at most |nr − nh| + 1 off the diagonal.
                            exact = nr < BEAM or distance + 3 * abs(nr - nh) + 2 <= 2 * (BEAM - 1)
                        else:
                            exact = False
                        if not exact and (not small or before - distance >= max(gain, 1)):
                            for k in range(nh):
                                tried_words[k] = words[moved[k]]
                            distance = _rows(
                                tried_words, r, at, beam, lows, table, way, spare, before - max(gain, 1)
                            )
                        better = before - distance
                        if better > gain or (
                            better == gain > 0
                            and (
                                length > size
                                or (length == size and (h0 < origin or (h0 == origin and target < goal)))
                            )
                        ):
                            gain, size, origin, goal = better, length, h0, target
                if tried >= MAX_TRIED:
                    break
        if tried >= MAX_TRIED or gain <= 0:
            return shifts + before
        shifts += 1
        _shifted(origin, size, goal, order, moved)
        for k in range(nh):
            tried_words[k] = words[moved[k]]
            if small:
                states[k, 3] = masks[moved[k]]
        for k in range(nh):
            words[k] = tried_words[k]
            if small:
                masks[k] = states[k, 3]


@njit(cache=True, nogil=True)
def _alignment(way: Any, lows: Any, nh: Any, nr: Any, align: Any, ref_errors: Any, hyp_errors: Any) -> None:
    """The output word before or at each reference word, and running sums of the errors of both, from the way back."""
    i, j = nh, nr
    for k in range(nh + 1):
        hyp_errors[k] = 0
    for k in range(nr + 1):
        ref_errors[k] = 0
    while i > 0 or j > 0:
        op = REF_ONLY if i == 0 else np.int64(way[i, j - lows[i]])
        if op == REF_ONLY:
            align[j - 1] = i - 1
            ref_errors[j] = 1
            j -= 1
        elif op == HYP_ONLY:
            hyp_errors[i] = 1
            i -= 1
        else:
            align[j - 1] = i - 1
            ref_errors[j] = op == CHANGE
            hyp_errors[i] = op == CHANGE
            i -= 1
            j -= 1
    for k in range(nh):
        hyp_errors[k + 1] += hyp_errors[k]
    for k in range(nr):
        ref_errors[k + 1] += ref_errors[k]


@njit(cache=True, nogil=True)
def shift_edits(ids: Any, begin: Any, length: Any, output: Any, reference: Any) -> Any:
    """Edits of each pair, a shift of words counting as one."""
    found = np.empty(reference.size, np.int64)
    for p in range(reference.size):
        words = ids[begin[output[p]] : begin[output[p]] + length[output[p]]].copy()
        found[p] = _edits(words, ids[begin[reference[p]] : begin[reference[p]] + length[reference[p]]])
    return found
