"""Gamma (Mathet, Widlöcher and Métivier 2015): agreement of two annotators on the position and category of spans.

The units of both annotators are aligned so that the disorder is smallest. A pair of units costs d = d_place + d_kind,
with d_place = ((|Δstart| + |Δend|) / (length + length))² and d_kind = 0 or 1; a unit without a partner costs 1 (α = β =
Δ∅ = 1). The disorder is the sum over units divided by the mean number of units of an annotator. Gamma is 1 minus the
observed disorder over the expected one, where the expectation is over annotations whose units are shifted around the
text by a random distance, each of a randomly chosen annotator.
"""

from __future__ import annotations

import numpy as np

from nlgauge.types import Array

MAX_UNITS = 1000  # units per annotator: the alignment compares all pairs of units


def disorder(first: Array, second: Array) -> float:
    """Compute the smallest disorder of two annotators' units (rows of start, end, kind); NaN without units.

    >>> round(disorder(np.array([[1, 5, 0], [8, 12, 1]]), np.array([[2, 5, 0], [9, 12, 0]])), 4)
    0.5204
    """
    from scipy.optimize import linear_sum_assignment

    count = len(first) + len(second)
    if not count:
        return float("nan")
    total = float(count)
    if len(first) and len(second):
        # two unaligned units cost 2, so a pair is aligned if it costs less
        saved = np.minimum(_distance(first, second) - 2.0, 0.0)
        total += float(saved[linear_sum_assignment(saved)].sum())
    return total / (count / 2)


def _distance(first: Array, second: Array) -> Array:
    apart = np.abs(first[:, None, :2] - second[None, :, :2]).sum(axis=2)
    lengths = (first[:, 1] - first[:, 0])[:, None] + (second[:, 1] - second[:, 0])[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.where(apart == 0, 0.0, apart / lengths) ** 2
    return np.asarray(place + (first[:, None, 2] != second[None, :, 2]))


def gamma(first: Array, second: Array, length: int, rng: np.random.Generator, draws: int = 30) -> float:
    """Compute gamma of two annotators' units on a text of `length` characters; NaN if neither marked anything."""
    observed = disorder(first, second)
    if np.isnan(observed):
        return observed
    units = np.concatenate([first, second])
    least = float((units[:, 1] - units[:, 0]).mean()) / 2  # between the two moves, or units may meet again
    expected: list[float] = []
    while len(expected) < draws:
        sides = [(first, second)[k] for k in rng.integers(0, 2, 2)]
        move = rng.uniform(0, length)
        other = (move + rng.uniform(min(least, length / 2), max(length - least, length / 2))) % length
        drawn = disorder(_moved(sides[0], move, length), _moved(sides[1], other, length))
        if not np.isnan(drawn):  # both sides were drawn from the annotator who marked nothing
            expected.append(drawn)
    return float(1 - observed / np.mean(expected))


def _moved(units: Array, by: float, length: int) -> Array:
    """Shift the units; those that pass the end of the text continue at its beginning."""
    start = (units[:, 0] + by) % length
    return np.stack([start, start + units[:, 1] - units[:, 0], units[:, 2]], axis=1)
