"""Longest common subsequences and edit distances of pairs that have no others of their size next to them, or are too
long for that.

As in `sequences`, one pair after the other. Every token of the pattern has the list of its places; a frequent one has a
row of bits as well, so a text of 100,000 tokens needs no table of all its tokens.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, full, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, bit, popcount
else:
    from nlgauge.kernels.shared import ALL, bit, popcount

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Rest = cython.typedef(cython.const[cython.longlong][:, ::1])
Ids = cython.typedef(cython.int[::1])
Words = cython.typedef(cython.ulonglong[::1])
Masks = cython.typedef(cython.ulonglong[:, ::1])

ROWS = 258  # of bits: a token with more places than a quarter of the words has one, the last two are room to work in


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _lcs(
    ids: Tokens,
    m: Int,
    other: Int,
    n: Int,
    last: Ids,
    before: Ids,
    row: Ids,
    masks: Masks,
    v: Words,
    hit: cython.longlong[::1],
    u: Words,
) -> Int:
    """Hyyrö (2004): the bits of `v` that are 0 are where the last row of the table rises."""
    cython.declare(j=Int, k=Int, w=Int)
    words: Int = (m + 63) // 64
    for w in range(words):
        v[w] = ALL
    for j in range(n):
        token: Int = ids[other + j]
        if last[token] < 0:
            continue
        carry: Word = 0
        k = row[token]
        if k >= 0:
            for w in range(words):
                carry = _add(v, w, masks[k, w], carry)
            continue
        here: Int = 0
        for k in range(_touched(last[token], before, hit, u) - 1, -1, -1):
            while carry and here < hit[k]:
                carry = _ripple(v, here)
                here += 1
            here = hit[k]
            carry = _add(v, here, u[k], carry)
            here += 1
        while carry and here < words:
            carry = _ripple(v, here)
            here += 1
    if m & 63:
        v[words - 1] |= ALL << (m & 63) & ALL
    found: Int = 64 * words
    for w in range(words):
        found -= popcount(v[w])
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _add(v: Words, w: Int, mask: Word, carry: Word) -> Word:
    """One word of a row; gives the carry to the next."""
    both: Word = v[w] & mask
    partial: Word = (v[w] + both) & ALL
    total: Word = (partial + carry) & ALL
    v[w] = total | (v[w] - both)
    return (partial < both) | (total < partial)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _touched(place: Int, before: Ids, hit: cython.longlong[::1], u: Words) -> Int:
    """How many words of bits have a token whose last place is given; `hit` and `u`: which and its bits, the last word
    first.
    """
    many: Int = 0
    while place >= 0:
        w: Int = place >> 6
        mask: Word = 0
        while place >= 0 and place >> 6 == w:
            mask |= bit(place & 63)
            place = before[place]
        hit[many] = w
        u[many] = mask
        many += 1
    return many


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _ripple(v: Words, w: Int) -> Word:
    """A carry into a word without a match: it sets the lowest free bit, or runs on."""
    if v[w] == ALL:
        return 1
    v[w] |= v[w] + 1
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _step(
    p: Word, q: Word, e: Word, up: Word, down: Word
) -> tuple[cython.ulonglong, cython.ulonglong, cython.ulonglong, cython.ulonglong]:
    """One word of one row: where the next row is higher and lower, and where this one rises and falls."""
    x: Word = e | q
    e |= down
    d: Word = ((((e & p) + p) & ALL) ^ p) | e
    rise: Word = q | (ALL ^ (d | p))
    fall: Word = p & d
    shifted: Word = (rise << 1 & ALL) | up
    return (fall << 1 & ALL) | down | (ALL ^ (x | shifted)), shifted & x, rise, fall


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _bits_of(token: Int, last: Ids, before: Ids, row: Ids, masks: Masks, spare: Int) -> Int:
    """The row of bits of a token; one with few places, or none, gets the spare one until it is called again: it
    toggles.
    """
    if row[token] >= 0:
        return row[token]
    i: Int = last[token]
    while i >= 0:
        masks[spare, i >> 6] ^= bit(i & 63)
        i = before[i]
    return spare


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _distance(
    ids: Tokens, m: Int, other: Int, n: Int, last: Ids, before: Ids, row: Ids, masks: Masks, plus: Words, minus: Words
) -> Int:
    """Two tokens of the reference at a time, the second one word behind the first: neither waits for the other's
    carry.
    """
    cython.declare(w=Int, p=Word, q=Word, p2=Word, q2=Word, rise=Word, fall=Word, rise2=Word, fall2=Word)
    words: Int = (m + 63) // 64
    for w in range(words):
        plus[w] = ALL
        minus[w] = 0
    score: Int = m
    top: Word = bit((m - 1) & 63)
    spare: Int = masks.shape[0] - 1
    j: Int = 0
    while j < n:
        k: Int = _bits_of(ids[other + j], last, before, row, masks, spare)
        # The first row counts the tokens of the reference: it rises by one with each.
        p, q, rise, fall = _step(plus[0], minus[0], masks[k, 0], 1, 0)
        if j + 1 == n:
            for w in range(1, words):
                plus[w - 1] = p
                minus[w - 1] = q
                p, q, rise, fall = _step(plus[w], minus[w], masks[k, w], rise >> 63, fall >> 63)
        else:
            other_k: Int = _bits_of(ids[other + j + 1], last, before, row, masks, spare - 1)
            up: Word = 1
            down: Word = 0
            for w in range(1, words):
                p2, q2, rise2, fall2 = _step(p, q, masks[other_k, w - 1], up, down)
                plus[w - 1] = p2
                minus[w - 1] = q2
                up = rise2 >> 63
                down = fall2 >> 63
                p, q, rise, fall = _step(plus[w], minus[w], masks[k, w], rise >> 63, fall >> 63)
            p, q, rise2, fall2 = _step(p, q, masks[other_k, words - 1], up, down)
            score += (rise2 & top) != 0
            score -= (fall2 & top) != 0
            _bits_of(ids[other + j + 1], last, before, row, masks, spare - 1)
        plus[words - 1] = p
        minus[words - 1] = q
        score += (rise & top) != 0
        score -= (fall & top) != 0
        _bits_of(ids[other + j], last, before, row, masks, spare)
        j += 2
    return score


@kernel
def long_alignments(ids: Tokens, rest: Rest, alone: Texts, kinds: Int, edits: cython.bint, found: cython.longlong[::1]):
    """Fill in the pairs `alone`; see `sequences.alignments` for what is given."""
    cython.declare(p=Int)
    longest: Int = 1
    for p in range(len(alone)):
        longest = max(longest, rest[alone[p], 1])
    words: Int = (longest + 63) // 64
    last: Ids = full(kinds, -1, "i")  # the last place of each token
    before: Ids = empty(longest, "i")  # the one before that place, −1 ends
    row: Ids = full(kinds, -1, "i")  # of bits, −1 if it has none
    masks: Masks = zeros((min(ROWS, longest + 2), words), "Q")
    a: Words = empty(words, "Q")
    b: Words = empty(words, "Q")
    c: cython.longlong[::1] = empty(words, "q")
    with cython.nogil:
        for p in range(len(alone)):
            first: Int = rest[alone[p], 0]
            m: Int = rest[alone[p], 1]
            other: Int = rest[alone[p], 2]
            n: Int = rest[alone[p], 3]
            _list(ids, first, m, last, before, row, masks)
            if edits:
                found[alone[p]] = _distance(ids, m, other, n, last, before, row, masks, a, b)
            else:
                found[alone[p]] += _lcs(ids, m, other, n, last, before, row, masks, a, c, b)
            _forget(ids, first, m, last, row)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _list(ids: Tokens, first: Int, m: Int, last: Ids, before: Ids, row: Ids, masks: Masks) -> cython.void:
    """The places of each token of a text, and the rows of bits of frequent ones."""
    cython.declare(i=Int, w=Int)
    words: Int = (m + 63) // 64
    rows: Int = 0
    for i in range(m):
        token: Int = ids[first + i]
        before[i] = last[token]
        last[token] = i
        if row[token] < 0:
            row[token] -= 1  # −1 less the number of places so far
            if 4 * (-1 - row[token]) <= words:
                continue
            row[token] = rows
            for w in range(words):
                masks[rows, w] = 0
            place: Int = before[i]
            while place >= 0:
                masks[rows, place >> 6] |= bit(place & 63)
                place = before[place]
            rows += 1
        masks[row[token], i >> 6] |= bit(i & 63)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _forget(ids: Tokens, first: Int, m: Int, last: Ids, row: Ids) -> cython.void:
    cython.declare(i=Int)
    for i in range(m):
        last[ids[first + i]] = -1
        row[ids[first + i]] = -1
