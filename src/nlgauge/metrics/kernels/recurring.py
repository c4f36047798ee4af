"""N-grams that recur in a corpus, under common numbers; and what CIDEr and NIST make of their frequencies.

Only an n-gram that stands in two places can be shared by an output and a reference, or have a frequency above one. Most
longer n-grams of a corpus stand in one place, and then all that go on from there do: they get no number and no more work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NONE = -1
FREE = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True)
def number(ids: Any, begin: Any, length: Any, texts: Any, uses: Any, order: Any, kinds: Any) -> Any:
    """Numbers of the n-grams of those texts, `kinds` being above every token id; a text counts `uses` times.

    Gives `numbers`, order × places: that of the n-gram that begins at a place, NONE if it does not recur; `first`, the
    place where each text begins (a place without a number stands between texts); and `parent[g]`, the n-gram without its
    last token.
    """
    first = np.empty(texts.size + 1, np.int64)
    places = 0
    for t in range(texts.size):
        first[t] = places
        places += max(0, length[texts[t]]) + 1
    first[texts.size] = places
    numbers = np.full((order, places), NONE, np.int32)
    often = np.zeros(max(kinds, places), np.int32)
    for t in range(texts.size):
        for i in range(length[texts[t]]):
            often[ids[begin[texts[t]] + i]] += uses[t]
    for t in range(texts.size):
        for i in range(length[texts[t]]):
            token = ids[begin[texts[t]] + i]
            if often[token] > 1:
                numbers[0, first[t] + i] = token
    parents = np.empty(kinds + places, np.int32)
    parents[:kinds] = NONE
    known = kinds
    size = 2
    while size < 2 * places:
        size *= 2
    keys, slots = np.empty(size, np.uint64), np.empty(size, np.int32)
    for n in range(1, order):
        known, alive = _next(numbers[n - 1], numbers[n], first, uses, keys, slots, often, parents, known)
        if not alive:
            break
        if parents.size < known + alive:
            parents = np.concatenate((parents[:known], np.empty(known + alive, np.int32)))
    return numbers, first, parents[:known].copy()


@njit(cache=True, nogil=True)
def _next(
    shorter: Any, longer: Any, first: Any, uses: Any, keys: Any, slots: Any, often: Any, parents: Any, known: Any
) -> Any:  # fmt: skip
    """Number the n-grams both of whose parts recur; gives the last number, and how many places may go on."""
    pairs = 0
    for i in range(shorter.size - 1):
        pairs += shorter[i] >= 0 and shorter[i + 1] >= 0
    mask = np.uint64(1)
    while mask < np.uint64(2 * pairs):
        mask *= np.uint64(2)
    keys[: np.int64(mask)] = FREE
    mask -= np.uint64(1)
    found = 0
    for t in range(first.size - 1):
        for i in range(first[t], first[t + 1] - 1):
            if shorter[i] < 0 or shorter[i + 1] < 0:
                continue
            key = (np.uint64(shorter[i]) << np.uint64(32)) | np.uint64(shorter[i + 1])
            slot = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask
            while keys[slot] != key and keys[slot] != FREE:
                slot = (slot + np.uint64(1)) & mask
            if keys[slot] == FREE:
                keys[slot], slots[slot], often[found] = key, found, 0
                found += 1
            longer[i] = slots[slot]
            often[slots[slot]] += uses[t]
    for g in range(found):
        recurs = often[g] > 1
        often[g] = known if recurs else NONE
        known += recurs
    alive = 0
    for i in range(longer.size):
        if longer[i] >= 0:
            longer[i] = often[longer[i]]
            if longer[i] >= 0:
                parents[longer[i]] = shorter[i]
                alive += 1
    return known, alive


@njit(cache=True, nogil=True)
def frequencies(numbers: Any, first: Any, texts: Any, start: Any, known: Any) -> Any:
    """Of every n-gram: in how many documents it is, and how often; document d has `texts[start[d]:start[d + 1]]`."""
    documents, times = np.zeros(known, np.int32), np.zeros(known, np.int32)
    last = np.full(known, -1, np.int32)
    for k in range(numbers.shape[0]):
        for d in range(start.size - 1):
            for p in range(start[d], start[d + 1]):
                for i in range(first[texts[p]], first[texts[p] + 1]):
                    g = numbers[k, i]
                    if g >= 0:
                        times[g] += 1
                        documents[g] += last[g] != d
                        last[g] = d
    return documents, times


@njit(cache=True, nogil=True)
def matched_weight(numbers: Any, first: Any, weight: Any, text: Any, others: Any, start: Any) -> Any:
    """Weight of the n-grams that a text shares with others, each as often as in the one that has it most; by order.

    `text[s]` against `others[start[s]:start[s + 1]]`, all of them places in the list given to `number`.
    """
    order = numbers.shape[0]
    found = np.zeros((text.size, order))
    own, seen, most = np.zeros((3, weight.size), np.int32)
    for s in range(text.size):
        a, a_end = first[text[s]], first[text[s] + 1]
        for k in range(order):
            row = numbers[k]
            for i in range(a, a_end):
                if row[i] >= 0:
                    own[row[i]] += 1
            for p in range(start[s], start[s + 1]):
                b, b_end = first[others[p]], first[others[p] + 1]
                for j in range(b, b_end):
                    g = row[j]
                    if g >= 0 and own[g] > 0:
                        seen[g] += 1
                        if most[g] < seen[g] <= own[g]:
                            most[g] = seen[g]
                            found[s, k] += weight[g]
                for j in range(b, b_end):
                    if row[j] >= 0:
                        seen[row[j]] = 0
            for i in range(a, a_end):
                if row[i] >= 0:
                    own[row[i]] = most[row[i]] = 0
    return found


@njit(cache=True, nogil=True)
def _norms(numbers: Any, first: Any, weight: Any, rare: Any) -> Any:
    """Length of the vector of weighed counts of each text and order; what does not recur weighs `rare`, once."""
    order, texts = numbers.shape[0], first.size - 1
    norm, count = np.zeros((texts, order)), np.zeros(weight.size, np.int32)
    for t in range(texts):
        for k in range(order):
            row, total = numbers[k], 0.0
            end = max(first[t], first[t + 1] - 1 - k)
            for i in range(first[t], end):
                g = row[i]
                if g < 0:
                    total += rare**2
                else:
                    total += (2 * count[g] + 1) * weight[g] ** 2  # (c + 1)² − c²
                    count[g] += 1
            for i in range(first[t], end):
                if row[i] >= 0:
                    count[row[i]] = 0
            norm[t, k] = np.sqrt(total)
    return norm


@njit(cache=True, nogil=True)
def similarities(
    numbers: Any, first: Any, weight: Any, rare: Any, output: Any, reference: Any, clipped: Any
) -> Any:
    """Cosine of weighed counts of each pair, mean over orders; `clipped` counts no n-gram more often than the reference."""
    order, norm = numbers.shape[0], _norms(numbers, first, weight, rare)
    found = np.zeros(output.size)
    own, seen = np.zeros((2, weight.size), np.int32)
    for p in range(output.size):
        h, r = output[p], reference[p]
        for k in range(order):
            if norm[h, k] == 0 or norm[r, k] == 0:
                continue
            row, dot = numbers[k], 0.0
            for i in range(first[h], first[h + 1]):
                if row[i] >= 0:
                    own[row[i]] += 1
            for j in range(first[r], first[r + 1]):
                if row[j] >= 0:
                    seen[row[j]] += 1
            for j in range(first[r], first[r + 1]):
                g = row[j]
                if g >= 0 and seen[g] > 0:
                    times = min(own[g], seen[g]) if clipped else own[g]
                    dot += times * seen[g] * weight[g] ** 2
                    seen[g] = 0
            for i in range(first[h], first[h + 1]):
                if row[i] >= 0:
                    own[row[i]] = 0
            found[p] += dot / (norm[h, k] * norm[r, k])
        found[p] /= order
    return found
