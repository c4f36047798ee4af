"""A small version of bench/verdicts.py: the promises of docs/verdicts_coverage.md hold within what chance allows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import _verdict_worlds as world

from nlgauge.stats.agreement.proportion import proportion_interval

CHANCE = 0.0002  # of one of these bands being left although all is well


def at_least(rate: float, row: dict) -> bool:
    """Of the data sets with an interval the share that hold the truth is not below `rate`."""
    given = round(row["given"] * row["data sets"])
    return bool(binomtest(round(row["coverage"] * given), given, rate, "less").pvalue > CHANCE)


def exact_coverage(n: int, kind: str) -> np.ndarray:
    """Probability that the interval holds the share, for shares from .02 to .98."""
    low, high = proportion_interval(np.arange(n + 1), n, kind=kind)  # type: ignore[arg-type]
    shares = np.linspace(0.02, 0.98, 481)
    held = (low[:, None] <= shares) & (shares <= high[:, None])
    return np.asarray((binom.pmf(np.arange(n + 1)[:, None], n, shares) * held).sum(axis=0))


@pytest.mark.parametrize("n", [5, 9, 11, 20, 26, 27, 50, 59, 155, 500])
def test_the_interval_of_a_share_holds_it_with_at_least_93_percent(n: int) -> None:
    found = exact_coverage(n, "lean")
    assert found.min() >= 0.93
    assert found.mean() < exact_coverage(n, "exact").mean()


def test_wilsons_interval_and_mid_p_would_not_pass_this() -> None:
    assert exact_coverage(9, "wilson").min() < 0.9
    assert exact_coverage(14, "midp").min() < 0.92


@pytest.mark.parametrize(
    ("n", "prevalence", "judge"),
    [(20, 0.5, "lenient"), (50, 0.1, "good"), (100, 0.9, "lenient"), (100, 0.3, "weak"), (300, 0.98, "good")],
)
def test_figures_of_verdicts_hold_the_populations_value(n: int, prevalence: float, judge: str) -> None:
    for row in world.verdict_coverage(n, prevalence, judge, 300, seed=99):
        if row["given"] >= 0.5:
            assert at_least(0.94, row), row
        assert row["wrong"] <= 0.1, row


def test_rows_of_one_conversation_are_allowed_for() -> None:
    rows = world.clustered_coverage(40, 0.5, "lenient", 60, seed=99)
    assert all(at_least(0.94, row) for row in rows), rows
    # As if independent the band would be left.
    assert min(row["as independent"] for row in rows) < 0.87


@pytest.mark.parametrize(("prevalence", "apart", "steps"), [(0.5, 1.2, False), (0.8, 2.4, True), (0.2, 0.3, False)])
def test_areas_hold_the_populations_value(prevalence: float, apart: float, steps: bool) -> None:
    for row in world.area_coverage(100, prevalence, apart, 1.0, steps, 100, seed=99):
        assert at_least(0.93, row), row


@pytest.mark.parametrize("kind", list(world.CALIBRATIONS))
def test_calibration_figures_hold_the_populations_value(kind: str) -> None:
    for row in world.calibration_coverage(150, 0.7, kind, 150, seed=99):
        assert at_least(0.94, row), row


def test_a_threshold_is_flattered_by_the_rows_that_chose_it_and_not_by_others() -> None:
    other, same = world.threshold_honesty(60, 0.5, 400, seed=99)
    assert at_least(0.94, other)
    assert not at_least(0.94, same)


@pytest.mark.parametrize(
    ("pair", "systems"),
    [("trade-off, independent", 1), ("constant and coin 0.9", 1), ("scores, five steps", 1), ("equal, correlated", 3)],
)
def test_equally_good_judges_rarely_differ_significantly(pair: str, systems: int) -> None:
    row = world.comparison_size(240, 0.25, pair, 600, systems, seed=99)
    assert row["tested"] == 1.0
    assert binomtest(round(row["size"] * 600), 600, 0.055, "greater").pvalue > CHANCE, row
    assert row["size"] > 0.005, row


@pytest.mark.parametrize("judge", ["coin 0.7", "coin 0.95", "constant pass", "length"])
def test_a_judge_that_knows_nothing_earns_no_badge_for_its_rates(judge: str) -> None:
    row = world.badge_errors(80, 0.22, judge, 600, seed=99)
    for rate in ("fail_recall", "pass_recall"):
        for limit in world.LIMITS:
            reliable = round(row[f"{rate}, limit {limit:g}"] * 600)
            assert binomtest(reliable, 600, 0.025, "greater").pvalue > CHANCE, row


@pytest.mark.parametrize("failures", [5, 8])
def test_few_failures_do_not_break_the_interval_of_youdens_j(failures: int) -> None:
    assert all(row["coverage"] >= 0.93 for row in world.few_failures_exact(failures, 20))


@pytest.mark.parametrize("trials", [100, pytest.param(300, marks=pytest.mark.long)])
def test_coarse_scores_with_few_failures_do_not_break_the_interval_of_an_area(
    monkeypatch: pytest.MonkeyPatch, trials: int
) -> None:
    monkeypatch.setattr(world, "AREA_SHAPES", [(2.4, 1.0, [-2.0, -1.2])])
    (row,) = world.few_failures_area(15, 180, trials, seed=99)
    assert at_least(0.94, {**row, "given": 1.0}), row


def test_slices_that_are_alike_are_rarely_called_worse() -> None:
    row = world.slice_discoveries(200, 10, 0, 300, seed=99)
    assert binomtest(round(row["any false mark"] * 300), 300, 0.05, "greater").pvalue > CHANCE
    assert world.slice_discoveries(600, 6, 1, 50, seed=99)["bad slices found"] > 0.9
