"""Rogan-Gladen estimator: the human pass rate from a judge's verdicts on many rows and its two error rates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Corrected(NamedTuple):
    """A proportion with its interval; NaN where the judge is not significantly better than chance."""

    value: Any
    low: Any
    high: Any


def rogan_gladen(
    judge: tuple[ArrayLike, ArrayLike],
    pass_recall: tuple[ArrayLike, ArrayLike],
    fail_recall: tuple[ArrayLike, ArrayLike],
    level: float = 0.95,
) -> Corrected:
    """Compute the corrected pass rate (Rogan and Gladen 1978) with Fieller's interval; each argument is (hits, rows).

    judge: rows that the judge passes, of all rows including the labeled ones. pass_recall: of the human passes, those
    that the judge passed. fail_recall: of the human failures, those that the judge failed. The interval contains every
    share t for which (judge's pass rate) − t · pass recall − (1 − t) · (1 − fail recall) is 0 within its error; the
    labeled rows are in both parts, which reduces the error. One half is added to every count.

    >>> result = rogan_gladen((840, 1000), (68, 70), (18, 30))
    >>> [round(float(v), 2) for v in result]
    [0.77, 0.67, 0.86]
    """
    from scipy.special import ndtri

    z2 = float(ndtri((1 - level) / 2)) ** 2
    (q, rows), (a, n_a), (b, n_b) = (
        (np.asarray(x, np.float64), np.asarray(n, np.float64)) for x, n in (judge, pass_recall, fail_recall)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.clip((q / rows + b / n_b - 1) / (a / n_a + b / n_b - 1), 0.0, 1.0)
        (share, spread), (passes, spread_a), (fails, spread_b) = (
            ((p := (hits + 0.5) / (n + 1)), p * (1 - p) / (n + 1)) for hits, n in ((q, rows), (a, n_a), (b, n_b))
        )
        better, labeled = passes + fails - 1, (n_a + n_b) / rows
        own = (labeled * better) ** 2 / (
            n_a + n_b
        )  # × t (1 − t): variance of the human pass rate among the labeled rows
        off = (1 - labeled) ** 2
        # Both the squared error and the square of the difference are quadratic functions of t.
        x2 = better**2 - z2 * (off * (spread_a + spread_b) - own)
        x1 = 2 * (share + fails - 1) * better + z2 * (own - 2 * off * spread_b)
        x0 = (share + fails - 1) ** 2 - z2 * (off * spread_b + (1 - labeled) * spread)
        root = np.sqrt(x1**2 - 4 * x2 * x0)
        useless = (better <= np.sqrt(z2 * (spread_a + spread_b))) | ~np.isfinite(root) | (x2 <= 0)
        low, high = (np.clip((x1 + sign * root) / (2 * x2), 0.0, 1.0) for sign in (-1, 1))
    low, high = np.minimum(low, value), np.maximum(high, value)
    return Corrected(*(np.where(useless, np.nan, part)[()] for part in (value, low, high)))
