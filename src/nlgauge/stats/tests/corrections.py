"""Corrections for multiple tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.types import Array


def holm(p: ArrayLike) -> Array:
    """Compute Holm's (1979) step-down p-values (family-wise error rate); NaN stays NaN and is not counted as a test.

    >>> holm([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    return _adjust(p, lambda s: np.maximum.accumulate(s * np.arange(len(s), 0, -1)))


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Compute Benjamini and Hochberg's (1995) step-up p-values (false discovery rate); NaN stays NaN and is not
    counted.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    return _adjust(p, lambda s: np.minimum.accumulate((s * len(s) / np.arange(1, len(s) + 1))[::-1])[::-1])


def benjamini_yekutieli(p: ArrayLike) -> Array:
    """Compute Benjamini and Yekutieli's (2001) step-up p-values: false discovery rate under any dependence of the
    tests.

    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(3).tolist()
    [0.055, 0.073, 0.073]
    """
    tests = int(np.isfinite(np.asarray(p, np.float64)).sum())
    return np.asarray(np.minimum(benjamini_hochberg(p) * (1 / np.arange(1, tests + 1)).sum(), 1.0))


CORRECTIONS: dict[str, Callable[[ArrayLike], Array]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": lambda p: np.asarray(p, np.float64),
}
CORRECTION_WORDS = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction", "none": "no correction"}


def _adjust(p: ArrayLike, step: Callable[[Array], Array]) -> Array:
    """Apply a rule to the sorted p-values and return the results in the original order, at most 1."""
    values = np.asarray(p, np.float64)
    flat = values.reshape(-1)
    out = np.full(flat.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    out[order] = np.minimum(step(flat[order]), 1.0)
    return out.reshape(values.shape)
