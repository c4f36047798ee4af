"""Borda and Kemeny consensus."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from nlgauge.stats.ranking import consensus
from nlgauge.stats.ranking.consensus import Kemeny, Votes, borda, contradicted, improved, kemeny
from nlgauge.stats.ranking.rankings import system_representation


def brute_force(wins: np.ndarray) -> int:
    """The fewest votes that any order contradicts, by trying all of them."""
    n = len(wins)
    return min(
        sum(int(wins[late, early]) for at, late in enumerate(order) for early in order[:at])
        for order in permutations(range(n))
    )


def tangled(n: int, seed: int, voters: int = 7) -> Votes:
    """Random rankings: majorities run in circles."""
    rng = np.random.default_rng(seed)
    return Votes.of(np.stack([rng.permutation(n) for _ in range(voters)]).astype(float)[:, :, None])


@pytest.mark.parametrize("n", [2, 3, 5, 6])
@pytest.mark.parametrize("seed", range(8))
def test_kemeny_is_the_best_of_all_orders(n: int, seed: int) -> None:
    votes = tangled(n, seed)
    found = kemeny(votes)
    assert found.exact
    assert found.against == contradicted(votes.wins, found.order) == brute_force(votes.wins)


@pytest.mark.parametrize("seed", range(6))
def test_the_integer_programme_finds_the_best_order_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = tangled(7, seed)
    by_subsets = kemeny(votes)
    monkeypatch.setattr(consensus, "SUBSETS", 2)
    by_programme = kemeny(votes)
    assert by_programme.exact
    assert by_programme.against == by_subsets.against


def test_without_time_the_order_is_said_to_be_unproved_and_the_bound_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = tangled(8, 3, voters=5)
    best = kemeny(votes).against
    monkeypatch.setattr(consensus, "SUBSETS", 2)
    hasty = kemeny(votes, seconds=0)
    assert hasty.bound <= best <= hasty.against
    assert hasty.exact == (hasty.bound == hasty.against)


def test_moving_one_at_a_time_ends_where_no_single_move_helps() -> None:
    votes = tangled(9, 1)
    order = improved(votes.wins, np.arange(9))
    here = contradicted(votes.wins, order)
    assert sorted(order.tolist()) == list(range(9))
    for a in range(9):
        for b in range(9):
            moved = np.insert(np.delete(order, a), b, order[a])
            assert contradicted(votes.wins, moved) >= here


def test_condorcet_and_a_clear_majority_need_no_search() -> None:
    scores = np.tile(np.array([3.0, 9.0, 1.0, 5.0])[None, :, None], (2, 1, 5))
    found = kemeny(Votes.of(scores))
    assert found == Kemeny(found.order, 0, 0)
    assert found.order.tolist() == [1, 3, 0, 2]


def test_borda_by_hand() -> None:
    # Votes: a > b > c twice, b > c > a once. a wins 4 of 6 comparisons, b 4 of 6, c 1 of 6.
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])[:, :, None]
    assert borda(Votes.of(scores)).tolist() == pytest.approx([4 / 6, 4 / 6, 1 / 6])
    # Kemeny breaks the tie: a > b > c contradicts 2 votes, b > a > c contradicts 3.
    assert kemeny(Votes.of(scores)).order.tolist() == [0, 1, 2]


def test_borda_orders_like_the_rank_sums_of_equation_1() -> None:
    scores = np.random.default_rng(0).integers(0, 5, (4, 6, 20)).astype(float)
    share = borda(Votes.of(scores))
    sums = system_representation(scores).sum(axis=0)
    # share = (N − mean rank) / (N − 1)
    assert share == pytest.approx((6 - sums / 80) / 5)


def test_ties_and_missing_scores_are_votes_for_neither() -> None:
    votes = Votes.of(np.array([[[1.0, 2.0, np.nan], [1.0, np.nan, 3.0]]]))
    assert votes.wins.sum() == 0
    assert votes.ties.tolist() == [[0, 1], [1, 0]]
    assert borda(votes).tolist() == [0.5, 0.5]
