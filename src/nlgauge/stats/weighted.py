"""Correlations of all metrics when systems and inputs count several times, or not at all.

Bootstrap samples, halves of the inputs and leave-one-out samples are all the same data with other weights.
"""

from __future__ import annotations

import numpy as np

from nlgauge.stats.draws import weights
from nlgauge.stats.engine import Progress, Wanted, run_all, table, weigh_metric
from nlgauge.stats.layout import Floats
from nlgauge.stats.measure import evaluate

CHUNK = 1024  # draws handled at once, to bound the memory


def weighted(
    x: Floats,
    z: Floats,
    systems: Floats,
    inputs: Floats,
    want: Wanted,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Metrics × measures × draws, for weights draws × systems and draws × inputs.

    A cell counts where people and the metric have a score.
    """
    data = table(x, z, want)
    out = np.full((len(x), len(want), len(systems)), np.nan)

    def work(job: tuple[int, int]) -> None:
        k, at = job
        part = slice(at, at + CHUNK)
        out[k, :, part] = weigh_metric(data, k, weights(systems[part], inputs[part]), want)
        if want.slow:
            out[k, list(want.slow), part] = _slowly(x[k : k + 1], z, systems[part], inputs[part], want)

    jobs = [(k, at) for k in range(len(x)) for at in range(0, len(systems), CHUNK)]
    run_all(jobs, work, threads, progress)
    return out


def _slowly(x: Floats, z: Floats, systems: Floats, inputs: Floats, want: Wanted) -> Floats:
    """Any other measure: repeat the systems and inputs and evaluate the table, draw by draw."""
    out = np.empty((len(want.slow), len(systems)))
    for d in range(len(systems)):
        rows = np.repeat(np.arange(z.shape[0]), systems[d].astype(np.int64))
        cols = np.repeat(np.arange(z.shape[1]), inputs[d].astype(np.int64))
        out[:, d] = evaluate(x[:, rows][:, :, cols], z[np.ix_(rows, cols)], want.slow_measures).value[0]
    return out
