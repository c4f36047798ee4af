"""A small version of bench/coverage.py: the statements of docs/trust.md hold within what chance allows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import _statements as say
from bench import _trust_page as page

CHANCE = 0.0005  # that one of these tests fails although all is well
LONG = pytest.mark.long


def at_most(rate: float, share: float, trials: int) -> bool:
    return bool(binomtest(round(share * trials), trials, rate, "greater").pvalue > CHANCE)


def at_least(rate: float, share: float, trials: int) -> bool:
    return bool(binomtest(round(share * trials), trials, rate, "less").pvalue > CHANCE)


@pytest.mark.parametrize(("levels", "trials"), [(3, 50), (10, 50), pytest.param(10, 200, marks=LONG)])
def test_a_rounded_copy_is_rarely_better_than_its_original(levels: int, trials: int) -> None:
    row = say.rounded_copy(levels, 12, 60, trials, seed=99)
    assert at_most(0.05, row["share"], trials), row


def test_tau_b_would_not_pass_this() -> None:
    """The bands can fail: by tau-b, which ordered the metrics before, the coarse copy wins far too often."""
    row = say.rounded_copy(10, 12, 300, 30, seed=99)
    assert not at_most(0.05, row["by tau-b"], 30), row


@pytest.mark.parametrize(("metrics", "trials"), [(2, 100), (30, 50), pytest.param(30, 200, marks=LONG)])
def test_the_set_of_metrics_that_may_be_best_contains_the_best(metrics: int, trials: int) -> None:
    row = say.confidence_set(metrics, 8, 30, trials, seed=99)
    assert at_least(0.95, row["share"], trials), row
    assert at_most(0.05, row["a false claim"], trials), row


def test_a_metric_that_leads_far_is_alone_in_the_set() -> None:
    row = say.confidence_set(3, 16, 100, 10, lead=0.2, seed=99)
    assert row["size"] < 1.5, row


@pytest.mark.parametrize("null", ["alike", "common errors"])
def test_the_test_of_a_difference_has_its_size(null: str) -> None:
    row = say.size_of_test(null, 10, 30, 400, seed=99)
    assert at_most(0.055, row["share"], 400) and at_least(0.03, row["share"], 400), row


@pytest.mark.parametrize(
    ("population", "systems", "inputs", "trials"),
    [
        ("plain", 8, 30, 120),
        ("70% of ratings at the top", 12, 40, 80),
        ("families of 3, named", 24, 30, 60),
        pytest.param("families of 3, named", 24, 30, 240, marks=LONG),
    ],
)
def test_intervals_contain_the_value_of_the_population(population: str, systems: int, inputs: int, trials: int) -> None:
    for row in say.coverage(population, systems, inputs, trials, seed=99):
        if row["data sets"]:
            assert at_least(0.93, row["share"], row["data sets"]), row


def test_families_that_are_not_named_would_not_pass_this() -> None:
    rows = say.coverage("families of 3, not named", 24, 30, 150, seed=99)
    assert not at_least(0.95, rows[0]["share"], 150), rows[0]


@pytest.mark.parametrize("kind", ["unrelated", "constant", "length"])
def test_what_knows_nothing_about_quality_earns_no_badge(kind: str) -> None:
    for row in say.badges(kind, 8, 30, 40, seed=99):
        assert at_most(0.05, row["reliable"], 40), row


def test_a_very_good_metric_is_rarely_called_not_reliable() -> None:
    rows = say.badges("very good", 8, 30, 60, seed=99)
    assert any(row["reliable"] > 0.5 for row in rows)
    for row in rows:
        assert at_most(0.05, row["not reliable"], 60), row


def test_a_cell_fails_only_if_its_corrected_band_lies_outside() -> None:
    row = {"share": 0.06, "data sets": 1000}
    assert page.within(row, 0, 0.05, 1) == "yes"
    assert page.within({**row, "share": 0.09}, 0, 0.05, 20) == "no"
    assert page.within({**row, "share": 0.9}, 0.93, 1, 20) == "no"
    assert page.within({**row, "share": None}, 0, 1, 1) == "no interval"
