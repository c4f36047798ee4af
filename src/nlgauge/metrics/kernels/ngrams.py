"""The n-grams of many texts under common numbers, for metrics that compare more than two texts.

All places of all texts are sorted by their first token, then each group of equal ones by its next token, and so on, as
one builds a suffix array: after n steps a group is an n-gram. Groups of one place need no more work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

SUM, HIGHEST = 0, 1


@njit(cache=True, nogil=True)
def rank(ids: Any, begin: Any, length: Any, texts: Any, order: Any, kinds: Any) -> Any:
    """Number every n-gram of those texts, orders 1 to `order`; `kinds` is above every token id.

    Gives `offsets`, `grams`, `counts`: text t (by its place in `texts`) has in order k+1 the distinct n-grams
    `grams[offsets[t * order + k] : offsets[t * order + k + 1]]`, ascending; and `parent[g]`, the n-gram without its
    last token, −1 for a single one.
    """
    total = 0
    for t in range(texts.size):
        total += max(0, length[texts[t]])
    tokens = np.full(total + order, -1, np.int32)
    ends = np.zeros(total + order, np.bool_)  # the last token of a text
    k = 0
    for t in range(texts.size):
        for i in range(max(0, length[texts[t]])):
            tokens[k] = ids[begin[texts[t]] + i]
            k += 1
        ends[k - 1] = True
    number = np.empty((order, total), np.int32)  # of the n-gram that begins at each place
    places, heads = np.empty(total, np.int32), np.zeros(kinds + 1, np.int64)
    for k in range(total):
        heads[tokens[k] + 1] += 1
    for g in range(kinds):
        heads[g + 1] += heads[g]
    at = heads.copy()
    for k in range(total):
        places[at[tokens[k]]] = k
        at[tokens[k]] += 1
        number[0, k] = tokens[k]
    parent = np.full(kinds, -1, np.int32)
    keys = np.empty(total, np.int64)
    first, known = 0, kinds  # the numbers of the order before
    for n in range(1, order):
        grown = np.empty(known + places.size, np.int32)
        for g in range(known):
            grown[g] = parent[g]
        parent = grown
        new_places, new_heads = np.empty(places.size, np.int32), np.empty(places.size + 1, np.int64)
        kept, groups = 0, 0
        for g in range(heads.size - 1):
            many = 0
            for k in range(heads[g], heads[g + 1]):
                if not ends[places[k] + n - 1]:
                    keys[many] = (np.int64(tokens[places[k] + n]) << 32) | np.int64(places[k])
                    many += 1
            if many > 1:
                _sort(keys, many)
            for k in range(many):
                if k == 0 or keys[k] >> 32 != keys[k - 1] >> 32:
                    parent[known + groups] = first + g
                    new_heads[groups] = kept
                    groups += 1
                place = keys[k] & 0xFFFFFFFF
                number[n, place] = known + groups - 1
                new_places[kept] = place
                kept += 1
        new_heads[groups] = kept
        places, heads = new_places[:kept], new_heads[: groups + 1]
        first, known = known, known + groups
    return _lists(length, texts, order, number, total, parent[:known].copy())


@njit(cache=True, nogil=True)
def _sort(keys: Any, n: Any) -> None:
    """Sort the first n keys in place, Shell's way, which few keys in cache like best."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, j = keys[i], i - gap
            while j >= 0 and keys[j] > key:
                keys[j + gap] = keys[j]
                j -= gap
            keys[j + gap] = key
        gap //= 3


@njit(cache=True, nogil=True)
def _lists(length: Any, texts: Any, order: Any, number: Any, total: Any, parent: Any) -> Any:
    """The n-grams of each text and order, ascending, with counts."""
    grams, counts = np.empty(total * order, np.int32), np.empty(total * order, np.int32)
    offsets = np.zeros(texts.size * order + 1, np.int64)
    run = np.empty(max(1, total), np.int64)
    place, base = 0, 0
    for t in range(texts.size):
        n = max(0, length[texts[t]])
        for k in range(order):
            many = max(0, n - k)
            for i in range(many):
                run[i] = number[k, base + i]
            _sort(run, many)
            for i in range(many):
                if i > 0 and run[i] == run[i - 1]:
                    counts[place - 1] += 1
                else:
                    grams[place], counts[place] = run[i], 1
                    place += 1
            offsets[t * order + k + 1] = place
        base += n
    return offsets, grams[:place].copy(), counts[:place].copy(), parent


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
