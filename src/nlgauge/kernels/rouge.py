"""The rarer members of the ROUGE family: union LCS over sentences, weighted LCS, skip-bigrams."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import ALL, PRIME
else:
    from nlgauge.kernels.shared import ALL, PRIME

Int = cython.typedef(cython.Py_ssize_t)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Word = cython.typedef(cython.ulonglong)
Bytes = cython.typedef(cython.uchar[::1])

# A pair that is too long has −1 in place of a result.
CELLS = cython.declare(cython.Py_ssize_t, 1 << 30)  # of a table of one byte each
PAIRS = cython.declare(cython.Py_ssize_t, 1 << 27)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _common(ids: Tokens, r: Int, m: Int, c: Int, n: Int, way: Bytes, row: Ids, member: Bytes) -> cython.void:
    """Mark the tokens of a reference sentence that one LCS with an output sentence uses.

    Of several LCS the one that rouge_score reads out: from the end, a match first, then the longer side, then up.
    """
    cython.declare(i=Int, j=Int)
    for j in range(n + 1):
        row[j] = 0
    for i in range(m):
        diagonal: cython.int = 0
        for j in range(n):
            above: cython.int = row[j + 1]
            if ids[r + i] == ids[c + j]:
                row[j + 1] = diagonal + 1
                way[i * n + j] = 0
            elif row[j] > above:
                row[j + 1] = row[j]
                way[i * n + j] = 1
            else:
                row[j + 1] = above
                way[i * n + j] = 2
            diagonal = above
    i = m - 1
    j = n - 1
    while i >= 0 and j >= 0:
        step: cython.int = way[i * n + j]
        if step == 0:
            member[i] = 1
        i -= step != 1
        j -= step != 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _line_end(lines: Tokens, at: Int, last: Int) -> Int:
    end: Int = at + 1
    while end < last and lines[end] == lines[at]:
        end += 1
    return end


@kernel
def union_lcs(ids: Tokens, lines: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, kinds: Int):
    """Count the hits of summary-level ROUGE-L per pair; each token counts at most as often as output and reference have
    it.
    """
    cython.declare(p=Int, k=Int)
    hits: Longs = zeros(len(reference), "q")
    widest: Int = 1
    cells: Int = 1
    for p in range(len(reference)):
        widest = max(widest, length[output[p]], length[reference[p]])
        size: Int = length[output[p]] * length[reference[p]]
        if size <= CELLS:
            cells = max(cells, size)
    way: Bytes = empty(cells, "B")
    row: Ids = empty(widest + 1, "i")
    member: Bytes = empty(widest, "B")
    in_output: Ids = zeros(kinds, "i")
    in_reference: Ids = zeros(kinds, "i")
    with cython.nogil:
        for p in range(len(reference)):
            c: Int = begin[output[p]]
            c_end: Int = c + length[output[p]]
            r: Int = begin[reference[p]]
            r_end: Int = r + length[reference[p]]
            if (c_end - c) * (r_end - r) > CELLS:
                hits[p] = -1
                continue
            for k in range(c, c_end):
                in_output[ids[k]] += 1
            for k in range(r, r_end):
                in_reference[ids[k]] += 1
            at: Int = r
            while at < r_end:
                stop: Int = _line_end(lines, at, r_end)
                for k in range(stop - at):
                    member[k] = 0
                other: Int = c
                while other < c_end:
                    end: Int = _line_end(lines, other, c_end)
                    _common(ids, at, stop - at, other, end - other, way, row, member)
                    other = end
                for k in range(at, stop):
                    if member[k - at] and in_output[ids[k]] > 0 and in_reference[ids[k]] > 0:
                        hits[p] += 1
                        in_output[ids[k]] -= 1
                        in_reference[ids[k]] -= 1
                at = stop
            for k in range(c, c_end):
                in_output[ids[k]] = 0
            for k in range(r, r_end):
                in_reference[ids[k]] = 0
    return array(hits)


@kernel
def weighted_lcs(ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, power: cython.double):
    """Compute the weighted LCS of each pair: a run of k consecutive matches has the weight k to this power (Lin 2004,
    figure 1).
    """
    cython.declare(p=Int, k=Int, i=Int, j=Int)
    found: cython.double[::1] = zeros(len(reference), "d")
    widest: Int = 1
    for p in range(len(reference)):
        widest = max(widest, length[output[p]], length[reference[p]])
    worth: cython.double[::1] = empty(widest + 2, "d")
    row: cython.double[::1] = empty(widest + 1, "d")
    run: Ids = empty(widest + 1, "i")
    with cython.nogil:
        for k in range(widest + 2):
            worth[k] = cython.cast(cython.double, k) ** power
        for p in range(len(reference)):
            c: Int = begin[output[p]]
            n: Int = length[output[p]]
            r: Int = begin[reference[p]]
            m: Int = length[reference[p]]
            for j in range(n + 1):
                row[j] = 0.0
                run[j] = 0
            for i in range(m):
                corner: cython.double = 0.0
                ran: cython.int = 0
                for j in range(n):
                    above: cython.double = row[j + 1]
                    before: cython.int = run[j + 1]
                    if ids[r + i] == ids[c + j]:
                        row[j + 1] = corner + worth[ran + 1] - worth[ran]
                        run[j + 1] = ran + 1
                    else:
                        row[j + 1] = max(above, row[j])
                        run[j + 1] = 0
                    corner = above
                    ran = before
            found[p] = row[n]
    return array(found)


@kernel
def skip_bigrams(ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, reach: Int):
    """Count the clipped matches of ordered pairs of tokens that are at most `reach` positions apart."""
    cython.declare(p=Int, i=Int, j=Int, side=Int)
    hits: Longs = zeros(len(reference), "q")
    most: Int = 1
    for p in range(len(reference)):
        pairs: Int = length[output[p]] * min(reach, length[output[p]])
        if pairs <= PAIRS:
            most = max(most, pairs)
    size: Int = 2
    while size < 2 * most:
        size *= 2
    keys: cython.ulonglong[::1] = empty(size, "Q")
    counts: Ids = empty(size, "i")
    with cython.nogil:
        for p in range(len(reference)):
            n: Int = length[output[p]]
            m: Int = length[reference[p]]
            if max(n * min(reach, n), m * min(reach, m)) > PAIRS:
                hits[p] = -1
                continue
            mask: Int = 2
            while mask < 2 * n * min(reach, n):
                mask *= 2
            for i in range(mask):
                keys[i] = ALL
            mask -= 1
            for side in range(2):
                at: Int = begin[reference[p]] if side else begin[output[p]]
                many: Int = m if side else n
                for i in range(many):
                    for j in range(i + 1, min(many, i + reach + 1)):
                        high: Word = ids[at + i]
                        low: Word = ids[at + j]
                        key: Word = (high << 32) | low
                        slot: Int = _slot(key, keys, mask)
                        if side == 0:
                            if keys[slot] != key:
                                keys[slot] = key
                                counts[slot] = 0
                            counts[slot] += 1
                        elif keys[slot] == key and counts[slot] > 0:
                            counts[slot] -= 1
                            hits[p] += 1
    return array(hits)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _slot(key: Word, keys: cython.ulonglong[::1], mask: Int) -> Int:
    """Return the position of the key in the hash table, or its free position."""
    slot: Int = ((key * PRIME & ALL) >> 32) & mask
    while keys[slot] != key and keys[slot] != ALL:
        slot = (slot + 1) & mask
    return slot
