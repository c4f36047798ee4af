"""Translation edit rate with shifts, move for move as sacrebleu's copy of Tercom.

A shift is tried by the edit distance of the shifted output. Where Tercom's beam cannot cut anything off, distance and
alignment come from bit operations (Myers 1999), bit j standing for reference word j, and a trial goes on from the first
word that moved; else they come from the beam itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from nlgauge.metrics.kernels.sequences import popcount

MAX_SHIFT, MAX_DISTANCE, BEAM, MAX_TRIED = 10, 50, 25, 1000
TRIALS = sum(length + 1 for length in range(1, MAX_SHIFT + 1))  # at most, of two places with the same word
FAR = 1 << 29
MATCH, CHANGE, HYP_ONLY, REF_ONLY = 0, 1, 2, 3
ONE, ZERO, ONES = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)

# Rows of the bit table, one column per word of the output: where the reference has it; the same in the order that is tried;
# and after each word, by how much the distance grows or falls along the reference and from the word before.
MASK, TRIED, PLUS, MINUS, RISE, FALL, SCORE = range(7)
# Rows of the desk: the output word before or at each reference word; running sums of the errors of either side.
ALIGN, REF_ERRORS, HYP_ERRORS = range(3)


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
def _distances(bits: Any, nh: Any, nr: Any) -> Any:
    """Fill the bit table for the output as it stands; gives its Levenshtein distance from at most 64 reference words."""
    plus, minus, score, top = ONES, ZERO, nr, ONE << np.uint64(nr - 1)
    bits[PLUS, 0], bits[MINUS, 0], bits[SCORE, 0] = plus, minus, score
    for k in range(nh):
        e = bits[MASK, k]
        x = e | minus
        d = (((e & plus) + plus) ^ plus) | e
        rise, fall = minus | ~(d | plus), plus & d
        bits[RISE, k + 1], bits[FALL, k + 1] = rise, fall
        score += np.int64((rise & top) != ZERO) - np.int64((fall & top) != ZERO)
        rise = (rise << ONE) | ONE
        plus, minus = (fall << ONE) | ~(x | rise), rise & x
        bits[PLUS, k + 1], bits[MINUS, k + 1], bits[SCORE, k + 1] = plus, minus, score
    return score


@njit(cache=True, nogil=True)
def _distance(bits: Any, at: Any, high: Any, nh: Any, nr: Any, limit: Any) -> Any:
    """The same for the order that is tried, which differs in the places from `at` to `high`; more than `limit` is FAR."""
    plus, minus, score = bits[PLUS, at], bits[MINUS, at], np.int64(bits[SCORE, at])
    top = ONE << np.uint64(nr - 1)
    for k in range(at, nh):
        e = bits[TRIED if k < high else MASK, k]
        x = e | minus
        d = (((e & plus) + plus) ^ plus) | e
        rise, fall = minus | ~(d | plus), plus & d
        score += np.int64((rise & top) != ZERO) - np.int64((fall & top) != ZERO)
        if score - (nh - 1 - k) > limit:  # each word left brings it down by one at most
            return FAR
        rise = (rise << ONE) | ONE
        plus, minus = (fall << ONE) | ~(x | rise), rise & x
    return score


@njit(cache=True, nogil=True)
def _bounds(start: Any, length: Any, target: Any, size: Any) -> Any:
    """Which places a shift changes, and where the words that move come to stand."""
    if target < start:
        return target, start + length, target
    stop = target if target > start + length else min(size, length + target)
    return start, stop, stop - length


@njit(cache=True, nogil=True)
def _shift(start: Any, length: Any, target: Any, source: Any, into: Any, size: Any) -> Any:
    """Write what a shift changes into `into`; gives the places from which and to which."""
    low, high, to = _bounds(start, length, target, size)
    aside = -length if target < start else length
    for k in range(low, high):
        into[k] = source[start + k - to] if to <= k < to + length else source[k + aside]
    return low, high


@njit(cache=True, nogil=True)
def _inside(distance: Any, nh: Any, nr: Any) -> Any:
    """Whether the beam holds every best way for sure.

    Of d edits at most (d + |nr − nh|) / 2 go one way, and the middle of the beam is at most |nr − nh| + 1 off the diagonal.
    """
    return nr < BEAM or distance + 3 * abs(nr - nh) + 2 <= 2 * (BEAM - 1)


@njit(cache=True, nogil=True)
def _edits(
    words: Any,
    r: Any,
    stands: Any,
    bits: Any,
    desk: Any,
    spare_words: Any,
    table: Any,
    way: Any,
    lows: Any,
    spare: Any,
) -> Any:
    """Shifts and edits that turn the output into the reference; `words` is changed on the way.

    The last four are empty: the table of the beam is made where it is needed, which is seldom.
    """
    nh, nr = words.size, r.size
    ratio = nr / nh
    beam = int(np.ceil(ratio / 2 + BEAM)) if ratio / 2 > BEAM else BEAM
    width = min(2 * beam + 2, nr + 1)
    small = nr <= 64
    least, matches = (
        0,
        0,
    )  # edits that no order of the words can save; places of either side with the same word
    if small:
        for j in range(nr):
            stands[r[j]] |= ONE << np.uint64(j)
        common = ZERO
        for k in range(nh):
            bits[MASK, k] = stands[words[k]]
            free = bits[MASK, k] & ~common
            common |= free & (ZERO - free)
            matches += popcount(bits[MASK, k])
        least = max(nh, nr) - popcount(common)
        for j in range(nr):
            stands[r[j]] = ZERO
    align, ref_errors, hyp_errors = desk[ALIGN], desk[REF_ERRORS], desk[HYP_ERRORS]
    tried = shifts = before = 0
    while True:
        exact = False
        if small:
            before = _distances(bits, nh, nr)
            exact = _inside(before, nh, nr)
        if not exact:
            if lows.size == 0:
                table, way = np.empty((nh + 1, width), np.int32), np.empty((nh + 1, width), np.uint8)
                lows, spare = np.zeros(nh + 1, np.int64), np.empty((2, width), np.int32)
            before = _rows(words, r, 0, beam, lows, table, way, spare, -1)
        if before == least:
            return shifts + before
        _alignment(way, lows, bits, exact, nh, nr, align, ref_errors, hyp_errors)
        gain, size, origin, goal = 0, 0, 0, 0
        # A round that cannot run out of trials need not look on after a shift that leaves nothing to gain.
        enough = small and tried + matches * TRIALS < MAX_TRIED
        for h0 in range(nh):
            if tried >= MAX_TRIED:
                break
            r0, last = max(0, h0 - MAX_DISTANCE) - 1, min(nr, h0 + MAX_DISTANCE + 1)
            while True:
                r0 += 1
                if small and r0 < last:  # the next place of the word
                    rest = bits[MASK, h0] >> np.uint64(r0)
                    r0 = last if rest == ZERO else r0 + popcount((rest & (ZERO - rest)) - ONE)
                if r0 >= last:
                    break
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
                        limit = before - max(gain, 1)
                        distance = FAR
                        if small:
                            at, high = _shift(h0, length, target, bits[MASK], bits[TRIED], nh)
                            distance = _distance(bits, at, high, nh, nr, limit)
                        if not exact and (not small or (distance <= limit and not _inside(distance, nh, nr))):
                            spare_words[:nh] = words
                            at, high = _shift(h0, length, target, words, spare_words, nh)
                            distance = _rows(spare_words[:nh], r, at, beam, lows, table, way, spare, limit)
                        if enough and distance == least:
                            return shifts + 1 + least
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
        low, high = _shift(origin, size, goal, words, spare_words, nh)
        words[low:high] = spare_words[low:high]
        if small:
            _shift(origin, size, goal, bits[MASK], bits[TRIED], nh)
            bits[MASK, low:high] = bits[TRIED, low:high]


@njit(cache=True, nogil=True)
def _alignment(
    way: Any, lows: Any, bits: Any, exact: Any, nh: Any, nr: Any, align: Any, ref_errors: Any, hyp_errors: Any
) -> None:
    """The output word before or at each reference word, and running sums of the errors of both, from the way back.

    `exact`: the way stands in the bit table. Of equal ways Tercom likes a change best, then a word of the output alone.
    """
    i, j = nh, nr
    for k in range(nh + 1):
        hyp_errors[k] = 0
    for k in range(nr + 1):
        ref_errors[k] = 0
    while i > 0 or j > 0:
        if i == 0:
            op = REF_ONLY
        elif not exact:
            op = int(way[i, j - lows[i]])
        elif j == 0:
            op = HYP_ONLY
        else:
            bit = np.uint64(j - 1)
            down = np.int64((bits[RISE, i] >> bit) & ONE) - np.int64((bits[FALL, i] >> bit) & ONE)
            right = np.int64((bits[PLUS, i - 1] >> bit) & ONE) - np.int64((bits[MINUS, i - 1] >> bit) & ONE)
            if (bits[MASK, i - 1] >> bit) & ONE:
                op = MATCH
            elif down + right == 1:
                op = CHANGE
            else:
                op = HYP_ONLY if down == 1 else REF_ONLY
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
def shift_edits(ids: Any, begin: Any, length: Any, output: Any, reference: Any, kinds: Any) -> Any:
    """Edits of each pair, a shift of words counting as one; `kinds` is above every token id."""
    longest = 0
    for p in range(reference.size):
        longest = max(longest, length[output[p]], length[reference[p]])
    stands, bits = np.zeros(kinds, np.uint64), np.empty((7, longest + 1), np.uint64)
    desk, words = np.empty((3, longest + 1), np.int64), np.empty((2, longest + 1), ids.dtype)
    table, way = np.empty((0, 0), np.int32), np.empty((0, 0), np.uint8)
    lows, spare = np.empty(0, np.int64), np.empty((0, 0), np.int32)
    found = np.empty(reference.size, np.int64)
    for p in range(reference.size):
        h, r = output[p], reference[p]
        if h == r or length[h] == 0 or length[r] == 0:
            found[p] = 0 if h == r else max(length[h], length[r])
            continue
        mine = words[0, : length[h]]
        mine[:] = ids[begin[h] : begin[h] + length[h]]
        other = ids[begin[r] : begin[r] + length[r]]
        found[p] = _edits(mine, other, stands, bits, desk, words[1], table, way, lows, spare)
    return found
