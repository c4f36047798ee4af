"""From code points to token ids: split, look each token up in a hash table, number the new ones.

The rules of mteval-v13a are four substitutions that only put blanks between characters. The first one sets symbols
apart; the others, about . , and -, see no farther than the next blank: they are run one after the other, exactly as the
regular expressions read, on those pieces that hold one of the three.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

SPLIT, ROUGE, MTEVAL, CHRF_WORDS = range(4)
BLANK, NEWLINE, COMMA, DASH, DOT = 32, 10, 44, 45, 46
FIRST_FOREIGN = np.uint32(128)
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(k) for k in range(5))
FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
HASHED = np.uint64(1 << 63)  # no eight characters give that
PRIME = np.uint64(0x9E3779B97F4A7C15)

# What a character is to each way of splitting: inside a token, inside one that mteval has to look at again, between tokens,
# a token by itself, or beyond ASCII, which needs a closer look. A token ends before what is not INSIDE or MARK.
INSIDE, MARK, BETWEEN, ALONE, FOREIGN = range(5)
SPACES = [*range(9, 14), *range(28, 33)]  # as str.split sees them
SYMBOL = np.zeros(128, np.bool_)
SYMBOL[[*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)]] = True
ROLE = np.full((4, 129), INSIDE, np.uint8)
ROLE[:, 128] = FOREIGN
ROLE[:, SPACES] = BETWEEN
ROLE[ROUGE] = BETWEEN
ROLE[ROUGE, [*range(48, 58), *range(97, 123)]] = INSIDE
ROLE[MTEVAL, np.flatnonzero(SYMBOL)] = ALONE
ROLE[MTEVAL, [COMMA, DASH, DOT]] = MARK
ROLE[MTEVAL, ord("'")] = INSIDE


class Vocabulary(NamedTuple):
    """The distinct tokens: `pool[ends[i]:ends[i + 1]]` are the code points of token i.

    `table` finds its id. A slot has four numbers side by side, so that they come with one look into memory: the two halves
    of a key (0: free), the id, and nothing. Up to 16 ASCII characters are their own key, the last eight first; what is
    longer or in other scripts is hashed, and compared by its code points.
    """

    table: NDArray[np.uint64]
    pool: NDArray[np.uint32]
    ends: NDArray[np.int64]
    size: int


def empty_vocabulary() -> Vocabulary:
    return Vocabulary(np.zeros(1 << 13, np.uint64), np.empty(4096, np.uint32), np.zeros(513, np.int64), 0)


@njit(cache=True, nogil=True)
def _is_space(c: Any) -> Any:
    if c < 128:
        return ROLE[SPLIT, c] == BETWEEN
    return c in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000) or 0x2000 <= c <= 0x200A


@njit(cache=True, nogil=True)
def _is_symbol(c: Any) -> Any:
    return c < 128 and SYMBOL[c]


@njit(cache=True, nogil=True)
def _is_digit(c: Any) -> Any:
    return 48 <= c <= 57


@njit(cache=True, nogil=True)
def _start(key: Any, more: Any, mask: Any) -> Any:
    return ((key + more * PRIME) * PRIME) >> np.uint64(32) & mask & ~THREE


@njit(cache=True, nogil=True)
def _slot(key: Any, more: Any, table: Any) -> Any:
    """The place of the key in the table, or the free place where it belongs."""
    mask = np.uint64(table.size - 1)
    slot = _start(key, more, mask)
    while (table[slot] != key or table[slot + ONE] != more) and table[slot] != ZERO:
        slot = (slot + FOUR) & mask
    return slot


@njit(cache=True, nogil=True)
def _packed(text: Any, first: Any, last: Any) -> Any:
    """Up to eight characters in one number; they count from 1, so that NUL is not nothing."""
    key = ZERO
    for k in range(first, last):
        key = (key << np.uint64(8)) | np.uint64(text[k] + 1)
    return key


@njit(cache=True, nogil=True)
def _hash(text: Any, first: Any, last: Any) -> Any:
    key = np.uint64(14695981039346656037)
    for k in range(first, last):
        key = (key ^ np.uint64(text[k])) * np.uint64(1099511628211)
    return key | ONE


@njit(cache=True, nogil=True)
def _number(text: Any, first: Any, last: Any, table: Any, pool: Any, ends: Any, size: Any) -> Any:
    """The id of a token; `size` if it is new, and then it stands in the vocabulary."""
    plain, many = last - first <= 16, last - first
    for k in range(first, last if plain else first):
        plain = plain and text[k] < 128
    middle = max(first, last - 8)
    key, more = _packed(text, middle, last), _packed(text, first, middle) if plain else HASHED
    if not plain:
        key = _hash(text, first, last)
    slot = _slot(key, more, table)
    while table[slot] != ZERO:
        word = np.int64(table[slot + TWO])
        same = plain or ends[word + 1] - ends[word] == many
        for k in range(many if same and not plain else 0):
            same = same and pool[ends[word] + k] == text[first + k]
        if same:
            return word
        slot = _after(slot, key, more, table)
    table[slot], table[slot + ONE], table[slot + TWO] = key, more, size
    for k in range(many):
        pool[ends[size] + k] = text[first + k]
    ends[size + 1] = ends[size] + many
    return np.int64(size)


@njit(cache=True, nogil=True)
def _after(slot: Any, key: Any, more: Any, table: Any) -> Any:
    """The next place of the key: another token has the same hash."""
    mask = np.uint64(table.size - 1)
    slot = (slot + FOUR) & mask
    while (table[slot] != key or table[slot + ONE] != more) and table[slot] != ZERO:
        slot = (slot + FOUR) & mask
    return slot


@njit(cache=True, nogil=True)
def _mteval(text: Any, first: Any, last: Any, a: Any, b: Any) -> Any:
    """The substitutions of mteval-v13a about . , and - on one piece between blanks; the result stands in `b`."""
    a[0] = BLANK
    for k in range(first, last):
        a[k - first + 1] = text[k]
    n = last - first + 2
    a[n - 1] = BLANK
    m, i = 0, 0
    while i < n:  # . and , after what is no digit
        b[m] = a[i]
        m += 1
        if i + 1 < n and (a[i + 1] == DOT or a[i + 1] == COMMA) and not _is_digit(a[i]):
            b[m], b[m + 1], b[m + 2] = BLANK, a[i + 1], BLANK
            m += 3
            i += 1
        i += 1
    n, i = 0, 0
    while i < m:  # . and , before what is no digit
        if i + 1 < m and (b[i] == DOT or b[i] == COMMA) and not _is_digit(b[i + 1]):
            a[n], a[n + 1], a[n + 2], a[n + 3] = BLANK, b[i], BLANK, b[i + 1]
            n += 4
            i += 2
        else:
            a[n] = b[i]
            n += 1
            i += 1
    m, i = 0, 0
    while i < n:  # - after a digit
        b[m] = a[i]
        m += 1
        if i + 1 < n and a[i + 1] == DASH and _is_digit(a[i]):
            b[m], b[m + 1], b[m + 2] = BLANK, DASH, BLANK
            m += 3
            i += 1
        i += 1
    return m


@njit(cache=True, nogil=True)
def _marks(text: Any, first: Any, last: Any) -> Any:
    """How many characters of a token mteval has to look at."""
    many = 0
    for k in range(first, last):
        many += text[k] == DOT or text[k] == COMMA or text[k] == DASH
    return many


@njit(cache=True, nogil=True)
def _cut(text: Any, i: Any, stop: Any, first: Any, marked: Any) -> Any:
    """Where the token that begins at i ends: at the next blank, or where chrF++ splits one symbol off, the last or else the first."""
    if marked:
        cut = i + 1
        while text[cut] != BLANK:
            cut += 1
        return cut
    if stop - i > 1 and _is_symbol(text[stop - 1]):
        return stop - 1
    if stop - i > 1 and i == first and _is_symbol(text[i]):
        return i + 1
    return stop


@njit(cache=True, nogil=True)
def _pieces(
    text: Any, first: Any, stop: Any, marked: Any, ids: Any, lines: Any, line: Any, count: Any, table: Any, pool: Any,
    ends: Any, size: Any,
) -> Any:  # fmt: skip
    """Number what a token falls into; gives how many tokens there are by then, and how many different ones."""
    i = first
    while i < stop:
        if marked and text[i] == BLANK:
            i += 1
            continue
        cut = _cut(text, i, stop, first, marked)
        ids[count] = _number(text, i, cut, table, pool, ends, size)
        size += ids[count] == size
        lines[count] = line
        count += 1
        i = cut
    return count, size


@njit(cache=True, nogil=True)
def encode(codes: Any, offsets: Any, mode: Any, table: Any, pool: Any, ends: Any, size: Any) -> Any:
    """Token ids of all texts, their number per text, the line of each token, and the grown vocabulary.

    Text t is `codes[offsets[t]:offsets[t + 1]]`. A text has at most as many tokens as characters.
    """
    longest = 0
    for t in range(offsets.size - 1):
        longest = max(longest, offsets[t + 1] - offsets[t])
    a, b = np.empty(5 * longest + 16, np.uint32), np.empty(5 * longest + 16, np.uint32)
    ids, lines = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
    lengths = np.empty(offsets.size - 1, np.int64)
    role = ROLE[mode]
    count = 0
    for t in range(offsets.size - 1):
        k, last = offsets[t], offsets[t + 1]
        room = size + last - k
        if 8 * room > table.size or room >= ends.size or ends[size] + last - k > pool.size:
            table, pool, ends = _room(last - k, table, pool, ends, size)
        before, line = count, 0
        while k < last:
            c = codes[np.uint64(k)]  # unsigned: a signed index may count from the end, and that is checked
            what = role[np.uint64(min(c, FIRST_FOREIGN))]
            if what == BETWEEN or (what == FOREIGN and _is_space(c)):
                line += c == NEWLINE
                k += 1
                continue
            first, key, foreign, marked = k, np.uint64(c + 1), what == FOREIGN, np.uint8(what == MARK)
            k += 1
            stop = k if what == ALONE else last
            while k < stop:
                c = codes[np.uint64(k)]
                other = role[np.uint64(min(c, FIRST_FOREIGN))]
                if other > MARK:
                    if other != FOREIGN or _is_space(c):
                        break
                    foreign, other = True, np.uint8(INSIDE)
                marked |= other
                key = (key << np.uint64(8)) | np.uint64(c + 1)
                k += 1
            pieces = mode == CHRF_WORDS
            if marked:
                ends_in_point = codes[k - 1] == DOT or codes[k - 1] == COMMA
                pieces = not ends_in_point or _marks(codes, first, k) > 1
                if not pieces and k - first > 1:
                    k -= 1  # a point at the end of a word, the usual case: two tokens
                    key = _packed(codes, max(first, k - 8), k)
            if pieces and k - first > 1:
                if marked:
                    many = _mteval(codes, first, k, a, b)
                    count, size = _pieces(b, 0, many, True, ids, lines, line, count, table, pool, ends, size)
                else:
                    count, size = _pieces(
                        codes, first, k, False, ids, lines, line, count, table, pool, ends, size
                    )
                continue
            slot = FREE
            if not foreign and k - first <= 16:  # the usual case: what it needs is at hand
                slot = _slot(key, _packed(codes, first, k - 8) if k - first > 8 else ZERO, table)
            if slot != FREE and table[slot] != ZERO:
                ids[np.uint64(count)] = table[slot + TWO]
            else:
                ids[count] = _number(codes, first, k, table, pool, ends, size)
                size += ids[count] == size
            lines[np.uint64(count)] = line
            count += 1
        lengths[t] = count - before
    return ids[:count].copy(), lengths, lines[:count].copy(), table, pool, ends, size


@njit(cache=True, nogil=True)
def _room(more: Any, table: Any, pool: Any, ends: Any, size: Any) -> Any:
    """The vocabulary with room for as many new tokens as a text has characters."""
    room = size + more
    if 8 * room > table.size:
        width = 8 << int(np.ceil(np.log2(room)))
        grown, mask = np.zeros(width, np.uint64), np.uint64(width - 1)
        for old in range(0, table.size, 4):
            if table[old] != ZERO:
                slot = _start(table[old], table[old + 1], mask)
                while grown[slot] != ZERO:
                    slot = (slot + FOUR) & mask
                grown[slot : slot + FOUR] = table[old : old + 4]
        table = grown
    if room >= ends.size:
        ends = np.concatenate((ends[: size + 1], np.empty(2 * room - size, np.int64)))
    if ends[size] + more > pool.size:
        pool = np.concatenate((pool[: ends[size]], np.empty(ends[size] + 2 * more, np.uint32)))
    return table, pool, ends


@njit(cache=True, nogil=True)
def characters(codes: Any, offsets: Any, spaces: Any) -> Any:
    """Code points as token ids, with or without white space, and their number per text."""
    ids, lengths = np.empty(codes.size, np.int32), np.empty(offsets.size - 1, np.int64)
    count = 0
    for t in range(offsets.size - 1):
        before = count
        for k in range(offsets[t], offsets[t + 1]):
            ids[count] = codes[k]
            count += spaces or not _is_space(codes[k])
        lengths[t] = count - before
    return ids[:count], lengths
