"""Scores before and after a change: counts, cluster bootstrap and monotonicity, against scipy and loops by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from nlgauge.stats.tests.paired_changes import mean_interval, monotonicity, moves, signs

values = hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(-3, 3) | st.just(np.nan) | st.just(0.0))


@given(values, st.floats(0, 2))
def test_falls_ties_and_rises_are_counted_one_by_one(change: np.ndarray, threshold: float) -> None:
    found = moves(change, signs(change, threshold, np.zeros_like(change)))
    known = [c for c in change.tolist() if not np.isnan(c)]
    assert found.pairs == len(known)
    if known:
        assert found.falls == pytest.approx(sum(c < -threshold for c in known) / len(known))
        assert found.rises == pytest.approx(sum(c > threshold for c in known) / len(known))
        assert found.falls + found.ties + found.rises == pytest.approx(1)
        assert found.change == pytest.approx(np.mean(known))
    else:
        assert np.isnan([found.falls, found.ties, found.rises, found.change]).all()


def test_a_difference_that_is_rounding_is_a_tie() -> None:
    before, after = 100 * (0.1 + 0.2), 100 * 0.3
    assert after - before != 0
    assert signs(np.array([after - before]), 0.0, np.array([before])).tolist() == [0.0]


def test_the_interval_of_independent_outputs_is_scipys_percentile_bootstrap() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(-0.3, 1.0, 80)
    low, high = mean_interval(x, np.arange(80), draws=4000, seed=2)
    theirs = stats.bootstrap((x,), np.mean, method="percentile", n_resamples=4000, rng=rng).confidence_interval
    assert (float(low), float(high)) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_outputs_of_one_input_are_drawn_together() -> None:
    """Five copies of each value say no more than one: the interval must not become narrower."""
    x = np.random.default_rng(3).normal(size=40)
    one = mean_interval(x, np.arange(40), seed=5)
    five = mean_interval(np.tile(x, (5, 1)), np.arange(40), seed=5)
    assert [float(e) for e in one] == pytest.approx([float(e) for e in five])
    apart = mean_interval(np.tile(x, 5), np.arange(200), seed=5)
    assert apart.high - apart.low < 0.6 * (one.high - one.low)


def test_missing_values_and_groups_without_any_are_left_out() -> None:
    x = np.array([1.0, 2.0, np.nan, 4.0, np.nan])
    groups = ["a", "b", "c", "b", "a"]
    assert [float(e) for e in mean_interval(x, groups)] == pytest.approx(
        [float(e) for e in mean_interval([1.0, 2.0, 4.0], ["a", "b", "b"])]
    )
    assert np.isnan(mean_interval([np.nan], ["a"])).all()


@given(hnp.arrays(np.float64, (4, 5), elements=st.integers(-4, 4).map(float)))
def test_monotonicity_is_the_mean_tau_a_between_amount_and_fall(change: np.ndarray) -> None:
    kind = np.tile(np.arange(4)[:, None], (1, 5))
    found, n = monotonicity(change, kind, np.ones((4, 5)))
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    taus = [np.mean([np.sign(column[a] - column[b]) for a, b in pairs]) for column in change.T]
    assert n == 5
    assert found == pytest.approx(np.mean(taus))


def test_monotonicity_without_ties_is_scipys_kendall() -> None:
    change = np.random.default_rng(4).normal(size=(6, 9))
    found, _ = monotonicity(change, np.tile(np.arange(6)[:, None], (1, 9)), np.ones((6, 9)))
    theirs = [stats.kendalltau(np.arange(6), -column).statistic for column in change.T]
    assert found == pytest.approx(np.mean(theirs))


def test_versions_with_the_same_text_are_not_compared() -> None:
    change = np.array([[-1.0, -1.0, -1.0], [-1.0, -2.0, np.nan]])
    kind = np.array([[0, 0, 0], [0, 1, 1]])
    assert monotonicity(change, kind, np.ones((2, 3))) == (1.0, 1)
    assert np.isnan(monotonicity(change[:1], kind[:1], np.ones((1, 3)))[0])
