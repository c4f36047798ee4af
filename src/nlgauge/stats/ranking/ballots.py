"""Pairwise comparisons between two systems' outputs as arrays, and the systems that they connect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nlgauge.types import Array, Ints, Mask

TieModel = Literal["davidson", "rao-kupper", "half", "drop"]
FIRST, SECOND, TIE = 0, 1, 2  # in `outcome`


@dataclass(frozen=True)
class Ballots:
    """One entry per comparison: two system numbers, and 0 if the first won, 1 if the second won, 2 for a tie.

    `unit` numbers what is independent. `covariates` is comparisons × columns: the first output's value minus the
    second's. `annotator` numbers annotators from 0; a comparison without an annotator ID has a negative number of its
    own, as if it had its own annotator.
    """

    first: Ints
    second: Ints
    outcome: Ints
    unit: Ints
    covariates: Array | None = None
    annotator: Ints | None = None

    def __len__(self) -> int:
        return len(self.first)

    def part(self, rows: Any) -> Ballots:
        """Return the comparisons of these rows."""
        more, who = (None if x is None else x[rows] for x in (self.covariates, self.annotator))
        return Ballots(self.first[rows], self.second[rows], self.outcome[rows], self.unit[rows], more, who)

    def merge(self, old: int, new: int) -> Ballots:
        """Count the comparisons of system `old` as those of `new`."""
        first, second = (np.where(side == old, new, side) for side in (self.first, self.second))
        return replace(self, first=first, second=second)


def winners_reach(ballots: Ballots, systems: int, ties: TieModel = "davidson") -> Mask:
    """Return reach[a, b]: whether a chain of wins (or ties) leads from a down to b."""
    reach = np.eye(systems, dtype=bool)
    a, b, o = ballots.first, ballots.second, ballots.outcome
    tied = (o == TIE) & (ties != "drop")
    reach[a[(o == FIRST) | tied], b[(o == FIRST) | tied]] = True
    reach[b[(o == SECOND) | tied], a[(o == SECOND) | tied]] = True
    while True:
        more = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if (more == reach).all():
            return np.asarray(reach)
        reach = more


def connected(ballots: Ballots, systems: int) -> list[list[int]]:
    """Return groups of systems connected by chains of comparisons, the largest first."""
    linked = replace(ballots, outcome=np.full(len(ballots), TIE))
    reach = winners_reach(linked, systems)
    groups = {tuple(np.flatnonzero(row).tolist()) for row in reach}
    return sorted((list(g) for g in groups), key=lambda g: (-len(g), g))


def both_orders(ballots: Ballots) -> float:
    """Return the share of comparisons whose two systems were also shown in the reverse order."""
    size = int(max(ballots.first.max(), ballots.second.max())) + 1
    seen = np.zeros((size, size), bool)
    seen[ballots.first, ballots.second] = True
    return float(seen[ballots.second, ballots.first].mean())
