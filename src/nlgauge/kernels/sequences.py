"""Longest common subsequences and edit distances of many pairs, 64 cells of the table at a time and sixteen pairs at
once.

Bit i of a word stands for token i of one text of a pair, its pattern; the tokens of the other are read one after the
other. LCS: Hyyrö (2004); edit distance: Myers (1999) in Hyyrö's blocks. What both texts begin and end with is left out
before, and, for the LCS, what only one of them has. Pairs of like size stand side by side, each in its own SIMD lane.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from typing import Any

import numpy as np

from nlgauge.kernels._room import array, empty, kernel, zeros
from nlgauge.kernels.long_sequences import long_alignments

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, LANES, bit, popcount
else:
    from nlgauge.kernels.shared import ALL, LANES, bit, popcount

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Rest = cython.typedef(cython.longlong[:, ::1])
Words = cython.typedef(cython.ulonglong[::1])

ROOM = cython.declare(cython.Py_ssize_t, 1 << 21)  # words for the rows of bits of all lanes
NEAR = cython.declare(cython.Py_ssize_t, 512)  # pairs whose texts stay in the cache
MOST = cython.declare(cython.Py_ssize_t, (1 << 24) - 1)
FEW = cython.declare(cython.Py_ssize_t, 256)  # kinds of tokens, as in a text of Latin letters
TOGETHER = cython.declare(cython.Py_ssize_t, 32)  # words of bits that are gathered before they are used


def alignments(ids: Any, begin: Any, length: Any, output: Any, reference: Any, kinds: Any, edits: Any) -> Any:
    """Compute the length of the LCS, or the edit distance, of each pair of texts; `kinds` is larger than every token
    ID.
    """
    rest = np.empty((len(reference), 4), np.int64)
    found, left, size = trimmed(ids, begin, length, output, reference, kinds, edits, rest)
    if not len(left):
        return found
    alone = side_by_side(ids, rest, left[np.argsort(size)], kinds, edits, found)
    if len(alone):
        long_alignments(ids, rest, alone, kinds, edits, found)
    return found


@kernel
def trimmed(
    ids: Tokens,
    begin: Texts,
    length: Texts,
    output: Texts,
    reference: Texts,
    kinds: Int,
    edits: cython.bint,
    rest: Rest,
):
    """Remove common prefixes and suffixes of each pair, and compute their contribution to the result.

    Return also the pairs with remaining tokens, and keys that sort pairs of similar size next to each other. The LCS
    with a text of one word of bits is computed here. `rest` holds, for the pattern and the other text of each pair, the
    start and the number of the remaining tokens.
    """
    cython.declare(p=Int)
    found: Longs = zeros(len(reference), "q")
    left: Longs = empty(len(reference), "q")
    size: Longs = empty(len(reference), "q")
    bits: Words = zeros(1 if edits else kinds, "Q")
    many: Int = 0
    with cython.nogil:
        for p in range(len(reference)):
            a: Int = begin[output[p]]
            m: Int = length[output[p]]
            b: Int = begin[reference[p]]
            n: Int = length[reference[p]]
            if not edits and m <= 64:
                found[p] = _short_lcs(ids, a, m, b, n, bits)
                continue
            few: Int = min(m, n)
            i: Int = 0
            while i < few and ids[a + i] == ids[b + i]:
                i += 1
            k: Int = 0
            while k < few - i and ids[a + m - 1 - k] == ids[b + n - 1 - k]:
                k += 1
            a += i
            b += i
            m -= i + k
            n -= i + k
            found[p] = m + n if edits else i + k
            if m == 0 or n == 0:
                continue
            other: cython.bint = (m + 63) // 64 * n > (n + 63) // 64 * m
            rest[p, 0] = b if other else a
            rest[p, 1] = n if other else m
            rest[p, 2] = a if other else b
            rest[p, 3] = m if other else n
            left[many] = p
            size[many] = ((p // NEAR) << 48) + (min((rest[p, 1] + 63) // 64, MOST) << 24) + min(rest[p, 3], MOST)
            many += 1
    return array(found), array(left)[:many], array(size)[:many]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _short_lcs(ids: Tokens, first: Int, m: Int, other: Int, n: Int, bits: Words) -> Int:
    """Compute the LCS with a pattern of one word; `bits` of every token are 0 before and after."""
    cython.declare(i=Int)
    v: Word = ALL
    for i in range(m):
        bits[ids[first + i]] |= bit(i)
    for i in range(n):
        both: Word = v & bits[ids[other + i]]
        v = ((v + both) & ALL) | (v ^ both)
    for i in range(m):
        bits[ids[first + i]] = 0
    if m < 64:
        v |= ALL << m & ALL
    return 64 - popcount(v)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _planned(
    rest: Rest, order: Texts, first: Int, kinds: Int
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t, cython.Py_ssize_t]:
    """Return the words of the widest pattern, the tokens of the longest other text, and the space for the rows of bits
    of the next pairs.

    The space is 0 if these pairs are better compared one by one.
    """
    cython.declare(lane=Int)
    words: Int = 0
    longest: Int = 0
    work: Int = 0
    rows: Int = 1
    for lane in range(min(LANES, len(order) - first)):
        m: Int = rest[order[first + lane], 1]
        n: Int = rest[order[first + lane], 3]
        words = max(words, (m + 63) // 64)
        longest = max(longest, n)
        work += (m + 63) // 64 * n
        rows += kinds if kinds <= FEW else min(m, kinds)
    alone: cython.bint = 3 * work < LANES * words * longest or rows * words > ROOM
    return words, longest, 0 if alone else rows * words


@kernel
def side_by_side(ids: Tokens, rest: Rest, order: Texts, kinds: Int, edits: cython.bint, found: Longs):
    """Fill in the pairs that have others of their size next to them; gives those that have none, or are too long."""
    cython.declare(p=Int, lane=Int)
    pairs: Int = len(order)
    alone: Longs = empty(pairs, "q")
    many: Int = 0
    words: Int
    longest: Int
    room: Int
    widest: Int = 1
    most: Int = 1
    largest: Int = 1
    p = 0
    while p < pairs:
        words, longest, room = _planned(rest, order, p, kinds)
        if room > 0:
            widest = max(widest, words)
            most = max(most, longest)
            largest = max(largest, room)
        p += LANES
    row: Ids = zeros(kinds, "i")  # where the bits of a token begin; 0: it has none
    rows: Ids = empty(64 * widest, "i")  # the same of each token of a pattern
    masks: Words = empty(largest, "Q")
    places: Ids = empty(most * LANES, "i")  # where the bits of each token of the other texts begin
    bits: Words = empty(max(TOGETHER, widest) * LANES, "Q")
    state: Words = empty(2 * widest * LANES, "Q")
    size: Rest = empty((2, LANES), "q")
    with cython.nogil:
        p = 0
        while p < pairs:
            words, longest, room = _planned(rest, order, p, kinds)
            if room > 0:
                _together(ids, rest, order, p, words, edits, found, row, rows, masks, places, bits, state, size)
            else:
                for lane in range(min(LANES, pairs - p)):
                    alone[many] = order[p + lane]
                    many += 1
            p += LANES
    return array(alone)[:many]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _together(
    ids: Tokens,
    rest: Rest,
    order: Texts,
    first: Int,
    words: Int,
    edits: cython.bint,
    found: Longs,
    row: Ids,
    rows: Ids,
    masks: Words,
    places: Ids,
    bits: Words,
    state: Words,
    size: Rest,
) -> cython.void:
    """Compute the LCS or edit distances of the pairs from `order[first]` on, one in each lane."""
    cython.declare(lane=Int, j=Int, w=Int)
    live: Int = min(LANES, len(order) - first)
    for w in range(words):
        masks[w] = 0
    at: Int = words
    for lane in range(LANES):
        size[0, lane] = 0
        size[1, lane] = 0
    for lane in range(live):
        at = _laid_out(ids, rest, order[first + lane], lane, words, edits, row, rows, masks, at, places, size)
    longest: Int = 0
    words_left: Int = 0
    for lane in range(live):
        words_left = max(words_left, (size[0, lane] + 63) // 64)
        longest = max(longest, size[1, lane])
    for lane in range(LANES):
        for j in range(size[1, lane], longest):
            places[j * LANES + lane] = 0
    if edits:
        _distances(order, first, words, longest, found, masks, places, bits, state, size)
        return
    for w in range(words_left * LANES):
        state[w] = ALL
    _lcs_rows(places, longest, words_left, masks, bits, state)
    for lane in range(live):
        found[order[first + lane]] += size[0, lane] - _ones(state, lane, LANES, size[0, lane])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _distances(
    order: Texts,
    first: Int,
    words: Int,
    longest: Int,
    found: Longs,
    masks: Words,
    places: Ids,
    bits: Words,
    state: Words,
    size: Rest,
) -> cython.void:
    """Compute the edit distances of the pairs that are laid out.

    The first row of the table counts the tokens of the other text; the bits say where the last column increases and
    decreases.
    """
    cython.declare(lane=Int, w=Int)
    live: Int = min(LANES, len(order) - first)
    for w in range(words):
        for lane in range(LANES):
            state[2 * LANES * w + lane] = ALL
            state[2 * LANES * w + LANES + lane] = 0
    done: Int = 0
    while done < longest:
        stop: Int = longest
        for lane in range(live):
            if done < size[1, lane] < stop:
                stop = size[1, lane]
        _edit_rows(places, done, stop, words, masks, bits, state)
        done = stop
        for lane in range(live):
            if size[1, lane] == done:
                rises: Int = _ones(state, lane, 2 * LANES, size[0, lane])
                falls: Int = _ones(state, LANES + lane, 2 * LANES, size[0, lane])
                found[order[first + lane]] = done + rises - falls


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _laid_out(
    ids: Tokens,
    rest: Rest,
    p: Int,
    lane: Int,
    words: Int,
    edits: cython.bint,
    row: Ids,
    rows: Ids,
    masks: Words,
    at: Int,
    places: Ids,
    size: Rest,
) -> Int:
    """Fill in the rows of bits of a pattern from `at` on, and the row that belongs to each token of the other text."""
    cython.declare(i=Int, j=Int)
    r: cython.int
    a: Int = rest[p, 0]
    m: Int = rest[p, 1]
    b: Int = rest[p, 2]
    n: Int = rest[p, 3]
    first: Int = at
    if edits and len(row) <= FEW:
        return _laid_out_all(ids, a, m, b, n, lane, words, len(row), masks, at, places, size)
    # −1: gets a row if the pattern has this token. No branch depends on the texts: list entries are always written, and
    # the list only grows if the entry is to stay.
    if edits:
        for i in range(m):
            row[ids[a + i]] = -1
    else:
        for j in range(n):
            row[ids[b + j]] = -1
    kept: Int = 0
    for i in range(m):
        r = row[ids[a + i]]
        rows[kept] = at if r < 0 else r
        row[ids[a + i]] = rows[kept]
        kept += r != 0
        at += words if r < 0 else 0
    for i in range(first, at):
        masks[i] = 0
    for i in range(kept):
        masks[rows[i] + (i >> 6)] |= bit(i & 63)
    size[0, lane] = kept
    kept = 0
    for j in range(n):
        r = row[ids[b + j]]
        places[kept * LANES + lane] = r
        kept += edits or r > 0
    size[1, lane] = kept
    for i in range(m):
        row[ids[a + i]] = 0
    if not edits:
        for j in range(n):
            row[ids[b + j]] = 0
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _laid_out_all(
    ids: Tokens,
    a: Int,
    m: Int,
    b: Int,
    n: Int,
    lane: Int,
    words: Int,
    kinds: Int,
    masks: Words,
    at: Int,
    places: Ids,
    size: Rest,
) -> Int:
    """Fill in one row of bits for each of a few kinds of tokens, also for those that no text has; otherwise like
    `_laid_out`.
    """
    cython.declare(i=Int, j=Int)
    for i in range(at, at + kinds * words):
        masks[i] = 0
    for i in range(m):
        masks[at + ids[a + i] * words + (i >> 6)] |= bit(i & 63)
    for j in range(n):
        places[j * LANES + lane] = at + ids[b + j] * words
    size[0, lane] = m
    size[1, lane] = n
    return at + kinds * words


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _gather(places: Ids, j: Int, rows: Int, words: Int, masks: Words, bits: Words) -> cython.void:
    """Gather the words of bits of the next tokens of all lanes, lane by lane."""
    cython.declare(r=Int, lane=Int, w=Int)
    for r in range(rows):
        for lane in range(LANES):
            place: Int = places[(j + r) * LANES + lane]
            for w in range(words):
                bits[(r * words + w) * LANES + lane] = masks[place + w]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _lcs_rows(places: Ids, n: Int, words: Int, masks: Words, bits: Words, state: Words) -> cython.void:
    """Compute bits that are 0 where the last row of the table increases."""
    cython.declare(lane=Int, r=Int, w=Int)
    carry: cython.ulonglong[16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    j: Int = 0
    while j < n:
        rows: Int = min(max(1, TOGETHER // words), n - j)
        _gather(places, j, rows, words, masks, bits)
        for r in range(rows):
            for lane in range(LANES):
                carry[lane] = 0
            for w in range(words):
                at: Int = (r * words + w) * LANES
                for lane in range(LANES):
                    v: Word = state[w * LANES + lane]
                    both: Word = v & bits[at + lane]
                    total: Word = (v + both + carry[lane]) & ALL
                    carry[lane] = (both | (v & (ALL ^ total))) >> 63
                    state[w * LANES + lane] = total | (v ^ both)
        j += rows


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _edit_rows(places: Ids, j: Int, n: Int, words: Int, masks: Words, bits: Words, state: Words) -> cython.void:
    """Compute two words of bits in parallel: where the last row of the table increases, and where it decreases."""
    cython.declare(lane=Int, r=Int, w=Int)
    up: cython.ulonglong[16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    down: cython.ulonglong[16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    while j < n:
        rows: Int = min(max(1, TOGETHER // words), n - j)
        _gather(places, j, rows, words, masks, bits)
        for r in range(rows):
            for lane in range(LANES):
                up[lane] = 1
                down[lane] = 0
            for w in range(words):
                at: Int = (r * words + w) * LANES
                k: Int = 2 * LANES * w
                for lane in range(LANES):
                    p: Word = state[k + lane]
                    q: Word = state[k + LANES + lane]
                    e: Word = bits[at + lane]
                    x: Word = e | q
                    e |= down[lane]
                    d: Word = ((((e & p) + p) & ALL) ^ p) | e
                    rise: Word = q | (ALL ^ (d | p))
                    fall: Word = p & d
                    shifted: Word = (rise << 1 & ALL) | up[lane]
                    state[k + lane] = (fall << 1 & ALL) | down[lane] | (ALL ^ (x | shifted))
                    state[k + LANES + lane] = shifted & x
                    up[lane] = rise >> 63
                    down[lane] = fall >> 63
        j += rows


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _ones(state: Words, first: Int, step: Int, m: Int) -> Int:
    """Count the ones among the first m bits in every `step`-th word."""
    cython.declare(w=Int)
    found: Int = 0
    for w in range(m >> 6):
        found += popcount(state[first + w * step])
    if m & 63:
        found += popcount(state[first + (m >> 6) * step] & (bit(m & 63) - 1))
    return found
