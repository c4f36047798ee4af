"""The n-grams of many texts under common numbers, for metrics that weigh them by their frequency or compare three texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

SUM, HIGHEST = 0, 1


@njit(cache=True, nogil=True)
def rank(ids: Any, begin: Any, length: Any, texts: Any, order: Any) -> Any:
    """Number every n-gram of those texts, orders 1 to `order`.

    Gives `offsets`, `grams`, `counts`: text t (by its place in `texts`) has in order k+1 the distinct n-grams
    `grams[offsets[t * order + k] : offsets[t * order + k + 1]]`, ascending; and `parent[g]`, the n-gram without its
    last token, −1 for a single one.
    """
    total = 0
    for t in range(texts.size):
        for k in range(order):
            total += max(0, length[texts[t]] - k)
    grams, counts = np.empty(total, np.int32), np.empty(total, np.int32)
    offsets = np.zeros(texts.size * order + 1, np.int64)
    keys, values = np.full(1024, -1, np.int64), np.empty(1024, np.int32)
    parent = np.empty(512, np.int32)
    known, place = 0, 0
    longest = 1
    for t in range(texts.size):
        longest = max(longest, length[texts[t]])
    here = np.empty(longest, np.int32)
    for t in range(texts.size):
        first, n = begin[texts[t]], length[texts[t]]
        for k in range(order):
            many = max(0, n - k)
            if 2 * (known + many) > keys.size:
                keys, values = _larger(keys, values, known + many)
            if known + many > parent.size:
                parent = np.concatenate((parent[:known], np.empty(2 * (known + many), np.int32)))
            for i in range(many):
                prefix = here[i] if k > 0 else np.int32(-1)
                key = (np.int64(prefix + 1) << 32) | np.int64(ids[first + i + k])
                slot = _home(key, keys.size - 1)
                while keys[slot] != key and keys[slot] != -1:
                    slot = (slot + 1) & (keys.size - 1)
                if keys[slot] == -1:
                    keys[slot], values[slot], parent[known] = key, known, prefix
                    known += 1
                here[i] = values[slot]
            run = np.sort(here[:many])
            stop = place
            for i in range(many):
                if i > 0 and run[i] == run[i - 1]:
                    counts[stop - 1] += 1
                else:
                    grams[stop], counts[stop] = run[i], 1
                    stop += 1
            place = stop
            offsets[t * order + k + 1] = place
    return offsets, grams[:place].copy(), counts[:place].copy(), parent[:known].copy()


@njit(cache=True, nogil=True)
def _home(key: Any, mask: Any) -> Any:
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@njit(cache=True, nogil=True)
def _larger(keys: Any, values: Any, room: Any) -> Any:
    size = keys.size
    while size < 4 * room:
        size *= 2
    new_keys, new_values = np.full(size, -1, np.int64), np.empty(size, np.int32)
    for old in range(keys.size):
        if keys[old] != -1:
            slot = _home(keys[old], size - 1)
            while new_keys[slot] != -1:
                slot = (slot + 1) & (size - 1)
            new_keys[slot], new_values[slot] = keys[old], values[old]
    return new_keys, new_values


@njit(cache=True, nogil=True)
def counts_in(
    offsets: Any, grams: Any, counts: Any, order: Any, text: Any, others: Any, start: Any, how: Any
) -> Any:
    """How often other texts have each n-gram of a text: the sum over them, or the highest.

    `text[s]` against `others[start[s]:start[s + 1]]` (places in the list given to `rank`). The result runs parallel to
    the n-grams of `text[0]`, then of `text[1]` …, all orders of one text together.
    """
    total = 0
    for s in range(text.size):
        total += offsets[(text[s] + 1) * order] - offsets[text[s] * order]
    found = np.zeros(total, np.int32)
    place = 0
    for s in range(text.size):
        for k in range(order):
            a, a_end = offsets[text[s] * order + k], offsets[text[s] * order + k + 1]
            for p in range(start[s], start[s + 1]):
                b, b_end = offsets[others[p] * order + k], offsets[others[p] * order + k + 1]
                i = a
                while i < a_end and b < b_end:
                    if grams[i] == grams[b]:
                        at = place + i - a
                        found[at] = found[at] + counts[b] if how == SUM else max(found[at], counts[b])
                        i += 1
                        b += 1
                    elif grams[i] < grams[b]:
                        i += 1
                    else:
                        b += 1
            place += a_end - a
    return found
