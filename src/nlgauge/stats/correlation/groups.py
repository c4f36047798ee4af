"""The four groupings: which vectors of a systems × inputs table are correlated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.types import Array, Ints, Mask

if TYPE_CHECKING:
    from nlgauge.stats.correlation.panel_kernels import GroupStats
    from nlgauge.stats.correlation.tie_calibration import Calibration

GROUPINGS = {
    "global": (
        'over all outputs in one vector (also called dataset level or no grouping; mt-metrics-eval average_by="none")'
    ),
    "input": (
        "over the systems of each input, averaged over inputs "
        '(also called segment level or summary level; mt-metrics-eval average_by="item")'
    ),
    "item": 'over the inputs of each system, averaged over systems (mt-metrics-eval average_by="sys")',
    "system": "over the systems' mean scores (also called system level)",
}


@dataclass(frozen=True)
class Groups:
    """The vectors of one grouping: metrics `x` (K×G×S) and ratings `z` (1×G×S or K×G×S), NaN where missing.

    `metrics` and `human` are the original tables; `cells` is the number of shared outputs of each group, or None where
    that equals the number of points.
    """

    grouping: str
    metrics: Array
    human: Array
    x: Array
    z: Array
    cells: Ints | None = None

    def stats(self, *, pearson: bool, spearman: bool, counts: bool) -> GroupStats:
        """Compute the requested statistics in one pass over all metrics and groups."""
        # Imported late: the compiled kernels, which naming a measure does not need.
        from nlgauge.stats.correlation.panel_kernels import group_stats

        return group_stats(self.x, self.z, pearson=pearson, spearman=spearman, counts=counts)

    @cached_property
    def calibration(self) -> Calibration:
        """Return the tie calibration, computed once for all coefficients that use it."""
        # Imported late: the compiled kernels, which naming a measure does not need.
        from nlgauge.stats.correlation.tie_calibration import calibrate

        return calibrate(self.x, self.z)


def cut(metrics: Array, human: Array, grouping: str) -> Groups:
    """Arrange metrics (K×N×M) and human ratings (N×M) as the vectors of one grouping."""
    k, n, m = metrics.shape
    if grouping == "global":
        return Groups(grouping, metrics, human, metrics.reshape(k, 1, n * m), human.reshape(1, 1, n * m))
    if grouping == "item":
        return Groups(grouping, metrics, human, metrics, human[None])
    if grouping == "input":
        return Groups(grouping, metrics, human, metrics.transpose(0, 2, 1), human.T[None])
    return _system_means(metrics, human)


def _system_means(metrics: Array, human: Array) -> Groups:
    """Compute means over the shared outputs; means that are equal in exact arithmetic are equal."""
    shared = np.isfinite(metrics) & np.isfinite(human)
    per_system = shared.sum(axis=2)
    x, size = _mean(metrics, shared, per_system)
    alike = 1 if (shared == shared[:1]).all() else len(metrics)  # all metrics have the same missing outputs, or none
    z, human_size = _mean(np.broadcast_to(human, (alike, *human.shape)), shared[:alike], per_system[:alike])
    means = snap(np.concatenate([x, z]), axis=1, scale=np.concatenate([size, human_size]))[:, None]
    cells = per_system.sum(axis=1, keepdims=True)
    return Groups("system", metrics, human, means[: len(x)], means[len(x) :], cells)


def _mean(values: Array, there: Mask, count: Ints) -> tuple[Array, Array]:
    """Compute means per system, and the size of the largest value in each."""
    selected = values if there.all() else np.where(there, values, 0.0)
    size = largest(selected, axis=2)
    # sums of values near the largest float would overflow; a power of two changes no digit (of the largest: each table
    # has a scale of its own, or a tiny metric next to a huge one would lose its digits)
    scale = np.where(size.max(axis=1, initial=0.0, keepdims=True) > 1e280, 2.0**-64, 1.0)
    with np.errstate(invalid="ignore"):
        mean: Array = (selected * scale[:, :, None] if (scale < 1.0).any() else selected).sum(axis=2) / count / scale
    return mean, size
