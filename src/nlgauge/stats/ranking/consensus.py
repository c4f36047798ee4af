"""Consensus rankings: Borda's (Eq. 1 of Colombo et al. 2023 summed over metrics) and Kemeny's (least contradiction).

A vote is how one metric orders two systems on one input. Ties and missing scores are votes for neither.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.stats.correlation.coefficients import ratio
from nlgauge.stats.correlation.ties import snap
from nlgauge.types import Array, Ints, Mask

SUBSETS = 16  # systems up to which dynamic programming over subsets is fast
PROGRAMME = 120  # systems up to which an integer program is tried


@dataclass(frozen=True)
class Votes:
    """`wins[a, b]`: votes that put a above b; `ties[a, b]`: votes that tie both."""

    wins: Ints
    ties: Ints

    @classmethod
    def of(cls, scores: Array) -> Votes:
        """Count the votes of all metrics on all inputs (K × N × M, higher is better)."""
        pairs = [(own[:, None] > scores, own[:, None] == scores) for own in np.asarray(scores).transpose(1, 0, 2)]
        wins, ties = (np.array([side.sum(axis=(0, 2)) for side in part], np.int64) for part in zip(*pairs, strict=True))
        np.fill_diagonal(ties, 0)
        return cls(wins, ties)


@dataclass(frozen=True)
class Kemeny:
    """The order, best first. `against`: votes that contradict it; no order can have fewer than `bound`."""

    order: Ints
    against: int
    bound: int

    @property
    def exact(self) -> bool:
        """Return whether no order contradicts fewer votes."""
        return self.against == self.bound


def borda(votes: Votes) -> Array:
    """Return the share of comparisons that each system wins, a tie counting half.

    It decreases with the rank sum of Eq. 1 of Colombo et al. (2023).

    >>> borda(Votes.of(np.array([[[3.0], [2.0], [1.0]], [[2.0], [3.0], [1.0]]]))).tolist()
    [0.75, 0.75, 0.0]
    """
    won = votes.wins.sum(axis=1) + votes.ties.sum(axis=1) / 2
    return ratio(won, (votes.wins + votes.wins.T + votes.ties).sum(axis=1))


@dataclass(frozen=True)
class Consensus:
    """Consensus of several rankings of the same systems (Colombo et al. 2023, section 2).

    Attributes
    ----------
    share : array of N
        Share of comparisons that each system wins, with ties counted as half; NaN without comparisons.
    place : array of N
        Rank of each system by this share (Borda), 1 for the best; equal shares have equal ranks.
    kemeny : Kemeny
        The order that contradicts the fewest votes.
    votes : int
        Number of votes for one of two systems; ties are not votes.
    """

    share: Array
    place: Ints
    kemeny: Kemeny
    votes: int

    @classmethod
    def of(cls, scores: Array, *, seconds: float = 20.0) -> Consensus:
        """Compute the consensus of metrics on inputs.

        Parameters
        ----------
        scores : array of K × N × M
            Metrics × systems × inputs, higher is better; every metric has a vote on every input.
        seconds : float, default 20.0
            Time limit in seconds of the search for the Kemeny order.

        Returns
        -------
        Consensus

        Notes
        -----
        Borda's order is that of the rank sums of Eq. 1 of Colombo et al. (2023), added over metrics. Kemeny's order is
        exact wherever `kemeny.exact` is true.

        Examples
        --------
        >>> Consensus.of(np.array([[[3.0], [2.0], [1.0]], [[2.0], [3.0], [1.0]]])).place.tolist()
        [1, 1, 3]
        """
        votes = Votes.of(scores)
        share = snap(borda(votes))
        place = 1 + (share[None, :] > share[:, None]).sum(axis=1)
        return cls(share, place, kemeny(votes, seconds=seconds), int(votes.wins.sum()))

    @property
    def kemeny_place(self) -> Array:
        """Return the rank of each system in Kemeny's order, 1 for the best."""
        place = np.empty(len(self.kemeny.order))
        place[self.kemeny.order] = np.arange(1, len(place) + 1)
        return place


def contradicted(wins: Ints, order: Ints) -> int:
    """Count the votes against an order: for each pair, those that put the later one first."""
    return int(np.tril(wins[np.ix_(order, order)], -1).sum())


def kemeny(votes: Votes, *, seconds: float = 20.0) -> Kemeny:
    """Find the order that contradicts the fewest votes.

    Systems that beat all others by majority come first (extended Condorcet criterion), so each set of cyclic majorities
    is solved separately: by dynamic programming over subsets up to 16 systems, by an integer program up to 120, else
    (or when time is up) by moving single systems, starting at Borda's order; `bound` is then a lower bound of the votes
    against.

    >>> kemeny(Votes.of(np.array([[[3.0], [2.0], [1.0]], [[2.0], [3.0], [1.0]], [[3.0], [1.0], [2.0]]]))).order.tolist()
    [0, 1, 2]
    """
    wins, start = votes.wins, np.nan_to_num(borda(votes))
    until = time.monotonic() + seconds
    order: list[int] = []
    slack = 0
    for members in _knots(wins):
        knot = members[np.argsort(-start[members], kind="stable")]
        own, bound = _best(wins[np.ix_(knot, knot)], until)
        slack += contradicted(wins, knot[own]) - bound
        order += knot[own].tolist()
    best = np.array(order, np.int64)
    against = contradicted(wins, best)
    return Kemeny(best, against, against - slack)


def _knots(wins: Ints) -> list[Ints]:
    """Return the sets of systems with cyclic majorities, best first: strong components of 'at least as many votes'."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(wins >= wins.T, connection="strong")
    beaten = (wins > wins.T).sum(axis=1)
    knots = [np.flatnonzero(label == c) for c in range(count)]
    # A system of a better component beats all systems of the worse ones.
    return sorted(knots, key=lambda knot: -float(beaten[knot].mean()))


def _best(wins: Ints, until: float) -> tuple[Ints, int]:
    """Return the best order of a set given in Borda's order, and a lower bound for all orders."""
    n = len(wins)
    if n == 1:
        return np.zeros(1, np.int64), 0
    if n <= SUBSETS:
        order = best_by_subsets(wins)
        return order, contradicted(wins, order)
    order = improved(wins, np.arange(n, dtype=np.int64))
    least = int(np.minimum(wins, wins.T)[np.triu_indices(n, 1)].sum())
    if n > PROGRAMME or contradicted(wins, order) == least:
        return order, least
    result, bound = _programme(wins, until)
    if result is not None and contradicted(wins, result) <= contradicted(wins, order):
        order = result
    return order, min(max(least, bound), contradicted(wins, order))


def best_by_subsets(wins: Ints) -> Ints:
    """Find the order with the fewest votes against it: the best order of every subset from those one smaller."""
    n = len(wins)
    systems, subsets = np.arange(n), np.arange(1 << n)
    member = subsets[:, None] >> systems & 1
    against_last = member @ wins.T  # votes for the last system over the others: subsets × systems
    size = member.sum(axis=1)
    cost, last = np.zeros(1 << n, np.int64), np.zeros(1 << n, np.int64)
    for k in range(1, n + 1):
        same = subsets[size == k]
        total = cost[same[:, None] & ~(1 << systems)] + against_last[same]
        total[member[same] == 0] = np.iinfo(np.int64).max
        last[same], cost[same] = total.argmin(axis=1), total.min(axis=1)
    order, left = np.empty(n, np.int64), (1 << n) - 1
    for place in range(n - 1, -1, -1):
        order[place] = last[left]
        left -= 1 << int(last[left])
    return order


def improved(wins: Ints, order: Ints) -> Ints:
    """Move one system at a time to where the fewest votes are against, until no move helps."""
    result, moved = order.tolist(), True
    while moved:
        moved = False
        for start in range(len(result)):
            system = result[start]
            gain = wins[result, system] - wins[system, result]
            change = np.concatenate([[0], np.cumsum(gain[:start][::-1]), np.cumsum(-gain[start + 1 :])])
            if best := int(change.argmin()):
                result.insert(start - best if best <= start else best, result.pop(start))
                moved = True
    return np.array(result, np.int64)


def _programme(wins: Ints, until: float) -> tuple[Ints | None, int]:
    """Solve the integer program over pairs, adding violated 3-cycle constraints. None when time is up."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    n = len(wins)
    first, second = np.triu_indices(n, 1)
    number = np.zeros((n, n), np.int64)
    number[first, second] = np.arange(len(first))
    gain = (wins[second, first] - wins[first, second]).astype(np.float64)  # votes against 'first before second'
    constant = int(wins[first, second].sum())
    triples: list[tuple[int, int, int]] = []
    bound = 0
    while True:
        left = until - time.monotonic()
        if left <= 0:
            return None, bound
        where: Any = ()
        if triples:
            t = np.array(triples)
            columns = np.stack([number[t[:, 0], t[:, 1]], number[t[:, 1], t[:, 2]], number[t[:, 0], t[:, 2]]], 1)
            signs = np.tile([1.0, 1.0, -1.0], len(t))
            rows = np.repeat(np.arange(len(t)), 3)
            matrix = coo_array((signs, (rows, columns.ravel())), shape=(len(t), len(first)))
            where = LinearConstraint(matrix.tocsr(), 0, 1)
        done = milp(
            gain, integrality=np.ones(len(gain)), bounds=Bounds(0, 1), constraints=where, options={"time_limit": left}
        )
        if done.mip_dual_bound is not None:
            bound = max(bound, int(np.ceil(done.mip_dual_bound - 1e-6)) + constant)
        if done.x is None or done.status != 0:
            return None, bound
        before = np.zeros((n, n), bool)
        before[first, second] = np.round(done.x).astype(bool)
        before |= np.tril(~before.T, -1)
        cycles = _cycles(before)
        if not cycles:
            return np.argsort(-before.sum(axis=1), kind="stable"), bound
        triples += cycles


def _cycles(before: Mask, most: int = 5000) -> list[tuple[int, int, int]]:
    """Return triples a < b < c that form a cycle."""
    results: list[tuple[int, int, int]] = []
    n = len(before)
    for a in range(n):
        for b in range(a + 1, n):
            rest = before[b, b + 1 :] if before[a, b] else ~before[b, b + 1 :]
            against = before[a, b + 1 :] if not before[a, b] else ~before[a, b + 1 :]
            results += [(a, b, b + 1 + int(c)) for c in np.flatnonzero(rest & against)]
            if len(results) > most:
                return results
    return results
