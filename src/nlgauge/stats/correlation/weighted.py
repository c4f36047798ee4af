"""Correlations of all metrics with weights on systems and inputs.

Bootstrap samples, halves of the inputs and leave-one-out samples are all the same data with other weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.correlation.evaluate_groups import MeasurePlan, SortedPanel, Weighing, plan_measures, run_all, table
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.resampling.draws import weights
from nlgauge.types import Array, Steps

CHUNK = 1024  # draws handled at once, to bound the memory


def weighted(
    x: Array, z: Array, systems: Array, inputs: Array, want: MeasurePlan, progress: Steps | None = None
) -> Array:
    """Compute metrics × measures × draws, for weights draws × systems and draws × inputs.

    Outputs without a human rating or a score are left out.
    """
    work = _Weighed(table(x, z, want), systems, inputs, want)
    jobs = [(k, index) for k in range(len(x)) for index in range(0, len(systems), CHUNK)]
    out = np.full((len(x), len(want), len(systems)), np.nan)
    for (k, index), result in zip(jobs, run_all(work, jobs, progress), strict=True):
        out[k, :, index : index + CHUNK] = result
    return out


def evaluate_weighted(x: ArrayLike, z: ArrayLike, measures: Iterable[object], inputs: ArrayLike) -> Array:
    """Compute measures with weighted inputs, for example for your own bootstrap samples.

    Parameters
    ----------
    x : array of K × N × M
        Scores of K metrics, systems × inputs.
    z : array of N × M
        Ratings.
    measures : sequence of Measure or str
    inputs : array of D × M
        Weight of each input in each of D draws.

    Returns
    -------
    array of K × L × D
        NaN if a measure is undefined on a draw.
    """
    scores, human, times = (np.asarray(v, np.float64) for v in (x, z, inputs))
    return weighted(scores, human, np.ones((len(times), len(human))), times, plan_measures(measures))


@dataclass(frozen=True)
class _Weighed:
    """A job is a metric and the first of its draws."""

    data: SortedPanel
    systems: Array
    inputs: Array
    want: MeasurePlan

    def __call__(self, job: tuple[int, int]) -> Array:
        k, index = job
        systems, inputs = self.systems[index : index + CHUNK], self.inputs[index : index + CHUNK]
        result = Weighing.of(self.data, k, self.want, bool((systems == 1).all())).under(weights(systems, inputs))
        if self.want.slow:
            shape = (self.data.systems, self.data.inputs)
            x, z = self.data.metrics[k].x.reshape(1, *shape), self.data.z.reshape(shape)
            result[list(self.want.slow)] = _slowly(x, z, systems, inputs, self.want)
        return result


def _slowly(x: Array, z: Array, systems: Array, inputs: Array, want: MeasurePlan) -> Array:
    """Compute measures without a kernel: repeat the systems and inputs and evaluate the table, draw by draw."""
    out = np.empty((len(want.slow), len(systems)))
    for d in range(len(systems)):
        rows = np.repeat(np.arange(z.shape[0]), systems[d].astype(np.int64))
        cols = np.repeat(np.arange(z.shape[1]), inputs[d].astype(np.int64))
        out[:, d] = evaluate(x[:, rows][:, :, cols], z[np.ix_(rows, cols)], want.slow_measures).value[0]
    return out
