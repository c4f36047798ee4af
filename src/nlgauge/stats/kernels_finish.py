"""From pair counts and sums to coefficients, for a strip of draws at once.

Every member of the pair-count family is a ratio of two sums over (C, D, T_h, T_m, T_hm), so it is a table of
numbers and not code; tau-b has two different roots below, the others the same one twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

STRIP = 128  # draws handled together, one SIMD lane each: long enough for SIMD, short enough to stay in cache

CANCELLED = (
    1e-6  # a sum of squares so small beside what it was made from has lost digits: it is made again, slowly
)

#             C   D  T_h T_m T_hm
_ALL = (1, 1, 1, 1, 1)
_TOLD = (1, 1, 0, 1, 0)
_FORMS = {
    "kendall": ((1, -1, 0, 0, 0), (1, 1, 1, 0, 0), (1, 1, 0, 1, 0)),
    "tau-a": ((1, -1, 0, 0, 0), _ALL, _ALL),
    "tau-10": ((1, -1, 0, -1, 0), _TOLD, _TOLD),
    "tau-13": ((1, -1, 0, 0, 0), (1, 1, 0, 0, 0), (1, 1, 0, 0, 0)),
    "tau-14": ((1, -1, 0, 0, 0), _TOLD, _TOLD),
    "tau-23": ((1, -1, -1, -1, 1), _ALL, _ALL),
    "acc-eq": ((1, 0, 0, 0, 1), _ALL, _ALL),
}
FORMS = {name: np.array(form, np.float64) for name, form in _FORMS.items()}
FAST = ("pearson", "spearman", *FORMS)  # what the resampling kernels know; the rest goes through `evaluate`


@njit(cache=True, nogil=True)
def lift(size: Any) -> Any:
    """A power of two that brings numbers of this size to about 1 where their squares would vanish or overflow, else 1.

    A correlation does not change, as long as a whole vector is multiplied; a power of two changes no digit.
    """
    if size == 0.0 or 1e-100 < size < 1e100:
        return 1.0
    return 2.0 ** min(1000.0, -np.floor(np.log2(size)))


@njit(cache=True, nogil=True, error_model="numpy")
def pair_family(
    form: Any,
    pairs: Any,
    tied_h: Any,
    tied_m: Any,
    both: Any,
    concordant: Any,
    weight: Any,
    total: Any,
    count: Any,
) -> None:
    """Add weight × coefficient to `total` and weight to `count` where the coefficient is defined."""
    for t in range(STRIP):
        c = concordant[t]
        th, tm, thm = tied_h[t] - both[t], tied_m[t] - both[t], both[t]
        d = pairs[t] - th - tm - thm - c
        above = form[0, 0] * c + form[0, 1] * d + form[0, 2] * th + form[0, 3] * tm + form[0, 4] * thm
        one = form[1, 0] * c + form[1, 1] * d + form[1, 2] * th + form[1, 3] * tm + form[1, 4] * thm
        two = form[2, 0] * c + form[2, 1] * d + form[2, 2] * th + form[2, 3] * tm + form[2, 4] * thm
        known = (one > 0.5) & (two > 0.5)  # counts are whole numbers
        value = above / (np.sqrt(one) * np.sqrt(two))
        total[t] += weight[t] * value if known else 0.0
        count[t] += weight[t] if known else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def cosine(above: Any, one: Any, two: Any, known: Any, weight: Any, total: Any, count: Any) -> None:
    """The same for above / sqrt(one · two), where `known` and both sums of squares are positive."""
    for t in range(STRIP):
        fine = (known[t] > 0.5) & (one[t] > 0.0) & (two[t] > 0.0)
        value = above[t] / (np.sqrt(one[t]) * np.sqrt(two[t]))
        value = min(1.0, max(-1.0, value))
        total[t] += weight[t] * value if fine else 0.0
        count[t] += weight[t] if fine else 0.0
