"""Pearson, Spearman and pair counts of every metric and group of a panel, in one pass of the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.kernels.panel import panel
from nlgauge.types import Array, Ints

DEFINED, TOO_FEW, METRIC_CONSTANT, HUMAN_CONSTANT, BOTH_CONSTANT = range(5)  # as in kernels/panel.py


class GroupStats(NamedTuple):
    """Result of one pass, arrays of metrics × groups; quantities that were not requested are NaN or 0."""

    n: Ints
    state: NDArray[np.int8]  # DEFINED, TOO_FEW, ..._CONSTANT
    pearson: Array
    spearman: Array
    concordant: Ints
    discordant: Ints
    tied_human: Ints  # tied by the humans only
    tied_metric: Ints  # tied by the metric only
    tied_both: Ints
    classes: Ints  # the smaller number of distinct values (tau-c)


def group_stats(x: Array, z: Array, *, pearson: bool = True, spearman: bool = True, counts: bool = True) -> GroupStats:
    """Compute statistics of metrics `x` (K×G×S) against ratings `z` (1×G×S or K×G×S); NaN marks missing points.

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
        panel(x, z, pearson, spearman, counts, n, state, r, rho, pairs)
    return GroupStats(n, state, r, rho, *pairs)
