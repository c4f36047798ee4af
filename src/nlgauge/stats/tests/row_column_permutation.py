"""Permutation tests for tables systems × inputs whose outputs are not independent.

Outputs of one system resemble each other, and so do outputs of one input. Is a metric related to the human ratings at
all? Whole systems and whole inputs of the ratings are permuted and the statistic is recomputed. If the metric is
unrelated to the ratings, every such permutation is as likely as the observed table, whatever effects systems and inputs
have on either side: the test is exact, whereas a test that permutes single outputs treats the outputs of a few systems
as thousands of independent observations. Missing values stay in the table they belong to; an output counts in a
permutation where both tables have a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.kernels.ks import count_distances, fill_shuffled, fill_swapped
from nlgauge.kernels.shared import LANES
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.tests.ks import ks_weighted
from nlgauge.types import Array, Ints

BLOCK = 4_000_000  # maximum size of the shuffled tables in memory
TIE_TOLERANCE = 1e-12
CROSSED = (
    0.5  # share of systems × inputs that one of two tables must have; otherwise a permutation leaves too few outputs
)
METHOD = "whole systems and whole inputs of the ratings shuffled"


def clustered(x: Array, z: Array) -> bool:
    """Return whether outputs are not independent because several systems have outputs for the same inputs.

    Parameters
    ----------
    x : array of … × N × M
        Scores, systems × inputs, NaN where missing.
    z : array of N × M
        Ratings.

    Returns
    -------
    bool
        True for several systems and inputs if at least half of the table has scores or ratings.
    """
    n, m = z.shape
    share = max(float(np.isfinite(table).mean()) for table in (x, z)) if x.size else 0.0
    return n > 1 and m > 1 and share >= CROSSED


def shuffles(systems: int, inputs: int, draws: int, seed: int, cells: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield blocks of (draws × systems, draws × inputs): permutations of the rows and of the columns of a table."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    size = max(1, BLOCK // max(cells, 1))
    for index in range(0, draws, size):
        count = min(size, draws - index)
        yield (
            rng.permuted(np.tile(np.arange(systems), (count, 1)), axis=1),
            rng.permuted(np.tile(np.arange(inputs), (count, 1)), axis=1),
        )


def related_tests(x: Array, z: Array, *, ranks: bool, draws: int = 999, seed: int = 0) -> Array:
    """Compute two-sided p = (count + 1)/(draws + 1) that each metric (K × N × M) is uncorrelated with the ratings (N ×
    M).

    The correlation is Pearson's over all outputs, of the ranks of each variable if `ranks`.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(4, 30))
    >>> related_tests(np.stack([z + rng.normal(size=z.shape), rng.normal(size=z.shape)]), z, ranks=True) < 0.05
    array([ True, False])
    """
    people = _scaled(z, ranks)
    scores = np.stack([_scaled(v, ranks).ravel() for v in x]) if len(x) else np.empty((0, z.size))
    seen = np.abs(_pearson(people.reshape(1, -1), scores))[0]
    hits, valid = np.zeros(len(x), np.int64), np.zeros(len(x), np.int64)
    for rows, cols in shuffles(z.shape[0], z.shape[1], draws, seed, z.size):
        moved = people[rows[:, :, None], cols[:, None, :]].reshape(len(rows), -1)
        drawn = np.abs(_pearson(moved, scores))
        valid += np.isfinite(drawn).sum(axis=0)
        with np.errstate(invalid="ignore"):
            hits += (drawn >= seen - TIE_TOLERANCE).sum(axis=0)
    return np.where(np.isfinite(seen) & (valid > 0), (hits + 1) / (valid + 1), np.nan)


def ks_shuffled(scores: Array, low: Array, high: Array, *, draws: int = 499, seed: int = 0) -> tuple[Array, Array]:
    """Compute KS of each row of scores (K × annotators × N × M) between two samples, and p by permuting systems and
    inputs.

    `low` and `high` (annotators × N × M) are the counts of an output in each sample; one annotator for metrics.
    """
    tests = _KSTests.of(scores, low, high)
    whole, drawn = _whole(low, high), tests.strip()
    for rows, cols in shuffles(low.shape[1], low.shape[2], draws, seed, low.size):
        for first in range(0, len(rows), LANES):
            lanes = min(LANES, len(rows) - first)
            fill_shuffled(*whole, rows, cols, first, lanes, drawn)
            tests.count(drawn, lanes)
    return tests.result()


def ks_swapped(scores: Array, weights: Array, *, draws: int = 499, seed: int = 0) -> tuple[Array, Array]:
    """Compute KS between two systems (K × annotators × 2 × M), and p by randomly swapping the systems on each input.

    `weights` is annotators × 2 × M. Outputs of one input stay compared with each other.
    """
    low, high = weights.copy(), weights.copy()
    low[:, 1], high[:, 0] = 0, 0
    inputs = weights.shape[2]
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    size = max(1, BLOCK // max(weights.size, 1))
    tests = _KSTests.of(scores, low, high)
    whole, drawn = _whole(low, high), tests.strip()
    for index in range(0, draws, size):
        swap = rng.integers(0, 2, (min(size, draws - index), inputs)).astype(np.uint8)
        for first in range(0, len(swap), LANES):
            lanes = min(LANES, len(swap) - first)
            fill_swapped(*whole, swap, first, lanes, drawn)
            tests.count(drawn, lanes)
    return tests.result()


@dataclass(frozen=True)
class _KSTests:
    """The outputs of each metric in the order of its scores, and the number of draws that reached its distance."""

    observed: Array
    outputs: int
    order: Ints
    last: NDArray[np.uint8]
    start: Ints
    counts: Ints  # draws that reached the distance, and draws with a defined distance

    @classmethod
    def of(cls, scores: Array, low: NDArray[Any], high: NDArray[Any]) -> _KSTests:
        """Sort the outputs of each metric once; a metric without a distance has no outputs."""
        flat = scores.reshape(len(scores), low.size)
        observed = ks_weighted(flat, low.ravel(), high.ravel())
        orders, ends = [np.empty(0, np.int64)], [np.empty(0, np.uint8)]
        for row, distance in zip(flat, observed, strict=True):
            places = np.flatnonzero(np.isfinite(row)) if np.isfinite(distance) else np.empty(0, np.int64)
            places = places[np.argsort(row[places], kind="stable")]
            orders.append(places)
            ends.append(np.append(row[places][1:] != row[places][:-1], True)[: len(places)].astype(np.uint8))
        start = np.cumsum([len(places) for places in orders])
        return cls(
            observed, low.size, np.concatenate(orders), np.concatenate(ends), start, np.zeros((2, len(flat)), np.int64)
        )

    def strip(self) -> NDArray[np.int16]:
        """Allocate the counts of sixteen draws in both samples."""
        return np.zeros((self.outputs, 2, LANES), np.int16)

    def count(self, drawn: NDArray[np.int16], lanes: int) -> None:
        """Count more draws."""
        least = self.observed - TIE_TOLERANCE
        count_distances(self.order, self.last, self.start, drawn, lanes, least, self.counts)

    def result(self) -> tuple[Array, Array]:
        """Return the distances and their p-values."""
        reached, valid = self.counts
        p = (reached + 1) / (valid + 1)
        return self.observed, np.where(np.isnan(self.observed) | (valid == 0), np.nan, p)


def _whole(*counts: Array) -> list[NDArray[np.int16]]:
    """Return counts of ratings of an output as the kernels take them."""
    if max((float(each.max(initial=0)) for each in counts), default=0.0) > np.iinfo(np.int16).max:
        raise NlgaugeError(f"an output has more than {np.iinfo(np.int16).max:,} ratings.")
    return [np.ascontiguousarray(each, np.int16) for each in counts]


def _scaled(table: Array, ranks: bool) -> Array:
    """Standardize scores (or their ranks) over the outputs that are not missing."""
    valid = np.isfinite(table)
    values = table[valid]
    if ranks and len(values):
        values = average_ranks(values)
    spread = values.std() if len(values) else 0.0
    result = np.full(table.shape, np.nan)
    result[valid] = (values - values.mean()) / spread if spread > 0 else 0.0
    return result


def _pearson(one: Array, two: Array) -> Array:
    """Correlate the rows of two tables over the outputs that both have."""
    a, b = np.isfinite(one), np.isfinite(two)
    x, y = np.where(a, one, 0.0), np.where(b, two, 0.0)
    if a.all() and b.all():
        n = x.shape[1]
        covariance = x @ y.T / n - np.outer(x.mean(axis=1), y.mean(axis=1))
        spread = np.outer(x.var(axis=1), y.var(axis=1))
    else:
        n = a.astype(np.float64) @ b.T.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_x, mean_y = x @ b.T / n, a @ y.T / n
            covariance = x @ y.T / n - mean_x * mean_y
            spread = ((x * x) @ b.T / n - mean_x**2) * (a @ (y * y).T / n - mean_y**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > TIE_TOLERANCE, covariance / np.sqrt(spread), np.nan))


def order_tests(x: Array, z: Array, *, draws: int = 499, seed: int = 0) -> Array:
    """Test whether each metric orders the outputs of an input better or worse than an unrelated metric.

    Parameters
    ----------
    x : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing.
    z : array of N × M
        Ratings.
    draws : int, default 499
        Number of permutations of whole systems and whole inputs of the ratings.
    seed : int, default 0

    Returns
    -------
    array of K
        Two-sided p-values, (count + 1) / (draws + 1); NaN if there are no pairs of outputs to order.

    Notes
    -----
    The statistic is the share of pairs of outputs of the same input with the same order, where a tie is one of three
    orders (Novikova et al. 2017, Table 12).
    """
    first, second = np.triu_indices(len(z), 1)
    scores = [_orders(v, first, second) for v in x]
    seen = np.array([_alike(s, _orders(z, first, second)) for s in scores])
    drawn = []
    for rows, cols in shuffles(z.shape[0], z.shape[1], draws, seed, z.size):
        for r, c in zip(rows, cols, strict=True):
            people = _orders(z[r][:, c], first, second)
            drawn.append([_alike(s, people) for s in scores])
    table = np.array(drawn).reshape(-1, len(x))
    available = np.isfinite(table).sum(axis=0)
    middle = np.where(available > 0, np.nansum(table, axis=0) / np.maximum(available, 1), np.nan)
    with np.errstate(invalid="ignore"):
        hits = (np.abs(table - middle) >= np.abs(seen - middle) - TIE_TOLERANCE).sum(axis=0)
    return np.where(np.isfinite(seen) & (available > 0), (hits + 1) / (available + 1), np.nan)


def _orders(table: Array, first: Ints, second: Ints) -> NDArray[np.int8]:
    """Return which output of each pair is higher: -1, 0, 1; 2 where one is missing."""
    gap = table[first] - table[second]
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(gap), np.sign(gap), 2.0).astype(np.int8)


def _alike(one: NDArray[np.int8], two: NDArray[np.int8]) -> float:
    both = (one != 2) & (two != 2)
    n = int(both.sum())
    return float(((one == two) & both).sum()) / n if n else float("nan")
