"""Groups prepared for resampling: the arrays that the kernels read in every draw.

A *run* is a set of tied scores; within a run, outputs are ordered by human rating, so that pairs tied by both are
adjacent. For a permutation test both metrics are merged into one sorted sequence; each draw reads that sequence and
picks one of the two scores of every output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nlgauge.kernels import resample
from nlgauge.kernels.resample_data import merge_orders
from nlgauge.kernels.shared import STRIP
from nlgauge.stats.correlation.group_layout import GroupLayout
from nlgauge.types import Array, Ids, Ints, Mask

if TYPE_CHECKING:
    from nlgauge.stats.correlation.evaluate_groups import Slots
    from nlgauge.stats.resampling.draws import Times

ONE_METRIC = np.array([0.0, 1.0, 0.0, 1.0])  # its scores are unchanged


class ResampledGroups(NamedTuple):
    """The groups of one grouping.

    Group g has the entries start[g] … start[g+1], sorted; each is the score of an output by one metric (`source` 0 or
    1). `end` is where the run of an entry ends (set at its first entry). `levels` is the number of distinct human
    ratings of each group, `code` the number of an output's rating among them. Groups of fewer than `least` outputs have
    no value.
    """

    start: Ids
    cell: Ids
    source: Ids
    end: Ids
    levels: Ids
    code: Ids
    least: int


class Draws(NamedTuple):
    """Many draws in strips of STRIP.

    An output counts rows[row] · cols[col] times within its group, and group g counts groups[g] times in the mean (the
    last row of `groups` is used for every further group). With `swap`, the two metrics exchange their scores of an
    output where rows[row] xor cols[col].
    """

    row: Ids
    col: Ids
    rows: Times
    cols: Times
    groups: Times
    swap: bool


class CellScores(NamedTuple):
    """Scores of one or two metrics (metrics × outputs) and human ratings.

    Two metrics are put on one scale by (x − mean) · unit; `scales` has mean and unit of each. Kernels get the raw
    scores and these numbers, because a standardized table loses digits that are small compared with the mean.
    """

    x: Array
    z: Array
    scales: Array


class GroupSums(NamedTuple):
    """Sums over groups and the number of groups added: metrics × coefficients × strips × STRIP each."""

    total: Array
    groups: Array

    @classmethod
    def zeros(cls, *shape: int) -> GroupSums:
        """Return zero sums of this shape, with strips and draws as the last axes."""
        return cls(np.zeros((*shape, STRIP)), np.zeros((*shape, STRIP)))

    def mean(self) -> Array:
        """Return the means over groups; NaN without groups."""
        out = np.full_like(self.total, np.nan)
        np.divide(self.total, self.groups, out=out, where=self.groups > 0)
        return out


def prepare(
    plan: GroupLayout, orders: tuple[Ids, ...], scores: CellScores, valid: Mask, near: float, least: int
) -> ResampledGroups:
    """Sort one or two metrics into the entries of each group.

    `orders` are the outputs of each group by increasing human rating and by the increasing score of each metric. Within
    a metric only equal scores are tied, because standardizing must not tie distinct scores (1e-80 and 2e-80 next to
    .5). Between metrics, standardized scores within `near` of their size are tied.
    """
    human, *metrics = [order[valid[order]] for order in orders]
    group = np.repeat(np.arange(plan.groups, dtype=np.int64), plan.size)[valid[orders[0]]]
    bounds = np.searchsorted(group, np.arange(plan.groups + 1)).astype(np.int32)
    new = _begins(group, scores.z[human])
    levels = np.bincount(group[new], minlength=plan.groups)
    code = np.zeros(len(valid), np.int32)
    code[human] = np.cumsum(new) - 1 - (np.cumsum(levels) - levels)[group]
    cell, source, end = np.zeros((3, len(group) * len(metrics)), np.int32)
    if len(metrics) == 2:
        merge_orders(tuple(metrics), bounds, tuple(scores.x), scores.scales, near, code, (cell, source, end))
    else:
        cell[:] = metrics[0]
        runs = np.flatnonzero(_begins(group, scores.x[0, cell]))
        end[runs] = np.append(runs[1:], len(cell))[: len(runs)]
    start = bounds * np.int32(len(metrics))
    return ResampledGroups(start, cell, source, end, levels.astype(np.int32), code, least)


def _begins(group: Ints, values: Array) -> Mask:
    """Mark the positions where a group, or within it a new value, begins."""
    return np.append(True, (group[1:] != group[:-1]) | (values[1:] != values[:-1]))[: len(group)]


def correlate_groups(groups: ResampledGroups, draws: Draws, scores: CellScores, slots: Slots, sums: GroupSums) -> None:
    """Add the coefficients of all groups in every draw."""
    lanes = tuple(part.reshape(-1, STRIP) for part in sums)
    resample.correlate_groups(groups, draws, scores, slots, lanes)
