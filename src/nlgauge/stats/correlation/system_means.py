"""System level under many draws: the systems' means, and so their order, change with every draw.

There are few systems, so all pairs are compared. Means that are equal in exact arithmetic can differ in the last bit;
they are first made equal by the rule of `ties.snap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nlgauge.kernels.resample_data import compare_points, sum_cells
from nlgauge.kernels.shared import NEAR, STRIP
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.types import Array, Mask

if TYPE_CHECKING:
    from nlgauge.stats.correlation.evaluate_groups import Slots
    from nlgauge.stats.correlation.resampled_groups import Draws
    from nlgauge.stats.resampling.draws import Times

MIN_SYSTEMS = 3  # a correlation of two points is always ±1 (as in measure.evaluate)


def sums_under(values: Array, groups: int, draws: Draws) -> Array:
    """Compute weighted sums of rows of values (K × outputs) over equal-sized groups of outputs: K × groups × draws."""
    sums = np.zeros((len(draws.rows), len(values), groups, STRIP))
    to = np.repeat(np.arange(groups, dtype=np.int32), values.shape[1] // max(groups, 1))
    sum_cells(values, to, draws, sums)
    return sums.transpose(1, 2, 0, 3).reshape(len(values), groups, -1)


def weighted_means(x: Array, z: Array, valid: Mask, systems: int, draws: Draws) -> tuple[Array, Array, Array]:
    """Compute the systems' mean scores, mean ratings and weights under each draw: systems × draws each.

    `draws` has the weights of the systems as rows and those of the inputs as columns.
    """
    scores = np.stack([x, np.where(valid, z, 0.0)])
    once = draws._replace(rows=np.ones_like(draws.rows[:, :1]), row=np.zeros_like(draws.row))
    n, *means = sums_under(np.stack([valid, *scores]), systems, once)
    weight = _flat(draws.rows) * (n > 0)
    results = []
    for total, values in zip(means, np.abs(scores).reshape(2, systems, draws.cols.shape[1]), strict=True):
        mean = total / np.maximum(n, 1.0)
        lanes = _near_ties(mean, values.max(axis=1, initial=0.0)[:, None])
        if lanes.any():  # rounding depends on the scores that were drawn
            drawn = _flat(draws.cols)[:, lanes] > 0
            size = np.stack([(row[:, None] * drawn).max(axis=0) for row in values])
            mean[:, lanes] = _equal(mean[:, lanes], weight[:, lanes], size)
        results.append(mean)
    return results[0], results[1], weight


def swapped_means(x: Array, valid: Mask, systems: int, scales: Array, draws: Draws) -> Array:
    """Compute both metrics' system means in every draw: 2 × systems × draws; 0 for a system without shared outputs.

    The standardized mean of a system is Σ x · unit / n minus a term of the metrics' means, which depends only on the
    share of its outputs that are swapped. Computed separately, the means keep their digits. Where all or no outputs are
    swapped, they are the means of the raw scores.
    """
    if not valid.any():
        return np.zeros((2, systems, draws.rows.shape[0] * STRIP))
    offset, unit = (scales[index::2, None] for index in (0, 1))
    there = valid.reshape(systems, -1)
    v = x * unit
    swapped, moved = sums_under(np.stack([valid, v[1] - v[0]]), systems, draws)
    n = np.maximum(there.sum(axis=1), 1)[:, None]
    used: Mask = np.asarray(there.any(axis=1))
    part = swapped / n
    none, every = swapped == 0, swapped == n
    own, raw = (values.reshape(2, systems, -1).sum(axis=2)[:, :, None] for values in (v, x))
    raw_size = largest(x.reshape(2, systems, -1), axis=2)[:, :, None]
    size = raw_size * unit[:, :, None]
    # only differences matter: nothing is added if all systems are swapped in the same way
    more = np.where(used[:, None], part - part[used.argmax()], 0.0)
    apart = (more != 0).any(axis=0)
    away, reach = float((offset * unit)[0, 0] - (offset * unit)[1, 0]), float(np.abs(offset * unit).sum())
    means = np.empty((2, systems, part.shape[1]))
    for m, sign in enumerate((1.0, -1.0)):
        own_part, other = (m, 1 - m)
        mixed = np.where(every, own[other], own[own_part] + sign * moved)
        mean = np.where(none, own[own_part], mixed) / n + sign * more * away
        sizes = np.where(none, size[own_part], np.where(every, size[other], size.max(axis=0))) + apart * reach
        for whole, shown in ((0.0, own_part), (1.0, other)):
            lanes = ~apart & (part[used.argmax()] == whole)
            mean[:, lanes], sizes[:, lanes] = raw[shown] / n, raw_size[shown]
        lanes = _near_ties(mean, sizes)
        mean[:, lanes] = _equal(mean[:, lanes], used[:, None], sizes[:, lanes])
        means[m] = mean
    return means


def _flat(strips: Times) -> Times:
    """Reshape strips × units × STRIP to units × draws."""
    return strips.transpose(1, 0, 2).reshape(strips.shape[1], -1)


def _near_ties(means: Array, size: Array) -> Mask:
    """Mark draws in which two means may differ by rounding only; `size` is the largest score in each."""
    gap = np.diff(np.sort(means.T))
    result: Mask = ((gap > 0) & (gap <= NEAR * size.max(axis=0)[:, None])).any(axis=1)
    return result


def _equal(means: Array, weight: Array | Mask, size: Array) -> Array:
    """Make means of the systems in use equal where they differ by rounding only."""
    return np.where(weight > 0, snap(np.where(weight > 0, means, np.nan), axis=0, scale=size), means)


def correlate_means(x: Array, z: Array, weight: Array, slots: Slots, values: Array) -> None:
    """Compute the coefficients of weighted points (systems × draws) under every draw: coefficients × draws."""
    for index in range(0, x.shape[1], STRIP):
        lanes = slice(index, index + STRIP)
        _correlate_strip(x[:, lanes], z[:, lanes], weight[:, lanes], slots, values[:, lanes])


def _correlate_strip(x: Array, z: Array, weight: Array, slots: Slots, values: Array) -> None:
    if not len(x):
        return
    n = weight.sum(axis=0)
    counted = weight > 0
    enough = n >= MIN_SYSTEMS
    for points in (x, z):
        enough &= np.where(counted, points, -np.inf).max(axis=0) > np.where(counted, points, np.inf).min(axis=0)
    if slots.pearson >= 0:
        values[slots.pearson] = _cosine(_centered(x, weight, n), _centered(z, weight, n), weight, enough)
    if slots.spearman < 0 and not len(slots.places):
        return
    points = np.stack([x, z])
    above = np.zeros(points.shape if slots.spearman >= 0 else (0, 0, 0))
    pairs = np.zeros((4 if len(slots.places) else 0, len(n)))
    compare_points(points, np.ascontiguousarray(weight, np.float64), above, pairs)
    if slots.spearman >= 0:  # number of systems below each one minus the number above it
        values[slots.spearman] = _cosine(above[0], above[1], weight, enough)
    if not len(slots.places):
        return
    # C − D, C + D, and the pairs untied by the metric and by the humans; a system drawn twice ties with itself
    balance, decided, metric, human = pairs
    tied_both = n * (n - 1) / 2 - metric - human + decided
    counts = np.stack([(decided + balance) / 2, (decided - balance) / 2, metric - decided, human - decided, tied_both])
    for form, place in zip(slots.forms, slots.places, strict=True):
        ratio, one, two = form @ counts
        valid = (one > 0.5) & (two > 0.5) & (n >= MIN_SYSTEMS)  # counts are whole numbers
        values[place] = np.nan
        values[place, valid] = ratio[valid] / (np.sqrt(one[valid]) * np.sqrt(two[valid]))


def _centered(points: Array, weight: Array, n: Array) -> Array:
    """Return points minus their weighted mean, scaled to about 1 by a power of two."""
    apart: Array = np.where(weight > 0, points - (weight * points).sum(axis=0) / np.maximum(n, 1.0), 0.0)
    return np.asarray(np.ldexp(apart, -np.frexp(np.abs(apart).max(axis=0, initial=0.0))[1]))


def _cosine(x: Array, z: Array, weight: Array, enough: Mask) -> Array:
    """Compute the weighted cosine per draw, NaN with too few points or a zero vector."""
    xz, xx, zz = (np.asarray((weight * one * two).sum(axis=0)) for one, two in ((x, z), (x, x), (z, z)))
    valid = enough & (xx > 0) & (zz > 0)
    result = np.full(xz.shape, np.nan)
    result[valid] = np.clip(xz[valid] / (np.sqrt(xx[valid]) * np.sqrt(zz[valid])), -1.0, 1.0)
    return result
