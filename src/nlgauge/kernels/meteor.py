"""Word alignments of METEOR.

The beam search follows METEOR 1.5. A match covers `span` words of the reference and `width` words of the output from
`place`; it is a word with the same word, stem or synset, or a phrase of a paraphrase table. A match that nothing else
touches is taken. All others compete in one beam search over the reference: largest `gain` first, then fewest chunks,
then shortest distance, ties to the earlier. Without paraphrases only an exact match has a gain (1.5 rounds the weights
of the others down), and the distance of a match is charged to the paths that did not take it; both are kept, for equal
numbers. `_greedy` follows nltk: from the last word of the output, the last free word of the reference; one kind after
the other.

Kinds of match: 0 exact, 1 stem, 2 synonym, 3 paraphrase. A path has five numbers: gain, chunks, distance, end of the
last match in the output, first reference word behind it.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, full, kernel, zeros

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Sieve = cython.typedef(cython.const[cython.ulonglong][::1])
Pairs = cython.typedef(cython.longlong[:, ::1])
Paths = cython.typedef(cython.longlong[:, :, ::1])
Bits = cython.typedef(cython.ulonglong[:, :, ::1])
Small = cython.typedef(cython.schar[:, ::1])
Choices = cython.typedef(cython.int[:, ::1])

BEAM = cython.declare(cython.Py_ssize_t, 40)
WIDTH = 40


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _shared(a: Int, b: Int, sets: Texts, sets_at: Texts, sieve: Sieve) -> cython.bint:
    """Return whether two words have a synset in common; the bit filter decides most cases."""
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
    ids: Tokens,
    h: Int,
    nh: Int,
    r: Int,
    nr: Int,
    stem: Tokens,
    sets: Texts,
    sets_at: Texts,
    sieve: Sieve,
    at: Longs,
    place: Longs,
    kind: Longs,
    gain: Longs,
) -> cython.bint:
    """Collect the matches of each reference word, `place[at[j]:at[j + 1]]` in the output: exact, then stem, then
    synonym.

    Return False if the buffers are too small for all matches.
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
                    gain[n] = 1 if stage == 0 else 0
                    n += 1
    at[nr] = n
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(gain: cython.longlong, chunks: cython.longlong, distance: cython.longlong) -> cython.longlong:
    """Return the sort key of a path; smaller is better: more gain, then fewer chunks, then a shorter distance."""
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
    nh: Int, nr: Int, at: Longs, span: Texts, place: Texts, width: Texts, over: Ids, under: Ids, sure: Ids
) -> cython.void:
    """Mark reference words j whose only match, in `at[j]:at[j + 1]`, conflicts with no other match on either side."""
    cython.declare(i=Int, j=Int, k=Int, m=Int)
    for i in range(nh):
        over[i] = 0
    for j in range(nr):
        under[j] = 0
    for j in range(nr):
        for m in range(at[j], at[j + 1]):
            for k in range(width[m]):
                over[place[m] + k] += 1
            for k in range(span[m]):
                under[j + k] += 1
    for j in range(nr):
        sure[j] = at[j + 1] - at[j] == 1
        if sure[j]:
            m = at[j]
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
    nh: Int,
    nr: Int,
    at: Longs,
    span: Texts,
    place: Texts,
    width: Texts,
    gain: Texts,
    to: Longs,
    sure: Ids,
    keys: Pairs,
    slots: Pairs,
    path: Paths,
    used: Bits,
    parent: Small,
    choice: Choices,
) -> cython.void:
    """Find the best alignment: `to[j]` is the match that begins at reference word j (−1: none)."""
    cython.declare(b=Int, j=Int, k=Int, m=Int, n=Int, w=Int, key=cython.longlong)
    i: Int = 0
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
            old_gain: cython.longlong = path[now, old, 0]
            chunks: cython.longlong = path[now, old, 1]
            distance: cython.longlong = path[now, old, 2]
            end: Int = path[now, old, 3]
            behind: Int = path[now, old, 4]
            # Within a match that began earlier there is no choice; otherwise the last option is to leave the word
            # unmatched.
            stop: Int = at[j] if j < behind else at[j + 1]
            for m in range(at[j], stop + (0 if sure[j] and j >= behind else 1)):
                new_gain: cython.longlong = old_gain
                new_chunks: cython.longlong = chunks
                new_distance: cython.longlong = distance
                new_end: Int = end
                new_behind: Int = behind
                if m < stop:
                    i = place[m]
                    new_end = i + width[m]
                    free: cython.bint = True
                    for k in range(i, new_end):
                        if used[now, old, k >> 6] >> (k & 63) & 1:
                            free = False
                    if not free:
                        continue
                    apart: Int = j - i if j > i else i - j
                    new_gain += gain[m]
                    new_chunks += 0 if end in (-1, i) else 1
                    new_distance += apart if sure[j] else 0
                    distance += apart
                    new_behind = j + span[m]
                elif j >= behind:
                    new_chunks += 1 if end != -1 else 0
                    new_end = -1
                key = _key(new_gain, new_chunks, new_distance)
                slot: Int = _slot(keys, slots, then, n, key)
                if slot < 0:
                    continue
                n = min(n + 1, BEAM)
                path[then, slot, 0] = new_gain
                path[then, slot, 1] = new_chunks
                path[then, slot, 2] = new_distance
                path[then, slot, 3] = new_end
                path[then, slot, 4] = new_behind
                for w in range(words):
                    used[then, slot, w] = used[now, old, w]
                parent[j, slot] = old
                choice[j, slot] = -1
                if m < stop:
                    choice[j, slot] = m
                    for k in range(i, new_end):
                        used[then, slot, k >> 6] |= one << (k & 63)
    # A match at the end of the sentence closes its chunk. The number of chunks of a path then increases by one, which
    # can change which path is the best.
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _greedy(
    ids: Tokens,
    h: Int,
    nh: Int,
    r: Int,
    nr: Int,
    stem: Tokens,
    sets: Texts,
    sets_at: Texts,
    to: Longs,
    place: Longs,
    kind: Longs,
    taken: Ids,
) -> cython.void:
    """Compute the alignment of nltk in the format of `_search`: match j belongs to reference word j."""
    cython.declare(i=Int, j=Int, k=Int, stage=Int)
    for j in range(nr):
        to[j] = -1
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
                    to[j] = j
                    place[j] = i
                    kind[j] = stage
                    taken[i] = 1
                    break


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count(
    p: Int,
    h: Int,
    r: Int,
    nr: Int,
    ids: Tokens,
    function: Texts,
    to: Longs,
    span: Texts,
    place: Texts,
    width: Texts,
    kind: Texts,
    kinds: Int,
    found: Pairs,
) -> cython.void:
    """Add up the matched words by kind of match and of word, and the chunks, of the alignment of one pair."""
    cython.declare(j=Int, k=Int, m=Int)
    end: Int = -1
    behind: Int = 0
    for j in range(nr):
        m = to[j]
        if m >= 0:
            for k in range(width[m]):
                found[p, kind[m] + kinds * function[ids[h + place[m] + k]]] += 1
            for k in range(span[m]):
                found[p, 2 * kinds + kind[m] + kinds * function[ids[r + j + k]]] += 1
            found[p, 4 * kinds] += end != place[m]
            end = place[m] + width[m]
            behind = j + span[m]
        elif j >= behind:
            end = -1


def _room(length: Texts, output: Texts, reference: Texts):
    """Allocate buffers for all pairs: alignment, first matches, words that matches cover, certain matches, and the
    beam.
    """
    p: Int
    longest: Int = 1
    widest: Int = 1
    for p in range(len(reference)):
        longest = max(longest, length[output[p]])
        widest = max(widest, length[reference[p]])
    return (
        empty(widest, "q"),
        empty(widest + 1, "q"),
        empty(longest, "i"),
        empty(widest, "i"),
        empty(widest, "i"),
        empty((2, WIDTH), "q"),
        empty((2, WIDTH), "q"),
        empty((2, WIDTH, 5), "q"),
        empty((2, WIDTH, (longest + 63) // 64), "Q"),
        empty((widest, WIDTH), "b"),
        empty((widest, WIDTH), "i"),
    )


@kernel
def align(
    ids: Tokens,
    begin: Texts,
    length: Texts,
    output: Texts,
    reference: Texts,
    stem: Tokens,
    sets: Texts,
    sets_at: Texts,
    sieve: Sieve,
    function: Texts,
    greedy: cython.bint,
):
    """Align each pair, and count matches and chunks.

    The columns are the matches by kind among content and function words of the output (0–2, 3–5) and of the reference
    (6–8, 9–11), then the chunks in the order of the reference. `sets[sets_at[w]:sets_at[w + 1]]` are the synsets of
    word w in ascending order (greedy: of stem w, the stems that are its synonyms).
    """
    p: Int = 0
    found: Pairs = zeros((len(reference), 13), "q")
    cython.declare(to=Longs, at=Longs, over=Ids, under=Ids, sure=Ids, keys=Pairs, slots=Pairs, path=Paths, used=Bits)
    cython.declare(parent=Small, choice=Choices)
    to, at, over, under, sure, keys, slots, path, used, parent, choice = _room(length, output, reference)
    size: Int = max(256, len(to))
    while p < len(reference):
        place: Longs = empty(size, "q")
        kind: Longs = empty(size, "q")
        gain: Longs = empty(size, "q")
        one: Longs = full(size, 1, "q")
        with cython.nogil:
            while p < len(reference):
                h: Int = begin[output[p]]
                nh: Int = length[output[p]]
                r: Int = begin[reference[p]]
                nr: Int = length[reference[p]]
                if nh > 0 and nr > 0:
                    if greedy:
                        _greedy(ids, h, nh, r, nr, stem, sets, sets_at, to, place, kind, over)
                    elif _candidates(ids, h, nh, r, nr, stem, sets, sets_at, sieve, at, place, kind, gain):
                        _sure(nh, nr, at, one, place, one, over, under, sure)
                        _search(nh, nr, at, one, place, one, gain, to, sure, keys, slots, path, used, parent, choice)
                    else:  # the buffers are too small for the matches of this pair
                        break
                    _count(p, h, r, nr, ids, function, to, one, place, one, kind, 3, found)
                p += 1
        size *= 2
    return array(found)


@kernel
def align_phrases(
    ids: Tokens,
    begin: Texts,
    length: Texts,
    output: Texts,
    reference: Texts,
    function: Texts,
    match_at: Texts,
    start: Texts,
    span: Texts,
    place: Texts,
    width: Texts,
    kind: Texts,
    gain: Texts,
):
    """Align each pair with given matches of phrases, and count matched words and chunks.

    The columns are the matched words by kind among content and function words of the output (0–3, 4–7) and of the
    reference (8–11, 12–15), then the chunks in the order of the reference. `match_at[p]:match_at[p + 1]` are the
    matches of pair p, in the order of `start`.
    """
    cython.declare(j=Int, m=Int, p=Int)
    found: Pairs = zeros((len(reference), 17), "q")
    cython.declare(to=Longs, at=Longs, over=Ids, under=Ids, sure=Ids, keys=Pairs, slots=Pairs, path=Paths, used=Bits)
    cython.declare(parent=Small, choice=Choices)
    to, at, over, under, sure, keys, slots, path, used, parent, choice = _room(length, output, reference)
    with cython.nogil:
        for p in range(len(reference)):
            h: Int = begin[output[p]]
            nh: Int = length[output[p]]
            r: Int = begin[reference[p]]
            nr: Int = length[reference[p]]
            if nh > 0 and nr > 0:
                m = match_at[p]
                for j in range(nr):
                    while m < match_at[p + 1] and start[m] < j:
                        m += 1
                    at[j] = m
                at[nr] = match_at[p + 1]
                _sure(nh, nr, at, span, place, width, over, under, sure)
                _search(nh, nr, at, span, place, width, gain, to, sure, keys, slots, path, used, parent, choice)
                _count(p, h, r, nr, ids, function, to, span, place, width, kind, 4, found)
    return array(found)
