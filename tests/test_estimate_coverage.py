"""A small version of bench/estimates.py: the promises of docs/estimate_coverage.md hold within what chance allows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import _estimate_worlds as world
from bench import _grouped_worlds as groups
from bench._cells import fingerprint
from bench._estimate_exact import count_coverage, least_coverage

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


def test_few_clusters_and_few_errors_do_not_make_intervals_needlessly_wide() -> None:
    """With allowances added one upon the other .989 of these intervals held the truth."""
    trials = 600
    cells = [world.mean_coverage(30, p, "number", "fair", "clusters", trials) for p in (0.05, 0.5, 0.95)]
    held = [row["coverage"] for rows in cells for row in rows if row["method"] == "ppi"]
    assert binomtest(round(sum(held) * trials), 3 * trials, 0.975, "greater").pvalue > CHANCE
    assert at_least(0.94, sum(held) / 3, 3 * trials)


@pytest.mark.parametrize(
    ("p", "kind", "judge", "design"),
    [(0.3, "number", "good", "strata"), (0.05, "verdict", "fair", "probabilities"), (0.3, "verdict", "good", "strata")],
)
def test_errors_hold_where_strata_or_probabilities_say_nearly_all(p: float, kind: str, judge: str, design: str) -> None:
    """Strata that are all but the verdict; a verdict that says how likely its row is drawn. Rules that were tried, with
    an unseen error at the mean of all rows or of their mean weight, held the truth in .82 and .76."""
    for row in world.mean_coverage(30, p, kind, judge, design, TRIALS):
        if row["method"] != "judge":
            assert at_least(0.94, row["coverage"]), row


def test_clusters_whose_rows_are_all_alike_count_once() -> None:
    rng, held = np.random.default_rng(5), []
    for _ in range(8):
        labels = world.people(rng, 100, 0.1, 0.95)
        sample = world.drawn(rng, labels, world.judged(rng, labels, "number", "poor"), 60, "clusters")
        found = world.mean_estimate(sample, "ppi++")
        held.append(float(((found.low <= 0.1) & (found.high >= 0.1)).mean()))
    assert at_least(0.93, sum(held) / len(held), 800)


def test_coverage_of_a_count_is_that_of_its_simulation() -> None:
    from scipy.stats import binom

    from nlgauge.stats.agreement.proportion import proportion_interval

    drawn = binom.rvs(30, 0.2, size=200_000, random_state=1)
    low, high = proportion_interval(np.arange(31), 30, one_tail=True)
    held = float(((low <= 0.2) & (high >= 0.2))[drawn].mean())
    assert abs(held - count_coverage(30, 0.2)) < 0.003


def test_no_interval_from_two_counts_of_errors_is_in_the_band_everywhere() -> None:
    found = least_coverage(30, 0.2, 0.95)
    assert found.exact
    assert found.coverage > 0.97
    # Where the judge errs more often counts have finer steps.
    assert least_coverage(30, 0.2, 0.8).coverage < 0.96


@pytest.mark.parametrize("grouping", ["input", "item"])
def test_correlations_by_group_hold_that_of_inputs_like_these(grouping: str) -> None:
    for row in groups.grouped_coverage(grouping, 100, 0.9, 40):
        assert at_least(0.93, row["coverage"], 40), row


def test_a_good_judge_saves_a_third_of_the_width_and_alone_misses_the_truth() -> None:
    rows = {row["method"]: row for row in world.mean_coverage(100, None, world.RATING, "good", "random", TRIALS)}
    assert rows["ppi++"]["width"] < 0.67
    assert rows["judge"]["coverage"] < 0.05


def test_intervals_of_all_differences_hold_together() -> None:
    row = world.systems_coverage(30, "verdict", 40)[0]
    assert at_least(0.93, row["all differences"], 40)
    assert at_least(0.95, row["all ranks"], 40)


def test_a_cell_is_computed_again_when_its_code_changes_and_not_for_a_comment(tmp_path: Path) -> None:
    found = []
    for name, body in {"one": "return 1", "same": '"""Words."""\n    return 1  # why', "two": "return 2"}.items():
        (tmp_path / f"cell_{name}.py").write_text(f"def f():\n    {body}\n")
        spec = importlib.util.spec_from_file_location(f"cell_{name}", tmp_path / f"cell_{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(fingerprint(module))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("kind", world.KINDS)
@pytest.mark.parametrize("leniency", [0.0, 0.25])
def test_a_probe_gives_intervals_that_hold_however_lenient_the_judge_is(kind: str, leniency: float) -> None:
    row = world.transfer_coverage(20, leniency, kind, TRIALS)[0]
    assert all(at_least(0.94, row[name]) for name in ("first", "second", "pooled")), row
    wrong = "does not transfer" if leniency == 0 else "transfers"
    assert binomtest(round(row[wrong] * TRIALS), TRIALS, 0.05, "greater").pvalue > CHANCE


def test_labels_of_one_system_refuse_the_other_and_borrowed_errors_would_miss_the_truth() -> None:
    row = world.transfer_coverage(0, 0.25, "number", TRIALS)[0]
    assert row["refused"] and row["second"] is row["pooled"] is None and row["before"] < 0.2
