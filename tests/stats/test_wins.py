"""Win fractions, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.stats.ranking.wins import TIE, UNKNOWN, score_votes, vote_counts, win_fractions

NAN = np.nan


def test_every_input_with_both_values_is_one_comparison() -> None:
    found = win_fractions([[3, 2, NAN, 5], [1, 2, 4, 6]])
    assert found.wins.tolist() == [[0, 1], [1, 0]]
    assert found.ties.tolist() == [[0, 1], [1, 0]]
    assert found.n.tolist() == [[0, 3], [3, 0]]
    assert found.fraction[0, 1] == found.tied[0, 1] == found.lost[0, 1] == pytest.approx(1 / 3)
    assert np.isnan(found.fraction[0, 0])


def test_raters_compare_each_for_themselves() -> None:
    ratings = np.array([[[1.0, 5.0], [2.0, 5.0]], [[3.0, NAN], [1.0, 4.0]]])  # raters × systems × inputs
    found = win_fractions(ratings)
    assert found.n[0, 1] == 3
    assert (found.wins[0, 1], found.wins[1, 0], found.ties[0, 1]) == (1, 1, 1)


def test_a_small_difference_may_count_as_a_tie() -> None:
    assert win_fractions([[1.0, 2.0], [1.05, 1.0]], epsilon=0.1).ties[0, 1] == 1


def test_the_order_shown_is_kept() -> None:
    # a-b twice (a wins, tie), b-a three times (a, b, no answer)
    found = vote_counts([0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, TIE, 0, 1, UNKNOWN], 2)
    assert found.n.tolist() == [[0, 2], [2, 0]]
    assert found.wins.tolist() == [[0, 1], [1, 0]]
    assert found.ties.tolist() == [[0, 1], [0, 0]]
    both = found.merged()
    assert both.n.tolist() == [[0, 4], [4, 0]]
    assert both.wins.tolist() == [[0, 2], [1, 0]]
    assert both.ties.tolist() == [[0, 1], [1, 0]]


def test_a_metric_votes_for_the_higher_score() -> None:
    votes = score_votes([1, 2, 2, NAN], [2, 1, 2, 1], [0, 0, 0, 0], [1, 1, 1, 1])
    assert votes.tolist() == [1, 0, TIE, UNKNOWN]


@given(st.integers(0, 2**31))
def test_wins_ties_and_losses_make_one_and_mirror_each_other(seed: int) -> None:
    x = np.random.default_rng(seed).integers(0, 3, (4, 9)).astype(float)
    x[x == 0] = np.where(np.random.default_rng(seed + 1).random((x == 0).sum()) < 0.2, NAN, 0)
    found = win_fractions(x)
    seen = found.n > 0
    assert np.allclose((found.fraction + found.tied + found.lost)[seen], 1)
    assert np.allclose(found.fraction[seen], found.lost.T[seen])
