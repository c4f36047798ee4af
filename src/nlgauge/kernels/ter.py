"""Translation edit rate with shifts, move for move as sacrebleu's copy of Tercom.

A shift is tried by the edit distance of the shifted output. Where Tercom's beam cannot cut anything off, distance and
alignment come from bit operations (Myers 1999), bit j standing for reference word j, and a trial goes on from the first
word that moved; else they come from the beam itself.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels import tercom
    from cython.cimports.nlgauge.kernels.shared import ALL, bit, popcount
else:
    from nlgauge.kernels import tercom
    from nlgauge.kernels.shared import ALL, bit, popcount

Int = cython.typedef(cython.Py_ssize_t)
Word = cython.typedef(cython.ulonglong)
Tokens = cython.typedef(cython.const[cython.int][::1])
Texts = cython.typedef(cython.const[cython.longlong][::1])
Ids = cython.typedef(cython.int[::1])
Longs = cython.typedef(cython.longlong[::1])
Bits = cython.typedef(cython.ulonglong[:, ::1])
Table = cython.typedef(cython.int[:, ::1])
Ways = cython.typedef(cython.uchar[:, ::1])
Desk = cython.typedef(cython.longlong[:, ::1])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _distance(bits: Bits, at: Int, high: Int, nh: Int, nr: Int, limit: Int) -> Int:
    """Compute the Levenshtein distance from at most 64 reference words to the tried order, which differs from position
    `at` to `high`.

    A distance of more than `limit` is FAR. With `limit` < 0, the output is used unchanged, and the bit table is filled.
    """
    cython.declare(k=Int)
    plus: Word = ALL
    minus: Word = 0
    score: Int = nr
    keep: cython.bint = limit < 0
    top: Word = bit(nr - 1)
    if keep:
        bits[tercom.PLUS, 0] = plus
        bits[tercom.MINUS, 0] = minus
        bits[tercom.SCORE, 0] = score
    else:
        plus = bits[tercom.PLUS, at]
        minus = bits[tercom.MINUS, at]
        score = bits[tercom.SCORE, at]
    for k in range(at, nh):
        e: Word = bits[tercom.TRIED, k] if k < high else bits[tercom.MASK, k]
        x: Word = e | minus
        d: Word = ((((e & plus) + plus) & ALL) ^ plus) | e
        rise: Word = minus | (ALL ^ (d | plus))
        fall: Word = plus & d
        score += (rise & top) != 0
        score -= (fall & top) != 0
        if keep:
            bits[tercom.RISE, k + 1] = rise
            bits[tercom.FALL, k + 1] = fall
        elif score - (nh - 1 - k) > limit:  # each word left brings it down by one at most
            return tercom.FAR
        rise = (rise << 1 & ALL) | 1
        plus = (fall << 1 & ALL) | (ALL ^ (x | rise))
        minus = rise & x
        if keep:
            bits[tercom.PLUS, k + 1] = plus
            bits[tercom.MINUS, k + 1] = minus
            bits[tercom.SCORE, k + 1] = score
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bounds(start: Int, length: Int, target: Int, size: Int) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Return the positions that a shift changes."""
    if target < start:
        return target, start + length
    return start, target if target > start + length else min(size, length + target)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _source(k: Int, start: Int, length: Int, target: Int, high: Int) -> Int:
    """Return the original position of the word that is at position k after a shift."""
    to: Int = target if target < start else high - length
    if to <= k < to + length:
        return start + k - to
    return k - length if target < start else k + length


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _inside(distance: Int, nh: Int, nr: Int) -> cython.bint:
    """Return whether the beam certainly contains every optimal path.

    Of d edits at most (d + |nr − nh|) / 2 go in one direction, and the center of the beam is at most |nr − nh| + 1 off
    the diagonal.
    """
    apart: Int = nr - nh if nr > nh else nh - nr
    return nr < tercom.BEAM or distance + 3 * apart + 2 <= 2 * (tercom.BEAM - 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _match(
    words: Table, nh: Int, ids: Tokens, r: Int, nr: Int, stands: cython.ulonglong[::1], bits: Bits
) -> tuple[cython.Py_ssize_t, cython.Py_ssize_t]:
    """Fill the row MASK for at most 64 reference words; `stands` is 0 before and after.

    Return the edits that no order of the words can save, and the places of either side with the same word.
    """
    cython.declare(j=Int, k=Int)
    for j in range(nr):
        stands[ids[r + j]] |= bit(j)
    common: Word = 0
    matches: Int = 0
    for k in range(nh):
        mask: Word = stands[words[0, k]]
        bits[tercom.MASK, k] = mask
        common |= _lowest(mask & (ALL ^ common))
        matches += popcount(mask)
    for j in range(nr):
        stands[ids[r + j]] = 0
    return max(nh, nr) - popcount(common), matches


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _edits(
    words: Table,
    nh: Int,
    ids: Tokens,
    r: Int,
    nr: Int,
    stands: cython.ulonglong[::1],
    bits: Bits,
    desk: Desk,
    table: Table,
    way: Ways,
    lows: Longs,
    best: Longs,
) -> Int:
    """Return the shifts and edits that turn the output into the reference; row 0 of `words` is changed on the way.

    −1 if the beam is needed and its tables have no room.
    """
    roomy: cython.bint = table.shape[0] > nh + 2 and table.shape[1] >= tercom.width_of(nh, nr)[1]
    small: cython.bint = nr <= 64
    least: Int = 0
    matches: Int = 0
    if small:
        least, matches = _match(words, nh, ids, r, nr, stands, bits)
    shifts: Int = 0
    before: Int = 0
    best[tercom.TRIALS] = 0
    while True:
        exact: cython.bint = False
        if small:
            before = _distance(bits, 0, 0, nh, nr, -1)
            exact = _inside(before, nh, nr)
        if not exact:
            if not roomy:
                return -1
            before = tercom.rows_of(words, 0, nh, ids, r, nr, 0, lows, table, way, -1)
        if before == least:
            return shifts + before
        tercom.alignment(way, lows, bits, exact, nh, nr, desk)
        # A round that cannot run out of trials can stop after a shift that leaves no further gain.
        goal: Int = (
            least if small and best[tercom.TRIALS] + matches * tercom.TRIALS_OF_PLACE < tercom.MAX_TRIALS else -1
        )
        if _best_shift(words, nh, ids, r, nr, bits, desk, table, way, lows, before, exact, goal, best):
            return shifts + 1 + least
        if best[tercom.TRIALS] >= tercom.MAX_TRIALS or best[tercom.GAIN] <= 0:
            return shifts + before
        shifts += 1
        _shift(words, nh, bits, small, best)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _best_shift(
    words: Table,
    nh: Int,
    ids: Tokens,
    r: Int,
    nr: Int,
    bits: Bits,
    desk: Desk,
    table: Table,
    way: Ways,
    lows: Longs,
    before: Int,
    exact: cython.bint,
    goal: Int,
    best: Longs,
) -> cython.bint:
    """Try all shifts of a round and write the one with the largest gain into `best`; true if one comes to `goal`."""
    cython.declare(h0=Int)
    small: cython.bint = nr <= 64
    best[tercom.GAIN] = 0
    best[tercom.LENGTH] = 0
    best[tercom.FROM] = 0
    best[tercom.TO] = 0
    for h0 in range(nh):
        r0: Int = max(0, h0 - tercom.MAX_DISTANCE) - 1
        last: Int = min(nr, h0 + tercom.MAX_DISTANCE + 1)
        while best[tercom.TRIALS] < tercom.MAX_TRIALS:
            r0 += 1
            if small and r0 < last:  # the next place of the word
                rest: Word = bits[tercom.MASK, h0] >> r0
                r0 = last if rest == 0 else r0 + popcount(_lowest(rest) - 1)
            if r0 >= last:
                break
            length: Int = 0
            while (
                length < tercom.MAX_SHIFT
                and h0 + length < nh
                and r0 + length < nr
                and words[0, h0 + length] == ids[r + r0 + length]
                and best[tercom.TRIALS] < tercom.MAX_TRIALS
            ):
                length += 1
                if (
                    desk[tercom.HYP_ERRORS, h0 + length] != desk[tercom.HYP_ERRORS, h0]
                    and desk[tercom.REF_ERRORS, r0 + length] != desk[tercom.REF_ERRORS, r0]
                    and not h0 <= desk[tercom.ALIGN, r0] < h0 + length
                    and _try(
                        words, nh, ids, r, nr, bits, desk, table, way, lows, before, exact, goal, h0, r0, length, best
                    )
                ):
                    return True
    return False


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _try(
    words: Table,
    nh: Int,
    ids: Tokens,
    r: Int,
    nr: Int,
    bits: Bits,
    desk: Desk,
    table: Table,
    way: Ways,
    lows: Longs,
    before: Int,
    exact: cython.bint,
    goal: Int,
    h0: Int,
    r0: Int,
    length: Int,
    best: Longs,
) -> cython.bint:
    """Try to shift `length` words from place h0 behind each word that is aligned near the reference's place r0."""
    cython.declare(offset=Int)
    target: Int
    small: cython.bint = nr <= 64
    previous: Int = -1
    for offset in range(-1, length):
        if r0 + offset == -1:
            target = 0
        elif r0 + offset < nr:
            target = desk[tercom.ALIGN, r0 + offset] + 1
        else:
            break
        if target == previous:
            continue
        previous = target
        best[tercom.TRIALS] += 1
        limit: Int = before - max(best[tercom.GAIN], 1)
        distance: Int = tercom.FAR
        if small:
            distance = _shifted_distance(bits, nh, nr, h0, length, target, limit)
        if not exact and (not small or (distance <= limit and not _inside(distance, nh, nr))):
            distance = _shifted_rows(words, nh, ids, r, nr, h0, length, target, lows, table, way, limit)
        if distance == goal:
            return True
        gain: Int = before - distance
        if gain > best[tercom.GAIN] or (gain == best[tercom.GAIN] and gain > 0 and _is_first(h0, length, target, best)):
            best[tercom.GAIN] = gain
            best[tercom.LENGTH] = length
            best[tercom.FROM] = h0
            best[tercom.TO] = target
    return False


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_first(h0: Int, length: Int, target: Int, best: Longs) -> cython.bint:
    """Return whether a shift precedes one with the same gain: first the longer one, then the earlier origin, then the
    earlier target.
    """
    if length != best[tercom.LENGTH]:
        return length > best[tercom.LENGTH]
    return h0 < best[tercom.FROM] or (h0 == best[tercom.FROM] and target < best[tercom.TO])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shifted_distance(bits: Bits, nh: Int, nr: Int, h0: Int, length: Int, target: Int, limit: Int) -> Int:
    """Compute `_distance` after a shift."""
    cython.declare(k=Int)
    low: Int
    high: Int
    low, high = _bounds(h0, length, target, nh)
    for k in range(low, high):
        bits[tercom.TRIED, k] = bits[tercom.MASK, _source(k, h0, length, target, high)]
    return _distance(bits, low, high, nh, nr, limit)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _shifted_rows(
    words: Table,
    nh: Int,
    ids: Tokens,
    r: Int,
    nr: Int,
    h0: Int,
    length: Int,
    target: Int,
    lows: Longs,
    table: Table,
    way: Ways,
    limit: Int,
) -> Int:
    """Compute the distance inside the beam after a shift."""
    cython.declare(k=Int)
    low: Int
    high: Int
    low, high = _bounds(h0, length, target, nh)
    for k in range(nh):
        words[1, k] = words[0, k]
    for k in range(low, high):
        words[1, k] = words[0, _source(k, h0, length, target, high)]
    return tercom.rows_of(words, 1, nh, ids, r, nr, low, lows, table, way, limit)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shift(words: Table, nh: Int, bits: Bits, small: cython.bint, best: Longs) -> cython.void:
    """Move the words of the best shift."""
    cython.declare(k=Int)
    low: Int
    high: Int
    low, high = _bounds(best[tercom.FROM], best[tercom.LENGTH], best[tercom.TO], nh)
    for k in range(low, high):
        source: Int = _source(k, best[tercom.FROM], best[tercom.LENGTH], best[tercom.TO], high)
        words[1, k] = words[0, source]
        if small:
            bits[tercom.TRIED, k] = bits[tercom.MASK, source]
    for k in range(low, high):
        words[0, k] = words[1, k]
        if small:
            bits[tercom.MASK, k] = bits[tercom.TRIED, k]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _lowest(bits: Word) -> Word:
    """Return the lowest bit that is set."""
    return bits & ((ALL ^ bits) + 1)


@kernel
def shift_edits(ids: Tokens, begin: Texts, length: Texts, output: Texts, reference: Texts, kinds: Int):
    """Count the edits of each pair, in which a shift of words counts as one; `kinds` is larger than every token ID."""
    cython.declare(k=Int)
    p: Int
    h: Int
    r: Int
    longest: Int = 0
    for p in range(len(reference)):
        longest = max(longest, length[output[p]], length[reference[p]])
    found: Longs = empty(len(reference), "q")
    stands: cython.ulonglong[::1] = zeros(kinds, "Q")
    bits: Bits = empty((7, longest + 1), "Q")
    desk: Desk = empty((3, longest + 1), "q")
    best: Longs = empty(5, "q")
    words: Table = empty((2, longest + 1), "i")
    # The tables of the beam are made where they are needed, which is seldom.
    table: Table = empty((0, 0), "i")
    way: Ways = empty((0, 0), "B")
    lows: Longs = zeros(longest + 1, "q")
    p = 0
    while p < len(reference):
        with cython.nogil:
            while p < len(reference):
                h = output[p]
                r = reference[p]
                if h == r:
                    found[p] = 0
                elif length[h] == 0 or length[r] == 0:
                    found[p] = max(length[h], length[r])
                else:
                    for k in range(length[h]):
                        words[0, k] = ids[begin[h] + k]
                    found[p] = _edits(
                        words, length[h], ids, begin[r], length[r], stands, bits, desk, table, way, lows, best
                    )
                    if found[p] < 0:
                        break
                p += 1
        if p < len(reference):
            rows: Int = max(length[h] + 3, table.shape[0])
            columns: Int = max(tercom.width_of(length[h], length[r])[1], table.shape[1])
            table = empty((rows, columns), "i")
            way = empty((rows, columns), "B")
    return array(found)
