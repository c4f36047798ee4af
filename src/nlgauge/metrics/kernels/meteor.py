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
                        place = np.concatenate((place, np.empty(n, np.int32)))
                        kind = np.concatenate((kind, np.empty(n, np.int8)))
                    place[n], kind[n] = i, stage
                    n += 1
    at[r.size] = n
    return place, kind


@njit(cache=True, nogil=True)
def _add(
    new: Any, used: Any, parent: Any, choice: Any, n: Any, path: Any, bits: Any, origin: Any, match: Any
) -> Any:
    """Insert a path into the sorted beam, behind its equals; the worst falls out."""
    slot = n
    while slot > 0:
        other = new[slot - 1]
        if path[COUNT] != other[COUNT]:
            ahead = path[COUNT] > other[COUNT]
        elif path[CHUNKS] != other[CHUNKS]:
            ahead = path[CHUNKS] < other[CHUNKS]
        else:
            ahead = path[DISTANCE] < other[DISTANCE]
        if not ahead:
            break
        slot -= 1
    if slot >= BEAM:
        return n
    n = min(n + 1, BEAM)
    for k in range(n - 1, slot, -1):
        for f in range(4):
            new[k, f] = new[k - 1, f]
        for w in range(bits.size):
            used[k, w] = used[k - 1, w]
        parent[k], choice[k] = parent[k - 1], choice[k - 1]
    for f in range(4):
        new[slot, f] = path[f]
    for w in range(bits.size):
        used[slot, w] = bits[w]
    if match >= 0:
        used[slot, match >> 6] |= ONE << np.uint64(match & 63)
    parent[slot], choice[slot] = origin, match
    return n


@njit(cache=True, nogil=True)
def _search(nh: Any, nr: Any, at: Any, place: Any, kind: Any, to: Any, how: Any) -> None:
    """The best alignment: `to[j]` is the place in the output that reference word j is aligned with (−1: none)."""
    cover = np.zeros(nh, np.int32)
    for n in range(at[nr]):
        cover[place[n]] += 1
    words = (nh + 63) // 64
    beam, used = np.zeros((2, BEAM, 4), np.int64), np.zeros((2, BEAM, words), np.uint64)
    parent, choice = np.empty((nr, BEAM), np.int8), np.empty((nr, BEAM), np.int32)
    path = np.empty(4, np.int64)
    beam[0, 0, END] = -1
    n = 1
    for j in range(nr):
        now, then = j & 1, 1 - (j & 1)
        sure = at[j + 1] - at[j] == 1 and cover[place[at[j]]] == 1
        kept, n = n, 0
        for b in range(kept):
            end, distance = beam[now, b, END], beam[now, b, DISTANCE]
            for m in range(at[j], at[j + 1]):
                i = np.int64(place[m])
                if used[now, b, i >> 6] >> np.uint64(i & 63) & ONE:
                    continue
                path[COUNT] = beam[now, b, COUNT] + (kind[m] == EXACT)
                path[CHUNKS] = beam[now, b, CHUNKS] + (end not in (-1, i))
                path[DISTANCE] = distance + (abs(j - i) if sure else 0)
                path[END] = i + 1
                n = _add(beam[then], used[then], parent[j], choice[j], n, path, used[now, b], b, i)
                distance += abs(j - i)
            if not sure:
                path[COUNT], path[CHUNKS] = beam[now, b, COUNT], beam[now, b, CHUNKS] + (end != -1)
                path[DISTANCE], path[END] = distance, -1
                n = _add(beam[then], used[then], parent[j], choice[j], n, path, used[now, b], b, -1)
    # A last match that ends the sentence closes its chunk; then the order may change once more.
    last, best = nr & 1, 0
    for b in range(n):
        beam[last, b, CHUNKS] += beam[last, b, END] != -1
        a, c = beam[last, best], beam[last, b]
        if c[COUNT] == a[COUNT] and (
            c[CHUNKS] < a[CHUNKS] or (c[CHUNKS] == a[CHUNKS] and c[DISTANCE] < a[DISTANCE])
        ):
            best = b
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
