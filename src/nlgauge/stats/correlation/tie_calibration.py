"""Tie calibration (Deutsch, Foster and Freitag 2023): scores at most ε apart are tied, with the best ε.

When ε exceeds the metric difference of a pair, the pair becomes a metric tie. The mean accuracy over groups then gains
1/pairs(group) if the humans tie the pair too, loses as much if the pair was concordant, and does not change otherwise.
The best ε is therefore where the running sum over pairs, in order of their difference, is largest. To find it without
storing 10⁸ pairs, differences are counted in buckets. A bucket that cannot reach the best sum, even if all its gains
come before its losses, is dropped; the others are counted in finer buckets, or sorted once they contain few pairs. The
result is the exact maximum: weights are whole numbers, and buckets are ranges of the bit pattern of the difference,
which has the same order as the number.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlgauge.kernels import ties
from nlgauge.stats.correlation.panel_kernels import group_stats
from nlgauge.types import Array, Ints

BUCKET_BITS = 16
SORTABLE = 1 << 15  # maximum number of pairs sorted at once
JOIN = 64  # pairs per point of ranges that are scanned together, because each scan costs n log n
INFINITY_BITS = 0x7FF0000000000000


@dataclass(frozen=True)
class Calibration:
    """Best ε per metric, and at it the accuracy with ties of each group (NaN for a group without pairs)."""

    epsilon: Array
    accuracy: Array


def calibrate(x: Array, z: Array) -> Calibration:
    """Calibrate the ties of metrics `x` (K×G×S) against ratings `z` (1×G×S or K×G×S).

    Among equally good ε the smallest is used; 0 keeps the metric's own ties.

    >>> c = calibrate(np.array([[[1.0, 1.1, 3.0]]]), np.array([[[2.0, 2.0, 5.0]]]))
    >>> round(float(c.epsilon[0]), 2), float(c.accuracy[0, 0])
    (0.1, 1.0)
    """
    return _calibrated(x, z, None)


def cross_fit(x: Array, z: Array) -> Array:
    """Compute the accuracy with ties of each group (K×G), with the ε that is best on the other half of the groups.

    Cross-fitting does not favor metrics whose scores allow a better fit. The halves are formed from groups ordered by
    their values, so they do not depend on the order of systems or inputs. NaN for fewer than 4 groups.
    """
    accuracy = np.full(x.shape[:2], np.nan)
    if x.shape[1] < 4:
        return accuracy
    for k in range(len(x)):
        scores, human = x[k : k + 1], z[min(k, len(z) - 1)][None]
        within = np.lexsort((scores[0], human[0]), axis=1)
        values = np.concatenate([np.take_along_axis(v[0], within, axis=1) for v in (human, scores)], axis=1)
        odd = np.empty(x.shape[1], bool)
        odd[np.lexsort(values.T[::-1])] = np.arange(x.shape[1]) % 2 == 1
        for part in (odd, ~odd):
            epsilon = calibrate(scores[:, ~part], human[:, ~part]).epsilon
            accuracy[k, part] = _calibrated(scores[:, part], human[:, part], epsilon).accuracy[0]
    return accuracy


def _calibrated(x: Array, z: Array, given: Array | None) -> Calibration:
    """Compute the accuracy with ties at a given ε per metric, or at the best one."""
    x, z = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(z, np.float64)
    stats = group_stats(x, z, pearson=False, spearman=False, counts=True)
    pairs = stats.n * (stats.n - 1) // 2
    right = stats.concordant + stats.tied_both
    epsilon = np.zeros(len(x)) if given is None else given
    for k in range(len(x)):
        if pairs[k].any():
            xs, zs, start = ties.sorted_points(x[k], z[min(k, len(z) - 1)])
            points = _Points(xs, zs, start, _weights(pairs[k]))
            if given is None:
                epsilon[k] = _best_epsilon(points)
            if epsilon[k] > 0:
                right[k] += ties.gained(points.x, points.z, points.start, epsilon[k])
    accuracy = np.full(right.shape, np.nan)
    np.divide(right, pairs, out=accuracy, where=pairs > 0)
    return Calibration(epsilon, accuracy)


@dataclass(frozen=True)
class _Points:
    """All points of one metric, group after group, in order of the metric within the group."""

    x: Array
    z: Array
    start: Ints  # of each group, and the end
    weight: Ints  # of one pair of each group


def _weights(pairs: Ints) -> Ints:
    """Return whole numbers proportional to 1/pairs: exact if a common multiple fits in 64 bits, else rounded."""
    sizes = {int(p) for p in pairs if p > 0}
    common = math.lcm(*sizes)
    room = (1 << 61) // len(pairs)
    common = min(common, room)
    return np.array([(2 * common + p) // (2 * p) if p > 0 else 0 for p in map(int, pairs)], np.int64)


def _best_epsilon(points: _Points) -> float:
    """Search ranges of differences best first; each range has the sum before it and a bound on the sums within it."""
    best, best_bits = 0, 0  # ε = 0 gains 0; bits −1: the sum is reached at an ε that is not yet determined
    # a range: (−bound, first bits, last bits, sum before)
    open_ranges: list[tuple[int, int, int, int]] = [(-(1 << 62), 1, INFINITY_BITS, 0)]
    while open_ranges:
        bound, low, high, before = heapq.heappop(open_ranges)
        if -bound < best or (-bound == best and 0 <= best_bits <= low):
            continue
        result = _examine(points, low, high, before, best)
        for value, bits in result.reached:
            if value > best or (value == best and bits >= 0 and not 0 <= best_bits <= bits):
                best, best_bits = value, bits
        for child in result.ranges:
            heapq.heappush(open_ranges, child)
    return float(np.array(best_bits, np.int64).view(np.float64))


@dataclass(frozen=True)
class _Found:
    reached: list[tuple[int, int]]  # (sum, bits of ε; −1 if only the bucket is known)
    ranges: list[tuple[int, int, int, int]]


def _examine(points: _Points, low: int, high: int, before: int, best: int) -> _Found:
    edges = np.array([low, high], np.int64).view(np.float64)
    count, edges[0], edges[1] = ties.count_range(points.x, points.start, edges[0], edges[1])
    if count == 0:
        return _Found([], [])
    if count <= SORTABLE:
        return _Found([_sorted_maximum(points, edges, count, before)], [])
    low, high = (int(b) for b in edges.view(np.int64))
    bits = min(BUCKET_BITS, max(3, count.bit_length() - 9))  # more buckets than pairs are useless
    shift = max(0, (high - low).bit_length() - bits)
    buckets = np.zeros((((high - low) >> shift) + 1, 4), np.int64)
    ties.fill_buckets(points.x, points.z, points.start, points.weight, edges[0], edges[1], shift, buckets)
    gain, loss = buckets[:, 1], buckets[:, 2]
    after = before + np.cumsum(gain - loss)
    bound = after + loss
    if shift == 0:  # each bucket is one difference
        top = int(np.argmax(after))
        return _Found([(int(after[top]), low + top)], [])
    top_value = int(after.max())
    keep = np.flatnonzero((bound >= max(best, top_value)) & (gain > 0))
    most_pairs = np.cumsum(buckets.sum(axis=1)) // points.weight[points.weight > 0].min()
    runs = _join(keep, most_pairs, min(JOIN * len(points.x), count // 8))
    ranges = [
        (
            -int(bound[first : last + 1].max()),
            low + (first << shift),
            min(high, low + ((last + 1) << shift) - 1),
            int(after[first] - gain[first] + loss[first]),
        )
        for first, last in runs
    ]
    return _Found([(top_value, -1)], ranges)


def _join(keep: NDArray[np.intp], below: Ints, most: int) -> list[tuple[int, int]]:
    """Merge adjacent buckets into one range while they contain few pairs."""
    runs: list[tuple[int, int]] = []
    for bucket in keep.tolist():
        if runs and below[bucket] - (below[runs[-1][0] - 1] if runs[-1][0] else 0) <= most:
            runs[-1] = (runs[-1][0], bucket)
        else:
            runs.append((bucket, bucket))
    return runs


def _sorted_maximum(points: _Points, edges: Array, count: int, before: int) -> tuple[int, int]:
    difference, gain = np.empty(count), np.empty(count, np.int64)
    count = ties.collect(points.x, points.z, points.start, points.weight, edges[0], edges[1], difference, gain)
    if count == 0:
        return before, -1
    order = np.argsort(difference[:count], kind="stable")
    ordered = difference[:count][order]
    total = before + np.cumsum(gain[:count][order])
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # equal differences are tied together
    top = last[np.argmax(total[last])]
    return int(total[top]), int(ordered[top : top + 1].view(np.int64)[0])
