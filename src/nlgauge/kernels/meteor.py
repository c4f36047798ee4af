"""Word alignments of METEOR.

The beam search follows METEOR 1.5: all matches of all kinds (same word, same stem, common synset) compete in one beam
search over the reference; most exact matches first, then fewest chunks, then shortest distance, ties to the earlier. A
match of another kind adds nothing to the count while the search runs (1.5 rounds its weight down), and the distance of
a match is charged to the paths that did not take it; both are kept, for equal numbers.
`_greedy` follows nltk: from the last word of the output, the last free word of the reference; one kind after the other.

Kinds of match: 0 exact, 1 stem, 2 synonym. A path has four numbers: exact matches, chunks, distance, end of the last
match.
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
Kinds = cython.typedef(cython.schar[::1])
Sieve = cython.typedef(cython.const[cython.ulonglong][::1])
Pairs = cython.typedef(cython.longlong[:, ::1])

BEAM = cython.declare(cython.Py_ssize_t, 40)
WIDTH = 40


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _shared(a: Int, b: Int, sets: Texts, sets_at: Texts, sieve: Sieve) -> cython.bint:
    """Whether two words have a synset in common; the sieve answers most times."""
    if sieve[a] & sieve[b] == 0:
        return False
    i: Int = sets_at[a]
    j: Int = sets_at[b]
    while i < sets_at[a + 1] and j < sets_at[b + 1]:
        if sets[i] == sets[j]:
            return True
        if sets[i] < sets[j]:
            i += 1
        else:
            j += 1
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _candidates(
    ids: Tokens, h: Int, nh: Int, r: Int, nr: Int, stem: Tokens, sets: Texts, sets_at: Texts, sieve: Sieve,
    at: Longs, place: Ids, kind: Kinds,
) -> cython.bint:  # fmt: skip
    """Matches of each reference word, `place[at[j]:at[j + 1]]` in the output: exact, then stem, then synonym.

    False if there is no room for all of them.
    """
    cython.declare(i=Int, j=Int, stage=Int)
    n: Int = 0
    equal: cython.bint = nh == nr
    if equal:
        for j in range(nr):
            if ids[h + j] != ids[r + j]:
                equal = False
                break
    for j in range(nr):
        at[j] = n
        theirs: Int = ids[r + j]
        for stage in range(1 if equal else 3):
            for i in range(nh):
                mine: Int = ids[h + i]
                fits: cython.bint = mine == theirs
                if stage == 1:
                    fits = not fits and stem[mine] == stem[theirs]
                elif stage == 2:
                    fits = not fits and _shared(mine, theirs, sets, sets_at, sieve)
                if fits:
                    if n == len(place):
                        return False
                    place[n] = i
                    kind[n] = stage
                    n += 1
    at[nr] = n
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(count: cython.longlong, chunks: cython.longlong, distance: cython.longlong) -> cython.longlong:
    """Smaller is better: more exact matches, fewer chunks, shorter distance."""
    left: cython.longlong = 262143 - count
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
def _search(
    nh: Int, nr: Int, at: Longs, place: Ids, kind: Kinds, to: Longs, how: Longs,
    cover: Ids, keys: Pairs, slots: Pairs, path: cython.longlong[:, :, ::1], used: cython.ulonglong[:, :, ::1],
    parent: cython.schar[:, ::1], choice: cython.int[:, ::1],
) -> cython.void:  # fmt: skip
    """The best alignment: `to[j]` is the place in the output that reference word j is aligned with (−1: none)."""
    cython.declare(b=Int, j=Int, m=Int, w=Int)
    i: Int
    key: cython.longlong
    one: Word = 1
    for i in range(nh):
        cover[i] = 0
    for m in range(at[nr]):
        cover[place[m]] += 1
    words: Int = (nh + 63) // 64
    for w in range(words):
        used[0, 0, w] = 0
    path[0, 0, 0] = 0
    path[0, 0, 1] = 0
    path[0, 0, 2] = 0
    path[0, 0, 3] = -1
    slots[0, 0] = 0
    n: Int = 1
    for j in range(nr):
        now: Int = j & 1
        then: Int = 1 - now
        sure: cython.bint = at[j + 1] - at[j] == 1 and cover[place[at[j]]] == 1
        kept: Int = n
        n = 0
        for b in range(kept):
            old: Int = slots[now, b]
            count: cython.longlong = path[now, old, 0]
            chunks: cython.longlong = path[now, old, 1]
            distance: cython.longlong = path[now, old, 2]
            end: Int = path[now, old, 3]
            for m in range(at[j], at[j + 1] + (0 if sure else 1)):
                i = place[m] if m < at[j + 1] else -1  # the last way is to leave the word out
                new_count: cython.longlong = count
                new_chunks: cython.longlong = chunks + (1 if end != -1 else 0)
                new_distance: cython.longlong = distance
                if i >= 0:
                    if used[now, old, i >> 6] >> (i & 63) & 1:
                        continue
                    apart: Int = j - i if j > i else i - j
                    new_count += 1 if kind[m] == 0 else 0
                    new_chunks = chunks + (0 if end in (-1, i) else 1)
                    new_distance += apart if sure else 0
                    distance += apart
                key = _key(new_count, new_chunks, new_distance)
                slot: Int = _slot(keys, slots, then, n, key)
                if slot < 0:
                    continue
                n = min(n + 1, BEAM)
                path[then, slot, 0] = new_count
                path[then, slot, 1] = new_chunks
                path[then, slot, 2] = new_distance
                path[then, slot, 3] = i + 1 if i >= 0 else -1
                for w in range(words):
                    used[then, slot, w] = used[now, old, w]
                if i >= 0:
                    used[then, slot, i >> 6] |= one << (i & 63)
                parent[j, slot] = old
                choice[j, slot] = i
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
        how[j] = -1
        if to[j] >= 0:
            for m in range(at[j], at[j + 1]):
                if place[m] == to[j]:
                    how[j] = kind[m]
                    break


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _greedy(
    ids: Tokens, h: Int, nh: Int, r: Int, nr: Int, stem: Tokens, sets: Texts, sets_at: Texts,
    to: Longs, how: Longs, taken: Ids,
) -> cython.void:  # fmt: skip
    cython.declare(i=Int, j=Int, k=Int, stage=Int)
    for i in range(nh):
        taken[i] = 0
    for stage in range(3):
        for i in range(nh - 1, -1, -1):
            if taken[i]:
                continue
            mine: Int = ids[h + i]
            for j in range(nr - 1, -1, -1):
                if to[j] >= 0:
                    continue
                theirs: Int = ids[r + j]
                fits: cython.bint = mine == theirs if stage == 0 else stem[mine] == stem[theirs]
                if stage == 2 and not fits:
                    for k in range(sets_at[stem[mine]], sets_at[stem[mine] + 1]):
                        if sets[k] == stem[theirs]:
                            fits = True
                            break
                if fits:
                    to[j] = i
                    how[j] = stage
                    taken[i] = 1
                    break


@kernel
def align(
    ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, stem: Tokens, sets: Texts,
    sets_at: Texts,
    sieve: Sieve, function: Texts, greedy: cython.bint,
):  # fmt: skip
    """Of each pair: matches by kind among content and function words of the output (0–2, 3–5) and of the reference
    (6–8, 9–11), then chunks in order of the reference.

    `sets[sets_at[w]:sets_at[w + 1]]`: synsets of word w, ascending (greedy: of stem w, the stems that are its
    synonyms).
    """
    cython.declare(j=Int)
    p: Int
    longest: Int = 1
    widest: Int = 1
    for p in range(len(reference)):
        longest = max(longest, length[output[p]])
        widest = max(widest, length[reference[p]])
    beam: Int = 1 if greedy else WIDTH
    found: Pairs = zeros((len(reference), 13), "q")
    to: Longs = empty(widest, "q")
    how: Longs = empty(widest, "q")
    at: Longs = empty(widest + 1, "q")
    cover: Ids = empty(longest, "i")
    keys: Pairs = empty((2, beam), "q")
    slots: Pairs = empty((2, beam), "q")
    path: cython.longlong[:, :, ::1] = empty((2, beam, 4), "q")
    used: cython.ulonglong[:, :, ::1] = empty((2, beam, (longest + 63) // 64), "Q")
    parent: cython.schar[:, ::1] = empty((widest, beam), "b")
    choice: cython.int[:, ::1] = empty((widest, beam), "i")
    place: Ids = empty(256, "i")
    kind: Kinds = empty(256, "b")
    p = 0
    while p < len(reference):
        with cython.nogil:
            while p < len(reference):
                h: Int = begin[output[p]]
                nh: Int = length[output[p]]
                r: Int = begin[reference[p]]
                nr: Int = length[reference[p]]
                if nh > 0 and nr > 0:
                    for j in range(nr):
                        to[j] = -1
                        how[j] = -1
                    if greedy:
                        _greedy(ids, h, nh, r, nr, stem, sets, sets_at, to, how, cover)
                    elif _candidates(ids, h, nh, r, nr, stem, sets, sets_at, sieve, at, place, kind):
                        _search(nh, nr, at, place, kind, to, how, cover, keys, slots, path, used, parent, choice)
                    else:
                        break
                    last: Int = -2
                    for j in range(nr):
                        if to[j] >= 0:
                            found[p, how[j] + 3 * function[ids[h + to[j]]]] += 1
                            found[p, 6 + how[j] + 3 * function[ids[r + j]]] += 1
                            found[p, 12] += to[j] != last + 1 or j == 0 or to[j - 1] < 0
                        last = to[j] if to[j] >= 0 else -2
                p += 1
        if p < len(reference):  # no room for the candidates of this pair
            place = empty(2 * len(place), "i")
            kind = empty(2 * len(kind), "b")
    return array(found)
