"""A small version of bench/estimates.py: the promises of docs/estimate_coverage.md hold within what chance allows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import _estimate_worlds as world

CHANCE = 0.0002  # of one of these bands being left although all is well
TRIALS = 300


def at_least(rate: float, held: float, trials: int = TRIALS) -> bool:
    return bool(binomtest(round(held * trials), trials, rate, "less").pvalue > CHANCE)


@pytest.mark.parametrize("design", world.DESIGNS)
@pytest.mark.parametrize(
    ("n", "p", "kind", "judge"),
    [(30, 0.05, "number", "good"), (100, 0.05, "number", "good"), (30, None, world.RATING, "fair")],
)
def test_intervals_of_means_hold_in_every_design(n: int, p: float | None, kind: str, judge: str, design: str) -> None:
    for row in world.mean_coverage(n, p, kind, judge, design, TRIALS):
        if row["method"] != "judge":
            assert at_least(0.94, row["coverage"]), row


def test_a_good_judge_saves_a_third_of_the_width_and_alone_misses_the_truth() -> None:
    rows = {row["method"]: row for row in world.mean_coverage(100, None, world.RATING, "good", "random", TRIALS)}
    assert rows["ppi++"]["width"] < 0.67
    assert rows["judge"]["coverage"] < 0.05


def test_intervals_of_all_differences_hold_together() -> None:
    row = world.systems_coverage(30, "verdict", 60)[0]
    assert at_least(0.93, row["all differences"], 60)
    assert at_least(0.95, row["all ranks"], 60)
