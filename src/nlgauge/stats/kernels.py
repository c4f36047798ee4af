"""One pass over all metrics of a panel: Pearson, Spearman and the pair counts of every group.

A cell that is not finite in the metric or in the human scores is missing and left out for that metric.
Small groups (16 systems) compare all pairs without branches. Big ones (1,000 inputs, or all cells) are sorted
by radix, with the human rating levels carried along; then one walk up the metric counts, for each point, the lower
points that people rated lower too: in a Fenwick tree over the levels, or by merge sort where there are very many.
The human side of a group is prepared once and shared by all metrics that miss none of its cells.
Pair counts are exact. Each (metric, group) is computed by itself, so the order of work changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nlgauge.stats.sorting import merge_sort, radix_sort

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 48  # up to here n² comparisons are cheaper than a sort
MANY_LEVELS = 1 << 16  # beyond, a tree over the levels leaves the cache and merge sort is faster
DEFINED, TOO_FEW, METRIC_CONSTANT, HUMAN_CONSTANT, BOTH_CONSTANT = range(5)


class GroupStats(NamedTuple):
    """What one pass gives, each of shape metrics × groups; what was not asked for is NaN or 0."""

    n: Ints
    state: NDArray[np.int8]  # DEFINED, TOO_FEW, ..._CONSTANT
    pearson: Floats
    spearman: Floats
    concordant: Ints
    discordant: Ints
    tied_human: Ints  # tied by people only
    tied_metric: Ints  # tied by the metric only
    tied_both: Ints
    classes: Ints  # the smaller number of distinct values (tau-c)


def group_stats(
    x: Floats, z: Floats, *, pearson: bool = True, spearman: bool = True, counts: bool = True
) -> GroupStats:
    """Statistics of metrics `x` (K×G×S) against people `z` (1×G×S or K×G×S); NaN marks missing points.

    >>> s = group_stats(np.array([[[1.0, 2, 3, 3]]]), np.array([[[1.0, 3, 2, 2]]]))
    >>> [int(c[0, 0]) for c in (s.concordant, s.discordant, s.tied_human, s.tied_metric, s.tied_both)]
    [3, 2, 0, 0, 1]
    """
    shape = x.shape[:2]
    n, state = np.zeros(shape, np.int64), np.full(shape, TOO_FEW, np.int8)
    r, rho = np.full(shape, np.nan), np.full(shape, np.nan)
    pairs = np.zeros((6, *shape), np.int64)
    if x.size:
        x, z = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(z, np.float64)
        _panel(x, z, pearson, spearman, counts, n, state, r, rho, pairs)
    return GroupStats(n, state, r, rho, *pairs)


@njit(cache=True, nogil=True)
def _panel(
    x: Any, z: Any, want_r: Any, want_rho: Any, want_pairs: Any,
    n: Any, state: Any, r: Any, rho: Any, pairs: Any,
) -> None:  # fmt: skip
    n_metrics, n_groups, size = x.shape
    want_ranks = want_rho or want_pairs
    human, people, metric = np.empty(size), np.empty(size), np.empty(size)
    position = np.empty(size, np.int64)
    # row 0: people, shared by all metrics; row 1: people where this metric has gaps; row 2: the metric
    centred = np.empty((3, size))
    rank, level = np.empty((3, size), np.int32), np.empty((3, size), np.int32)
    tree = np.empty(min(size, MANY_LEVELS) + 1, np.int32)
    keys, carried, spare = np.empty((2, size), np.uint64), np.empty(size, np.int32), np.empty(size, np.int32)
    for g in range(n_groups):
        cells = 0
        tied, classes = np.zeros(3, np.int64), np.zeros(3, np.int64)
        for k in range(n_metrics):
            if k == 0 or z.shape[0] > 1:
                cells = _present(z[min(k, z.shape[0] - 1), g], human, position)
                classes[0] = _centre(human[:cells], want_r, centred[0])
                if want_ranks:
                    tied[0], classes[0] = _rank(human[:cells], rank[0], level[0], keys, carried, spare)
            m = _shared_cells(x[k, g], human, position, cells, metric, people)
            n[k, g] = m
            if m < 2:
                continue
            h = int(m < cells)
            if h == 1:
                classes[1] = _centre(people[:m], want_r, centred[1])
                if want_ranks:
                    tied[1], classes[1] = _rank(people[:m], rank[1], level[1], keys, carried, spare)
            classes[2] = _centre(metric[:m], want_r, centred[2])
            concordant, both, cosine = np.int64(0), np.int64(0), np.nan
            if want_ranks and m <= SMALL:
                tied[2], classes[2] = _rank(metric[:m], rank[2], level[2], keys, carried, spare)
                if want_rho:
                    cosine = _cosine(rank[2, :m], rank[h, :m])
                if want_pairs:
                    concordant, both = _count_small(metric[:m], people[:m])
            elif want_ranks:
                for i in range(m):
                    carried[i] = level[h, i]
                radix_sort(metric[:m], carried, keys, spare)
                tied[2], classes[2], cosine = _walk(keys[0, :m], carried, rank[h])
                if want_pairs and classes[h] <= MANY_LEVELS:
                    concordant, both = _count_by_tree(keys[0, :m], carried, classes[h], tree, spare)
                elif want_pairs:
                    discordant, both = _count_by_merging(keys[0, :m], carried[:m], spare)
                    concordant = m * (m - 1) // 2 - discordant - tied[2] - tied[h] + both
            constant = METRIC_CONSTANT * (classes[2] == 1) + HUMAN_CONSTANT * (classes[h] == 1)
            state[k, g] = min(constant, BOTH_CONSTANT)
            if constant == DEFINED and want_r:
                r[k, g] = _cosine(centred[2, :m], centred[h, :m])
                if m == 2:
                    r[k, g] = round(r[k, g])
            if constant == DEFINED and want_rho:
                rho[k, g] = cosine
            if want_pairs:
                pairs[0, k, g] = concordant
                pairs[1, k, g] = m * (m - 1) // 2 - concordant - tied[2] - tied[h] + both
                pairs[2, k, g] = tied[h] - both
                pairs[3, k, g] = tied[2] - both
                pairs[4, k, g] = both
                pairs[5, k, g] = min(classes[2], classes[h])


@njit(cache=True, nogil=True)
def _present(z: Any, human: Any, position: Any) -> Any:
    cells = 0
    for i in range(len(z)):
        human[cells] = z[i]
        position[cells] = i
        cells += np.isfinite(z[i])
    return cells


@njit(cache=True, nogil=True)
def _shared_cells(x: Any, human: Any, position: Any, cells: Any, metric: Any, people: Any) -> Any:
    m = 0
    for i in range(cells):
        value = x[position[i]]
        metric[m] = value
        people[m] = human[i]
        m += np.isfinite(value)
    return m


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _centre(v: Any, wanted: Any, out: Any) -> Any:
    """1 if all values are equal, else 2; and, if wanted, their deviations from the mean, centred twice.

    Extreme values are scaled by a power of two, which is exact, so that no square overflows or vanishes.
    """
    n = len(v)
    if n == 0:
        return 0
    low, high = v[0], v[0]
    for i in range(n):
        low = min(low, v[i])
        high = max(high, v[i])
    if low == high or not wanted:
        return 1 + (low < high)
    scale = 1.0
    if max(-low, high) > 1e100:
        scale = 2.0**-700
    elif max(-low, high) < 1e-100:
        scale = 2.0**700
    total = 0.0
    for i in range(n):
        out[i] = v[i] * scale
        total += out[i]
    mean = total / n
    rest = 0.0
    for i in range(n):
        out[i] -= mean
        rest += out[i]
    rest /= n
    for i in range(n):
        out[i] -= rest
    return 2


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _cosine(a: Any, b: Any) -> Any:
    ab, aa, bb = 0.0, 0.0, 0.0
    for i in range(len(a)):
        p, q = float(a[i]), float(b[i])
        ab += p * q
        aa += p * p
        bb += q * q
    if aa == 0.0 or bb == 0.0:
        return np.nan
    return min(1.0, max(-1.0, ab / np.sqrt(aa) / np.sqrt(bb)))


@njit(cache=True, nogil=True)
def _rank(v: Any, rank: Any, level: Any, keys: Any, order: Any, spare: Any) -> Any:
    """Tied pairs and distinct values; ranks are twice the average rank, centred: whole numbers.

    Small: rank[i] of point i. Big: level[i] of point i, counted up from 0, and rank[l] of level l.
    """
    n = len(v)
    tied, classes = np.int64(0), np.int64(0)
    if n <= SMALL:
        shares = 0.0
        for i in range(n):
            less, equal = np.int64(0), np.int64(0)
            for j in range(n):
                less += v[j] < v[i]
                equal += v[j] == v[i]
            rank[i] = 2 * less + equal - n
            tied += equal - 1
            shares += 1.0 / equal
        return tied // 2, np.int64(round(shares))
    for i in range(n):
        order[i] = i
    radix_sort(v, order, keys, spare)
    start = 0
    while start < n:
        end = _run_end(keys[0], start, n)
        for i in range(start, end):
            level[order[i]] = classes
        rank[classes] = start + end - n
        tied += (end - start) * (end - start - 1) // 2
        classes += 1
        start = end
    return tied, classes


@njit(cache=True, nogil=True)
def _run_end(keys: Any, start: Any, n: Any) -> Any:
    end = start + 1
    while end < n and keys[end] == keys[start]:
        end += 1
    return end


@njit(cache=True, nogil=True)
def _count_small(x: Any, z: Any) -> Any:
    """Concordant pairs and pairs tied by both."""
    concordant, both = np.int64(0), np.int64(0)
    for i in range(len(x)):
        for j in range(len(x)):
            concordant += (x[j] < x[i]) & (z[j] < z[i])
            both += (x[j] == x[i]) & (z[j] == z[i])
    return concordant, (both - len(x)) // 2


@njit(cache=True, nogil=True)
def _walk(keys: Any, level: Any, rank: Any) -> Any:
    """Walk up the sorted metric: its tied pairs, its distinct values, and Spearman's rho."""
    n = len(keys)
    tied, classes = np.int64(0), np.int64(0)
    xz, xx, zz = 0.0, 0.0, 0.0
    start = 0
    while start < n:
        end = _run_end(keys, start, n)
        mine = float(start + end - n)
        for i in range(start, end):
            other = float(rank[level[i]])
            xz += mine * other
            zz += other * other
        xx += mine * mine * (end - start)
        tied += (end - start) * (end - start - 1) // 2
        classes += 1
        start = end
    if xx == 0.0 or zz == 0.0:
        return tied, classes, np.nan
    return tied, classes, min(1.0, max(-1.0, xz / np.sqrt(xx) / np.sqrt(zz)))


@njit(cache=True, nogil=True)
def _count_by_tree(keys: Any, level: Any, classes: Any, tree: Any, same: Any) -> Any:
    """Concordant pairs and pairs tied by both, from human levels in the order of the metric.

    A run that the metric ties is first looked up and then entered, so it needs no sorting of its own.
    """
    n = len(keys)
    concordant, both = np.int64(0), np.int64(0)
    tree[: classes + 1] = 0
    same[:classes] = 0
    start = 0
    while start < n:
        end = _run_end(keys, start, n)
        for i in range(start, end):
            at = level[i]
            both += same[at]
            same[at] += 1
            while at > 0:
                concordant += tree[at]
                at &= at - 1
        for i in range(start, end):
            at = level[i]
            same[at] = 0
            at += 1
            while at <= classes:
                tree[at] += 1
                at += at & -at
        start = end
    return concordant, both


@njit(cache=True, nogil=True)
def _count_by_merging(keys: Any, level: Any, spare: Any) -> Any:
    """Discordant pairs and pairs tied by both: what is left to sort once each tied run is in order (Knight 1966)."""
    n = len(keys)
    both = np.int64(0)
    start = 0
    while start < n:
        end = _run_end(keys, start, n)
        if end - start > 1:
            merge_sort(level[start:end], spare)
            first = start
            for i in range(start + 1, end + 1):
                if i == end or level[i] != level[first]:
                    both += (i - first) * (i - first - 1) // 2
                    first = i
        start = end
    return merge_sort(level, spare), both
