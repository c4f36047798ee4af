"""Pairwise win fractions of systems (Ni'mah et al. 2023, section 5.4 and Figure 7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.types import Array, Ints

TIE, UNKNOWN = -1, -2  # in `preferred` of `vote_counts`


@dataclass(frozen=True)
class Wins:
    """Counts, systems × systems: comparisons of row A (first) with column B (second), A's wins and the ties.

    Cell A-B and cell B-A are different comparisons where annotators saw two outputs in an order.
    """

    wins: Ints
    ties: Ints
    n: Ints

    @property
    def fraction(self) -> Array:
        """Share of the comparisons A-B that A won; NaN without comparisons. Ties are not wins."""
        return _share(self.wins, self.n)

    @property
    def tied(self) -> Array:
        """Return the share of the comparisons A-B that are ties; NaN without comparisons."""
        return _share(self.ties, self.n)

    @property
    def lost(self) -> Array:
        """Return the share of the comparisons A-B that A lost; NaN without comparisons."""
        return _share(self.n - self.wins - self.ties, self.n)

    def merged(self) -> Wins:
        """Merge both orders: A-B and B-A count as the same comparison."""
        losses = self.n - self.wins - self.ties
        return Wins(self.wins + losses.T, self.ties + self.ties.T, self.n + self.n.T)


def win_fractions(values: ArrayLike, epsilon: float = 0.0) -> Wins:
    """Count wins from scores or ratings, systems × inputs or annotators × systems × inputs, higher is better.

    Every input (and annotator) with values of both systems is one comparison; |difference| ≤ epsilon is a tie.

    >>> win_fractions([[1.0, 2.0, 3.0], [1.0, 1.0, 4.0]]).fraction.round(2).tolist()
    [[nan, 0.33], [0.33, nan]]
    """
    x = np.asarray(values, np.float64)
    x = np.moveaxis(x, 0, 1).reshape(x.shape[1], -1) if x.ndim == 3 else x
    size = len(x)
    wins, ties, n = (np.zeros((size, size), np.int64) for _ in range(3))
    for a in range(size):
        with np.errstate(invalid="ignore"):
            gap = x[a] - x
            wins[a] = (gap > epsilon).sum(axis=1)
            ties[a] = (np.abs(gap) <= epsilon).sum(axis=1)
        n[a] = np.isfinite(gap).sum(axis=1)
    for counts in (wins, ties, n):
        np.fill_diagonal(counts, 0)
    return Wins(wins, ties, n)


def vote_counts(first: ArrayLike, second: ArrayLike, preferred: ArrayLike, systems: int) -> Wins:
    """Count wins from single comparisons, in the order shown.

    Systems are numbers from 0; `preferred` is one of the two, TIE (−1), or UNKNOWN (−2) for a comparison without an
    answer, which does not count.

    >>> vote_counts([0, 0, 1], [1, 1, 0], [0, -1, 0], 2).wins.tolist()
    [[0, 1], [0, 0]]
    """
    a, b, best = (np.asarray(v, np.int64) for v in (first, second, preferred))
    answered = best != UNKNOWN
    a, b, best = a[answered], b[answered], best[answered]
    wins, ties, n = (np.zeros((systems, systems), np.int64) for _ in range(3))
    np.add.at(n, (a, b), 1)
    np.add.at(wins, (a, b), best == a)
    np.add.at(ties, (a, b), best == TIE)
    return Wins(wins, ties, n)


def score_votes(scores_first: ArrayLike, scores_second: ArrayLike, first: ArrayLike, second: ArrayLike) -> Ints:
    """Return the metric's preference in each comparison: the system with the higher score, TIE, or UNKNOWN without
    scores.
    """
    x, y = np.asarray(scores_first, np.float64), np.asarray(scores_second, np.float64)
    choice = np.where(x > y, np.asarray(first), np.where(y > x, np.asarray(second), TIE))
    return np.asarray(np.where(np.isnan(x) | np.isnan(y), UNKNOWN, choice), np.int64)


def _share(part: Ints, whole: Ints) -> Array:
    return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1), np.nan))
