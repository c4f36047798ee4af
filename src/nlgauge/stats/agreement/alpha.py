"""Krippendorff's alpha: 1 - observed / expected disagreement over all pairable values.

No coincidence matrix over values is built. Observed disagreement is a sum over units, and expected
disagreement needs only the totals of the values: for interval data their sum and sum of squares, for ordinal
data the same of their mid-ranks, for nominal data the count of each value. So 1000 units of continuous
ratings cost kilobytes. Only the ratio distance needs value pairs, and those are taken in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import FloatArray, IntArray, as_units

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Level = Literal["nominal", "ordinal", "interval", "ratio"]

_DRAW_BLOCK = 64
_VALUE_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Alpha:
    """Alpha with its interval over units; NaN with the reason where it does not exist."""

    value: float
    low: float
    high: float
    level: Level
    units: int
    dropped_units: int
    pairable_values: int
    draws: int
    dropped_draws: int
    reason: str
    method: str


@dataclass(frozen=True, slots=True)
class _Pairable:
    """Ratings in units with at least two of them, as one long list."""

    unit: IntArray
    code: IntArray
    values: FloatArray
    sizes: FloatArray

    def per_unit(self, weights: FloatArray) -> FloatArray:
        return np.bincount(self.unit, weights=weights, minlength=self.sizes.size).astype(np.float64)


def alpha(
    ratings: ArrayLike,
    level: Level = "interval",
    *,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
) -> Alpha:
    """Krippendorff's alpha of raters × units (or raters × systems × inputs), NaN where missing.

    With `rng`, a percentile interval over resampled units. Units with fewer than two ratings hold no pair and
    are dropped and counted; raters need no identity.

    >>> round(alpha([[1, 2, 3, 3], [1, 2, 3, 4]], "nominal").value, 4)
    0.6957
    """
    if level not in _PARTS:
        raise DataError(f"level must be one of {', '.join(_PARTS)}; found {level!r}")
    table = as_units(ratings)
    data = _pairable(table)
    units = data.sizes.size
    dropped = table.shape[1] - units
    low = high = np.nan
    dropped_draws = used_draws = 0
    if units == 0:
        value, reason = np.nan, "no unit has two ratings"
    elif data.values.size == 1:
        value, reason = np.nan, "all ratings are equal: no disagreement is expected, alpha is undefined"
    else:
        value, reason = float(_PARTS[level](data, np.ones((1, units)))[0]), ""
        if rng is not None and units > 1:
            used_draws = draws
            low, high, dropped_draws = _interval(data, level, rng, draws, confidence)
    method = (
        f"Krippendorff's alpha, {level} distance, {units} of {table.shape[1]} units with two or more ratings"
    )
    if used_draws:
        method += f", {confidence:.0%} percentile interval over {used_draws} resamples of units"
    return Alpha(
        value=value,
        low=low,
        high=high,
        level=level,
        units=units,
        dropped_units=dropped,
        pairable_values=data.unit.size,
        draws=used_draws,
        dropped_draws=dropped_draws,
        reason=reason,
        method=method,
    )


def _interval(
    data: _Pairable, level: Level, rng: np.random.Generator, draws: int, confidence: float
) -> tuple[float, float, int]:
    units = data.sizes.size
    shares = np.full(units, 1.0 / units)
    blocks = []
    for start in range(0, draws, _DRAW_BLOCK):
        counts = rng.multinomial(units, shares, size=min(_DRAW_BLOCK, draws - start))
        blocks.append(_PARTS[level](data, counts.astype(np.float64)))
    values = np.concatenate(blocks)
    known = values[~np.isnan(values)]
    if known.size == 0:
        return np.nan, np.nan, draws
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(known, [tail, 1.0 - tail])
    return float(low), float(high), draws - known.size


def _pairable(table: FloatArray) -> _Pairable:
    by_unit = table.T
    given = ~np.isnan(by_unit)
    sizes = given.sum(axis=1)
    kept = sizes >= 2
    given, by_unit = given[kept], by_unit[kept]
    unit, _ = np.nonzero(given)
    values, code = np.unique(by_unit[given], return_inverse=True)
    return _Pairable(unit, code.reshape(-1), values, sizes[kept].astype(np.float64))


def _one_minus(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """1 - observed/expected; NaN for a draw in which nothing can disagree."""
    ratio = np.full(observed.shape, np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0.0)
    return 1.0 - ratio


def _squares(data: _Pairable, scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Alpha under squared differences of `scores` (one per rating), for each row of unit weights.

    Within a unit of m ratings the pairs sum to 2 (m Σx² - (Σx)²), which is 2 m times the sum of squared
    deviations: deviations are used because they stay exact when the ratings have a large mean.
    """
    centred = scores - scores.mean()
    sums = data.per_unit(centred)
    deviations = centred - (sums / data.sizes)[data.unit]
    observed = weights @ (2.0 * data.sizes * data.per_unit(deviations**2) / (data.sizes - 1.0))
    n = weights @ data.sizes
    expected = 2.0 * (n * (weights @ data.per_unit(centred**2)) - (weights @ sums) ** 2) / (n - 1.0)
    noise = 1e-12 * n * (weights @ data.per_unit(centred**2))
    return _one_minus(observed, np.where(expected > noise, expected, 0.0))


def _interval_alpha(data: _Pairable, weights: FloatArray) -> FloatArray:
    return _squares(data, data.values[data.code], weights)


def _ordinal_alpha(data: _Pairable, weights: FloatArray) -> FloatArray:
    """The ordinal distance is the squared difference of mid-ranks, which depend on the resample."""
    found = np.empty(len(weights))
    for row, weight in enumerate(weights):
        counts = np.bincount(data.code, weights=weight[data.unit], minlength=data.values.size)
        mid_ranks = np.cumsum(counts) - counts / 2.0
        found[row] = _squares(data, mid_ranks[data.code], weight[None, :])[0]
    return found


def _value_counts(data: _Pairable) -> csr_array:
    from scipy.sparse import csr_array

    ones = np.ones(data.unit.size)
    return csr_array((ones, (data.unit, data.code)), shape=(data.sizes.size, data.values.size))


def _nominal_alpha(data: _Pairable, weights: FloatArray) -> FloatArray:
    counts = _value_counts(data)
    equal_pairs = np.asarray((counts * counts).sum(axis=1)).reshape(-1)
    observed = weights @ ((data.sizes**2 - equal_pairs) / (data.sizes - 1.0))
    n = weights @ data.sizes
    totals = weights @ counts
    return _one_minus(observed, (n**2 - (totals**2).sum(axis=1)) / (n - 1.0))


def _ratio_alpha(data: _Pairable, weights: FloatArray) -> FloatArray:
    observed = weights @ (_ratio_within(data) / (data.sizes - 1.0))
    n = weights @ data.sizes
    totals = np.asarray(weights @ _value_counts(data))
    expected = np.zeros(len(weights))
    for start in range(0, data.values.size, _VALUE_BLOCK):
        rows = slice(start, start + _VALUE_BLOCK)
        distance = _ratio_distance(data.values[rows, None], data.values[None, :])
        expected += ((totals[:, rows] @ distance) * totals).sum(axis=1)
    return _one_minus(observed, expected / (n - 1.0))


def _ratio_within(data: _Pairable) -> FloatArray:
    """Sum of the ratio distance over ordered pairs of ratings within each unit."""
    order = np.argsort(data.unit, kind="stable")
    unit, score = data.unit[order], data.values[data.code[order]]
    total = np.zeros(data.sizes.size)
    for step in range(1, int(data.sizes.max())):
        same = unit[step:] == unit[:-step]
        distance = _ratio_distance(score[step:][same], score[:-step][same])
        total += 2.0 * np.bincount(unit[step:][same], weights=distance, minlength=total.size)
    return total


def _ratio_distance(a: FloatArray, b: FloatArray) -> FloatArray:
    total = a + b
    quotient = np.divide(a - b, total, out=np.zeros(np.broadcast(a, b).shape), where=total != 0.0)
    return quotient**2


_PARTS: dict[str, Callable[[_Pairable, FloatArray], FloatArray]] = {
    "nominal": _nominal_alpha,
    "ordinal": _ordinal_alpha,
    "interval": _interval_alpha,
    "ratio": _ratio_alpha,
}
