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
LONG = np.uint64(1 << 63)

# What an ASCII character is to each way of splitting: between tokens, inside one, a token by itself, or inside one that
# mteval has to look at again.
BETWEEN, INSIDE, ALONE, MARK = range(4)
SPACES = [*range(9, 14), *range(28, 33)]  # as str.split sees them
SYMBOL = np.zeros(128, np.bool_)
SYMBOL[[*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)]] = True
ROLE = np.full((4, 128), INSIDE, np.uint8)
ROLE[:, SPACES] = BETWEEN
ROLE[ROUGE] = BETWEEN
ROLE[ROUGE, [*range(48, 58), *range(97, 123)]] = INSIDE
ROLE[MTEVAL, np.flatnonzero(SYMBOL)] = ALONE
ROLE[MTEVAL, [COMMA, DASH, DOT]] = MARK
ROLE[MTEVAL, ord("'")] = INSIDE


class Vocabulary(NamedTuple):
    """The distinct tokens: `pool[ends[i]:ends[i + 1]]` are the code points of token i; `slots` and `keys` find its id.

    Up to eight ASCII characters are their own key; what is longer is hashed, and compared by its code points.
    """

    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    pool: NDArray[np.uint32]
    ends: NDArray[np.int64]
    size: int


def empty_vocabulary() -> Vocabulary:
    return Vocabulary(
        np.full(4096, -1, np.int32), np.empty(4096, np.uint64), np.empty(4096, np.uint32), np.zeros(513, np.int64), 0
    )  # fmt: skip


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
def _home(key: Any, mask: Any) -> Any:
    return ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@njit(cache=True, nogil=True)
def _hash(text: Any, first: Any, last: Any) -> Any:
    key = np.uint64(14695981039346656037)
    for k in range(first, last):
        key = (key ^ np.uint64(text[k])) * np.uint64(1099511628211)
    return key | LONG


@njit(cache=True, nogil=True)
def _number(
    text: Any, first: Any, last: Any, key: Any, slots: Any, keys: Any, pool: Any, ends: Any, size: Any
) -> Any:
    """The id of a token; `size` if it is new, and then it stands in the vocabulary."""
    mask = np.uint64(slots.size - 1)
    slot = _home(key, mask)
    while slots[slot] >= 0:
        if keys[slot] == key:
            word = slots[slot]
            if key < LONG:
                return word
            same = ends[word + 1] - ends[word] == last - first
            for k in range(last - first if same else 0):
                same = same and pool[ends[word] + k] == text[first + k]
            if same:
                return word
        slot = (slot + np.uint64(1)) & mask
    slots[slot], keys[slot] = size, key
    for k in range(last - first):
        pool[ends[size] + k] = text[first + k]
    ends[size + 1] = ends[size] + last - first
    return np.int32(size)


@njit(cache=True, nogil=True)
def _key(text: Any, first: Any, last: Any) -> Any:
    key, plain = np.uint64(0), last - first <= 8
    for k in range(first, last if plain else first):
        plain = plain and 0 < text[k] < 128
        key = (key << np.uint64(8)) | np.uint64(text[k])
    return key if plain else _hash(text, first, last)


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
def encode(
    codes: Any, offsets: Any, mode: Any, slots: Any, keys: Any, pool: Any, ends: Any, size: Any
) -> Any:
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
        if 2 * room > slots.size or room >= ends.size or ends[size] + last - k > pool.size:
            slots, keys, pool, ends = _room(last - k, slots, keys, pool, ends, size)
        before, line = count, 0
        while k < last:
            c = codes[k]
            what = role[c] if c < 128 else np.uint8(BETWEEN if mode == ROUGE or _is_space(c) else INSIDE)
            if what == BETWEEN:
                line += c == NEWLINE
                k += 1
                continue
            first, marks, plain, key = k, np.int64(what == MARK), 0 < c < 128, np.uint64(c)
            k += 1
            while what != ALONE and k < last:
                c = codes[k]
                if c < 128:
                    other = role[c]
                    plain = plain and c > 0
                else:
                    other = np.uint8(BETWEEN if mode == ROUGE or _is_space(c) else INSIDE)
                    plain = plain and other == BETWEEN
                if other == BETWEEN or other == ALONE:  # noqa: PLR1714, SIM109 (a tuple would be slow here)
                    break
                marks += other == MARK
                key = (key << np.uint64(8)) | np.uint64(c)
                k += 1
            marked = marks > 0 and k - first > 1
            if marks == 1 and k - first > 1 and (codes[k - 1] == DOT or codes[k - 1] == COMMA):
                k -= 1  # a point at the end of a word, the usual case: two tokens
                key = key >> np.uint64(8) if k - first < 8 else _key(codes, first, k)  # more was shifted out
                marked = False
            if marked or (mode == CHRF_WORDS and k - first > 1):
                text, i, stop = codes, first, k
                if marked:
                    text, i, stop = b, 0, _mteval(codes, first, k, a, b)
                while i < stop:
                    if marked and text[i] == BLANK:
                        i += 1
                        continue
                    cut = i + 1
                    if marked:
                        while text[cut] != BLANK:
                            cut += 1
                    else:  # one symbol is split off, the last or else the first
                        cut = stop
                        if stop - i > 1 and _is_symbol(text[stop - 1]):
                            cut = stop - 1
                        elif stop - i > 1 and i == first and _is_symbol(text[i]):
                            cut = i + 1
                    key = _key(text, i, cut)
                    ids[count] = _number(text, i, cut, key, slots, keys, pool, ends, size)
                    size += ids[count] == size
                    lines[count] = line
                    count += 1
                    i = cut
                continue
            known = np.int32(-1)
            if plain and k - first <= 8:  # the usual case, without a call
                mask = np.uint64(slots.size - 1)
                slot = _home(key, mask)
                while slots[slot] >= 0 and keys[slot] != key:
                    slot = (slot + np.uint64(1)) & mask
                known = slots[slot]
            else:
                key = _hash(codes, first, k)
            if known < 0:
                known = _number(codes, first, k, key, slots, keys, pool, ends, size)
                size += known == size
            ids[count], lines[count] = known, line
            count += 1
        lengths[t] = count - before
    return ids[:count].copy(), lengths, lines[:count].copy(), slots, keys, pool, ends, size


@njit(cache=True, nogil=True)
def _room(more: Any, slots: Any, keys: Any, pool: Any, ends: Any, size: Any) -> Any:
    """The vocabulary with room for as many new tokens as a text has characters."""
    room = size + more
    if 2 * room > slots.size:
        width = 4 * (1 << int(np.ceil(np.log2(room))))
        new_slots, new_keys = np.full(width, -1, np.int32), np.empty(width, np.uint64)
        mask = np.uint64(width - 1)
        for old in range(slots.size):
            if slots[old] >= 0:
                slot = _home(keys[old], mask)
                while new_slots[slot] >= 0:
                    slot = (slot + np.uint64(1)) & mask
                new_slots[slot], new_keys[slot] = slots[old], keys[old]
        slots, keys = new_slots, new_keys
    if room >= ends.size:
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
            count += spaces or not _is_space(codes[k])
        lengths[t] = count - before
    return ids[:count], lengths
