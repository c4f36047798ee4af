"""Krippendorff's alpha: 1 - observed / expected disagreement over all pairable values.

No coincidence matrix over values is built. Observed disagreement is a sum over units, and expected
disagreement needs only the totals of the values: for interval data their sum and sum of squares, for ordinal
data the same of their mid-ranks, for nominal data the count of each value. So 1000 units of continuous
ratings cost kilobytes. Only the ratio distance needs value pairs, and those are taken in blocks.

Units with the same ratings, whoever gave them, are one kind of unit, computed once. A resample of units is then a
number for each kind, drawn as such: with five levels and three raters 1,000 resamples of 20,000 units are 1,000 of some
50 kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.kernels.kinds import distinct_rows, ordinal, tally
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.types import Array, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Bootstrap = Literal["units", "pairs"]

_BLOCK = 1 << 22  # numbers of one array of resamples
_VALUE_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Alpha:
    """Alpha with its interval over units; NaN with the reason where it does not exist."""

    value: float
    low: float
    high: float
    units: int
    dropped_units: int
    reason: str
    method: str


@dataclass(frozen=True, slots=True)
class _Pairable:
    """Kinds of units with at least two ratings: the ratings of all kinds as one long list, kind after kind."""

    times: Array  # units of each kind
    sizes: Array  # ratings of a unit of each kind
    kind: Ints  # of each rating in the list
    code: Ints
    values: Array

    @property
    def units(self) -> int:
        return int(self.times.sum())

    def per_kind(self, weights: Array) -> Array:
        return np.bincount(self.kind, weights=weights, minlength=self.sizes.size).astype(np.float64)


def alpha(
    ratings: ArrayLike,
    level: Level = "interval",
    *,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
    bootstrap: Bootstrap = "units",
) -> Alpha:
    """Krippendorff's alpha of raters × units (or raters × systems × inputs), NaN where missing.

    Units with fewer than two ratings hold no pair and are dropped and counted; raters need no identity.

    With `rng`, a percentile interval. `bootstrap` says of what:

    - "units" draws units with replacement and computes alpha of each resample, so it knows that ratings of one unit
      belong together and that other units could have been rated.
    - "pairs" is Krippendorff's own (2006), that of the KALPHA macro and of evalica: the disagreement of each pair of
      ratings is drawn from those of all pairs, whatever the unit, and the expected disagreement stays as it is; below
      -1 it is -1. It takes pairs of one unit for independent, so its interval is often narrower. Where the first two
      draws of a unit are the same pair KALPHA draws the second again; here not, which changes the variance by less than
      1 / number of pairs.

    >>> round(alpha([[1, 2, 3, 3], [1, 2, 3, 4]], "nominal").value, 4)
    0.6957
    """
    if level not in _PARTS:
        raise DataError(f"level must be one of {', '.join(_PARTS)}; found {level!r}")
    if bootstrap not in _BOOTSTRAPS:
        raise DataError(f"bootstrap must be one of {', '.join(_BOOTSTRAPS)}; found {bootstrap!r}")
    table = as_units(ratings)
    data = _pairable(table)
    units = data.units
    low = high = value = np.nan
    reason = ""
    method = f"Krippendorff's alpha, {level} distance, {units} of {table.shape[1]} units with two or more ratings"
    if units == 0:
        reason = "no unit has two ratings"
    elif data.values.size == 1:
        reason = "all ratings are equal: no disagreement is expected, alpha is undefined"
    else:
        value = float(_one_minus(*_PARTS[level](data, data.times[None, :]))[0])
        if rng is not None and units > 1:
            drawn = _BOOTSTRAPS[bootstrap](data, level, rng, draws)
            known = drawn[~np.isnan(drawn)]  # in some draws nothing can disagree
            low, high = np.quantile(known, [0.025, 0.975]) if known.size else (np.nan, np.nan)
            method += f", 95% percentile interval over {draws} resamples of {bootstrap}"
    return Alpha(value, float(low), float(high), units, table.shape[1] - units, reason, method)


def _pairable(table: Array) -> _Pairable:
    # In rising order, missing last, so that equal units are equal rows of bits: one kind of 0 and of "missing".
    by_unit = np.sort(np.where(np.isnan(table), np.nan, table + 0.0).T, axis=1)
    first, times = distinct_rows(np.ascontiguousarray(by_unit).view(np.uint64))
    by_unit = by_unit[first]
    given = ~np.isnan(by_unit)
    sizes = given.sum(axis=1)
    kept = np.argsort(sizes, kind="stable")[np.count_nonzero(sizes < 2) :]  # of one size after the other: quicker
    given, by_unit = given[kept], by_unit[kept]
    kind, _ = np.nonzero(given)
    values, code = np.unique(by_unit[given], return_inverse=True)
    return _Pairable(times[kept].astype(np.float64), sizes[kept].astype(np.float64), kind, code.reshape(-1), values)


def _over_units(data: _Pairable, level: Level, rng: np.random.Generator, draws: int) -> Array:
    cost = max(data.code.size, data.units)
    blocks = _resampled(data.times, data.units, draws, rng, max(1, _BLOCK // cost))
    return np.concatenate([_one_minus(*_PARTS[level](data, counts)) for counts in blocks])


def _over_pairs(data: _Pairable, level: Level, rng: np.random.Generator, draws: int) -> Array:
    _, expected = _PARTS[level](data, data.times[None, :])
    scores = _mid_ranks(data, data.times[None, :])[0] if level == "ordinal" else data.values
    kinds, distances = zip(*_pairs(data, scores[data.code], _DISTANCES[level]), strict=True)
    values, which = np.unique(np.concatenate(distances), return_inverse=True)
    times = np.bincount(which.reshape(-1), weights=data.times[np.concatenate(kinds)]).astype(np.float64)
    found = np.ones(draws)
    for size in np.unique(data.sizes):
        pairs = int(data.times[data.sizes == size].sum() * size * (size - 1.0) / 2.0)
        blocks = _resampled(times, pairs, draws, rng, max(1, _BLOCK // max(pairs, times.size)))
        found -= np.concatenate([counts @ values for counts in blocks]) * 2.0 / (expected * (size - 1.0))
    return np.maximum(found, -1.0)


def _resampled(times: Array, size: int, draws: int, rng: np.random.Generator, block: int) -> Iterator[Array]:
    """Blocks of draws × kinds: how many of each kind are among `size` drawn with replacement, where there are `times`
    of it.

    Few kinds are drawn as numbers (multinomial), many one by one; the distribution is the same.
    """
    total = int(times.sum())
    few = 32 * times.size < size
    members = np.empty(0, np.int64) if few else np.repeat(np.arange(times.size), times.astype(np.int64))
    for start in range(0, draws, block):
        now = min(block, draws - start)
        if few:
            yield rng.multinomial(size, times / total, size=now).astype(np.float64)
            continue
        counts = np.empty((now, times.size))
        done = 0
        while done < now:  # nearly always one turn: a few words more than are needed
            words = rng.integers(0, 1 << 64, ((now - done) * size + size) // 2 + 1, dtype=np.uint64)
            done += tally(words, members, size, counts[done:])
        yield counts


def _one_minus(observed: Array, expected: Array) -> Array:
    """1 - observed/expected; NaN for a draw in which nothing can disagree."""
    ratio = np.full(observed.shape, np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0.0)
    return 1.0 - ratio


def _interval_parts(data: _Pairable, weights: Array) -> tuple[Array, Array]:
    """Observed and expected disagreement under squared differences, for each row of weights of the kinds.

    Within a unit of m ratings the pairs sum to 2 (m Σx² - (Σx)²), which is 2 m times the sum of squared
    deviations: deviations are used because they stay exact when the ratings have a large mean.
    """
    scores = data.values[data.code]
    centred = scores - scores.mean()
    sums = data.per_kind(centred)
    deviations = centred - (sums / data.sizes)[data.kind]
    within = 2.0 * data.sizes * data.per_kind(deviations**2) / (data.sizes - 1.0)
    columns = np.stack([within, data.sizes, data.per_kind(centred**2), sums], axis=1)
    observed, n, squares, sums = (weights @ columns).T
    expected = 2.0 * (n * squares - sums**2) / (n - 1.0)
    return observed, np.where(expected > 1e-12 * n * squares, expected, 0.0)


def _mid_ranks(data: _Pairable, weights: Array) -> Array:
    """Of each value, less their mean, in each resample."""
    totals = np.asarray(weights @ _value_counts(data))
    ranks: Array = np.cumsum(totals, axis=1) - totals / 2.0 - totals.sum(axis=1)[:, None] / 2.0
    return ranks


def _ordinal_parts(data: _Pairable, weights: Array) -> tuple[Array, Array]:
    """The ordinal distance is the squared difference of mid-ranks, which depend on the resample."""
    start = np.concatenate(([0], np.cumsum(data.sizes.astype(np.int64))))
    observed, expected = ordinal(weights, start, data.code, data.values.size)
    return observed, expected


def _value_counts(data: _Pairable) -> Array | csr_array:
    """How often each value is in a unit of each kind; few kinds and values are not worth a sparse matrix's import."""
    shape = (data.sizes.size, data.values.size)
    if shape[0] * shape[1] <= 1 << 16:
        return np.bincount(data.kind * shape[1] + data.code, minlength=shape[0] * shape[1]).reshape(shape) * 1.0
    from scipy.sparse import csr_array

    return csr_array((np.ones(data.kind.size), (data.kind, data.code)), shape=shape)


def _nominal_parts(data: _Pairable, weights: Array) -> tuple[Array, Array]:
    counts = _value_counts(data)
    equal_pairs = np.asarray((counts * counts).sum(axis=1)).reshape(-1)
    n = weights @ data.sizes
    totals = np.asarray(weights @ counts)
    observed = weights @ ((data.sizes**2 - equal_pairs) / (data.sizes - 1.0))
    return observed, (n**2 - (totals**2).sum(axis=1)) / (n - 1.0)


def _ratio_parts(data: _Pairable, weights: Array) -> tuple[Array, Array]:
    within = np.zeros(data.sizes.size)
    for kinds, distances in _pairs(data, data.values[data.code], _ratio):
        within += 2.0 * np.bincount(kinds, weights=distances, minlength=within.size)
    totals = np.asarray(weights @ _value_counts(data))
    expected = np.zeros(len(weights))
    for start in range(0, data.values.size, _VALUE_BLOCK):
        rows = slice(start, start + _VALUE_BLOCK)
        distance = _ratio(data.values[rows, None], data.values[None, :])
        expected += ((totals[:, rows] @ distance) * totals).sum(axis=1)
    return weights @ (within / (data.sizes - 1.0)), expected / (weights @ data.sizes - 1.0)


def _pairs(data: _Pairable, scores: Array, distance: Callable[[Array, Array], Array]) -> Iterator[tuple[Ints, Array]]:
    """The kind and the distance of each pair of ratings within a kind: neighbours, then next neighbours, …"""
    for step in range(1, int(data.sizes.max())):
        same = data.kind[step:] == data.kind[:-step]
        yield data.kind[step:][same], distance(scores[step:][same], scores[:-step][same])


def _ratio(a: Array, b: Array) -> Array:
    total = a + b
    quotient = np.divide(a - b, total, out=np.zeros(np.broadcast(a, b).shape), where=total != 0.0)
    return quotient**2


def _squared(a: Array, b: Array) -> Array:
    return (a - b) ** 2


_PARTS: dict[str, Callable[[_Pairable, Array], tuple[Array, Array]]] = {
    "nominal": _nominal_parts,
    "ordinal": _ordinal_parts,
    "interval": _interval_parts,
    "ratio": _ratio_parts,
}
_DISTANCES: dict[str, Callable[[Array, Array], Array]] = {
    "nominal": lambda a, b: (a != b).astype(np.float64),
    "ordinal": _squared,
    "interval": _squared,
    "ratio": _ratio,
}
_BOOTSTRAPS: dict[str, Callable[[_Pairable, Level, np.random.Generator, int], Array]] = {
    "units": _over_units,
    "pairs": _over_pairs,
}
