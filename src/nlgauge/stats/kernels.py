"""One pass over all metrics of a panel: Pearson, Spearman and the pair counts of every group.

A cell that is not finite in the metric or in the human scores is missing and left out for that metric.
Small groups (16 systems) compare all pairs without branches; big ones (1,000 inputs, or all cells) are
sorted by radix and counted with a Fenwick tree over the rating levels, so the cost is n log(levels) and
few levels cost less. The human side of a group is prepared once and shared by all metrics that miss none
of its cells. Pair counts are exact. Each (metric, group) is computed by itself, so the order of work
changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 48  # up to here n² comparisons are cheaper than a sort
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
    ranks = want_rho or want_pairs
    human, people, metric = np.empty(size), np.empty(size), np.empty(size)
    position = np.empty(size, np.int64)
    # row 0: people, shared by all metrics; row 1: people where this metric has gaps; row 2: the metric
    centred, rank = np.empty((3, size)), np.empty((3, size))
    level, order = np.empty((3, size), np.int32), np.empty((3, size), np.int32)
    keys, spare, tree = np.empty((2, size), np.uint64), np.empty(size, np.int32), np.empty(size + 1, np.int32)
    for g in range(n_groups):
        cells = 0
        human_tied, human_classes = np.int64(0), np.int64(0)
        for k in range(n_metrics):
            if k == 0 or z.shape[0] > 1:
                cells = _present(z[min(k, z.shape[0] - 1), g], human, position)
                human_tied, human_classes = _side(
                    human[:cells], want_r, ranks, centred[0], rank[0], level[0], order[0], keys, spare
                )
            m = _shared_cells(x[k, g], human, position, cells, metric, people)
            n[k, g] = m
            if m < 2:
                continue
            h, tied, classes = 0, human_tied, human_classes
            if m < cells:
                h = 1
                tied, classes = _side(
                    people[:m], want_r, ranks, centred[1], rank[1], level[1], order[1], keys, spare
                )
            mine, mine_classes = _side(
                metric[:m], want_r, ranks, centred[2], rank[2], level[2], order[2], keys, spare
            )
            constant = METRIC_CONSTANT * (mine_classes == 1) + HUMAN_CONSTANT * (classes == 1)
            state[k, g] = min(constant, BOTH_CONSTANT)
            if constant == DEFINED and want_r:
                r[k, g] = _cosine(centred[2, :m], centred[h, :m])
                if m == 2:
                    r[k, g] = round(r[k, g])
            if constant == DEFINED and want_rho:
                rho[k, g] = _cosine(rank[2, :m], rank[h, :m])
            if want_pairs:
                if m <= SMALL:
                    concordant, both = _count_small(metric[:m], people[:m])
                else:
                    concordant, both = _count_big(order[2, :m], level[2], level[h], classes, tree, spare)
                pairs[0, k, g] = concordant
                pairs[1, k, g] = m * (m - 1) // 2 - concordant - mine - tied + both
                pairs[2, k, g] = tied - both
                pairs[3, k, g] = mine - both
                pairs[4, k, g] = both
                pairs[5, k, g] = min(mine_classes, classes)


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


@njit(cache=True, nogil=True)
def _side(
    v: Any, want_r: Any, want_ranks: Any,
    centred: Any, rank: Any, level: Any, order: Any, keys: Any, spare: Any,
) -> Any:  # fmt: skip
    """What one side of a correlation gives alone: (tied pairs, distinct values), and fills the arrays."""
    if len(v) < 2:
        return np.int64(0), np.int64(len(v))
    low, high = v[0], v[0]
    for value in v:
        low = min(low, value)
        high = max(high, value)
    if want_r and low < high:
        _centre(v, max(-low, high), centred)
    if not want_ranks:
        return np.int64(0), np.int64(1 + (low < high))
    if len(v) <= SMALL:
        return _rank_small(v, rank)
    radix_argsort(v, order, keys, spare)
    return _rank_big(v, order, rank, level)


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _centre(v: Any, size: Any, out: Any) -> None:
    """Deviations from the mean, centred twice; extreme values are scaled by a power of two: that is exact."""
    n = len(v)
    scale = 1.0
    if size > 1e100:
        scale = 2.0**-700
    elif size < 1e-100:
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _cosine(a: Any, b: Any) -> Any:
    ab, aa, bb = 0.0, 0.0, 0.0
    for i in range(len(a)):
        ab += a[i] * b[i]
        aa += a[i] * a[i]
        bb += b[i] * b[i]
    return min(1.0, max(-1.0, ab / np.sqrt(aa) / np.sqrt(bb)))


@njit(cache=True, nogil=True)
def _rank_small(v: Any, rank: Any) -> Any:
    n = len(v)
    tied, shares = np.int64(0), 0.0
    for i in range(n):
        less, equal = np.int64(0), np.int64(0)
        for j in range(n):
            less += v[j] < v[i]
            equal += v[j] == v[i]
        rank[i] = 2 * less + equal - n  # twice the average rank, centred: a whole number
        tied += equal - 1
        shares += 1.0 / equal
    return tied // 2, np.int64(round(shares))


@njit(cache=True, nogil=True)
def _count_small(x: Any, z: Any) -> Any:
    concordant, both = np.int64(0), np.int64(0)
    for i in range(len(x)):
        for j in range(len(x)):
            concordant += (x[j] < x[i]) & (z[j] < z[i])
            both += (x[j] == x[i]) & (z[j] == z[i])
    return concordant, (both - len(x)) // 2


@njit(cache=True, nogil=True)
def radix_argsort(v: Any, order: Any, keys: Any, spare: Any) -> None:
    """Stable ascending order of finite v, eight bits at a time; digits that all values share are skipped."""
    n = len(v)
    start = np.zeros((8, 256), np.int64)
    a, b = keys[0], keys[1]
    plain = a.view(np.float64)
    for i in range(n):
        plain[i] = v[i] + 0.0  # -0.0 becomes 0.0
    sign = np.uint64(1) << np.uint64(63)
    byte, eight = np.uint64(255), np.uint64(8)
    for i in range(n):
        key = a[i]
        # order of bits = order of values: flip all bits of negative numbers, the sign bit of the others
        key = ~key if key & sign else key | sign
        a[i] = key
        order[i] = i
        for d in range(8):
            start[d, key & byte] += 1
            key >>= eight
    for d in range(8):
        shift = np.uint64(8 * d)
        if start[d, (a[0] >> shift) & byte] == n:
            continue
        before = 0
        for c in range(256):
            before, start[d, c] = before + start[d, c], before
        for i in range(n):
            digit = (a[i] >> shift) & byte
            to = start[d, digit]
            start[d, digit] = to + 1
            b[to] = a[i]
            spare[to] = order[i]
        a, b = b, a
        order[:n] = spare[:n]


@njit(cache=True, nogil=True)
def _rank_big(v: Any, order: Any, rank: Any, level: Any) -> Any:
    n = len(v)
    tied, classes = np.int64(0), np.int64(0)
    start = 0
    while start < n:
        end = start + 1
        while end < n and v[order[end]] == v[order[start]]:
            end += 1
        for i in range(start, end):
            rank[order[i]] = start + end - n
            level[order[i]] = classes
        tied += (end - start) * (end - start - 1) // 2
        classes += 1
        start = end
    return tied, classes


@njit(cache=True, nogil=True)
def _count_big(order: Any, x_level: Any, z_level: Any, classes: Any, tree: Any, same: Any) -> Any:
    """Walk up the metric; a Fenwick tree over rating levels tells how many lower points people rated lower.

    A run of points tied by the metric is first looked up and then entered, so no second sort is needed.
    """
    n = len(order)
    concordant, both = np.int64(0), np.int64(0)
    tree[: classes + 1] = 0
    same[:classes] = 0
    start = 0
    while start < n:
        end = start
        while end < n and x_level[order[end]] == x_level[order[start]]:
            level = z_level[order[end]]
            both += same[level]
            same[level] += 1
            while level > 0:
                concordant += tree[level]
                level &= level - 1
            end += 1
        for i in range(start, end):
            level = z_level[order[i]]
            same[level] = 0
            level += 1
            while level <= classes:
                tree[level] += 1
                level += level & -level
        start = end
    return concordant, both
