"""Agreement of two annotators on error spans: precision, recall and F over characters, by severity, with partial
credit.

All are ratios of sums over texts (micro averages), so a text without any mark adds nothing, and whole inputs can be
left out in turn for an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nlgauge.stats.resampling.cluster_jackknife import jackknifed
from nlgauge.stats.resampling.jackknife import too_few
from nlgauge.types import Array, Ints

PARTIAL = 0.5  # credit for a character marked by both with different severities (WMT23 to WMT25)
LOGIT_MARGIN = 1e-6  # distance from 0 and 1, where the logit is infinite


class SpanMark(NamedTuple):
    """Characters from `start` to before `end`, and the number of the severity."""

    start: int
    end: int
    severity: int


def letter_counts(marks: Sequence[SpanMark], length: int, severities: int) -> Ints:
    """Count how often each character is marked with each severity (severities × characters).

    >>> letter_counts([SpanMark(0, 2, 0), SpanMark(1, 3, 1)], 4, 2).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0]]
    """
    counts = np.zeros((severities, length), np.int64)
    for start, end, severity in marks:
        counts[severity, start:end] += 1
    return counts


def overlap(first: Ints, second: Ints) -> Array:
    """Count characters (shared, marked by the first, by the second): one row for any mark, then one per severity."""
    one = np.vstack([first.any(axis=0, keepdims=True), first > 0])
    two = np.vstack([second.any(axis=0, keepdims=True), second > 0])
    return np.stack([(one & two).sum(axis=1), one.sum(axis=1), two.sum(axis=1)], axis=1).astype(np.float64)


def credited(first: Ints, second: Ints) -> Array:
    """Return (credit, marks of the first, of the second), where a character counts once per mark, as in the WMT25 task.

    A character has credit 1 if the severities agree, and 0.5 if both annotators marked it with different severities.

    >>> credited(np.array([[1, 1, 0], [0, 0, 0]]), np.array([[1, 0, 0], [0, 1, 1]])).tolist()
    [1.5, 2.0, 3.0]
    """
    alike = np.minimum(first, second).sum(axis=0)
    left = np.minimum((first - second).clip(0).sum(axis=0), (second - first).clip(0).sum(axis=0))
    return np.array([(alike + PARTIAL * left).sum(), first.sum(), second.sum()], np.float64)


@dataclass(frozen=True)
class Overlap:
    """F with its interval, precision (of the first annotator's marks) and recall (of the second's); NaN has its
    reason.
    """

    value: float
    low: float
    high: float
    precision: float
    recall: float
    reason: str | None = None


def overlap_of(sums: Array, clusters: Ints, level: float = 0.95, word: str = "inputs") -> Overlap:
    """Compute the overlap from rows (shared, first, second), one per text; `clusters` are left out whole in turn.

    The interval is Student's t on the logit of F. Only clusters that contain a mark are counted.

    >>> result = overlap_of(np.array([[1.0, 2.0, 4.0], [2.0, 2.0, 2.0]]), np.array([0, 1]))
    >>> result.value, result.precision, result.recall, result.reason
    (0.6, 0.75, 0.5, 'an interval needs at least 10 inputs with a mark; here are 2')
    """
    shared, first, second = sums.sum(axis=0) if len(sums) else np.zeros(3)
    precision = float(shared / first) if first else np.nan
    recall = float(shared / second) if second else np.nan
    if not first + second:
        return Overlap(np.nan, np.nan, np.nan, np.nan, np.nan, "neither annotator marked anything")
    value = float(2 * shared / (first + second))
    marked = sums[:, 1:].any(axis=1)
    rows, codes = sums[marked], clusters[marked]
    why = too_few(0, len(np.unique(codes)), "inputs", word=f"{word} with a mark")
    if why is None and value in (0.0, 1.0):
        why = f"no interval: F is {value:g} in every part"
    if why is not None:
        return Overlap(value, np.nan, np.nan, precision, recall, why)
    result = jackknifed(rows, codes, _logit_f)
    centre, half = float(result.value[0]), float(result.half(level)[0])
    low, high = (1 / (1 + np.exp(-end)) for end in (centre - half, centre + half))
    return Overlap(value, float(low), float(high), precision, recall)


def _logit_f(sums: Array) -> Array:
    share = np.clip(2 * sums[..., :1] / (sums[..., 1:2] + sums[..., 2:3]), LOGIT_MARGIN, 1 - LOGIT_MARGIN)
    return np.log(share / (1 - share))
