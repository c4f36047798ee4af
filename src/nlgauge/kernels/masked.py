"""Sums for Pearson under swap masks, and what to do where their digits cancel out.

Rows `at` to `at + 3` of the block are the sums, `at + 4` is room for a mask or a mark.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.nlgauge.kernels.finish import lift
    from cython.cimports.nlgauge.kernels.shared import CANCELLED, STRIP
else:
    from nlgauge.kernels.finish import lift
    from nlgauge.kernels.shared import CANCELLED, STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Ints = cython.typedef(cython.const[cython.int][::1])
Bools = cython.typedef(cython.const[cython.uchar][::1])
Bits = cython.typedef(cython.const[cython.schar][:, :, ::1])
Lanes = cython.typedef(cython.double[:, ::1])
Counts = cython.typedef(cython.int[:, ::1])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sums(
    cells: Ints, first: Int, stop: Int, x1: Reals, x2: Reals, z: Reals, scales: Reals, valid: Bools,
    rows: Bits, cols: Bits, row: Ints, col: Ints, s: Int, ints: Counts, b: Lanes, at: Int, fixed: cython.double[::1],
) -> cython.void:  # fmt: skip
    """Pearson needs only sums of masked cells: Σ m·d, Σ m·x1·d, Σ m·x2·d, Σ m·z·d with d = x2 − x1, standardised.

    Each metric is centred by its own mean in the group, so the sums of the unswapped data lose no digits.
    `fixed` gets n, mean difference, both sums of squares and cross products (of the scores as they are, lifted),
    people's sum of squares, the factors that standardise those, people's `lift`, and the three means; row 0 of `ints`
    the number of swapped cells.
    """
    cython.declare(i=Int, t=Int, size1=cython.double, size2=cython.double, size_z=cython.double)
    n, a1, a2, az = 0.0, 0.0, 0.0, 0.0
    for i in range(first, stop):
        if valid[cells[i]]:
            n += 1
            a1 += x1[cells[i]]
            a2 += x2[cells[i]]
            az += z[cells[i]]
    a1, a2, az = a1 / n, a2 / n, az / n
    size1, size2, size_z = 0.0, 0.0, 0.0
    rest1, rest2, rest_z = 0.0, 0.0, 0.0  # centred twice, as `evaluate` does: a mean is rounded too
    for i in range(first, stop):
        if valid[cells[i]]:
            u1, u2, v = x1[cells[i]] - a1, x2[cells[i]] - a2, z[cells[i]] - az
            size1, size2, size_z = max(size1, abs(u1)), max(size2, abs(u2)), max(size_z, abs(v))
            rest1, rest2, rest_z = rest1 + u1 / n, rest2 + u2 / n, rest_z + v / n
    unit1, unit2 = scales[1], scales[3]
    lift1, lift2, lift_z = lift(size1), lift(size2), lift(size_z)
    shift = (a2 - scales[2]) * unit2 - (a1 - scales[0]) * unit1
    factor1, factor2 = unit1 / lift1, unit2 / lift2
    q1, q2, h1, h2, people = 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(STRIP):
        ints[0, t] = 0
        b[at, t] = 0.0
        b[at + 1, t] = 0.0
        b[at + 2, t] = 0.0
        b[at + 3, t] = 0.0
    for i in range(first, stop):
        cell: Int = cells[i]
        if not valid[cell]:
            continue
        u1, u2 = (x1[cell] - a1 - rest1) * lift1, (x2[cell] - a2 - rest2) * lift2
        v = (z[cell] - az - rest_z) * lift_z
        q1 += u1 * u1
        q2 += u2 * u2
        h1 += u1 * v
        h2 += u2 * v
        people += v * v
        u1, u2 = u1 * factor1, u2 * factor2
        d = u2 - u1 + shift
        u1, u2, v = u1 * d, u2 * d, v * d
        r: Int = row[cell]
        c: Int = col[cell]
        for t in range(STRIP):
            ints[0, t] += rows[s, r, t] ^ cols[s, c, t]
            b[at + 4, t] = rows[s, r, t] ^ cols[s, c, t]
        for t in range(STRIP):
            mask = b[at + 4, t]
            b[at, t] += mask * d
            b[at + 1, t] += mask * u1
            b[at + 2, t] += mask * u2
            b[at + 3, t] += mask * v
    fixed[0], fixed[1], fixed[2], fixed[3], fixed[4], fixed[5], fixed[6] = n, shift, q1, q2, h1, h2, people
    fixed[7], fixed[8], fixed[9], fixed[10], fixed[11], fixed[12] = factor1, factor2, lift_z, a1, a2, az


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def moments(ints: Counts, b: Lanes, at: Int, fixed: cython.double[::1]) -> cython.bint:
    """Turn the sums into the two sums of squares (rows 0, 1) and the two cross products (rows 2, 3).

    Where all cells of the group are swapped, or none, they are those of one metric alone: adding and taking away the
    other one would leave its rounding errors. True if the digits of some draw cancel out all the same.
    """
    cython.declare(t=Int)
    n, shift, q1, q2, h1, h2 = fixed[0], fixed[1], fixed[2], fixed[3], fixed[4], fixed[5]
    m1, m2 = q1 * fixed[7] * fixed[7], q2 * fixed[8] * fixed[8]
    g1, g2 = h1 * fixed[7], h2 * fixed[8]
    small = CANCELLED * (m1 + m2 + n * shift * shift)
    for t in range(STRIP):
        p, p1, p2, pz = b[at, t], b[at + 1, t], b[at + 2, t], b[at + 3, t]
        squares = p2 - p1 + shift * p - p * p / n
        swapped: cython.double = ints[0, t]
        one, two, three, four = m1 + 2.0 * p1 + squares, m2 - 2.0 * p2 + squares, g1 + pz, g2 - pz
        # no branches: all swapped, then none
        one, two = q2 if swapped == n else one, q1 if swapped == n else two
        three, four = h2 if swapped == n else three, h1 if swapped == n else four
        one, two = q1 if swapped == 0.0 else one, q2 if swapped == 0.0 else two
        three, four = h1 if swapped == 0.0 else three, h2 if swapped == 0.0 else four
        b[at, t] = one
        b[at + 1, t] = two
        b[at + 2, t] = three
        b[at + 3, t] = four
        few = (1.0 if one < small else 0.0) + (1.0 if two < small else 0.0)
        few = 0.0 if swapped == n else few
        b[at + 4, t] = 0.0 if swapped == 0.0 else few
    lost: Int = 0
    for t in range(STRIP):
        lost += b[at + 4, t] > 0.0
    return lost > 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def moments_again(
    cells: Ints, first: Int, stop: Int, x1: Reals, x2: Reals, z: Reals, scales: Reals, valid: Bools,
    rows: Bits, cols: Bits, row: Ints, col: Ints, s: Int, b: Lanes, at: Int, fixed: cython.double[::1],
) -> cython.void:  # fmt: skip
    """Draws whose digits cancel out (one large score was swapped away from small ones), value by value."""
    cython.declare(i=Int, m=Int, t=Int, turn=Int)
    n, shift, lift_z, a1, a2, az = fixed[0], fixed[1], fixed[9], fixed[10], fixed[11], fixed[12]
    unit1, unit2 = scales[1], scales[3]
    m1, m2 = fixed[2] * fixed[7] * fixed[7], fixed[3] * fixed[8] * fixed[8]
    small = CANCELLED * (m1 + m2 + n * shift * shift)
    for t in range(STRIP):
        for m in range(2):
            if b[at + 4, t] == 0.0 or b[at + m, t] >= small:
                continue
            mean, squares, product = 0.0, 0.0, 0.0
            for turn in range(2):
                for i in range(first, stop):
                    cell: Int = cells[i]
                    if not valid[cell]:
                        continue
                    u: cython.double
                    if rows[s, row[cell], t] ^ cols[s, col[cell], t] == m:
                        u = (x1[cell] - a1) * unit1
                    else:
                        u = (x2[cell] - a2) * unit2 + shift
                    if turn == 0:
                        mean += u / n
                    else:
                        squares += (u - mean) * (u - mean)
                        product += (u - mean) * ((z[cell] - az) * lift_z)
            b[at + m, t] = squares
            b[at + 2 + m, t] = product
