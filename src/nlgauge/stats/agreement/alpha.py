"""Krippendorff's alpha: 1 - observed / expected disagreement over all pairable values.

No coincidence matrix over values is built. Observed disagreement is a sum over units, and expected disagreement needs
only the totals of the values: the sum and the sum of squares for interval data, the same of mid-ranks for ordinal data,
the count of each value for nominal data. Memory therefore grows with the number of ratings, not with the square of the
number of distinct values. Only the ratio distance needs pairs of values, which are processed in blocks.

Units with the same multiset of ratings are one kind of unit and computed once. A resample of units is a multinomial
count of each kind: with five levels and three annotators, 20,000 units have about 50 kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.errors import DataError
from nlgauge.kernels.kinds import ordinal, tally
from nlgauge.stats.agreement.classes import disagreement_interval
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.types import Array, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Bootstrap = Literal["units", "pairs"]

_BLOCK = 1 << 22  # elements of one block of resamples
_VALUE_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha with its confidence interval over units or clusters of units.

    `reason` explains why a value or an interval is NaN.
    """

    value: float
    low: float
    high: float
    units: int
    dropped_units: int
    reason: str
    method: str


@dataclass(frozen=True, slots=True)
class _Pairable:
    """Kinds of units with at least two ratings; the ratings of all kinds are one array, kind after kind."""

    times: Array  # units of each kind
    sizes: Array  # ratings of a unit of each kind
    kind: Ints  # of each rating in the list
    code: Ints
    values: Array
    of_unit: Ints  # kind of each unit; -1 for units without a pair of ratings

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
    clusters: ArrayLike | None = None,
) -> Alpha:
    """Compute Krippendorff's alpha.

    Parameters
    ----------
    ratings : array of annotators × units
        Or annotators × systems × inputs, NaN where missing. Units with fewer than two ratings contain no pair; they are
        dropped and counted. Annotators need no identity.
    level : {'nominal', 'ordinal', 'interval', 'ratio'}
        Level of measurement, which defines the distance between two ratings.
    rng : Generator, optional
        With it, a 95% percentile bootstrap interval is computed.
    draws : int
        Number of bootstrap samples.
    bootstrap : {'units', 'pairs'}
        "units" draws units with replacement and computes alpha of each sample, so ratings of one unit stay together and
        the interval covers other units. "pairs" is the bootstrap of Krippendorff (2006), used by the KALPHA macro and
        by evalica: it draws the disagreement of each pair of ratings from all pairs and keeps the expected disagreement
        fixed; values below -1 are set to -1.
    clusters : array of int, optional
        Cluster of each unit: trials of one input or texts about one document are not independent. The interval is then
        the score interval of the disagreement with the effective sample size of its jackknife variance over clusters;
        no random numbers are drawn.

    Returns
    -------
    Alpha
        `value`, `low`, `high`, and the `reason` where the value is NaN.

    Notes
    -----
    alpha = 1 - D_o / D_e, the observed over the expected disagreement (Krippendorff 2004). The bootstrap of pairs
    treats pairs of one unit as independent, so its interval is often too narrow. KALPHA redraws the second of two equal
    first draws of a unit; this function does not, which changes the variance by less than 1 / number of pairs.

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
        if clusters is not None:
            low, high, reason = _over_clusters(data, level, np.asarray(clusters))
            method += ", 95% score interval with the effective sample size of the jackknife variance over clusters"
        elif rng is not None and units > 1:
            drawn = _BOOTSTRAPS[bootstrap](data, level, rng, draws)
            available = drawn[~np.isnan(drawn)]  # some draws have no expected disagreement
            low, high = np.quantile(available, [0.025, 0.975]) if available.size else (np.nan, np.nan)
            method += f", 95% percentile interval over {draws} resamples of {bootstrap}"
    return Alpha(value, float(low), float(high), units, table.shape[1] - units, reason, method)


def _pairable(table: Array) -> _Pairable:
    # Sorted with missing values last and one representation of 0 and NaN, so that equal units have equal bytes.
    by_unit = np.ascontiguousarray(np.sort(np.where(np.isnan(table), np.nan, table + 0.0).T, axis=1))
    first, times, kind_of_unit = distinct_rows(by_unit.view(np.uint64))
    by_unit = by_unit[first]
    given = ~np.isnan(by_unit)
    sizes = given.sum(axis=1)
    selected = np.argsort(sizes, kind="stable")[np.count_nonzero(sizes < 2) :]  # of one size after the other: quicker
    given, by_unit = given[selected], by_unit[selected]
    place = np.full(len(sizes), -1)
    place[selected] = np.arange(len(selected))
    kind, _ = np.nonzero(given)
    values, code = np.unique(by_unit[given], return_inverse=True)
    return _Pairable(
        times[selected].astype(np.float64),
        sizes[selected].astype(np.float64),
        kind,
        code.reshape(-1),
        values,
        place[kind_of_unit],
    )


def distinct_rows(rows: NDArray[np.uint64]) -> tuple[Ints, Ints, Ints]:
    """Return the first row of each kind, in order of appearance, the number of rows of that kind, and the kind of each
    row.
    """
    order = np.lexsort(rows.T)
    ordered = rows[order]
    starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(rows)])
    first = order[starts]  # the sort is stable
    times = np.diff(np.append(starts, len(rows)))
    by_first = np.argsort(first)
    kinds = np.empty(len(rows), np.int64)
    kinds[order] = np.repeat(np.argsort(by_first), times)
    return first[by_first], times[by_first], kinds


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
    result = np.ones(draws)
    for size in np.unique(data.sizes):
        pairs = int(data.times[data.sizes == size].sum() * size * (size - 1.0) / 2.0)
        blocks = _resampled(times, pairs, draws, rng, max(1, _BLOCK // max(pairs, times.size)))
        result -= np.concatenate([counts @ values for counts in blocks]) * 2.0 / (expected * (size - 1.0))
    return np.maximum(result, -1.0)


def _over_clusters(data: _Pairable, level: Level, clusters: Ints) -> tuple[float, float, str]:
    """Return the ends of the interval over clusters, and the reason why there is none.

    Distances are divided by that of the two extreme values, so that the disagreement is a share. Squared distances have
    heavier tails than shares: their variance is multiplied by C / (C - 2), as in Fisher's variance of an intraclass
    correlation of C units.
    """
    paired = data.of_unit >= 0
    kinds, code = data.of_unit[paired], np.unique(clusters[paired], return_inverse=True)[1].reshape(-1)
    many, width = int(code.max()) + 1, data.times.size
    left = []
    block = max(1, _BLOCK // max(data.code.size, width))
    for start in range(0, many, block):
        inside = (code >= start) & (code < start + block)
        rows = min(block, many - start)
        cells = np.bincount((code[inside] - start) * width + kinds[inside], minlength=rows * width)
        left.append(1.0 - _one_minus(*_PARTS[level](data, data.times - cells.reshape(rows, width))))
    whole = data.times[None, :]
    observed, expected = (float(part[0]) / float(data.times @ data.sizes) for part in _PARTS[level](data, whole))
    scores = _mid_ranks(data, whole)[0] if level == "ordinal" else data.values
    largest = max(float(_DISTANCES[level](scores[-1:], scores[:1])[0]), observed)
    ratios = np.concatenate(left)
    if level != "nominal":
        ratios = ratios.mean() + (ratios - ratios.mean()) * np.sqrt(many / max(many - 2, 1))
    return disagreement_interval(observed / largest, expected / largest, ratios)


def _resampled(times: Array, size: int, draws: int, rng: np.random.Generator, block: int) -> Iterator[Array]:
    """Count how often each kind is among `size` units drawn with replacement; blocks of draws × kinds.

    `times` is the number of units of each kind. A few kinds are drawn from the multinomial distribution, many are drawn
    one by one; the distribution is the same.
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
        while done < now:  # nearly always one iteration: slightly more draws than needed
            words = rng.integers(0, 1 << 64, ((now - done) * size + size) // 2 + 1, dtype=np.uint64)
            done += tally(words, members, size, counts[done:])
        yield counts


def _one_minus(observed: Array, expected: Array) -> Array:
    """Return 1 - observed / expected; NaN for a draw whose expected disagreement is 0."""
    ratio = np.full(observed.shape, np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0.0)
    return 1.0 - ratio


def _interval_parts(data: _Pairable, weights: Array) -> tuple[Array, Array]:
    """Compute observed and expected disagreement under squared differences, for each row of weights of the kinds.

    Within a unit of m ratings the squared differences of pairs sum to 2 (m Σx² - (Σx)²), which is 2 m times the sum of
    squared deviations. Deviations are used because they stay exact when the ratings have a large mean.
    """
    scores = data.values[data.code]
    centered = scores - scores.mean()
    sums = data.per_kind(centered)
    deviations = centered - (sums / data.sizes)[data.kind]
    within = 2.0 * data.sizes * data.per_kind(deviations**2) / (data.sizes - 1.0)
    columns = np.stack([within, data.sizes, data.per_kind(centered**2), sums], axis=1)
    observed, n, squares, sums = (weights @ columns).T
    expected = 2.0 * (n * squares - sums**2) / (n - 1.0)
    return observed, np.where(expected > 1e-12 * n * squares, expected, 0.0)


def _mid_ranks(data: _Pairable, weights: Array) -> Array:
    """Compute the mid-rank of each value, minus the mean rank, in each resample."""
    totals = np.asarray(weights @ _value_counts(data))
    ranks: Array = np.cumsum(totals, axis=1) - totals / 2.0 - totals.sum(axis=1)[:, None] / 2.0
    return ranks


def _ordinal_parts(data: _Pairable, weights: Array) -> tuple[Array, Array]:
    """Compute observed and expected disagreement for the ordinal distance.

    The ordinal distance is the squared difference of mid-ranks, which depend on the resample.
    """
    start = np.concatenate(([0], np.cumsum(data.sizes.astype(np.int64))))
    observed, expected = ordinal(weights, start, data.code, data.values.size)
    return observed, expected


def _value_counts(data: _Pairable) -> Array | csr_array:
    """Count how often each value occurs in a unit of each kind. A dense array: importing sparse matrices takes
    longer.
    """
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
    """Return the kind and the distance of each pair of ratings within a kind: adjacent pairs first, then pairs two
    apart, …
    """
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
