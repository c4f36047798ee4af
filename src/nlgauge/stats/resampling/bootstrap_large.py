"""Bootstrap of tables so large that only one metric fits into the memory: people's side once, then metric after metric.

The draws are those of `bootstrap` (same seed, same numbers), kept as small whole numbers; the kernels are the same too.
What would take the memory of a cluster is refused by `refusals`, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.kernels.shared import STRIP
from nlgauge.stats.correlation.evaluate_groups import LEAST, Progress, Sorted, SortedPanel, Wanted, rounding, run_all
from nlgauge.stats.correlation.group_layout import GROUPED, Bools, Floats, layout, sorted_cells
from nlgauge.stats.correlation.resampled_groups import (
    CellWeights,
    GroupSums,
    Walk,
    group_values,
    human_side,
    pool_one,
    weigh_groups,
    weigh_systems,
)
from nlgauge.stats.resampling.draws import Resample, joined, streams

Counts = NDArray[np.uint8]
ROWS = 16  # draws made at once
ROOM = 1 << 30  # bytes that the levels of one group may take in the kernels (three arrays of a strip)


class ResampleCounts(NamedTuple):
    """How often each system and each input counts: strips × systems (or inputs) × STRIP. The first draw is the data."""

    systems: Counts
    inputs: Counts
    draws: int  # with the first one
    how: Resample


def resample_counts(how: Resample, systems: int, inputs: int, draws: int, seed: int) -> ResampleCounts:
    """The draws of `draws.bootstrap_counts`, in an eighth of the memory."""
    if how not in ("both", "inputs", "systems"):
        raise NlgaugeError(f"what to resample must be one of both, inputs, systems; found {how!r}")
    strips = -(-(draws + 1) // STRIP)
    made = [np.zeros((strips, n, STRIP), np.uint8) for n in (systems, inputs)]
    for counts in made:
        counts[0, :, 0] = 1
    moves = (how != "inputs", how != "systems")
    at = 1
    for size, stream in streams(seed, draws, legacy=False):
        for counts, n, drawn, own in zip(made, (systems, inputs), moves, stream.spawn(2), strict=True):  # type: ignore[union-attr]
            for first in range(0, size, ROWS):
                some = min(ROWS, size - first)
                picks = own.integers(0, n, (some, n)) if drawn else np.broadcast_to(np.arange(n), (some, n))
                for k, picked in enumerate(picks):
                    strip, lane = divmod(at + first + k, STRIP)
                    counts[strip, :, lane] = _times(picked, n)
        at += size
    return ResampleCounts(made[0], made[1], draws + 1, how)


def _times(picked: NDArray[np.int64], n: int) -> Counts:
    times = np.bincount(picked, minlength=n)
    if times.max(initial=0) > 255:
        raise NlgaugeError(
            "a unit was drawn more than 255 times: too few draws of too many; use `meta --analysis intervals`."
        )
    return times.astype(np.uint8)


def sorted_ratings(z: Floats, want: Wanted) -> SortedPanel:
    """People's side: sorted once for all metrics."""
    n, m = z.shape
    flat = z.reshape(-1)
    plans = {g: layout(g, n, m) for g in GROUPED if g in want.fast}
    orders = {g: sorted_cells(plan, flat) for g, plan in plans.items()}
    return SortedPanel(n, m, flat, np.isfinite(flat), plans, orders, ())


def refusals(human: SortedPanel, want: Wanted) -> dict[str, str]:
    """Groupings that cannot be resampled here, and why: a group's levels of people's scores must fit into the
    memory.
    """
    found = {}
    for grouping in want.fast:
        if grouping == "system":
            continue
        plan = human.plans[grouping]
        ordered = human.z[human.orders[grouping]].reshape(plan.groups, plan.size)
        deepest = 1 + max(int((row[1:] > row[:-1]).sum()) for row in ordered)
        if deepest * STRIP * 8 * 3 > ROOM:
            found[grouping] = (
                f"people's scores have {deepest:,} different values in one group, and a resample of so many takes "
                f"{deepest * STRIP * 24 / 1e9:,.0f} GB; use input/… or system/… measures, or ratings on a scale"
            )
    return found


@dataclass(frozen=True)
class Resampled:
    """One metric beside people, and what all of its draws share."""

    human: SortedPanel
    x: Floats
    valid: Bools
    walks: dict[str, Walk]
    values: Floats  # coefficients × inputs, where the groups stay as they are
    given: ResampleCounts
    want: Wanted

    def strip(self, s: int) -> tuple[Floats, Floats]:
        """GroupSums and counts of a strip of draws: coefficients × STRIP each."""
        from nlgauge.kernels.pool import mean_values

        systems, inputs = self.given.systems[s : s + 1], self.given.inputs[s : s + 1]
        sums = GroupSums.zeros(len(self.want), 1)
        for grouping, slots in self.want.fast.items():
            if grouping == "system":
                n = self.human.systems
                near = rounding(self.x, self.valid, n), rounding(self.human.z, self.valid, n)
                weigh_systems(self.x, self.human.z, self.valid, near, systems, inputs, slots, sums)
            elif grouping == "input" and self.given.how == "inputs":
                mean_values(self.values, inputs[0], sums.total[:, 0], sums.groups[:, 0])
            else:
                by = _weights(grouping, self.human.systems, self.human.inputs, systems, inputs)
                weigh_groups(self.walks[grouping], self.x, self.human.z, self.valid, by, slots, sums)
        return sums.total[:, 0], sums.groups[:, 0]


def resample(
    human: SortedPanel,
    x: Floats,
    given: ResampleCounts,
    want: Wanted,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """One metric's measures × draws (the data themselves first), as `weighted` gives them."""
    if want.slow:
        names = ", ".join(str(m) for m in want.slow_measures)
        raise NlgaugeError(
            f"{names}: has no fast kernel; use `nlgauge meta --analysis intervals` on a part of the data."
        )
    flat = x.reshape(-1)
    orders = {g: sorted_cells(plan, flat, human.z) for g, plan in human.plans.items()}
    data = replace(human, metrics=(Sorted(flat, orders),))
    job = _prepared(data, given, want)
    parts = list(run_all(job.strip, range(len(given.inputs)), threads, progress))
    total, count = (np.stack(side, axis=1) for side in zip(*parts, strict=True))
    return joined(GroupSums(total, count).mean(), given.draws)


def _prepared(data: SortedPanel, given: ResampleCounts, want: Wanted) -> Resampled:

    valid = data.shared(0)
    x = np.where(valid, data.metrics[0].x, 0.0)
    walks = {}
    for grouping, plan in data.plans.items():
        side = human_side(plan, data.orders[grouping], data.z, valid)
        pool = pool_one(plan, data.metrics[0].orders[grouping], x, side, valid)
        walks[grouping] = Walk(plan, LEAST[grouping], side, pool)
    values = np.full((len(want), data.inputs), np.nan)
    if "input" in walks and given.how == "inputs":
        group_values(walks.pop("input"), x, data.z, valid, want.fast["input"], values)
    return Resampled(data, x, valid, walks, values, given, want)


def _weights(grouping: str, systems: int, inputs: int, rows: Any, cols: Any) -> Any:
    """As in `engine.weigh_metric`: how often a cell counts inside its group, and the group in the mean."""

    one: Any = np.ones((1, 1, STRIP), np.uint8)
    cells = np.arange(systems * inputs, dtype=np.int32)
    none = np.zeros_like(cells)
    if grouping == "global":
        return CellWeights(cells // np.int32(inputs), cells % np.int32(inputs), rows, cols, one)
    if grouping == "input":
        return CellWeights(cells // np.int32(inputs), none, rows, one, cols)
    return CellWeights(none, cells % np.int32(inputs), one, cols, rows)
