"""Layout of groups: how the outputs of a systems × inputs table form the groups of a grouping, and in what order.

Resampling never sorts: the outputs of every group are sorted once, and each draw only gives the count of each output.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.types import Array, Ids

GROUPED = ("global", "input", "item")  # the groupings that correlate single outputs; "system" correlates means


class GroupLayout(NamedTuple):
    """Output numbers (system * n_inputs + input) of one grouping, group after group, all of the same size."""

    cells: Ids
    size: int

    @property
    def groups(self) -> int:
        """Return the number of groups."""
        return len(self.cells) // self.size if self.size else 0


def layout(grouping: str, systems: int, inputs: int) -> GroupLayout:
    """Return the cells in the order of their groups, and the size of a group.

    >>> layout("input", 2, 3).cells.tolist(), layout("item", 2, 3).size
    ([0, 3, 1, 4, 2, 5], 3)
    """
    cells = np.arange(systems * inputs, dtype=np.int32)
    if grouping == "global":
        return GroupLayout(cells, systems * inputs)
    if grouping == "item":
        return GroupLayout(cells, inputs)
    return GroupLayout(np.ascontiguousarray(cells.reshape(systems, inputs).T).reshape(-1), systems)


def sorted_cells(plan: GroupLayout, x: Array, z: Array | None = None) -> Ids:
    """Return the outputs of each group by increasing x, ties by increasing z; missing values last.

    `x` and `z` are flat tables of all outputs.
    """
    by_group = plan.cells.reshape(plan.groups, plan.size)
    values = x[by_group]
    keys = (values,) if z is None else (z[by_group], values)
    order = np.lexsort(keys, axis=-1)
    return np.take_along_axis(by_group, order, axis=1).reshape(-1)
