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

# What an ASCII character is, as bits.
SPACE, DIGIT, LETTER, SYMBOL, APART = 1, 2, 4, 8, 16
KIND = np.zeros(128, np.uint8)
KIND[[*range(9, 14), *range(28, 33)]] |= SPACE  # as str.split sees it
KIND[48:58] |= DIGIT
KIND[97:123] |= LETTER
KIND[[*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)]] |= SYMBOL
KIND[[c for c in range(33, 127) if KIND[c] & SYMBOL and chr(c) not in "',-."]] |= (
    APART  # by mteval, everywhere
)
LONG = np.uint64(1 << 63)


class Vocabulary(NamedTuple):
    """The distinct tokens: `pool[ends[i]:ends[i + 1]]` are the code points of token i, `slots` finds it by its key.

    Up to eight ASCII characters are their own key; what is longer is hashed, and compared by its code points.
    """

    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    pool: NDArray[np.uint32]
    ends: NDArray[np.int64]
    size: int


def empty_vocabulary() -> Vocabulary:
    return Vocabulary(
        np.full(4096, -1, np.int32),
        np.empty(512, np.uint64),
        np.empty(4096, np.uint32),
        np.zeros(513, np.int64),
        0,
    )


@njit(cache=True, nogil=True)
def _kind(c: Any) -> Any:
    if c < 128:
        return KIND[c]
    wide = c in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000) or 0x2000 <= c <= 0x200A
    return np.uint8(SPACE if wide else 0)


@njit(cache=True, nogil=True)
def _home(key: Any, mask: Any) -> Any:
    return ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@njit(cache=True, nogil=True)
def _number(text: Any, first: Any, last: Any, slots: Any, keys: Any, pool: Any, ends: Any, size: Any) -> Any:
    """The id of a token; `size` if it is new, and then it stands in the vocabulary."""
    key, plain = np.uint64(0), last - first <= 8
    if plain:
        for k in range(first, last):
            plain = plain and 0 < text[k] < 128
            key = (key << np.uint64(8)) | np.uint64(text[k])
    if not plain:
        key = np.uint64(14695981039346656037)
        for k in range(first, last):
            key = (key ^ np.uint64(text[k])) * np.uint64(1099511628211)
        key |= LONG
    mask = np.uint64(slots.size - 1)
    slot = _home(key, mask)
    while slots[slot] >= 0:
        word = slots[slot]
        if keys[word] == key:
            same = plain or ends[word + 1] - ends[word] == last - first
            if not plain and same:
                for k in range(last - first):
                    if pool[ends[word] + k] != text[first + k]:
                        same = False
                        break
            if same:
                return word
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = size
    keys[size] = key
    for k in range(last - first):
        pool[ends[size] + k] = text[first + k]
    ends[size + 1] = ends[size] + last - first
    return np.int32(size)


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
        if i + 1 < n and (a[i + 1] == DOT or a[i + 1] == COMMA) and not _kind(a[i]) & DIGIT:
            b[m], b[m + 1], b[m + 2] = BLANK, a[i + 1], BLANK
            m += 3
            i += 1
        i += 1
    n, i = 0, 0
    while i < m:  # . and , before what is no digit
        if i + 1 < m and (b[i] == DOT or b[i] == COMMA) and not _kind(b[i + 1]) & DIGIT:
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
        if i + 1 < n and a[i + 1] == DASH and _kind(a[i]) & DIGIT:
            b[m], b[m + 1], b[m + 2] = BLANK, DASH, BLANK
            m += 3
            i += 1
        i += 1
    return m


@njit(cache=True, nogil=True)
def encode(
    codes: Any, offsets: Any, mode: Any, slots: Any, keys: Any, pool: Any, ends: Any, size: Any
) -> Any:
    """Token ids of all texts, their number per text, the line of each token, and the grown vocabulary.

    Text t is `codes[offsets[t]:offsets[t + 1]]`. A text has at most as many tokens as characters.
    """
    longest = 0
    for t in range(offsets.size - 1):
        longest = max(longest, offsets[t + 1] - offsets[t])
    scratch = np.empty((2, 5 * longest + 16 if mode == MTEVAL else 1), np.uint32)
    ids, lines = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
    lengths = np.empty(offsets.size - 1, np.int64)
    inside = np.uint8(DIGIT | LETTER)  # of a token by ROUGE
    count = 0
    for t in range(offsets.size - 1):
        k, last = offsets[t], offsets[t + 1]
        slots, keys, pool, ends = _room(last - k, slots, keys, pool, ends, size)
        before, line = count, 0
        while k < last:
            kind = _kind(codes[k])
            if (mode == ROUGE and not kind & inside) or (mode != ROUGE and kind & SPACE):
                line += codes[k] == NEWLINE
                k += 1
                continue
            end, marks = k + 1, codes[k] == DOT or codes[k] == COMMA
            if mode == ROUGE:
                while end < last and _kind(codes[end]) & inside:
                    end += 1
            elif mode != MTEVAL:
                while end < last and not _kind(codes[end]) & SPACE:
                    end += 1
            elif not kind & APART:
                while end < last and not _kind(codes[end]) & (SPACE | APART):
                    marks |= COMMA <= codes[end] <= DOT
                    end += 1
            text, stop = codes, end
            if mode == MTEVAL and marks:
                stop = _mteval(codes, k, end, scratch[0], scratch[1])
                text, k = scratch[1], 0
            while k < stop:
                cut = stop
                if mode == MTEVAL and marks:
                    while k < stop and text[k] == BLANK:
                        k += 1
                    cut = k
                    while cut < stop and text[cut] != BLANK:
                        cut += 1
                    if k == stop:
                        break
                elif (
                    mode == CHRF_WORDS and stop - k > 1
                ):  # one symbol is split off, the last or else the first
                    if _kind(text[stop - 1]) & SYMBOL:
                        cut = stop - 1
                    elif kind & SYMBOL:
                        cut = k + 1
                        kind = np.uint8(0)
                ids[count] = _number(text, k, cut, slots, keys, pool, ends, size)
                size += ids[count] == size
                lines[count] = line
                count += 1
                k = cut
            k = end
        lengths[t] = count - before
    return ids[:count].copy(), lengths, lines[:count].copy(), slots, keys, pool, ends, size


@njit(cache=True, nogil=True)
def _room(more: Any, slots: Any, keys: Any, pool: Any, ends: Any, size: Any) -> Any:
    """The vocabulary with room for as many new tokens as a text has characters."""
    room = size + more
    if 2 * room > slots.size:
        grown = np.full(4 * (1 << int(np.ceil(np.log2(room)))), -1, np.int32)
        mask = np.uint64(grown.size - 1)
        for word in range(size):
            slot = _home(keys[word], mask)
            while grown[slot] >= 0:
                slot = (slot + np.uint64(1)) & mask
            grown[slot] = word
        slots = grown
    if room > keys.size:
        keys = np.concatenate((keys[:size], np.empty(2 * room - size, np.uint64)))
        ends = np.concatenate((ends[: size + 1], np.empty(2 * room - size, np.int64)))
    if ends[size] + more > pool.size:
        pool = np.concatenate((pool[: ends[size]], np.empty(ends[size] + 2 * more, np.uint32)))
    return slots, keys, pool, ends


@njit(cache=True, nogil=True)
def characters(codes: Any, offsets: Any, spaces: Any) -> Any:
    """Code points as token ids, with or without white space, and their number per text."""
    ids, lengths = np.empty(codes.size, np.int32), np.empty(offsets.size - 1, np.int64)
    count = 0
    for t in range(offsets.size - 1):
        before = count
        for k in range(offsets[t], offsets[t + 1]):
            ids[count] = codes[k]
            count += spaces or not _kind(codes[k]) & SPACE
        lengths[t] = count - before
    return ids[:count].copy(), lengths
