"""From pair counts and sums to coefficients, for a strip of draws at once.

Every member of the pair-count family is a ratio of two sums over (C, D, T_h, T_m, T_hm), so it is a table of numbers
and not code. Rows of the block `b` are given by number; what is found is added to row `to` of `total` and `count`.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.libc.math import floor, log2, sqrt
    from cython.cimports.nlgauge.kernels.shared import STRIP
else:
    from math import floor, log2, sqrt

    from nlgauge.kernels.shared import STRIP


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def lift(size: cython.double) -> cython.double:
    """A power of two that brings numbers of this size to about 1 where their squares would vanish or overflow, else 1.

    A correlation does not change, as long as a whole vector is multiplied; a power of two changes no digit.
    """
    if size == 0.0 or 1e-100 < size < 1e100:
        return 1.0
    two: cython.double = 2.0
    power: cython.double = -floor(log2(size))
    return two ** (power if power < 1000.0 else 1000.0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pair_family(
    forms: cython.const[cython.double][:, :, ::1], k: cython.Py_ssize_t,
    b: cython.double[:, ::1], pairs: cython.Py_ssize_t, tied_h: cython.Py_ssize_t, tied_m: cython.Py_ssize_t,
    both: cython.Py_ssize_t, concordant: cython.Py_ssize_t, weight: cython.Py_ssize_t,
    total: cython.double[:, ::1], count: cython.double[:, ::1], to: cython.Py_ssize_t,
) -> cython.void:  # fmt: skip
    """Add weight × coefficient to `total` and weight to `count` where the coefficient is defined."""
    t: cython.Py_ssize_t
    a0, a1, a2, a3, a4 = forms[k, 0, 0], forms[k, 0, 1], forms[k, 0, 2], forms[k, 0, 3], forms[k, 0, 4]
    p0, p1, p2, p3, p4 = forms[k, 1, 0], forms[k, 1, 1], forms[k, 1, 2], forms[k, 1, 3], forms[k, 1, 4]
    q0, q1, q2, q3, q4 = forms[k, 2, 0], forms[k, 2, 1], forms[k, 2, 2], forms[k, 2, 3], forms[k, 2, 4]
    for t in range(STRIP):
        c, thm = b[concordant, t], b[both, t]
        th, tm = b[tied_h, t] - thm, b[tied_m, t] - thm
        d = b[pairs, t] - th - tm - thm - c
        above = a0 * c + a1 * d + a2 * th + a3 * tm + a4 * thm
        one = p0 * c + p1 * d + p2 * th + p3 * tm + p4 * thm
        two = q0 * c + q1 * d + q2 * th + q3 * tm + q4 * thm
        # No branches, so that lanes stay together: where a coefficient is not defined its weight is 0 and its roots are
        # 1.
        fine = (1.0 if one > 0.5 else 0.0) * (1.0 if two > 0.5 else 0.0)  # counts are whole numbers
        value = above / (sqrt(one if fine > 0.5 else 1.0) * sqrt(two if fine > 0.5 else 1.0))
        times = fine * b[weight, t]
        total[to, t] += times * value
        count[to, t] += times


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cosine(
    b: cython.double[:, ::1], above: cython.Py_ssize_t, one: cython.Py_ssize_t, two: cython.Py_ssize_t,
    known: cython.Py_ssize_t, weight: cython.Py_ssize_t,
    total: cython.double[:, ::1], count: cython.double[:, ::1], to: cython.Py_ssize_t,
) -> cython.void:  # fmt: skip
    """The same for above / sqrt(one · two), where `known` is 1 (not 0) and both sums of squares are positive."""
    t: cython.Py_ssize_t
    for t in range(STRIP):
        p, q = b[one, t], b[two, t]
        fine = b[known, t] * (1.0 if p > 0.0 else 0.0) * (1.0 if q > 0.0 else 0.0)
        value = b[above, t]
        value = value if fine > 0.5 else 0.0  # it may be no number
        value = value / (sqrt(p if fine > 0.5 else 1.0) * sqrt(q if fine > 0.5 else 1.0))
        value = 1.0 if value > 1.0 else value
        value = -1.0 if value < -1.0 else value
        times = fine * b[weight, t]
        total[to, t] += times * value
        count[to, t] += times
