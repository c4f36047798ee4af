"""Alignments of METEOR 1.5 in which a phrase may match a phrase.

The search is that of `meteor`, over matches that are given: each covers `span` words of the reference from `start` and
`width` words of the output from `place`. A match that nothing else touches is taken; the others compete in one beam
search over the reference: largest `gain` first, then fewest chunks, then shortest distance, ties to the earlier.

A path has five numbers: gain, chunks, distance, end of the last match in the output, first reference word behind it.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, kernel, zeros

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Pairs = cython.typedef(cython.longlong[:, ::1])

BEAM = cython.declare(cython.Py_ssize_t, 40)
WIDTH = 40
KINDS = cython.declare(cython.Py_ssize_t, 4)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(gain: cython.longlong, chunks: cython.longlong, distance: cython.longlong) -> cython.longlong:
    """Smaller is better: more gain, fewer chunks, shorter distance."""
    left: cython.longlong = 262143 - gain
    return (left << 45) | (chunks << 28) | (distance if distance < 268435455 else 268435455)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(keys: Pairs, slots: Pairs, side: Int, n: Int, key: cython.longlong) -> Int:
    """Insert a key into the sorted beam, behind its equals; gives the slot that is free for its path, or −1."""
    if n == BEAM and key >= keys[side, BEAM - 1]:
        return -1
    free: Int = slots[side, BEAM - 1] if n == BEAM else n
    k: Int = min(n, BEAM - 1)
    while k > 0 and key < keys[side, k - 1]:
        keys[side, k] = keys[side, k - 1]
        slots[side, k] = slots[side, k - 1]
        k -= 1
    keys[side, k] = key
    slots[side, k] = free
    return free


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sure(
    first: Int, nh: Int, nr: Int, at: Longs, span: Texts, place: Texts, width: Texts, over: Ids, under: Ids,
    sure: Ids,
) -> cython.void:  # fmt: skip
    """Reference words at which a match begins that has the words on both sides for itself."""
    cython.declare(i=Int, j=Int, k=Int, m=Int)
    for i in range(nh):
        over[i] = 0
    for j in range(nr):
        under[j] = 0
    for j in range(nr):
        for m in range(at[j], at[j + 1]):
            for k in range(width[first + m]):
                over[place[first + m] + k] += 1
            for k in range(span[first + m]):
                under[j + k] += 1
    for j in range(nr):
        sure[j] = at[j + 1] - at[j] == 1
        if sure[j]:
            m = first + at[j]
            for k in range(width[m]):
                if over[place[m] + k] != 1:
                    sure[j] = 0
            for k in range(span[m]):
                if under[j + k] != 1:
                    sure[j] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search(
    first: Int, nh: Int, nr: Int, at: Longs, span: Texts, place: Texts, width: Texts, gain: Texts, to: Longs,
    sure: Ids, keys: Pairs, slots: Pairs, path: cython.longlong[:, :, ::1], used: cython.ulonglong[:, :, ::1],
    parent: cython.schar[:, ::1], choice: cython.int[:, ::1],
) -> cython.void:  # fmt: skip
    """The best alignment: `to[j]` is the match that begins at reference word j (−1: none)."""
    cython.declare(b=Int, j=Int, k=Int, m=Int, n=Int, w=Int, way=Int, ways=Int)
    i: Int
    key: cython.longlong
    one: Word = 1
    words: Int = (nh + 63) // 64
    for w in range(words):
        used[0, 0, w] = 0
    for k in range(5):
        path[0, 0, k] = 0
    path[0, 0, 3] = -1
    slots[0, 0] = 0
    n = 1
    for j in range(nr):
        now: Int = j & 1
        then: Int = 1 - now
        kept: Int = n
        n = 0
        for b in range(kept):
            old: Int = slots[now, b]
            distance: cython.longlong = path[now, old, 2]
            end: Int = path[now, old, 3]
            inside: cython.bint = j < path[now, old, 4]  # of a match that began before: nothing to choose
            ways = 1 if inside else at[j + 1] - at[j] + (0 if sure[j] else 1)
            for way in range(ways):
                m = -1  # the last way is to leave the word out
                if not inside and way < at[j + 1] - at[j]:
                    m = first + at[j] + way
                new_gain: cython.longlong = path[now, old, 0]
                new_chunks: cython.longlong = path[now, old, 1]
                new_distance: cython.longlong = distance
                if m >= 0:
                    free: cython.bint = True
                    for k in range(width[m]):
                        i = place[m] + k
                        if used[now, old, i >> 6] >> (i & 63) & 1:
                            free = False
                    if not free:
                        continue
                    apart: Int = j - place[m] if j > place[m] else place[m] - j
                    new_gain += gain[m]
                    new_chunks += 0 if end in (-1, place[m]) else 1
                    new_distance += apart if sure[j] else 0
                    distance += apart
                elif not inside:
                    new_chunks += 1 if end != -1 else 0
                key = _key(new_gain, new_chunks, new_distance)
                slot: Int = _slot(keys, slots, then, n, key)
                if slot < 0:
                    continue
                n = min(n + 1, BEAM)
                path[then, slot, 0] = new_gain
                path[then, slot, 1] = new_chunks
                path[then, slot, 2] = new_distance
                path[then, slot, 3] = place[m] + width[m] if m >= 0 else (end if inside else -1)
                path[then, slot, 4] = j + span[m] if m >= 0 else (path[now, old, 4] if inside else j + 1)
                for w in range(words):
                    used[then, slot, w] = used[now, old, w]
                if m >= 0:
                    for k in range(width[m]):
                        i = place[m] + k
                        used[then, slot, i >> 6] |= one << (i & 63)
                parent[j, slot] = old
                choice[j, slot] = m
    # A match that ends the sentence closes its chunk; then the order may change once more.
    last: Int = nr & 1
    best: Int = 0
    least: cython.longlong = -1
    for b in range(n):
        old = slots[last, b]
        key = _key(path[last, old, 0], path[last, old, 1] + (1 if path[last, old, 3] != -1 else 0), path[last, old, 2])
        if least < 0 or key < least:
            best = old
            least = key
    for j in range(nr - 1, -1, -1):
        to[j] = choice[j, best]
        best = parent[j, best]


@kernel
def align_phrases(
    ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, function: Texts, match_at: Texts,
    start: Texts, span: Texts, place: Texts, width: Texts, kind: Texts, gain: Texts,
):  # fmt: skip
    """Of each pair: matched words by kind among content and function words of the output (0–3, 4–7) and of the
    reference (8–11, 12–15), then chunks in order of the reference.

    `match_at[p]:match_at[p + 1]`: the matches of pair p, in order of `start`.
    """
    cython.declare(j=Int, k=Int, m=Int)
    p: Int
    longest: Int = 1
    widest: Int = 1
    for p in range(len(reference)):
        longest = max(longest, length[output[p]])
        widest = max(widest, length[reference[p]])
    found: Pairs = zeros((len(reference), 17), "q")
    to: Longs = empty(widest, "q")
    at: Longs = empty(widest + 1, "q")
    over: Ids = empty(longest, "i")
    under: Ids = empty(widest, "i")
    sure: Ids = empty(widest, "i")
    keys: Pairs = empty((2, WIDTH), "q")
    slots: Pairs = empty((2, WIDTH), "q")
    path: cython.longlong[:, :, ::1] = empty((2, WIDTH, 5), "q")
    used: cython.ulonglong[:, :, ::1] = empty((2, WIDTH, (longest + 63) // 64), "Q")
    parent: cython.schar[:, ::1] = empty((widest, WIDTH), "b")
    choice: cython.int[:, ::1] = empty((widest, WIDTH), "i")
    with cython.nogil:
        for p in range(len(reference)):
            h: Int = begin[output[p]]
            nh: Int = length[output[p]]
            r: Int = begin[reference[p]]
            nr: Int = length[reference[p]]
            if nh > 0 and nr > 0:
                first: Int = match_at[p]
                m = 0
                for j in range(nr):
                    while first + m < match_at[p + 1] and start[first + m] < j:
                        m += 1
                    at[j] = m
                at[nr] = match_at[p + 1] - first
                _sure(first, nh, nr, at, span, place, width, over, under, sure)
                _search(first, nh, nr, at, span, place, width, gain, to, sure, keys, slots, path, used, parent, choice)
                end: Int = -1
                behind: Int = 0
                for j in range(nr):
                    m = to[j]
                    if m >= 0:
                        for k in range(width[m]):
                            found[p, kind[m] + KINDS * function[ids[h + place[m] + k]]] += 1
                        for k in range(span[m]):
                            found[p, 2 * KINDS + kind[m] + KINDS * function[ids[r + j + k]]] += 1
                        found[p, 4 * KINDS] += end != place[m]
                        end = place[m] + width[m]
                        behind = j + span[m]
                    elif j >= behind:
                        end = -1
    return array(found)
