"""Preference similarity: the sequences of nimah2023 worked by hand, nltk's edit distance as oracle."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import edit_distance

from nlgauge.stats.ranking.preference import (
    chance_similarity,
    levenshtein,
    order_sequence,
    order_similarity,
    preference_similarity,
)

words = st.lists(st.sampled_from("abc<~"), max_size=8)


@given(words, words)
def test_levenshtein_is_nltks(one: list[str], two: list[str]) -> None:
    assert levenshtein(one, two) == edit_distance(one, two)


@pytest.mark.parametrize(
    ("one", "two", "distance", "value"),
    [
        ("a<b", "b<a", 2, 1 / 3),  # the example below Eq. 3
        ("a~b", "a<b", 1, 2 / 3),
        ("a<b", "a<b", 0, 1.0),
        ("cdabe", "abcde", 4, 0.2),  # the example below Eq. 4
        (
            "cbed",
            "abcde",
            3,
            1 / 3,
        ),  # printed there as distance 4 and 0.11; (9 - 2 · 4)/9 is 0.11, but the distance is 3
    ],
)
def test_the_papers_examples(one: str, two: str, distance: int, value: float) -> None:
    assert levenshtein(one, two) == distance
    assert preference_similarity(one, two) == pytest.approx(value)


def test_two_empty_sequences_have_no_similarity() -> None:
    assert np.isnan(preference_similarity("", ""))


def test_an_order_goes_from_worst_to_best_with_ties_and_without_missing_names() -> None:
    assert order_sequence("abcd", [3, 1, np.nan, 1]) == ("b", "~", "d", "<", "a")
    assert order_sequence("ab", [0.1 + 0.2, 0.3]) == ("a", "~", "b")  # equal but for the last bit
    assert order_sequence("ab", [1, 1], within=[2, 1]) == ("b", "~", "a")


@pytest.mark.parametrize("human", [[1, 2], [2, 1]])
def test_a_tie_against_a_decision_is_two_thirds_whichever_system_is_named_first(human: list[int]) -> None:
    assert order_similarity("ab", human, [5, 5]) == pytest.approx(2 / 3)
    assert order_similarity("ab", [5, 5], human) == pytest.approx(2 / 3)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=4), st.randoms())
def test_the_order_of_the_names_means_nothing(values: list[tuple[int, int]], random: object) -> None:
    x, y = zip(*values, strict=True)
    seen = {
        round(order_similarity([str(i) for i in p], [x[i] for i in p], [y[i] for i in p]), 12)
        for p in permutations(range(len(values)))
    }
    assert len(seen) == 1


def test_fewer_than_two_names_with_both_values_have_no_order() -> None:
    assert np.isnan(order_similarity("ab", [1, np.nan], [1, 2]))


def test_chance_of_three_levels_is_worked_by_hand() -> None:
    # 6 orders: itself 1; three with one pair exchanged (the full reversal is one of them) .6; two rotations .4.
    assert chance_similarity(3) == pytest.approx((1 + 3 * 0.6 + 2 * 0.4) / 6)
    assert chance_similarity(2) == pytest.approx((1 + 1 / 3) / 2)
    assert np.isnan(chance_similarity(1))
