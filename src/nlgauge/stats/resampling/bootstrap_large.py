"""Bootstrap of tables so large that only one metric fits into the memory: people's side once, then metric after metric.

The draws and the numbers are those of `bootstrap`. What would take the memory of a cluster is refused by `refusals`,
with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.kernels.shared import STRIP
from nlgauge.stats.correlation.evaluate_groups import Sorted, SortedPanel, Wanted, Weighing, run_all
from nlgauge.stats.correlation.group_layout import sorted_cells
from nlgauge.stats.resampling.draws import Weights
from nlgauge.types import Array, Steps

ROOM = 1 << 30  # bytes that the levels of one group may take in the kernels (three arrays of a strip)


def refusals(human: SortedPanel) -> dict[str, str]:
    """Groupings that cannot be resampled here, and why: a group's levels of people's scores must fit into memory."""
    found = {}
    for grouping, plan in human.plans.items():
        ordered = human.z[human.orders[grouping]].reshape(plan.groups, plan.size)
        deepest = 1 + max(int((row[1:] > row[:-1]).sum()) for row in ordered)
        if deepest * STRIP * 8 * 3 > ROOM:
            found[grouping] = (
                f"people's scores have {deepest:,} different values in one group, and a resample of so many takes "
                f"{deepest * STRIP * 24 / 1e9:,.0f} GB; use input/… or system/… measures, or ratings on a scale"
            )
    return found


@dataclass(frozen=True)
class _Strip:
    """The work of an engine: one strip of draws."""

    metric: Weighing
    given: Weights

    def __call__(self, s: int) -> Array:
        return self.metric.under(self.given.strip(s))


def resample(human: SortedPanel, x: Array, given: Weights, want: Wanted, progress: Steps | None = None) -> Array:
    """One metric's measures × draws (the data themselves first), as `weighted` gives them; `human` has no metrics."""
    if want.slow:
        names = ", ".join(str(m) for m in want.slow_measures)
        raise NlgaugeError(
            f"{names}: has no fast kernel; use `nlgauge meta --analysis intervals` on a part of the data."
        )
    flat = x.reshape(-1)
    orders = {g: sorted_cells(plan, flat, human.z) for g, plan in human.plans.items()}
    once = all(bool((given.systems[d // STRIP, :, d % STRIP] == 1).all()) for d in range(given.draws))
    work = _Strip(Weighing.of(replace(human, metrics=(Sorted(flat, orders),)), 0, want, once), given)
    return np.concatenate([*run_all(work, range(len(given.inputs)), progress)], axis=1)[:, : given.draws]
