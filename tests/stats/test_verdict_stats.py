"""Shares, figures made of shares, curves and maps: small numeric truths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact

from nlgauge.errors import DataError, NlgaugeError
from nlgauge.stats.agreement.curves import area_figures, cheapest, halves, roc_area, sweep
from nlgauge.stats.agreement.proportion import clustering, melded_interval, proportion_interval
from nlgauge.stats.agreement.reliability import calibration_figures, isotonic_map, reliability_bins
from nlgauge.stats.agreement.two_by_two import (
    SHARES,
    cell_counts,
    figures_of,
    kappa,
    kappa_of,
    mcc,
    mcc_of,
    verdict_figures,
)
from nlgauge.stats.tests.two_shares import clustered_difference_test, fisher_exact_test

TABLE = np.array([37.0, 25.0, 6.0, 87.0])


@pytest.mark.parametrize("n", [5, 12, 30, 60, 150])
def test_one_tail_is_shorter_near_the_ends_and_still_holds_every_share(n: int) -> None:
    """Exact: over all counts. At a share of .05 the other end cannot err with so few rows."""
    from scipy.stats import binom

    x = np.arange(n + 1)
    low, high = proportion_interval(x, n, one_tail=True)
    both_low, both_high = proportion_interval(x, n)
    assert (low >= both_low - 1e-12).all() and (high <= both_high + 1e-12).all()
    assert (high - low).sum() < (both_high - both_low).sum()
    assert np.allclose(low, 1 - high[::-1])
    shares = np.linspace(0.02, 0.98, 193)
    held = [binom.pmf(x, n, p)[(low <= p) & (p <= high)].sum() for p in shares]
    assert min(held) > 0.93


@pytest.mark.parametrize(("kind", "own"), [("lean", 0.7), ("midp", 0.5), ("exact", 1.0)])
def test_each_end_leaves_the_tail_that_its_kind_says(kind: str, own: float) -> None:
    for x, n in ((3, 10), (37, 62), (1, 200)):
        low, high = proportion_interval(x, n, kind=kind)  # type: ignore[arg-type]
        assert binom.sf(x, n, low) + own * binom.pmf(x, n, low) == pytest.approx(0.025, abs=1e-10)
        assert binom.cdf(x - 1, n, high) + own * binom.pmf(x, n, high) == pytest.approx(0.025, abs=1e-10)


def test_no_hit_and_only_hits_end_at_0_and_1() -> None:
    for kind in ("lean", "midp", "wilson", "exact"):
        low, high = proportion_interval([0, 12], [12, 12], kind=kind)  # type: ignore[arg-type]
        assert (low[0], high[1]) == (0.0, 1.0)
        assert high[0] == pytest.approx(1 - low[1], abs=1e-12)


@pytest.mark.parametrize("level, close", [(0.95, 2e-3), (0.9983, 2e-3), (0.9997, 5e-3)])
def test_one_share_melded_is_its_mid_p_interval(level: float, close: float) -> None:
    for x, n in ((0, 9), (4, 9), (150, 200), (7.3, 21.9)):
        found = melded_interval([(x, n)], lambda p: p, level)
        assert tuple(found) == pytest.approx(tuple(proportion_interval(x, n, level, "midp")), abs=close)


def test_kappa_and_mcc_of_shares_are_those_of_counts() -> None:
    shares = [SHARES[name].value(TABLE) for name in ("human_pass_rate", "fail_recall", "pass_recall")]
    assert kappa_of(*shares) == pytest.approx(float(kappa(TABLE)), abs=1e-12)
    assert mcc_of(*shares) == pytest.approx(float(mcc(TABLE)), abs=1e-12)


def test_every_interval_holds_its_value_and_stays_in_range() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        table = rng.multinomial(rng.integers(10, 200), rng.dirichlet([0.5] * 4)).astype(float)
        for name, figure in figures_of(table[None]).items():
            if np.isfinite(figure.low):
                assert -1 <= figure.low <= figure.value <= figure.high <= 1, (table, name, figure)
            else:
                assert figure.reason, (table, name)


def test_what_people_and_judge_call_pass_and_fail_can_change_sides() -> None:
    people, judge = np.arange(60) % 3 == 0, np.arange(60) % 4 < 2
    one, other = verdict_figures(people, judge), verdict_figures(~people, ~judge)
    for a, b in (("fail_recall", "pass_recall"), ("fail_f1", "pass_f1"), ("kappa", "kappa"), ("mcc", "mcc")):
        assert (one[a].value, one[a].low, one[a].high) == pytest.approx(
            (other[b].value, other[b].low, other[b].high), abs=5e-3
        )


@pytest.mark.parametrize("verdict", [True, False])
def test_a_constant_judge_has_no_information_and_an_interval_that_allows_for_some(verdict: bool) -> None:
    """0.5 and 0 exactly. The interval is not a point: a judge that fails 5% of the failures may pass all 18 of them."""
    people = np.arange(80) >= 18
    found = verdict_figures(people, np.full(80, verdict))
    balanced, j = found["balanced_accuracy"], found["youden"]
    assert (balanced.value, j.value) == (0.5, 0.0)
    assert balanced.low < 0.5 < balanced.high and j.low < 0 < j.high < 0.2


def test_youdens_j_and_its_interval_are_those_of_balanced_accuracy_rescaled() -> None:
    found = figures_of(TABLE[None])
    balanced, j = found["balanced_accuracy"], found["youden"]
    assert j.value == pytest.approx(found["fail_recall"].value + found["pass_recall"].value - 1, abs=1e-12)
    assert (j.low, j.high) == pytest.approx((2 * balanced.low - 1, 2 * balanced.high - 1), abs=1e-9)


def test_rows_that_repeat_within_a_cluster_count_once() -> None:
    """Every row three times, as a cluster: the interval is about that of the rows alone, with Student's t."""
    people, judge = np.arange(120) % 3 > 0, np.arange(120) % 5 > 0
    alone = verdict_figures(people, judge)
    names = np.repeat(np.arange(120), 3).tolist()
    tripled = verdict_figures(np.repeat(people, 3), np.repeat(judge, 3), names)
    for name in ("agreement", "fail_recall", "kappa", "mcc", "fail_f1"):
        assert tripled[name].value == pytest.approx(alone[name].value, abs=1e-12)
        width = (alone[name].high - alone[name].low, tripled[name].high - tripled[name].low)
        assert width[1] == pytest.approx(width[0], rel=0.06)


def test_clusters_of_one_row_change_nothing() -> None:
    people, judge = np.arange(50) % 3 > 0, np.arange(50) % 5 > 0
    assert verdict_figures(people, judge, list(range(50))) == verdict_figures(people, judge)
    counts = cell_counts(people, judge, list(range(50)))
    assert clustering(counts, SHARES["agreement"].value, SHARES["agreement"].below).effect == 1.0


def test_too_few_clusters_give_no_interval() -> None:
    people, judge = np.arange(64) % 3 > 0, np.arange(64) % 5 > 0
    found = verdict_figures(people, judge, (np.arange(64) // 8).tolist())
    assert found["agreement"].reason == "needs rows in at least 10 clusters, found 8"
    assert np.isnan(found["kappa"].low)


def test_fishers_test_equals_scipys() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        n, other = rng.integers(1, 60, 2)
        hits, more = rng.integers(0, n + 1), rng.integers(0, other + 1)
        theirs = fisher_exact([[hits, n - hits], [more, other - more]]).pvalue
        assert fisher_exact_test(int(hits), int(n), int(more), int(other)) == pytest.approx(theirs, abs=1e-9)


def test_a_clustered_difference_is_found_where_it_is_and_not_where_one_cluster_makes_it() -> None:
    clear = np.tile([[4.0, 1.0, 1.0, 4.0], [5.0, 0.0, 0.0, 5.0]], (10, 1))
    assert clustered_difference_test(clear) < 0.001
    one = np.tile([[1.0, 1.0, 1.0, 1.0]], (20, 1))
    one[0] = [40.0, 0.0, 0.0, 0.0]
    assert clustered_difference_test(one) > 0.05
    assert np.isnan(clustered_difference_test(np.tile([[1.0, 1.0, 1.0, 1.0]], (20, 1))))


def test_the_cheapest_threshold_follows_the_costs() -> None:
    score, passed = [1, 2, 3, 4, 5, 6], [False, False, True, False, True, True]
    swept = sweep(score, passed)
    assert swept.thresholds[cheapest(swept)] == 5
    assert swept.thresholds[cheapest(swept, miss=0.2)] == 3
    assert swept.thresholds[cheapest(swept, miss=1.0, alarm=0.0)] == np.inf


def test_halves_share_out_fails_and_keep_clusters_whole() -> None:
    passed = np.arange(100) % 10 > 0
    first = halves(passed, None, seed=3)
    assert (first.sum(), (first & ~passed).sum()) == (50, 5)
    assert (halves(passed, None, seed=3) == first).all()
    names = [f"c{k // 4}" for k in range(100)]
    together = halves(passed, names, seed=3)
    assert all(len(set(together[4 * k : 4 * k + 4])) == 1 for k in range(25))
    renamed = halves(passed, [name.replace("c", "z") for name in names], seed=3)
    assert (renamed == together).all()


def test_a_judge_that_separates_all_rows_still_has_an_interval() -> None:
    found = area_figures(np.arange(40.0), np.arange(40) >= 20)
    assert (found["roc_area"].value, found["roc_area"].high) == (1.0, 1.0)
    assert 0.8 < found["roc_area"].low < 1
    assert 0.75 < found["average_precision"].low < 1


def test_areas_need_five_rows_of_each_verdict_and_precisions_ten() -> None:
    few = area_figures(np.arange(40.0), np.arange(40) >= 3)
    assert few["roc_area"].value == 1.0 and np.isnan(few["roc_area"].low)
    assert (
        few["roc_area"].reason == "needs at least 5 human failures, found 3; about 59 labeled rows would contain them"
    )
    some = area_figures(np.arange(40.0), np.arange(40) >= 5)
    assert np.isfinite(some["roc_area"].low) and not some["roc_area"].reason
    assert "needs at least 10 human failures, found 5" in some["average_precision"].reason
    assert np.isnan(some["average_precision"].low)


def test_turning_score_and_verdict_turns_the_area() -> None:
    rng = np.random.default_rng(1)
    score, passed = rng.integers(0, 5, 80).astype(float), rng.random(80) < 0.5
    assert roc_area(score, passed) == pytest.approx(roc_area(-score, ~passed), abs=1e-12)


def test_a_map_of_a_map_is_itself() -> None:
    rng = np.random.default_rng(3)
    score = rng.random(200)
    passed = rng.random(200) < score**2
    mapped = isotonic_map(score, passed).of(score)
    assert isotonic_map(mapped, passed).of(mapped) == pytest.approx(mapped, abs=1e-12)
    assert calibration_figures(mapped, passed)["brier"].value <= calibration_figures(score, passed)["brier"].value


def test_ece_is_the_weighted_distance_of_the_reliability_curve() -> None:
    rng = np.random.default_rng(3)
    score = rng.random(300)
    passed = rng.random(300) < 0.5
    bins = reliability_bins(score, passed)
    expected = sum(b.passed.n * abs(b.passed.value - b.score) for b in bins) / 300
    assert calibration_figures(score, passed)["ece"].value == pytest.approx(expected, abs=1e-12)


def test_what_cannot_be_computed_is_refused_in_one_line() -> None:
    with pytest.raises(DataError, match="0 to 1"):
        calibration_figures([1, 5], [True, False])
    with pytest.raises(DataError, match="same rows"):
        cell_counts([True], [True, False])
    with pytest.raises(DataError, match="finite"):
        sweep([np.nan], [True])
    with pytest.raises(NlgaugeError, match="no interval 'wald' of a proportion; use lean, midp, wilson, exact"):
        proportion_interval(1, 2, kind="wald")  # type: ignore[arg-type]
