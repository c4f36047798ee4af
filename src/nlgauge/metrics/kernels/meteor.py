"""Word alignments of METEOR.

`beam` follows METEOR 1.5: all matches of all kinds (same word, same stem, common synset) compete in one beam search
over the reference; most exact matches first, then fewest chunks, then shortest distance, ties to the earlier. A match
of another kind adds nothing to the count while the search runs (1.5 rounds its weight down), and the distance of a
match is charged to the paths that did not take it; both are kept, for equal numbers.
`greedy` follows nltk: from the last word of the output, the last free word of the reference; one kind after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

BEAM = 40
EXACT, STEM, SYNONYM = 0, 1, 2
ONE = np.uint64(1)
# what is kept of a path: exact matches, chunks, distance, end of the last match
COUNT, CHUNKS, DISTANCE, END = range(4)


@njit(cache=True, nogil=True)
def _shared(a: Any, b: Any, sets: Any, sets_at: Any, sieve: Any) -> Any:
    """Whether two words have a synset in common; the sieve answers most times."""
    if sieve[a] & sieve[b] == 0:
        return False
    i, j = sets_at[a], sets_at[b]
    while i < sets_at[a + 1] and j < sets_at[b + 1]:
        if sets[i] == sets[j]:
            return True
        if sets[i] < sets[j]:
            i += 1
        else:
            j += 1
    return False


@njit(cache=True, nogil=True)
def _doubled(place: Any, kind: Any) -> Any:
    n = place.size
    more, kinds = np.empty(2 * n, np.int32), np.empty(2 * n, np.int8)
    for k in range(n):
        more[k], kinds[k] = place[k], kind[k]
    return more, kinds


@njit(cache=True, nogil=True)
def _candidates(
    h: Any, r: Any, stem: Any, sets: Any, sets_at: Any, sieve: Any, at: Any, place: Any, kind: Any
) -> Any:
    """Matches of each reference word, `place[at[j]:at[j + 1]]` in the output: exact, then stem, then synonym."""
    n, equal = 0, h.size == r.size
    for j in range(r.size):
        equal = equal and h[j] == r[j]
    for j in range(r.size):
        at[j] = n
        for stage in range(1 if equal else 3):
            for i in range(h.size):
                same = h[i] == r[j]
                if stage == EXACT:
                    fits = same
                elif stage == STEM:
                    fits = not same and stem[h[i]] == stem[r[j]]
                else:
                    fits = not same and _shared(h[i], r[j], sets, sets_at, sieve)
                if fits:
                    if n == place.size:
                        place, kind = _doubled(place, kind)
                    place[n], kind[n] = i, stage
                    n += 1
    at[r.size] = n
    return place, kind


@njit(cache=True, nogil=True)
def _key(count: Any, chunks: Any, distance: Any) -> Any:
    """Smaller is better: more exact matches, fewer chunks, shorter distance."""
    return ((np.int64((1 << 18) - 1) - count) << 45) | (np.int64(chunks) << 28) | min(distance, (1 << 28) - 1)


@njit(cache=True, nogil=True)
def _slot(keys: Any, slots: Any, n: Any, key: Any) -> Any:
    """Insert a key into the sorted beam, behind its equals; gives the slot that is free for its path, or −1."""
    if n == BEAM and key >= keys[BEAM - 1]:
        return -1
    free = slots[BEAM - 1] if n == BEAM else np.int64(n)
    k = min(n, BEAM - 1)
    while k > 0 and key < keys[k - 1]:
        keys[k], slots[k] = keys[k - 1], slots[k - 1]
        k -= 1
    keys[k], slots[k] = key, free
    return free


@njit(cache=True, nogil=True)
def _search(nh: Any, nr: Any, at: Any, place: Any, kind: Any, to: Any, how: Any) -> None:
    """The best alignment: `to[j]` is the place in the output that reference word j is aligned with (−1: none)."""
    cover = np.zeros(nh, np.int32)
    for n in range(at[nr]):
        cover[place[n]] += 1
    words = (nh + 63) // 64
    keys, slots = np.empty((2, BEAM), np.int64), np.empty((2, BEAM), np.int64)
    path, used = np.zeros((2, BEAM, 4), np.int64), np.zeros((2, BEAM, words), np.uint64)
    parent, choice = np.empty((nr, BEAM), np.int8), np.empty((nr, BEAM), np.int32)
    path[0, 0, END], slots[0, 0] = -1, 0
    n = 1
    for j in range(nr):
        now, then = j & 1, 1 - (j & 1)
        sure = at[j + 1] - at[j] == 1 and cover[place[at[j]]] == 1
        kept, n = n, 0
        for b in range(kept):
            old = slots[now, b]
            count, chunks, end = path[now, old, COUNT], path[now, old, CHUNKS], path[now, old, END]
            distance = path[now, old, DISTANCE]
            for m in range(at[j], at[j + 1] + (not sure)):
                i = (
                    np.int64(place[m]) if m < at[j + 1] else np.int64(-1)
                )  # the last way is to leave the word out
                new_count, new_chunks, new_distance = count, chunks + (end != -1), distance
                if i >= 0:
                    if used[now, old, i >> 6] >> np.uint64(i & 63) & ONE:
                        continue
                    new_count += kind[m] == EXACT
                    new_chunks = chunks + (end not in (-1, i))
                    new_distance += abs(j - i) if sure else 0
                    distance += abs(j - i)
                key = _key(new_count, new_chunks, new_distance)
                slot = _slot(keys[then], slots[then], n, key)
                if slot < 0:
                    continue
                n = min(n + 1, BEAM)
                path[then, slot, COUNT], path[then, slot, CHUNKS] = new_count, new_chunks
                path[then, slot, DISTANCE], path[then, slot, END] = new_distance, i + 1 if i >= 0 else -1
                for w in range(words):
                    used[then, slot, w] = used[now, old, w]
                if i >= 0:
                    used[then, slot, i >> 6] |= ONE << np.uint64(i & 63)
                parent[j, slot], choice[j, slot] = old, i
    # A match that ends the sentence closes its chunk; then the order may change once more.
    last, best, least = nr & 1, 0, np.int64(-1)
    for b in range(n):
        x = path[last, slots[last, b]]
        key = _key(x[COUNT], x[CHUNKS] + (x[END] != -1), x[DISTANCE])
        if least < 0 or key < least:
            best, least = slots[last, b], key
    for j in range(nr - 1, -1, -1):
        to[j] = choice[j, best]
        best = parent[j, best]
        how[j] = -1
        if to[j] >= 0:
            for m in range(at[j], at[j + 1]):
                if place[m] == to[j]:
                    how[j] = kind[m]
                    break


@njit(cache=True, nogil=True)
def _greedy(h: Any, r: Any, stem: Any, sets: Any, sets_at: Any, to: Any, how: Any) -> None:
    taken = np.zeros(h.size, np.bool_)
    for stage in range(3):
        for i in range(h.size - 1, -1, -1):
            if taken[i]:
                continue
            for j in range(r.size - 1, -1, -1):
                if to[j] >= 0:
                    continue
                if stage == EXACT:
                    fits = h[i] == r[j]
                else:
                    fits = stem[h[i]] == stem[r[j]]
                    if stage == SYNONYM and not fits:
                        for k in range(sets_at[stem[h[i]]], sets_at[stem[h[i]] + 1]):
                            fits = fits or sets[k] == stem[r[j]]
                if fits:
                    to[j], how[j], taken[i] = i, stage, True
                    break


@njit(cache=True, nogil=True)
def align(
    ids: Any, begin: Any, length: Any, output: Any, reference: Any, stem: Any, sets: Any, sets_at: Any, sieve: Any,
    function: Any, greedy: Any,
) -> Any:  # fmt: skip
    """Of each pair: matches by kind among content and function words of the output (0–2, 3–5) and of the reference
    (6–8, 9–11), then chunks in order of the reference.

    `sets[sets_at[w]:sets_at[w + 1]]`: synsets of word w, ascending (greedy: of stem w, the stems that are its synonyms).
    """
    found = np.zeros((reference.size, 13), np.int64)
    place, kind = np.empty(64, np.int32), np.empty(64, np.int8)
    for p in range(reference.size):
        h = ids[begin[output[p]] : begin[output[p]] + length[output[p]]]
        r = ids[begin[reference[p]] : begin[reference[p]] + length[reference[p]]]
        if h.size == 0 or r.size == 0:
            continue
        to, how = np.full(r.size, -1, np.int64), np.full(r.size, -1, np.int64)
        if greedy:
            _greedy(h, r, stem, sets, sets_at, to, how)
        else:
            at = np.empty(r.size + 1, np.int64)
            place, kind = _candidates(h, r, stem, sets, sets_at, sieve, at, place, kind)
            _search(h.size, r.size, at, place, kind, to, how)
        last = -2
        for j in range(r.size):
            if to[j] >= 0:
                found[p, how[j] + 3 * function[h[to[j]]]] += 1
                found[p, 6 + how[j] + 3 * function[r[j]]] += 1
                found[p, 12] += to[j] != last + 1 or j == 0 or to[j - 1] < 0
            last = to[j] if to[j] >= 0 else -2
    return found
