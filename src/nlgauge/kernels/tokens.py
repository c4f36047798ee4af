"""Conversion of code points to token IDs: split texts, look up each token in a hash table, and number new tokens.

A slot of the table has four adjacent words, so that one memory access reads them: the two halves of a key (0: free),
the ID, and padding. Up to 16 ASCII characters are their own key, the last eight first. Longer tokens and those in other
scripts are hashed and compared by their code points.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

import numpy as np

from nlgauge.kernels._roles import ROLE
from nlgauge.kernels._room import array, empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.mteval import marks, mteval
    from cython.cimports.nlgauge.kernels.shared import ALL, PRIME
else:
    from nlgauge.kernels.mteval import marks, mteval
    from nlgauge.kernels.shared import ALL, PRIME

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Text = cython.typedef(cython.const[cython.uint][::1])
Room = cython.typedef(cython.uint[::1])
Table = cython.typedef(cython.ulonglong[::1])
Longs = cython.typedef(cython.longlong[::1])
Ids = cython.typedef(cython.int[::1])
Offsets = cython.typedef(cython.const[cython.longlong][::1])

HASHED = cython.declare(cython.ulonglong, 1 << 63)  # a value that no eight characters produce
HASH = cython.declare(cython.ulonglong, 14695981039346656037)
HASH_PRIME = cython.declare(cython.ulonglong, 1099511628211)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_space(c: cython.uint) -> cython.bint:
    if c < 128:
        return 9 <= c <= 13 or 28 <= c <= 32
    return c in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000) or 0x2000 <= c <= 0x200A


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_symbol(c: cython.uint) -> cython.bint:
    return 33 <= c <= 47 or 58 <= c <= 64 or 91 <= c <= 96 or 123 <= c <= 126


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _start(key: Word, more: Word, mask: Word) -> Int:
    spread: Word = ((key + more * PRIME) & ALL) * PRIME & ALL
    return (spread >> 32) & (mask - 3)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _on(slot: Int, key: Word, more: Word, table: Table) -> Int:
    """Return the slot of the key in the table, searched from this slot on, or the free slot where it belongs."""
    while (table[slot] != key or table[slot + 1] != more) and table[slot] != 0:
        slot = (slot + 4) & (len(table) - 1)
    return slot


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _packed(text: Text, first: Int, last: Int) -> Word:
    """Pack up to eight characters into one number; codes are increased by 1, so that NUL differs from no character."""
    cython.declare(k=Int)
    key: Word = 0
    for k in range(first, last):
        key = (key << 8 & ALL) | (text[k] + 1)
    return key


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _hash(text: Text, first: Int, last: Int) -> Word:
    cython.declare(k=Int)
    key: Word = HASH
    for k in range(first, last):
        key = (key ^ text[k]) * HASH_PRIME & ALL
    return key | 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(text: Text, first: Int, last: Int, table: Table, pool: Room, ends: Longs, size: Int) -> Int:
    """Return the id of a token; `size` if it is new and was added to the vocabulary."""
    cython.declare(k=Int)
    many: Int = last - first
    plain: cython.bint = many <= 16
    if plain:
        for k in range(first, last):
            if text[k] >= 128:
                plain = False
    key: Word
    more: Word = HASHED
    if plain:
        middle: Int = max(first, last - 8)
        key = _packed(text, middle, last)
        more = _packed(text, first, middle)
    else:
        key = _hash(text, first, last)
    slot: Int = _on(_start(key, more, len(table) - 1), key, more, table)
    while table[slot] != 0:
        word: Int = table[slot + 2]
        same: cython.bint = plain or ends[word + 1] - ends[word] == many
        if same and not plain:
            for k in range(many):
                if pool[ends[word] + k] != text[first + k]:
                    same = False
                    break
        if same:
            return word
        slot = _on((slot + 4) & (len(table) - 1), key, more, table)  # another token has the same hash
    return _add(slot, key, more, text, first, last, table, pool, ends, size)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add(
    slot: Int,
    key: Word,
    more: Word,
    text: Text,
    first: Int,
    last: Int,
    table: Table,
    pool: Room,
    ends: Longs,
    size: Int,
) -> Int:
    """Add a new token to the free slot, and assign the next ID to it."""
    cython.declare(k=Int)
    table[slot] = key
    table[slot + 1] = more
    table[slot + 2] = size
    end: Int = ends[size]
    for k in range(first, last):
        pool[end] = text[k]
        end += 1
    ends[size + 1] = end
    return size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cut(text: Text, i: Int, stop: Int, first: Int, marked: cython.bint) -> Int:
    """Return the end of the token that begins at i: the next blank, or where chrF++ splits off one symbol, the last or
    else the first.
    """
    if marked:
        cut: Int = i + 1
        while text[cut] != 32:
            cut += 1
        return cut
    if stop - i > 1 and _is_symbol(text[stop - 1]):
        return stop - 1
    if stop - i > 1 and i == first and _is_symbol(text[i]):
        return i + 1
    return stop


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pieces(
    text: Text,
    first: Int,
    stop: Int,
    marked: cython.bint,
    ids: Ids,
    lines: Ids,
    line: Int,
    count: Int,
    table: Table,
    pool: Room,
    ends: Longs,
    size: Int,
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Number the parts of a token, and return the number of tokens and of distinct tokens so far."""
    i: Int = first
    while i < stop:
        if marked and text[i] == 32:
            i += 1
            continue
        cut: Int = _cut(text, i, stop, first, marked)
        word: Int = _number(text, i, cut, table, pool, ends, size)
        ids[count] = word
        size += word == size
        lines[count] = line
        count += 1
        i = cut
    return count, size


@kernel
def encode(codes: Text, offsets: Offsets, mode: Int, table: Table, pool: Room, ends: Longs, size: Int):
    """Compute the token IDs of all texts, their number per text, the line of each token, and the extended vocabulary.

    Text t is `codes[offsets[t]:offsets[t + 1]]`. A text has at most as many tokens as characters.
    """
    cython.declare(i=Int)
    texts: Int = len(offsets) - 1
    longest: Int = 0
    for i in range(texts):
        longest = max(longest, offsets[i + 1] - offsets[i])
    a: Room = empty(5 * longest + 16, "I")
    b: Room = empty(5 * longest + 16, "I")
    ids: Ids = empty(len(codes), "i")
    lines: Ids = empty(len(codes), "i")
    lengths: Longs = empty(texts, "q")
    role: cython.const[cython.uchar][::1] = ROLE[mode]
    count: Int = 0
    t: Int = 0
    while t < texts:
        t, count, size = _encode(
            codes, offsets, mode, role, t, count, a, b, ids, lines, lengths, table, pool, ends, size
        )
        if t < texts:
            table, pool, ends = grown(offsets[t + 1] - offsets[t], array(table), array(pool), array(ends), size)
    return (
        array(ids)[:count].copy(),
        array(lengths),
        array(lines)[:count].copy(),
        array(table),
        array(pool),
        array(ends),
        size,
    )


@cython.cfunc
@cython.exceptval(check=False)
def _encode(
    codes: Text,
    offsets: Offsets,
    mode: Int,
    role: cython.const[cython.uchar][::1],
    t: Int,
    count: Int,
    a: Room,
    b: Room,
    ids: Ids,
    lines: Ids,
    lengths: Longs,
    table: Table,
    pool: Room,
    ends: Longs,
    size: Int,
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t, cython.Py_ssize_t]:
    """Encode from text t on, until the vocabulary has no room for one; gives that text, and how many tokens
    there are.
    """
    slot: Int
    with cython.nogil:
        while t < len(offsets) - 1:
            k: Int = offsets[t]
            last: Int = offsets[t + 1]
            room: Int = _room(size, last - k)
            if 8 * room > len(table) or room >= len(ends) or ends[size] + last - k > len(pool):
                break
            before: Int = count
            line: Int = 0
            while k < last:
                c: cython.uint = codes[k]
                what: cython.uchar = role[c if c < 128 else 128]
                if what == 2 or (what == 4 and _is_space(c)):
                    line += c == 10
                    k += 1
                    continue
                first: Int = k
                key: Word = c + 1
                foreign: cython.bint = what == 4
                marked: cython.uchar = what == 1
                k += 1
                stop: Int = k if what == 3 else last
                while k < stop:
                    c = codes[k]
                    other: cython.uchar = role[c if c < 128 else 128]
                    if other > 1:
                        if other != 4 or _is_space(c):
                            break
                        foreign = True
                        other = 0
                    marked |= other
                    key = _pushed(key, c)
                    k += 1
                pieces: cython.bint = mode == 3
                if marked:
                    pieces = not (codes[k - 1] == 46 or codes[k - 1] == 44) or marks(codes, first, k) > 1
                    if not pieces and k - first > 1:
                        k -= 1  # a point at the end of a word, the usual case: two tokens
                        key = _packed(codes, max(first, k - 8), k)
                if pieces and k - first > 1:
                    if marked:
                        many: Int = mteval(codes, first, k, a, b)
                        count, size = _pieces(b, 0, many, True, ids, lines, line, count, table, pool, ends, size)
                    else:
                        count, size = _pieces(codes, first, k, False, ids, lines, line, count, table, pool, ends, size)
                    continue
                word: Int
                if not foreign and k - first <= 16:  # the usual case: what it needs is available
                    more: Word = 0
                    if k - first > 8:
                        more = _packed(codes, first, k - 8)
                    slot = _on(_start(key, more, len(table) - 1), key, more, table)
                    if table[slot] != 0:
                        word = table[slot + 2]
                    else:
                        word = _add(slot, key, more, codes, first, k, table, pool, ends, size)
                        size += 1
                else:
                    word = _number(codes, first, k, table, pool, ends, size)
                    size += word == size
                ids[count] = word
                lines[count] = line
                count += 1
            lengths[t] = count - before
            t += 1
    return t, count, size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _pushed(key: Word, c: cython.uint) -> Word:
    return (key << 8 & ALL) | (c + 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _room(size: Int, characters: Int) -> Int:
    """Return the size needed for the tokens of one more text.

    Each token takes two characters (itself and a separator) or is one ASCII character.
    """
    return size + (characters >> 1) + 130


def grown(more: Int, table, pool, ends, size: Int):
    """Return the vocabulary with space for the tokens of one more text with `more` characters."""
    room = _room(size, more)
    if 8 * room > len(table):
        width = 8
        while width < 8 * room:
            width *= 2
        bigger = np.zeros(width, np.uint64)
        _move(bigger, table)
        table = bigger
    if room >= len(ends):
        ends = np.concatenate((ends[: size + 1], np.empty(2 * room - size, np.int64)))
    if ends[size] + more > len(pool):
        pool = np.concatenate((pool[: ends[size]], np.empty(ends[size] + 2 * more, np.uint32)))
    return memoryview(table), memoryview(pool), memoryview(ends)


@kernel
def _move(grown: Table, table: Table):
    """Put all entries of a table into an empty bigger one."""
    cython.declare(k=Int)
    old: Int = 0
    with cython.nogil:
        while old < len(table):
            if table[old] != 0:
                slot: Int = _start(table[old], table[old + 1], len(grown) - 1)
                while grown[slot] != 0:
                    slot = (slot + 4) & (len(grown) - 1)
                for k in range(4):
                    grown[slot + k] = table[old + k]
            old += 4


@kernel
def characters(codes: Text, offsets: Offsets):
    """Return the code points as token IDs, without white space, and their number per text."""
    cython.declare(t=Int, k=Int)
    ids: Ids = empty(len(codes), "i")
    lengths: Longs = empty(len(offsets) - 1, "q")
    count: Int = 0
    with cython.nogil:
        for t in range(len(offsets) - 1):
            before: Int = count
            for k in range(offsets[t], offsets[t + 1]):
                ids[count] = codes[k]
                count += not _is_space(codes[k])
            lengths[t] = count - before
    return array(ids)[:count], array(lengths)


@kernel
def inked(ids: cython.const[cython.int][::1], begin: Offsets, length: Offsets):
    """Return whether each text of code points has more than white space."""
    cython.declare(t=Int)
    found: cython.uchar[::1] = zeros(len(length), "B")
    with cython.nogil:
        for t in range(len(length)):
            k: Int = begin[t]
            end: Int = k + length[t]
            while k < end and _is_space(ids[k]):
                k += 1
            found[t] = k < end
    return array(found)
