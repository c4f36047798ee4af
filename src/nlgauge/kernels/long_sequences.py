"""Longest common subsequences and edit distances of pairs that cannot be processed together with pairs of similar size.

The algorithms are those of `sequences`, but the pairs and the words of bits of a pattern are processed one after the
other. The carry from one word to the next is stored for every token of the other text, so a text of 100,000 tokens
needs no table of all its tokens.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, bit, popcount
else:
    from nlgauge.kernels.shared import ALL, bit, popcount

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Rest = cython.typedef(cython.const[cython.longlong][:, ::1])
Bytes = cython.typedef(cython.uchar[::1])
Words = cython.typedef(cython.ulonglong[::1])


@kernel
def long_alignments(ids: Tokens, rest: Rest, alone: Texts, kinds: Int, edits: cython.bint, found: cython.longlong[::1]):
    """Fill in the pairs `alone`; see `sequences.alignments` for what is given."""
    cython.declare(p=Int, i=Int, w=Int)
    longest: Int = 0
    for p in range(len(alone)):
        longest = max(longest, rest[alone[p], 3])
    bits: Words = zeros(kinds, "Q")  # of the places of each token in a word of the pattern
    up: Bytes = empty(longest, "B")  # the carry to the next word at each token of the other text
    down: Bytes = empty(longest, "B")
    with cython.nogil:
        for p in range(len(alone)):
            first: Int = rest[alone[p], 0]
            m: Int = rest[alone[p], 1]
            other: Int = rest[alone[p], 2]
            n: Int = rest[alone[p], 3]
            for i in range(n):
                up[i] = edits  # the first row counts the tokens of the other text: it rises by one with each
                down[i] = 0
            for w in range((m + 63) // 64):
                size: Int = min(64, m - 64 * w)
                for i in range(first + 64 * w, first + 64 * w + size):
                    bits[ids[i]] |= bit(i - first - 64 * w)
                if edits:
                    _edit_word(ids, other, n, bits, up, down, size - 1)
                else:
                    found[alone[p]] += _lcs_word(ids, other, n, bits, up, size)
                for i in range(first + 64 * w, first + 64 * w + size):
                    bits[ids[i]] = 0
            if edits:
                found[alone[p]] = m
                for i in range(n):
                    found[alone[p]] += up[i] - down[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _lcs_word(ids: Tokens, other: Int, n: Int, bits: Words, carry: Bytes, size: Int) -> Int:
    """Compute the LCS by the algorithm of Hyyrö (2004).

    The bits that are 0 in the end mark where the last row of the table increases; their number is returned.
    """
    cython.declare(j=Int)
    v: Word = ALL
    for j in range(n):
        both: Word = v & bits[ids[other + j]]
        partial: Word = (v + both) & ALL
        total: Word = (partial + carry[j]) & ALL
        carry[j] = (partial < both) | (total < partial)
        v = total | (v - both)
    if size < 64:
        v |= ALL << size & ALL
    return 64 - popcount(v)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _edit_word(ids: Tokens, other: Int, n: Int, bits: Words, up: Bytes, down: Bytes, last: Int) -> cython.void:
    """Compute one word of bits of the edit distance by the algorithm of Myers (1999) in Hyyrö's blocks.

    `up` and `down` say whether the row above increases or decreases, and are overwritten with those of the last row.
    """
    cython.declare(j=Int)
    p: Word = ALL
    q: Word = 0
    for j in range(n):
        e: Word = bits[ids[other + j]]
        x: Word = e | q
        e |= down[j]
        d: Word = ((((e & p) + p) & ALL) ^ p) | e
        rise: Word = q | (ALL ^ (d | p))
        fall: Word = p & d
        shifted: Word = (rise << 1 & ALL) | up[j]
        p = (fall << 1 & ALL) | down[j] | (ALL ^ (x | shifted))
        q = shifted & x
        up[j] = rise >> last & 1
        down[j] = fall >> last & 1
