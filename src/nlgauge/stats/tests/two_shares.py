"""Tests of whether two proportions differ: Fisher's exact test, and a test for clustered rows."""

from __future__ import annotations

import numpy as np

from nlgauge.types import Array, Ints


def fisher_exact_test(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Compute the two-sided p-value of two proportions: the probability of tables at most as likely as the observed
    one.

    >>> round(fisher_exact_test(3, 10, 12, 15), 4)
    0.0344
    """
    from scipy.special import gammaln

    right, total = hits + other_hits, n + other_n
    k = np.arange(max(0, right - other_n), min(n, right) + 1)

    def choose(a: int, b: Ints) -> Array:
        return np.asarray(gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(a - b + 1.0))

    weight = choose(n, k) + choose(other_n, right - k)
    weight -= weight.max()
    chance = np.exp(weight)
    seen = chance[k == hits][0]
    # Equal probabilities may differ in the last bits.
    return float(min(1.0, chance[chance <= seen * (1 + 1e-7)].sum() / chance.sum())) if total else np.nan


def clustered_difference_test(counts: Array) -> float:
    """Compute the two-sided p-value of the difference of two proportions, clusters × (hits, misses, other hits, other
    misses).

    Whole clusters are left out in turn; Student's t has the clusters of the smaller side minus one as degrees of
    freedom. NaN without variance.
    """
    from scipy.special import stdtr

    def difference(c: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(c[..., 0] / (c[..., 0] + c[..., 1]) - c[..., 2] / (c[..., 2] + c[..., 3]))

    total = counts.sum(axis=0)
    left = difference(total - counts)
    if not np.isfinite(left).all():
        return np.nan
    clusters = len(counts)
    error = np.sqrt((clusters - 1) / clusters * ((left - left.mean()) ** 2).sum())
    few = min(int((counts[:, part].sum(axis=1) > 0).sum()) for part in (slice(0, 2), slice(2, 4)))
    if error <= 1e-12 or few < 2:
        return np.nan
    return float(2 * stdtr(few - 1, -abs(difference(total)) / error))
