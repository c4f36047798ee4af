"""Shares of the uses of a metric: advantage over baselines, floors, outlying systems, badges."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.uses import (
    MIN_BAD,
    MIN_BAD_SYSTEMS,
    badge_of,
    flag_shares,
    outlying_systems,
    pair_shares,
)
from nlgauge.stats.resampling.jackknife import intervals

PAIRWISE, RANK = "input/pairwise-accuracy", "system/pairwise-accuracy"


def panel(seed: int = 0, systems: int = 9, inputs: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 0.7, (systems, 1)) + rng.normal(0, 1, (systems, inputs))
    z = np.clip(np.round(3 + truth), 1, 5)
    return np.stack([truth + rng.normal(0, sd, z.shape) for sd in (0.5, 1.5)]), z


def test_an_outlying_system_is_found_on_either_side_and_none_among_alike_ones() -> None:
    means = np.array([2.0, 2.1, 1.9, 2.2, 1.8, 2.05, 1.95])[:, None]
    assert not outlying_systems(means).any()
    for far in (9.0, -5.0):
        assert outlying_systems(np.append(means, [[far]], axis=0)).tolist() == [False] * 7 + [True]


def test_outlying_is_a_matter_of_order_and_units_only() -> None:
    human = np.random.default_rng(1).normal(3, 0.1, (10, 20))
    human[4] += 5
    order = np.random.default_rng(2).permutation(10)
    expected = np.arange(10) == 4
    assert (outlying_systems(human) == expected).all()
    assert (outlying_systems(human[order]) == expected[order]).all()
    assert (outlying_systems(7 * human - 3) == expected).all()
    human[4, 3:], human[7] = np.nan, np.nan
    assert (outlying_systems(human) == expected).all()  # a system without ratings is no outlier


def test_outliers_are_at_most_a_quarter_and_leave_six_others() -> None:
    rng = np.random.default_rng(3)

    def found(systems: int, far: int) -> int:
        human = rng.normal(3, 0.1, (systems, 40))
        human[:far] += 20
        return int(outlying_systems(human).sum())

    assert [found(12, 3), found(12, 4)] == [3, 0]  # more are a group of their own
    assert [found(7, 1), found(6, 1)] == [1, 0]  # without it five would remain


@pytest.mark.parametrize("measure", [PAIRWISE, RANK])
def test_shares_are_pairwise_accuracies_with_wider_intervals_than_single_ones(measure: str) -> None:
    x, z = panel()
    made = pair_shares(measure, x, z, None)
    single = intervals(x, z, [measure])
    assert made.value == pytest.approx(evaluate(x, z, [Measure.parse(measure)]).value[:, 0])
    assert made.level > 0.95
    assert (made.low < single.low[:, 0]).all()
    assert made.baselines == {"constant": 0.5}
    np.testing.assert_allclose([made.advantage_low, made.advantage_high], [made.low - 0.5, made.high - 0.5])


def test_a_single_metric_pays_for_no_other() -> None:
    x, z = panel()
    made, single = pair_shares(PAIRWISE, x[:1], z, None), intervals(x[:1], z, [PAIRWISE])
    assert made.level == 0.95
    assert (made.low[0], made.high[0]) == pytest.approx((single.low[0, 0], single.high[0, 0]))


def test_length_itself_has_no_advantage_and_a_better_metric_has() -> None:
    x, z = panel()
    length = x[1]  # as a baseline it agrees as well as the second metric
    made = pair_shares(PAIRWISE, x, z, length)
    assert made.baselines["output length"] == pytest.approx(made.value[1])
    assert made.advantage_high[1] == pytest.approx(0.0, abs=1e-12)  # the same scores: exactly no advantage
    gap = made.value[0] - made.value[1]
    assert 0 < made.advantage_low[0] < gap < made.advantage_high[0]
    assert made.advantage_low[0] < made.low[0] - 0.5  # length is harder to beat than a constant


@pytest.mark.parametrize("measure", [PAIRWISE, RANK])
def test_length_counts_in_its_better_direction(measure: str) -> None:
    x, z = panel()
    longer, shorter = (pair_shares(measure, x, z, length) for length in (x[1], -x[1]))
    assert longer.baselines == pytest.approx(shorter.baselines)
    assert longer.baselines["output length"] >= 0.5
    np.testing.assert_allclose(longer.advantage_low, shorter.advantage_low)


def test_a_useless_length_leaves_the_constant_as_the_baseline() -> None:
    x, z = panel()
    none, flat = pair_shares(PAIRWISE, x, z, None), pair_shares(PAIRWISE, x, z, np.full_like(z, 12.0))
    np.testing.assert_allclose(flat.advantage_low, none.advantage_low, atol=1e-6)


@pytest.mark.parametrize("measure", [PAIRWISE, RANK])
def test_a_constant_has_no_advantage_for_any_use(measure: str) -> None:
    x, z = panel()
    made = pair_shares(measure, np.concatenate([x, np.full((1, *z.shape), 0.1)]), z, None)
    assert made.value[2] == pytest.approx(0.5, abs=1e-12)
    assert made.advantage_high[2] <= 0
    assert badge_of(made.low[2], made.high[2], 0.75, made.advantage_low[2], made.advantage_high[2]) == "not reliable"
    assert made.advantage_high[0] > 0


def flagged(bad: np.ndarray, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Ratings that are low where `bad`, and a metric that mostly sees it."""
    rng = np.random.default_rng(seed)
    z = np.where(bad, 1.0, 4.0) + (rng.random(bad.shape) < 0.5)
    return (z + rng.normal(0, 1, z.shape))[None], z


def test_flagging_has_no_interval_below_the_floor_of_bad_outputs() -> None:
    for count in (MIN_BAD - 1, MIN_BAD):
        bad = np.zeros((8, 40), bool)
        bad[np.arange(count) % 8, np.arange(count)] = True
        made = flag_shares(*flagged(bad), bad, None)
        assert np.isfinite(made.value[0])
        ends = [made.low[0], made.high[0], made.advantage_low[0], made.advantage_high[0]]
        if count < MIN_BAD:
            assert np.isnan(ends).all()
            assert made.reason == [f"an interval needs at least {MIN_BAD} bad outputs; here are {count}"]
        else:
            assert np.isfinite(ends).all()
            assert made.reason == [None]


def test_flagging_has_no_interval_where_few_outputs_are_not_bad() -> None:
    bad = np.ones((8, 40), bool)
    bad[np.arange(9) % 8, np.arange(9)] = False
    assert flag_shares(*flagged(bad), bad, None).reason == [
        "an interval needs at least 10 outputs that are not bad; here are 9"
    ]


def test_flagging_has_no_interval_where_bad_outputs_come_from_few_systems() -> None:
    for systems in (MIN_BAD_SYSTEMS - 1, MIN_BAD_SYSTEMS):
        bad = np.zeros((8, 40), bool)
        bad[:systems, :10] = True
        made = flag_shares(*flagged(bad), bad, None)
        assert np.isnan(made.low[0]) == (systems < MIN_BAD_SYSTEMS)
        assert (made.reason[0] is None) == (systems >= MIN_BAD_SYSTEMS)


def test_only_outputs_that_the_metric_scored_count_for_the_floor() -> None:
    bad = np.zeros((8, 40), bool)
    bad[np.arange(12) % 8, np.arange(12)] = True
    x, z = flagged(bad)
    x[0, np.arange(4), np.arange(4)] = np.nan
    assert flag_shares(x, z, bad, None).reason == ["an interval needs at least 10 bad outputs; here are 8"]


def test_a_perfect_flag_is_not_certain() -> None:
    bad = np.random.default_rng(5).random((8, 40)) < 0.3
    z = np.where(bad, 1.0, 4.0)
    right, wrong = flag_shares(z[None], z, bad, None), flag_shares(-z[None], z, bad, None)
    assert (right.value[0], right.high[0]) == (1.0, 1.0)
    assert 0.5 < right.low[0] < 1.0
    assert (wrong.value[0], wrong.low[0]) == (0.0, 0.0)
    assert wrong.high[0] == pytest.approx(1 - right.low[0])


def test_a_flag_that_knows_the_input_only_has_no_advantage() -> None:
    rng = np.random.default_rng(6)
    hard = rng.random(60) < 0.4
    bad = np.repeat(hard[None], 8, axis=0) ^ (rng.random((8, 60)) < 0.1)
    z = np.where(bad, 1.0, 4.0)
    by_input = np.repeat((1.0 - hard + rng.normal(0, 0.1, 60))[None], 8, axis=0)
    by_output = z + rng.normal(0, 1, z.shape)
    made = flag_shares(np.stack([by_input, by_output]), z, bad, None)
    assert made.low[0] > 0.75  # the area alone looks good
    assert made.advantage_high[0] <= 0
    assert made.advantage_low[1] > 0


def test_badges_need_both_the_limit_and_the_advantage() -> None:
    cases = {
        (0.75, 0.9, 0.01, 0.2): "reliable",
        (0.74, 0.9, 0.01, 0.2): "inconclusive",
        (0.8, 0.9, 0.0, 0.2): "inconclusive",
        (0.8, 0.9, -0.1, 0.0): "not reliable",
        (0.5, 0.74, 0.01, 0.2): "not reliable",
        (np.nan, np.nan, np.nan, np.nan): None,
        (0.8, 0.9, np.nan, np.nan): None,
        (0.5, 0.7, np.nan, np.nan): "not reliable",
    }
    assert {ends: badge_of(ends[0], ends[1], 0.75, ends[2], ends[3]) for ends in cases} == cases


def test_the_order_of_metrics_changes_nothing_and_that_of_systems_and_inputs_no_more_than_the_draws() -> None:
    x, z = panel()
    bad = z <= 2
    order = np.random.default_rng(7).permutation
    rows, columns = order(z.shape[0]), order(z.shape[1])

    def moved(a: np.ndarray) -> np.ndarray:
        return a[..., rows, :][..., columns]

    for make in (lambda x, z, bad, n: pair_shares(PAIRWISE, x, z, n), flag_shares):
        made, turned = make(x, z, bad, x[1]), make(x[::-1], z, bad, x[1])
        other = make(moved(x), moved(z), moved(bad), moved(x[1]))
        for name in ("value", "low", "high", "advantage_low", "advantage_high"):
            np.testing.assert_allclose(getattr(turned, name)[::-1], getattr(made, name), atol=1e-9, err_msg=name)
            np.testing.assert_allclose(getattr(other, name), getattr(made, name), atol=0.01, err_msg=name)
