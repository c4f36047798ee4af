"""Tercom's beam, and the way back through a table; both as in sacrebleu's copy."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.libc.math import ceil, floor
else:
    from math import ceil, floor

Int = cython.typedef(cython.Py_ssize_t)
Tokens = cython.typedef(cython.const[cython.int][::1])
Longs = cython.typedef(cython.longlong[::1])
Bits = cython.typedef(cython.ulonglong[:, ::1])
Table = cython.typedef(cython.int[:, ::1])
Ways = cython.typedef(cython.uchar[:, ::1])
Desk = cython.typedef(cython.longlong[:, ::1])

if not cython.compiled:  # otherwise they are in tercom.pxd, for the C compiler
    MAX_SHIFT = 10
    MAX_DISTANCE = 50
    BEAM = 25
    MAX_TRIALS = 1000
    TRIALS_OF_PLACE = 65  # at most, of two places with the same word: Σ length + 1 up to MAX_SHIFT
    FAR = 536870912  # 2^29
    # What is done to a word.
    MATCH = 0
    CHANGE = 1
    HYP_ONLY = 2
    REF_ONLY = 3
    # Rows of the bit table, one column per word of the output: where the reference has it; the same in the order that
    # is tried; and after each word, by how much the distance grows or falls along the reference and from the word
    # before.
    MASK = 0
    TRIED = 1
    PLUS = 2
    MINUS = 3
    RISE = 4
    FALL = 5
    SCORE = 6
    # Rows of the desk: the output word before or at each reference word; running sums of the errors of either side.
    ALIGN = 0
    REF_ERRORS = 1
    HYP_ERRORS = 2
    # State of the best shift in the current round, and the number of trials over all rounds.
    GAIN = 0
    LENGTH = 1
    FROM = 2
    TO = 3
    TRIALS = 4


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def width_of(nh: Int, nr: Int) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Return Tercom's beam width, and the number of columns of a table that holds the beam."""
    ratio: cython.double = nr
    ratio = ratio / nh / 2
    beam: Int = BEAM
    if ratio > BEAM:
        beam = cython.cast(cython.Py_ssize_t, ceil(ratio + BEAM))
    return beam, min(2 * beam + 2, nr + 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _cheapest(corner: Int, above: Int, before: Int, same: cython.bint) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Return the cost of a cell and the edit operation, computed from the three neighboring cells."""
    op: Int = MATCH if same else CHANGE
    cost: Int = corner + op
    if above + 1 < cost:
        cost = above + 1
        op = HYP_ONLY
    if before + 1 < cost:
        cost = before + 1
        op = REF_ONLY
    return cost, op


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rows_of(
    words: Table,
    which: Int,
    nh: Int,
    ids: Tokens,
    r: Int,
    nr: Int,
    at: Int,
    lows: Longs,
    table: Table,
    way: Ways,
    limit: Int,
) -> Int:
    """Compute the edit distance inside the beam, from row `at` of the table on; more than `limit` is FAR.

    Cell j of row i is in column j − lows[i]. With `limit` < 0 the rows and the operations are written to the table,
    otherwise only two rows are kept: the last two of the table.
    """
    cython.declare(i=Int, j=Int, k=Int, beam=Int, width=Int, cost=Int, op=Int)
    beam, width = width_of(nh, nr)
    ratio: cython.double = nr
    ratio = ratio / nh
    keep: cython.bint = limit < 0
    spare: Int = table.shape[0] - 2
    old_low: Int = lows[at]
    old: Int = at
    for i in range(at + 1, nh + 1):
        row: Int = i if keep else spare + (i & 1)
        centre: Int = cython.cast(cython.Py_ssize_t, floor(i * ratio))
        first: Int = max(0, centre - beam)
        stop: Int = nr + 1 if i == nh else min(nr + 1, centre + beam)
        least: Int = FAR
        before: Int = FAR
        word: cython.int = words[which, i - 1]
        for j in range(first, stop):
            corner: Int = j - 1
            above: Int = j
            if i > 1:
                k = j - old_low
                corner = table[old, k - 1] if 0 < k <= width else FAR
                above = table[old, k] if 0 <= k < width else FAR
            op = HYP_ONLY
            cost = i
            if j > 0:
                cost, op = _cheapest(corner, above, before, word == ids[r + j - 1])
            before = min(cost, FAR)
            table[row, j - first] = before
            if keep:
                way[i, j - first] = op
            least = min(least, before)
        for k in range(stop - first, width):
            table[row, k] = FAR
        if keep:
            lows[i] = first
        elif least > limit:
            return FAR
        old_low = first
        old = row
    return table[old, nr - old_low]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def alignment(way: Ways, lows: Longs, bits: Bits, exact: cython.bint, nh: Int, nr: Int, desk: Desk) -> cython.void:
    """Trace back: return the output word before or at each reference word, and running sums of the errors of both.

    `exact`: the path is in the bit table. Of equal paths Tercom prefers a substitution, then a word of the output
    alone.
    """
    cython.declare(k=Int)
    op: Int
    i: Int = nh
    j: Int = nr
    for k in range(nh + 1):
        desk[HYP_ERRORS, k] = 0
    for k in range(nr + 1):
        desk[REF_ERRORS, k] = 0
    while i > 0 or j > 0:
        if i == 0:
            op = REF_ONLY
        elif not exact:
            op = way[i, j - lows[i]]
        elif j == 0:
            op = HYP_ONLY
        elif bits[MASK, i - 1] >> (j - 1) & 1:
            op = MATCH
        else:
            rise: Int = bits[RISE, i] >> (j - 1) & 1
            fall: Int = bits[FALL, i] >> (j - 1) & 1
            plus: Int = bits[PLUS, i - 1] >> (j - 1) & 1
            minus: Int = bits[MINUS, i - 1] >> (j - 1) & 1
            down: Int = rise - fall
            right: Int = plus - minus
            op = CHANGE if down + right == 1 else HYP_ONLY if down == 1 else REF_ONLY
        if op == REF_ONLY:
            desk[ALIGN, j - 1] = i - 1
            desk[REF_ERRORS, j] = 1
            j -= 1
        elif op == HYP_ONLY:
            desk[HYP_ERRORS, i] = 1
            i -= 1
        else:
            desk[ALIGN, j - 1] = i - 1
            desk[REF_ERRORS, j] = op
            desk[HYP_ERRORS, i] = op
            i -= 1
            j -= 1
    for k in range(nh):
        desk[HYP_ERRORS, k + 1] += desk[HYP_ERRORS, k]
    for k in range(nr):
        desk[REF_ERRORS, k + 1] += desk[REF_ERRORS, k]
