"""Changes of figures of pass and fail: their value, and how often the interval holds the true change."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from bench.gate import EIGHT, true_change
from scipy.stats import binom

from nlgauge.api.limits import FIGURES
from nlgauge.errors import DataError
from nlgauge.stats.agreement.curves import roc_area
from nlgauge.stats.agreement.two_by_two import verdict_figures
from nlgauge.stats.agreement.verdict_changes import (
    VALUES,
    balanced_accuracy_deviations,
    change_of,
    compare_judges,
    compare_with_baseline,
    eight_cells,
    may_be_best,
    roc_area_deviations,
)


@pytest.mark.parametrize("figure", [name for name in FIGURES if name in VALUES])
def test_a_change_is_the_difference_of_the_two_figures(figure: str) -> None:
    rng = np.random.default_rng(3)
    people, old, new = rng.random((3, 80)) < 0.6
    then, now = (verdict_figures(people, verdicts)[figure].value for verdicts in (old, new))
    found = change_of(eight_cells(people, old, new), figure)
    assert found.value == pytest.approx(now - then) and found.low < found.value < found.high


def test_clusters_widen_and_single_rows_do_not() -> None:
    rng = np.random.default_rng(4)
    people = np.repeat(rng.random(40) < 0.5, 5)
    old, new = (np.where(np.repeat(rng.random(40) < 0.85, 5), people, ~people) for _ in range(2))
    alone = change_of(eight_cells(people, old, new), "agreement")
    single = change_of(eight_cells(people, old, new, np.arange(200).tolist()), "agreement", clustered=True)
    clusters = change_of(
        eight_cells(people, old, new, np.repeat(np.arange(40), 5).tolist()), "agreement", clustered=True
    )
    assert single.low == pytest.approx(alone.low) and clusters.high - clusters.low > 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize("world", EIGHT)
def test_the_interval_holds_the_true_change(world: str) -> None:
    rng, cells = np.random.default_rng(5), EIGHT[world]
    counts = rng.multinomial(120, cells, size=200).astype(float)
    for figure in ("kappa", "agreement"):
        truth = true_change(cells, figure)
        ends = [change_of(c[None], figure) for c in counts]
        known = [e for e in ends if not e.reason]
        assert len(known) > 100 and np.mean([e.low <= truth <= e.high for e in known]) > 0.91


def judged(n: int = 90, seed: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Human verdicts, verdicts of three judges, and scores of two with ties."""
    rng = np.random.default_rng(seed)
    human = rng.random(n) < 0.7
    verdicts = np.where(rng.random((3, n)) < 0.75, human, ~human).astype(float)
    return human, verdicts, np.round(rng.normal(size=(2, n)) + human)


def test_deviations_give_the_values_and_the_covariance_of_two_independent_means() -> None:
    human, verdicts, _ = judged()
    made = balanced_accuracy_deviations(human, verdicts)
    figures = [verdict_figures(human, v)["balanced_accuracy"].value for v in verdicts]
    assert made.values == pytest.approx(figures, abs=1e-12)
    right = (verdicts == human) / 2
    observed = sum(np.cov(right[:, part]) / part.sum() for part in (human, ~human))
    units = made.deviations[:, : len(human)]
    assert units @ units.T == pytest.approx(observed, abs=1e-12)
    prior = made.deviations[:, len(human) :]
    assert np.count_nonzero(prior) == 3 and (np.diag(prior) > 0).all()


def test_deviations_of_roc_areas_are_those_of_delong() -> None:
    """The covariance of two areas from the placements by brute force: every pass against every failure."""
    human, _, scores = judged()
    made = roc_area_deviations(human, scores)
    assert made.values == pytest.approx([roc_area(s, human) for s in scores], abs=1e-12)
    wins = [(np.sign(s[human][:, None] - s[~human]) + 1) / 2 for s in scores]
    of_passes, of_failures = (np.cov([w.mean(axis=axis) for w in wins]) for axis in (1, 0))
    expected = of_passes / human.sum() + of_failures / (~human).sum()
    assert made.deviations @ made.deviations.T == pytest.approx(expected, abs=1e-12)


def test_clusters_of_one_row_change_nothing_and_repeated_rows_add_nothing() -> None:
    human, verdicts, scores = judged()
    for deviations, given in ((balanced_accuracy_deviations, verdicts), (roc_area_deviations, scores)):
        alone = compare_judges(deviations(human, given), 0, 1)
        single = compare_judges(deviations(human, given, list(range(90))), 0, 1)
        assert (single.value, single.low, single.high, single.p) == (alone.value, alone.low, alone.high, alone.p)
        names = np.repeat(np.arange(90), 3).tolist()
        tripled = compare_judges(deviations(np.repeat(human, 3), np.repeat(given, 3, axis=1), names), 0, 1)
        assert (tripled.low, tripled.high, tripled.p) == pytest.approx((alone.low, alone.high, alone.p), abs=1e-9)


def test_a_comparison_is_antisymmetric_and_a_judge_does_not_differ_from_itself() -> None:
    human, verdicts, _ = judged()
    made = balanced_accuracy_deviations(human, [*verdicts, verdicts[0]])
    one, other = compare_judges(made, 0, 1), compare_judges(made, 1, 0)
    assert (one.value, one.low, one.high, one.p) == pytest.approx((-other.value, -other.high, -other.low, other.p))
    same = compare_judges(made, 0, 3)
    assert (same.value, same.p) == (0.0, 1.0) and same.low < 0 < same.high


def test_a_judge_counts_on_the_rows_it_judged() -> None:
    human, verdicts, _ = judged()
    verdicts[1, ::4] = np.nan
    made = balanced_accuracy_deviations(human, verdicts)
    there = np.isfinite(verdicts[1])
    alone = balanced_accuracy_deviations(human[there], verdicts[1][there])
    assert made.values[1] == pytest.approx(alone.values[0], abs=1e-12)
    assert made.rows.tolist() == [90, int(there.sum()), 90]
    assert not made.deviations[1, :90][~there].any()


def test_too_few_failures_give_values_but_no_test() -> None:
    human = np.arange(60) >= 4
    found = compare_judges(balanced_accuracy_deviations(human, [human, np.ones(60)]), 0, 1)
    assert found.value == 0.5 and np.isnan(found.low) and np.isnan(found.p)
    assert found.reason == "needs at least 5 human failures, found 4; about 68 labeled rows would contain them"
    with pytest.raises(DataError, match="a column per human verdict"):
        balanced_accuracy_deviations(human, np.ones((2, 59)))


def test_a_baseline_counts_in_its_better_direction() -> None:
    human, _, scores = judged(400)
    length = -2.0 * human + np.random.default_rng(3).normal(size=400)  # failures are longer
    found = compare_with_baseline(human, scores[0], length)
    assert found.value == pytest.approx(roc_area(scores[0], human) - roc_area(-length, human), abs=1e-12)
    assert found.high < 0
    noise = np.random.default_rng(4).normal(size=(2, 400))
    assert compare_with_baseline(human, scores[0], noise).low > 0


def judges_of(seed: int, right: tuple[float, ...], n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Human verdicts and verdicts of judges that are right this often."""
    rng = np.random.default_rng(seed)
    human = rng.random(n) < 0.6
    return human, np.array([np.where(rng.random(n) < r, human, ~human) for r in right], float)


def test_the_set_holds_the_best_judge_and_drops_a_clearly_worse_one() -> None:
    held = dropped = 0
    for seed in range(60):
        best, _, worst = may_be_best(balanced_accuracy_deviations(*judges_of(seed, (0.9, 0.88, 0.6)))).tolist()
        held, dropped = held + best, dropped + (not worst)
    assert held >= binom.ppf(0.001, 60, 0.95)
    assert dropped >= 58


def test_equally_good_judges_stay_in_the_set_as_often_as_the_level_says() -> None:
    trials, at_once, single = 300, 0, 0
    for seed in range(trials):
        judges = balanced_accuracy_deviations(*judges_of(2000 + seed, (0.8,) * 6))
        at_once += not may_be_best(judges).all()
        single += min(compare_judges(judges, a, b).p for a, b in combinations(range(6), 2)) < 0.05
    limit = binom.ppf(0.999, trials, 0.05)
    assert at_once <= limit
    assert single > 2 * limit


def test_the_set_of_judges_does_not_depend_on_their_order_and_holds_a_copy_too() -> None:
    human, verdicts = judges_of(5, (0.9, 0.85, 0.8, 0.75, 0.6))
    inside = may_be_best(balanced_accuracy_deviations(human, verdicts))
    assert 0 < inside.sum() < 5
    order = [3, 0, 4, 2, 1]
    assert may_be_best(balanced_accuracy_deviations(human, verdicts[order])).tolist() == inside[order].tolist()
    twice = may_be_best(balanced_accuracy_deviations(human, np.vstack([verdicts, verdicts[:1]])))
    assert twice[0] and twice[5]


def test_a_judge_in_the_set_is_beaten_by_none_and_one_outside_by_some() -> None:
    for seed in range(20):
        judges = balanced_accuracy_deviations(*judges_of(seed, (0.9, 0.85, 0.8, 0.7)))
        inside = may_be_best(judges)
        for k in range(4):
            gaps = [compare_judges(judges, other, k) for other in range(4) if other != k]
            beaten = [g for g in gaps if g.value > 0 and g.p < 0.05]
            assert inside[k] or beaten
            assert not (inside[k] and any(g.p < 1e-4 for g in beaten))
        assert inside[np.argmax(judges.values)]


def test_judges_without_a_test_stay_in_the_set_and_those_without_a_value_do_not() -> None:
    human, verdicts = judges_of(6, (0.95, 0.6), n=6)
    judges = balanced_accuracy_deviations(human, np.vstack([verdicts, np.full(6, np.nan)]))
    assert judges.reasons[0]
    assert may_be_best(judges).tolist() == [True, True, False]
