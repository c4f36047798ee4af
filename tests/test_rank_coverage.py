"""A small version of bench/ranking_coverage.py: the promises of docs/rank_coverage.md hold within what chance allows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import ranking_coverage as world

CHANCE = 0.0005  # of one of these bands being left although all is well
TRIALS = 80


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_of_strengths_hold_and_statements_are_rarely_wrong(clustered: bool) -> None:
    found = world.coverage("equal", 4, 200, clustered, TRIALS)
    held = round(found["strength"] * 4 * TRIALS / 3)  # four strengths of mean 0 are three
    assert binomtest(held, 4 * TRIALS // 3, 0.93, "less").pvalue > CHANCE
    assert binomtest(round(found["wrong"] * TRIALS), TRIALS, 0.05, "greater").pvalue > CHANCE


def test_preferences_of_few_annotators_are_rarely_taken_for_differences_of_systems() -> None:
    found = world.by_annotators("equal", 5, 400, 6, 0.5, TRIALS)
    assert found["wrong inputs"] > 0.2  # clustered by input alone; the data are those of the defect
    assert binomtest(round(found["wrong both"] * TRIALS), TRIALS, 0.05, "greater").pvalue > CHANCE
    assert found["limited"] == 0


def test_a_judge_like_people_is_rarely_said_to_differ_and_one_that_is_not_is_found() -> None:
    same, swapped = world.sides("same", 400, False, 40), world.sides("swapped", 400, False, 10)
    assert binomtest(round(same["any"] * 40), 40, 0.05, "greater").pvalue > CHANCE
    assert swapped["pair"] > 0.8


def test_one_that_wins_all_is_told_from_the_others_and_the_others_are_not_told_apart() -> None:
    found = world.coverage("perfect", 4, 60, False, 40)
    assert found["penalized"] == 1.0
    assert found["found"] > 0.95  # by its strength over its error: .91
    assert binomtest(round(found["wrong"] * 40), 40, 0.05, "greater").pvalue > CHANCE
    assert found["strength"] > 0.9  # of the others, around their own mean
