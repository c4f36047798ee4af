"""Parts of a data set with their panels; `stats.tests.split_panels` has the tests that compare parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.stats.tests.split_panels import Halves


def comparable(parts: Sequence[Choice]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of parts that differ in the last column only: two systems on one data set, not on two."""
    for i, j in combinations(range(len(parts)), 2):
        if list(parts[i].group.values())[:-1] == list(parts[j].group.values())[:-1]:
            yield i, j


def panels_of(parts: Sequence[Choice], aspect: str, lost: list[str]) -> Iterator[tuple[Choice, Panel]]:
    """Yield the parts of a data set with their panels.

    Parameters
    ----------
    parts : sequence of Choice
        As `choice.parts` gives them.
    aspect : str
    lost : list of str
        Gets a line for every part that is excluded because it has no ratings.

    Returns
    -------
    iterator of (Choice, Panel)
    """
    for part in parts:
        try:
            yield part, part.panel(aspect, canonical=True)
        except (NameUnknown, DataError, NeedsMissing):
            lost.append(f"{part.name}, {aspect}: no ratings")


def halves_of(a: Panel, b: Panel) -> Halves:
    """Put two panels on one grid, on which a system or input of both has one position."""
    systems, inputs = (list(dict.fromkeys([*p, *q])) for p, q in ((a.systems, b.systems), (a.inputs, b.inputs)))
    shape = (len(systems), len(inputs))
    scores, human = np.full((len(a.names), *shape), np.nan), np.full(shape, np.nan)
    masks = []
    for panel in (a, b):
        column = {name: k for k, name in enumerate(inputs)}
        rated = np.isfinite(panel.human)
        mask = np.zeros(shape, bool)
        mask[np.ix_([systems.index(s) for s in panel.systems], [column[i] for i in panel.inputs])] = rated
        masks.append(mask)
        human[mask] = panel.human[rated]
        scores[:, mask] = panel.oriented()[:, rated]
    return Halves(scores, human, *masks)
