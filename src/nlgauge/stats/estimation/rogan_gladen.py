"""The share that people would pass from a judge's verdicts on many rows and its two error rates, both uncertain."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Corrected(NamedTuple):
    """A share with its interval; NaN where the judge is not surely better than chance."""

    value: Any
    low: Any
    high: Any


def rogan_gladen(
    judge: tuple[ArrayLike, ArrayLike],
    pass_recall: tuple[ArrayLike, ArrayLike],
    fail_recall: tuple[ArrayLike, ArrayLike],
    level: float = 0.95,
) -> Corrected:
    """Rogan and Gladen's corrected share with the interval of Lang and Reiczigel (2014); each argument is (hits, rows).

    judge: rows that the judge passes, of all. pass_recall: of the rows people passed, those the judge passed.
    fail_recall: of the rows people failed, those the judge failed.

    >>> found = rogan_gladen((840, 1000), (68, 70), (18, 30))
    >>> [round(float(v), 2) for v in found]
    [0.77, 0.67, 0.88]
    """
    from scipy.special import ndtri

    z = -float(ndtri((1 - level) / 2))
    (q, rows), (a, n_a), (b, n_b) = (
        (np.asarray(x, np.float64), np.asarray(n, np.float64)) for x, n in (judge, pass_recall, fail_recall)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.clip((q / rows + b / n_b - 1) / (a / n_a + b / n_b - 1), 0.0, 1.0)
        share, of = (q + z * z / 2) / (rows + z * z), rows + z * z
        se, of_a, sp, of_b = (a + 1) / (n_a + 2), n_a + 2, (b + 1) / (n_b + 2), n_b + 2
        better = se + sp - 1
        middle = (share + sp - 1) / better
        spread_a, spread_b = se * (1 - se) / of_a, sp * (1 - sp) / of_b
        shift = 2 * z * z * (middle * spread_a - (1 - middle) * spread_b)
        half = z / better * np.sqrt(share * (1 - share) / of + middle**2 * spread_a + (1 - middle) ** 2 * spread_b)
        useless = better - z * np.sqrt(spread_a + spread_b) <= 0
        low, high = np.clip(middle + shift - half, 0.0, 1.0), np.clip(middle + shift + half, 0.0, 1.0)
    low, high = np.minimum(low, value), np.maximum(high, value)
    return Corrected(*(np.where(useless, np.nan, part)[()] for part in (value, low, high)))
