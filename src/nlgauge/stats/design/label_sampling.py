"""Sampling of outputs to label: fixed-size probability samples with the exact inclusion probability of each row.

A design assigns a size (or a stratum) to every row. Rows are drawn with probabilities proportional to size, never 0, so
that an estimate with inverse probability weights is unbiased for any sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.types import Array, Ints

FLOOR = 0.25  # uniform part of the sampling probabilities: no row has a weight above 1 / FLOOR times the mean
PARTS = 4  # bins of the score, each with its own spread
PRIOR_PAIRS, PRIOR_CORRELATION = 8, 0.5  # correlation of two labels of one cluster where few clusters have two labels


@dataclass(frozen=True)
class Draw:
    """Rows to label, the inclusion probability of every row of the population, and its stratum (-1 without strata)."""

    rows: Ints
    probability: Array
    stratum: Ints


def random_draw(rows: int, n: int, rng: np.random.Generator) -> Draw:
    """Draw n rows by simple random sampling."""
    chosen = rng.permutation(rows)[:n].astype(np.int64)
    return Draw(chosen, np.full(rows, n / rows), np.full(rows, -1))


def proportional_draw(size: Array, n: int, rng: np.random.Generator, order: Array | None = None) -> Draw:
    """Draw rows with probability proportional to size, by systematic sampling along `order` (random by default).

    Sampling along an order spreads the sample over it; the inclusion probabilities are exact for any order (Madow
    1949).
    """
    probability = inclusion(size, n)
    along = rng.permutation(len(size))
    if order is not None:
        along = along[np.argsort(order[along], kind="stable")]
    return Draw(rng.permutation(_steps(probability, along, rng.random())), probability, np.full(len(size), -1))


def inclusion(size: Array, n: int) -> Array:
    """Compute inclusion probabilities proportional to size that sum to n, none above 1.

    >>> inclusion(np.array([1.0, 1.0, 2.0, 20.0]), 2).round(2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    result = np.zeros(len(size))
    free = np.ones(len(size), bool)
    while True:
        result[free] = (n - (~free).sum()) * size[free] / size[free].sum()
        if not (over := free & (result > 1)).any():
            return result
        result[over], free = 1.0, free & ~over
        if not free.any():
            return result


def with_floor(size: Array) -> Array:
    """Return sizes with mean 1, a part of which is the same for all rows; missing sizes are replaced by the mean."""
    available = np.where(np.isfinite(size), size, np.nanmean(size) if np.isfinite(size).any() else 1.0)
    mean = available.mean()
    return FLOOR + (1 - FLOOR) * (available / mean if mean > 0 else np.ones(len(available)))


def allocation(sizes: Ints, spread: Array, n: int, least: int = 2) -> Ints:
    """Allocate n labels to strata in proportion to size × spread, at least `least` each (or all rows of a small
    stratum).

    >>> allocation(np.array([100, 50, 10]), np.array([1.0, 1.0, 1.0]), 16).tolist()
    [9, 5, 2]
    """
    counts = np.minimum(sizes, least)
    if counts.sum() > n:  # more strata than labels
        counts = np.zeros(len(sizes), np.int64)
    wanted = sizes * np.maximum(spread, 1e-12)
    for _ in range(int(n - counts.sum())):
        # The next label goes where it lowers the variance most (Wright 2012): exact, unlike rounded shares.
        gain = np.where(counts < sizes, wanted**2 / np.maximum(counts * (counts + 1), 0.5), -1.0)
        counts[int(np.argmax(gain))] += 1
    return counts


def disagreement(scores: Array) -> Array:
    """Compute how much metrics (metrics × rows) disagree on a row: the spread of its relative ranks."""
    return np.asarray(np.nanstd(relative_ranks(scores), axis=0))


def relative_ranks(scores: Array) -> Array:
    """Return each metric as ranks from 0 to 1, ties at their mean, NaN where missing."""
    rated = np.maximum(np.isfinite(scores).sum(axis=1, keepdims=True), 1)
    return np.asarray((average_ranks(np.where(np.isfinite(scores), scores, np.nan), axis=1) - 0.5) / rated)


def learned_spread(score: Array, labels: Array) -> Array:
    """Estimate the deviation of labels from the score as a function of the score, from the labeled rows.

    Linear regression of the labels, then the root mean square of its residuals in bins of equal counts, each shrunk
    toward the overall value with a prior weight of two labels and interpolated between bins.
    """
    valid = np.isfinite(score) & np.isfinite(labels)
    x, y = score[valid], labels[valid]
    if len(x) < 2 * PARTS or np.ptp(x) == 0:
        return np.ones(len(score))
    slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    squares = (y - y.mean() - slope * (x - x.mean())) ** 2
    by_score = np.argsort(x, kind="stable")
    groups = np.array_split(by_score, PARTS)
    index = np.array([x[g].mean() for g in groups])
    root = np.sqrt([(squares[g].sum() + 2 * squares.mean()) / (len(g) + 2) for g in groups])
    keep = np.append(np.diff(index) > 0, True)
    everywhere = np.where(np.isfinite(score), score, np.nanmean(score))
    return np.asarray(np.interp(everywhere, index[keep], root[keep]))


def explained(
    score: Array, labels: Array, strata: Ints | None = None, level: float = 0.95
) -> tuple[float, float, float]:
    """Estimate the share of label variance explained by a score (and strata), adjusted for the number of parameters.

    The interval is that of the noncentral F distribution for fixed scores; for random scores its coverage is about 90%.
    NaN with too few labels.

    >>> x = np.arange(40.0)
    >>> [round(v, 2) for v in explained(x, x + 12 * np.sin(x))]
    [0.63, 0.43, 0.75]
    """
    from scipy.special import ncfdtr, ncfdtrinc

    valid = np.isfinite(score) & np.isfinite(labels)
    columns = [np.ones(int(valid.sum())), score[valid]]
    if strata is not None:
        columns += [(strata[valid] == code).astype(float) for code in np.unique(strata[valid])[1:]]
    design, y = np.column_stack(columns), labels[valid]
    fitted, n = int(np.linalg.matrix_rank(design)) - 1, len(y)
    if not fitted or n - fitted < 5 or np.ptp(y) == 0:
        return float("nan"), float("nan"), float("nan")
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    rest, whole, freedom = float(left @ left), float(y.var() * n), n - fitted - 1
    value = max(0.0, 1 - rest / freedom / (whole / (n - 1)))
    ratio = (whole - rest) / fitted / max(rest / freedom, 1e-300)

    def end(p: float) -> float:
        """Return the share for which a ratio as small as this has probability p."""
        if ncfdtr(fitted, freedom, 0.0, ratio) <= p:
            return 0.0
        noncentral = float(ncfdtrinc(fitted, freedom, p, ratio))
        return noncentral / (noncentral + n)

    low, high = end((1 + level) / 2), end((1 - level) / 2)
    return value, low, high


def neighbor_order(features: Array) -> Array:
    """Order rows (rows × features) so that rows close in the order have similar features.

    Rows are split recursively along the feature with the widest spread, at the largest gap in the middle half of its
    values, so that similar rows stay together; systematic sampling along the order then covers all kinds of rows.
    """
    place = np.empty(len(features))
    halves = [np.arange(len(features))]
    index = 0
    while halves:
        rows = halves.pop()
        widest = np.ptp(features[rows], axis=0)
        if len(rows) <= 2 or widest.max() == 0:
            place[rows] = index + np.arange(len(rows))
            index += len(rows)
            continue
        by = rows[np.argsort(features[rows, int(widest.argmax())], kind="stable")]
        first, last = len(by) // 4, len(by) - 1 - len(by) // 4
        gaps = np.diff(features[by[first : last + 1], int(widest.argmax())])
        gaps[np.abs(gaps) < 1e-9 * widest.max()] = 0.0  # a difference from rounding is not a gap
        middle = len(by) // 2 - first - 1
        cut = first + 1 + (int(gaps.argmax()) if gaps.max() > 2 * gaps[middle] else middle)
        halves += [by[cut:], by[:cut]]
    return place


def coordinated_draw(system: Ints, unit: Ints, probability: Array, rng: np.random.Generator) -> Draw:
    """Sample systematically along one random order of the inputs (`unit`), with the same start in every system.

    Systems with the same probabilities get the same inputs, so that their difference is a paired one.
    """
    order, start = rng.permutation(int(unit.max()) + 1), rng.random()
    chosen = []
    for code in range(int(system.max()) + 1):
        own = np.flatnonzero(system == code)
        along = own[np.argsort(order[unit[own]], kind="stable")]
        chosen.append(_steps(probability, along, start))
    return Draw(rng.permutation(np.concatenate(chosen)), probability, system)


def combined_probability(probability: Array, draw: Ints) -> Array:
    """Compute one probability for each labeled row of several draws, each from the rows that earlier ones had left.

    After each draw t the mean of all rows has its own estimate: earlier labels count once, those of the draw by 1 /
    probability. The average of these estimates, weighted by the number of labels, gives a row of draw r the weight a_r
    / probability + Σ_{t > r} a_t. It is unbiased even where a draw depends on the labels of earlier ones.

    >>> combined_probability(np.array([0.1, 0.1, 0.5, 0.5]), np.array([1, 1, 2, 2])).round(3).tolist()
    [0.182, 0.182, 1.0, 1.0]
    """
    _, codes, counts = np.unique(draw, return_inverse=True, return_counts=True)
    share = counts / counts.sum()
    later = np.append(np.cumsum(share[::-1])[::-1][1:], 0.0)
    weight = share[codes] / probability + later[codes]
    return np.asarray(1 / weight)


@dataclass(frozen=True)
class ClusterSampler:
    """Simulate studies of a file with clustered rows, from its labeled rows.

    sizes: rows of each cluster of the file. codes: cluster of each labeled row. whole: a study labels whole clusters;
    otherwise rows that are drawn at random from the file.
    """

    sizes: Ints
    codes: Ints
    whole: bool

    def layout(self, rows: int, rng: np.random.Generator) -> Ints:
        """Return the cluster of each row of a simulated file, in the order in which rows are labeled.

        A file that is smaller than `rows` is repeated with new clusters. A larger one is cut: labeling the first rows
        of a random order is the same as drawing them from the whole file.
        """
        clusters = np.repeat(np.arange(len(self.sizes)), self.sizes)
        copies = []
        for k in range(-(-rows // len(clusters))):
            key = rng.permutation(len(self.sizes))[clusters] if self.whole else rng.permutation(len(clusters))
            copies.append(clusters[np.argsort(key, kind="stable")] + k * len(self.sizes))
        return np.unique(np.concatenate(copies)[:rows], return_inverse=True)[1].astype(np.int64)

    def affinity(self, influence: Array) -> float:
        """Return how often a simulated row is drawn from the labeled cluster that its cluster stands for.

        The rest is drawn from all labeled rows. The share is the one at which two rows of a simulated cluster have the
        covariance that two labels of one cluster have in the data: rows drawn with replacement from few labels of a
        cluster repeat each other, so that always staying in the cluster would make its rows too similar.

        Parameters
        ----------
        influence : array
            How far each labeled row moves the estimate.
        """
        off = influence - influence.mean()
        counts, sums = np.bincount(self.codes), np.bincount(self.codes, off)
        counts, sums = counts[counts > 0], sums[counts > 0]
        pairs = float((counts * (counts - 1)).sum()) / 2
        of_mean = (sums**2).sum() / len(off) ** 2  # lost by centering at the mean of the same rows
        products = ((sums**2).sum() - (off**2).sum()) / 2 + pairs * of_mean
        prior = PRIOR_PAIRS * PRIOR_CORRELATION * (off**2).mean()
        repeated = (sums**2 / counts).sum() / len(off)  # covariance of two draws with replacement from one cluster
        if repeated <= 0:
            return 0.0
        return float(np.sqrt(np.clip((products + prior) / (pairs + PRIOR_PAIRS) / repeated, 0.0, 1.0)))

    def draw(self, clusters: Ints, affinity: float | Array, trials: int, rng: np.random.Generator) -> Ints:
        """Draw a labeled row for each row of a simulated file: trials × rows. `affinity`: of all rows, or of each."""
        order = np.argsort(self.codes, kind="stable")
        start, counts = np.searchsorted(self.codes[order], self.codes), np.bincount(self.codes)[self.codes]
        shape = (trials, len(clusters))
        source = rng.integers(len(self.codes), size=(trials, int(clusters.max()) + 1))[:, clusters]
        own = order[start[source] + (rng.random(shape) * counts[source]).astype(np.int64)]
        return np.where(rng.random(shape) < affinity, own, rng.integers(len(self.codes), size=shape))


def _steps(probability: Array, along: Ints, start: float) -> Ints:
    """Select rows at start, start + 1, … of the cumulative probabilities."""
    ends = np.cumsum(probability[along])
    total = ends[-1] if len(ends) else 0.0
    if abs(total - round(total)) < 1e-9:
        ends[-1] = round(total)  # rounding must not exclude the last row
    return along[np.floor(ends - start).astype(np.int64) > np.floor(np.append(0.0, ends[:-1]) - start).astype(np.int64)]
