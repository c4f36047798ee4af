"""Longest common subsequences and edit distances, 64 cells of the table at a time.

Bit i of a word stands for token i of the output. LCS: Hyyrö (2004); edit distance: Myers (1999) in Hyyrö's blocks.
Every token of the output has the list of its places, so a text of 100,000 tokens needs no table.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, full, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, popcount
else:
    from nlgauge.kernels.shared import ALL, popcount

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Words = cython.typedef(cython.ulonglong[::1])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _bit(i: Int) -> Word:
    one: Word = 1
    return one << i


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
    v: Words,
    hit: cython.longlong[::1],
    u: Words,
) -> Int:
    cython.declare(j=Int, k=Int)
    i: Int
    w: Int
    mask: Word
    both: Word
    words: Int = (m + 63) // 64
    if words == 1:
        v0: Word = ALL
        for j in range(n):
            mask = 0
            i = last[ids[other + j]]
            while i >= 0:
                mask |= _bit(i)
                i = before[i]
            both = v0 & mask
            v0 = ((v0 + both) & ALL) | (v0 - both)
        if m < 64:
            v0 |= ALL << m & ALL
        return 64 - popcount(v0)
    for w in range(words):
        v[w] = ALL
    for j in range(n):
        i = last[ids[other + j]]
        touched: Int = 0
        while i >= 0:  # from the last word to the first
            w = i >> 6
            mask = 0
            while i >= 0 and i >> 6 == w:
                mask |= _bit(i & 63)
                i = before[i]
            hit[touched] = w
            u[touched] = mask
            touched += 1
        carry: Word = 0
        w = 0
        for k in range(touched - 1, -1, -1):
            while carry and w < hit[k]:
                carry = _ripple(v, w)
                w += 1
            w = hit[k]
            both = v[w] & u[k]
            partial: Word = (v[w] + both) & ALL
            total: Word = (partial + carry) & ALL
            carry = 1 if partial < both or total < partial else 0
            v[w] = total | (v[w] - both)
            w += 1
        while carry and w < words:
            carry = _ripple(v, w)
            w += 1
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
def _ripple(v: Words, w: Int) -> Word:
    """A carry into a word without a match: it sets the lowest free bit, or runs on."""
    if v[w] == ALL:
        return 1
    v[w] |= v[w] + 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _distance(
    ids: Tokens, m: Int, other: Int, n: Int, last: Ids, before: Ids, plus: Words, minus: Words, eq: Words
) -> Int:
    cython.declare(j=Int)
    if m == 0 or n == 0:
        return max(m, n)
    i: Int
    w: Int
    words: Int = (m + 63) // 64
    for w in range(words):
        plus[w] = ALL
        minus[w] = 0
    score: Int = m
    top: Word = _bit((m - 1) & 63)
    for j in range(n):
        i = last[ids[other + j]]
        while i >= 0:
            eq[i >> 6] |= _bit(i & 63)
            i = before[i]
        up: Word = 1  # the first row counts the tokens of the reference
        down: Word = 0
        for w in range(words):
            p: Word = plus[w]
            q: Word = minus[w]
            e: Word = eq[w]
            x: Word = e | q
            e |= down
            d: Word = ((((e & p) + p) & ALL) ^ p) | e
            rise: Word = q | (ALL ^ (d | p))
            fall: Word = p & d
            if w == words - 1:
                score += (rise & top) != 0
                score -= (fall & top) != 0
            shifted: Word = (rise << 1 & ALL) | up
            plus[w] = (fall << 1 & ALL) | down | (ALL ^ (x | shifted))
            minus[w] = shifted & x
            up = rise >> 63
            down = fall >> 63
        i = last[ids[other + j]]
        while i >= 0:
            eq[i >> 6] = 0
            i = before[i]
    return score


@kernel
def alignments(
    ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, kinds: Int, edits: cython.bint
):
    """The length of the LCS, or the edit distance, of each pair of texts; `kinds` is larger than every token id.

    Pairs of one output should follow each other: its places are listed once.
    """
    cython.declare(p=Int, i=Int)
    pairs: Int = len(reference)
    longest: Int = 1
    for p in range(pairs):
        longest = max(longest, length[output[p]])
    words: Int = (longest + 63) // 64
    found: cython.longlong[::1] = zeros(pairs, "q")
    last: Ids = full(kinds, -1, "i")  # the last place of each token
    before: Ids = empty(longest, "i")  # the one before that place, −1 ends
    a: Words = empty(words, "Q")
    b: Words = zeros(words, "Q")
    c: cython.longlong[::1] = empty(words, "q")
    d: Words = zeros(words, "Q")
    listed: Int = -1
    with cython.nogil:
        for p in range(pairs):
            h: Int = output[p]
            r: Int = reference[p]
            if h != listed:
                if listed >= 0:
                    for i in range(length[listed]):
                        last[ids[begin[listed] + i]] = -1
                for i in range(length[h]):
                    before[i] = last[ids[begin[h] + i]]
                    last[ids[begin[h] + i]] = i
                listed = h
            if edits:
                found[p] = _distance(ids, length[h], begin[r], length[r], last, before, a, b, d)
            else:
                found[p] = _lcs(ids, length[h], begin[r], length[r], last, before, a, c, d)
    return array(found)
