"""A small version of bench/coverage.py: the promises of docs/trust.md hold within what chance allows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import _statements as say

CHANCE = 0.0005  # of one of these tests failing although all is well


def at_most(rate: float, hits: int, trials: int) -> bool:
    return bool(binomtest(hits, trials, rate, "greater").pvalue > CHANCE)


def at_least(rate: float, hits: int, trials: int) -> bool:
    return bool(binomtest(hits, trials, rate, "less").pvalue > CHANCE)


@pytest.mark.parametrize(
    ("world", "systems", "inputs"), [("plain", 8, 30), ("inputs unlike", 12, 40), ("plain", 1, 100)]
)
def test_intervals_hold_the_populations_value(world: str, systems: int, inputs: int) -> None:
    for row in say.coverage(world, systems, inputs, 150, seed=99):
        hits = round(row["share"] * 150)
        assert at_least(0.93, hits, 150), row
        assert at_most(0.985, hits, 150) or row["measure"].startswith("system/"), row


@pytest.mark.parametrize("metrics", [2, 5])
def test_equally_good_metrics_are_rarely_told_apart(metrics: int) -> None:
    for row in say.called_best(10, 30, metrics, 150, seed=99):
        assert at_most(0.05, round(row["share"] * 150), 150), row


def test_the_test_before_would_not_pass_this() -> None:
    """The bands can fail: swapping systems and inputs tells equal metrics apart far too often."""
    row = say.called_best(10, 60, 2, 100, seed=99, old=True)[0]
    assert not at_most(0.05, round(row["before"] * 100), 100)


def test_a_metric_unrelated_to_people_is_rarely_called_usable_and_a_good_one_rarely_not() -> None:
    for row in say.use_verdicts(8, 30, 60, seed=99):
        if row["metric"] == "unrelated":
            assert at_most(0.05, round((row["good"] + row["usable"]) * 60), 60), row
        if row["metric"] == "good":
            assert at_most(0.05, round(row["not"] * 60), 60), row
