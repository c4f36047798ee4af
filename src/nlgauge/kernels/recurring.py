"""N-grams that recur in a corpus, numbered; and the n-gram weights of CIDEr and NIST.

Only an n-gram with two occurrences can be shared by an output and a reference, or have a frequency above one. Most
longer n-grams of a corpus occur once, and so do all their extensions: they get no number and cost nothing.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, full, kernel, zeros

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.nlgauge.kernels.shared import ALL, PRIME
else:
    from math import sqrt

    from nlgauge.kernels.shared import ALL, PRIME

Int = cython.typedef(cython.Py_ssize_t)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Word = cython.typedef(cython.ulonglong)
Words = cython.typedef(cython.ulonglong[::1])
Reals = cython.typedef(cython.const[cython.double][::1])
Numbers = cython.typedef(cython.const[cython.int][:, ::1])


@kernel
def number(ids: Tokens, begin: Texts, length: Texts, texts: Texts, uses: Texts, order: Int, kinds: Int):
    """Numbers of the n-grams of those texts, `kinds` being above every token id; a text counts `uses` times.

    Gives `numbers`, order × places: that of the n-gram that begins at a place, −1 if it does not recur; `first`, the
    place where each text begins (a place without a number stands between texts); and `parent[g]`, the n-gram without
    its last token.
    """
    cython.declare(t=Int, i=Int, n=Int)
    first: Longs = empty(len(texts) + 1, "q")
    places: Int = 0
    for t in range(len(texts)):
        first[t] = places
        places += max(0, length[texts[t]]) + 1
    first[len(texts)] = places
    numbers: cython.int[:, ::1] = full((order, places), -1, "i")
    often: Ids = zeros(max(kinds, places), "i")
    with cython.nogil:
        for t in range(len(texts)):
            for i in range(length[texts[t]]):
                often[ids[begin[texts[t]] + i]] += uses[t]
        for t in range(len(texts)):
            for i in range(length[texts[t]]):
                token: Int = ids[begin[texts[t]] + i]
                if often[token] > 1:
                    numbers[0, first[t] + i] = token
    parents: Ids = full(kinds + places, -1, "i")
    known: Int = kinds
    alive: Int
    size: Int = 2
    while size < 2 * places:
        size *= 2
    keys: Words = empty(size, "Q")
    slots: Ids = empty(size, "i")
    for n in range(1, order):
        known, alive = _next(numbers, n, first, uses, keys, slots, often, parents, known)
        if not alive:
            break
        if len(parents) < known + alive:
            bigger: Ids = empty(2 * known + alive, "i")
            bigger[:known] = parents[:known]
            parents = bigger
    return array(numbers), array(first), array(parents)[:known].copy()


@cython.cfunc
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _next(
    numbers: cython.int[:, ::1],
    n: Int,
    first: Longs,
    uses: Texts,
    keys: Words,
    slots: Ids,
    often: Ids,
    parents: Ids,
    known: Int,
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Number the n-grams both of whose parts recur; gives the last number, and how many places may go on."""
    cython.declare(i=Int, t=Int, g=Int)
    places: Int = numbers.shape[1]
    pairs: Int = 0
    alive: Int = 0
    with cython.nogil:
        for i in range(places - 1):
            pairs += numbers[n - 1, i] >= 0 and numbers[n - 1, i + 1] >= 0
        mask: Int = 1
        while mask < 2 * pairs:
            mask *= 2
        for i in range(mask):
            keys[i] = ALL
        mask -= 1
        found: Int = 0
        for t in range(len(first) - 1):
            for i in range(first[t], first[t + 1] - 1):
                if numbers[n - 1, i] < 0 or numbers[n - 1, i + 1] < 0:
                    continue
                high: Word = numbers[n - 1, i]
                low: Word = numbers[n - 1, i + 1]
                key: Word = (high << 32) | low
                slot: Int = ((key * PRIME & ALL) >> 32) & mask
                while keys[slot] != key and keys[slot] != ALL:
                    slot = (slot + 1) & mask
                if keys[slot] == ALL:
                    keys[slot] = key
                    slots[slot] = found
                    often[found] = 0
                    found += 1
                numbers[n, i] = slots[slot]
                often[slots[slot]] += uses[t]
        for g in range(found):
            if often[g] > 1:
                often[g] = known
                known += 1
            else:
                often[g] = -1
        for i in range(places):
            if numbers[n, i] >= 0:
                numbers[n, i] = often[numbers[n, i]]
                if numbers[n, i] >= 0:
                    parents[numbers[n, i]] = numbers[n - 1, i]
                    alive += 1
    return known, alive


@kernel
def frequencies(numbers: Numbers, first: Texts, texts: Texts, start: Texts, known: Int):
    """Of every n-gram: in how many documents it is, and how often; document d has `texts[start[d]:start[d + 1]]`."""
    cython.declare(k=Int, d=Int, p=Int, i=Int)
    documents: Ids = zeros(known, "i")
    times: Ids = zeros(known, "i")
    last: Ids = full(known, -1, "i")
    with cython.nogil:
        for k in range(numbers.shape[0]):
            for d in range(len(start) - 1):
                for p in range(start[d], start[d + 1]):
                    for i in range(first[texts[p]], first[texts[p] + 1]):
                        g: Int = numbers[k, i]
                        if g >= 0:
                            times[g] += 1
                            documents[g] += last[g] != d
                            last[g] = d
    return array(documents), array(times)


@kernel
def matched_weight(numbers: Numbers, first: Texts, weight: Reals, text: Texts, others: Texts, start: Texts):
    """Weight of the n-grams that a text shares with others, each as often as in the one that has it most; by order.

    `text[s]` against `others[start[s]:start[s + 1]]`, all of them places in the list given to `number`.
    """
    cython.declare(s=Int, k=Int, i=Int, p=Int, j=Int)
    g: Int
    found: cython.double[:, ::1] = zeros((len(text), numbers.shape[0]), "d")
    own: Ids = zeros(len(weight), "i")
    seen: Ids = zeros(len(weight), "i")
    most: Ids = zeros(len(weight), "i")
    with cython.nogil:
        for s in range(len(text)):
            a: Int = first[text[s]]
            a_end: Int = first[text[s] + 1]
            for k in range(numbers.shape[0]):
                for i in range(a, a_end):
                    if numbers[k, i] >= 0:
                        own[numbers[k, i]] += 1
                for p in range(start[s], start[s + 1]):
                    b: Int = first[others[p]]
                    b_end: Int = first[others[p] + 1]
                    for j in range(b, b_end):
                        g = numbers[k, j]
                        if g >= 0 and own[g] > 0:
                            seen[g] += 1
                            if most[g] < seen[g] <= own[g]:
                                most[g] = seen[g]
                                found[s, k] += weight[g]
                    for j in range(b, b_end):
                        if numbers[k, j] >= 0:
                            seen[numbers[k, j]] = 0
                for i in range(a, a_end):
                    if numbers[k, i] >= 0:
                        own[numbers[k, i]] = 0
                        most[numbers[k, i]] = 0
    return array(found)


@kernel
def similarities(
    numbers: Numbers,
    first: Texts,
    weight: Reals,
    rare: cython.double,
    output: Texts,
    reference: Texts,
    clipped: cython.bint,
):
    """Cosine of weighed counts of each pair, mean over orders; `clipped` counts no n-gram more often than the
    reference.

    What does not recur weighs `rare`, once.
    """
    cython.declare(p=Int, k=Int, i=Int, j=Int)
    g: Int
    order: Int = numbers.shape[0]
    norm: cython.double[:, ::1] = zeros((len(first) - 1, order), "d")
    found: cython.double[::1] = zeros(len(output), "d")
    own: Ids = zeros(len(weight), "i")
    seen: Ids = zeros(len(weight), "i")
    with cython.nogil:
        _norms(numbers, first, weight, rare, own, norm)
        for p in range(len(output)):
            h: Int = output[p]
            r: Int = reference[p]
            for k in range(order):
                if norm[h, k] == 0 or norm[r, k] == 0:
                    continue
                dot: cython.double = 0.0
                for i in range(first[h], first[h + 1]):
                    if numbers[k, i] >= 0:
                        own[numbers[k, i]] += 1
                for j in range(first[r], first[r + 1]):
                    if numbers[k, j] >= 0:
                        seen[numbers[k, j]] += 1
                for j in range(first[r], first[r + 1]):
                    g = numbers[k, j]
                    if g >= 0 and seen[g] > 0:
                        times: Int = min(own[g], seen[g]) if clipped else own[g]
                        dot += times * seen[g] * (weight[g] * weight[g])
                        seen[g] = 0
                for i in range(first[h], first[h + 1]):
                    if numbers[k, i] >= 0:
                        own[numbers[k, i]] = 0
                found[p] += dot / (norm[h, k] * norm[r, k])
            found[p] /= order
    return array(found)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _norms(
    numbers: Numbers, first: Texts, weight: Reals, rare: cython.double, own: Ids, norm: cython.double[:, ::1]
) -> cython.void:
    """The norm of the weighed counts of each text, by order."""
    cython.declare(t=Int, k=Int, i=Int)
    g: Int
    for t in range(norm.shape[0]):
        for k in range(norm.shape[1]):
            total: cython.double = 0.0
            end: Int = max(first[t], first[t + 1] - 1 - k)
            for i in range(first[t], end):
                g = numbers[k, i]
                if g < 0:
                    total += rare * rare
                else:
                    total += (2 * own[g] + 1) * (weight[g] * weight[g])  # (c + 1)² − c²
                    own[g] += 1
            for i in range(first[t], end):
                if numbers[k, i] >= 0:
                    own[numbers[k, i]] = 0
            norm[t, k] = sqrt(total)
