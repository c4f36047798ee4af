"""The n-grams of many texts under common numbers, for metrics that compare more than two texts.

All places of all texts are sorted by their first token, then each group of equal ones by its next token, and so on, as
one builds a suffix array: after n steps a group is an n-gram. Groups of one place need no more work.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, full, kernel, zeros

Int = cython.typedef(cython.Py_ssize_t)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Grid = cython.typedef(cython.int[:, ::1])

SUM, HIGHEST = 0, 1


@kernel
def rank(ids: Tokens, begin: Texts, length: Texts, texts: Texts, order: Int, kinds: Int):
    """Number every n-gram of these texts, of orders 1 to `order`; `kinds` is larger than every token ID.

    Return `offsets`, `grams` and `counts`: text t (by its position in `texts`) has in order k+1 the distinct n-grams
    `grams[offsets[t * order + k] : offsets[t * order + k + 1]]`, in ascending order. Also return `parent[g]`, the
    n-gram without its last token, or −1 for a single token.
    """
    cython.declare(t=Int, i=Int, k=Int, g=Int, n=Int)
    total: Int = 0
    for t in range(len(texts)):
        total += max(0, length[texts[t]])
    tokens: Ids = full(total + order, -1, "i")
    ends: cython.uchar[::1] = zeros(total + order, "B")  # the last token of a text
    number: Grid = empty((order, total + 1), "i")  # of the n-gram that begins at each place
    places: Ids = empty(total, "i")
    heads: Longs = zeros(kinds + 1, "q")
    at: Longs = empty(kinds + 1, "q")
    keys: Longs = empty(total, "q")
    parent: Ids = full(kinds, -1, "i")
    with cython.nogil:
        i = 0
        for t in range(len(texts)):
            for k in range(length[texts[t]]):
                tokens[i] = ids[begin[texts[t]] + k]
                i += 1
            if i > 0:
                ends[i - 1] = 1
        for k in range(total):
            heads[tokens[k] + 1] += 1
        for g in range(kinds):
            heads[g + 1] += heads[g]
        for g in range(kinds + 1):
            at[g] = heads[g]
        for k in range(total):
            places[at[tokens[k]]] = k
            at[tokens[k]] += 1
            number[0, k] = tokens[k]
    groups: Int = kinds
    first: Int = 0
    known: Int = kinds  # the numbers of the order before
    for n in range(1, order):
        many: Int = heads[groups]
        grown: Ids = empty(known + many, "i")
        grown[:known] = parent[:known]
        parent = grown
        new_places: Ids = empty(many, "i")
        new_heads: Longs = empty(many + 1, "q")
        more: Int = _next(
            n, groups, first, known, tokens, ends, places, heads, keys, parent, new_places, new_heads, number
        )
        places = new_places
        heads = new_heads
        groups = more
        first = known
        known += more
    offsets, grams, counts = _lists(length, texts, order, number, total)
    return offsets, grams, counts, array(parent)[:known].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _next(
    n: Int,
    groups: Int,
    first: Int,
    known: Int,
    tokens: Ids,
    ends: cython.uchar[::1],
    places: Ids,
    heads: Longs,
    keys: Longs,
    parent: Ids,
    new_places: Ids,
    new_heads: Longs,
    number: Grid,
) -> Int:
    """Split each group of places by its next token; gives how many groups there are then."""
    cython.declare(g=Int, k=Int)
    kept: Int = 0
    found: Int = 0
    for g in range(groups):
        many: Int = 0
        for k in range(heads[g], heads[g + 1]):
            if not ends[places[k] + n - 1]:
                token: cython.longlong = tokens[places[k] + n]
                keys[many] = (token << 32) | places[k]
                many += 1
        if many > 1:
            _sort(keys, many)
        for k in range(many):
            if k == 0 or keys[k] >> 32 != keys[k - 1] >> 32:
                parent[known + found] = first + g
                new_heads[found] = kept
                found += 1
            place: Int = keys[k] - (keys[k] >> 32 << 32)
            number[n, place] = known + found - 1
            new_places[kept] = place
            kept += 1
    new_heads[found] = kept
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort(keys: Longs, n: Int) -> cython.void:
    """Sort the first n keys in place, Shell's way, which few keys in cache like best."""
    cython.declare(i=Int)
    gap: Int = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key: cython.longlong = keys[i]
            j: Int = i - gap
            while j >= 0 and keys[j] > key:
                keys[j + gap] = keys[j]
                j -= gap
            keys[j + gap] = key
        gap //= 3


def _lists(length: Texts, texts: Texts, order: Int, number: Grid, total: Int):
    """Return the n-grams of each text and order in ascending order, with counts."""
    cython.declare(t=Int, i=Int, k=Int)
    grams: Ids = empty(total * order, "i")
    counts: Ids = empty(total * order, "i")
    offsets: Longs = zeros(len(texts) * order + 1, "q")
    run: Longs = empty(max(1, total), "q")
    place: Int = 0
    base: Int = 0
    with cython.nogil:
        for t in range(len(texts)):
            n: Int = max(0, length[texts[t]])
            for k in range(order):
                many: Int = max(0, n - k)
                for i in range(many):
                    run[i] = number[k, base + i]
                _sort(run, many)
                for i in range(many):
                    if i > 0 and run[i] == run[i - 1]:
                        counts[place - 1] += 1
                    else:
                        grams[place] = run[i]
                        counts[place] = 1
                        place += 1
                offsets[t * order + k + 1] = place
            base += n
    return array(offsets), array(grams)[:place].copy(), array(counts)[:place].copy()


@kernel
def counts_in(
    offsets: Texts, grams: Tokens, counts: Tokens, order: Int, text: Texts, others: Texts, start: Texts, how: Int
):
    """Count how often other texts have each n-gram of a text: the sum over these texts, or the maximum.

    `text[s]` is compared with `others[start[s]:start[s + 1]]` (positions in the list given to `rank`). The result is
    parallel to the n-grams of `text[0]`, then of `text[1]` …, all orders of one text together.
    """
    cython.declare(s=Int, k=Int, p=Int)
    total: Int = 0
    for s in range(len(text)):
        total += offsets[(text[s] + 1) * order] - offsets[text[s] * order]
    found: Ids = zeros(total, "i")
    place: Int = 0
    with cython.nogil:
        for s in range(len(text)):
            for k in range(order):
                a: Int = offsets[text[s] * order + k]
                a_end: Int = offsets[text[s] * order + k + 1]
                for p in range(start[s], start[s + 1]):
                    b: Int = offsets[others[p] * order + k]
                    b_end: Int = offsets[others[p] * order + k + 1]
                    i: Int = a
                    while i < a_end and b < b_end:
                        if grams[i] == grams[b]:
                            at: Int = place + i - a
                            found[at] = found[at] + counts[b] if how == 0 else max(found[at], counts[b])
                            i += 1
                            b += 1
                        elif grams[i] < grams[b]:
                            i += 1
                        else:
                            b += 1
                place += a_end - a
    return array(found)
