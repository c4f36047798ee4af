"""Kolmogorov-Smirnov: scipy is the oracle; repeated rows are the specification of weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from nlgauge.errors import NlgaugeError
from nlgauge.stats.tests.ks import ks, ks_chance, ks_distance, ks_permutation, ks_weighted

samples = st.lists(st.integers(-4, 4) | st.floats(-5, 5, allow_nan=False), min_size=1, max_size=30)


@given(samples, samples)
def test_the_distance_is_scipys(a: list[float], b: list[float]) -> None:
    assert ks_distance(a, b) == pytest.approx(ks_2samp(a, b, method="asymp").statistic, abs=1e-12)


def test_missing_values_are_left_out_and_an_empty_sample_has_no_distance() -> None:
    assert ks_distance([1, np.nan, 2], [3, np.nan]) == 1.0
    assert np.isnan(ks_distance([np.nan], [1, 2]))
    assert np.isnan(ks([], [1]).p)


@pytest.mark.parametrize("how", ["exact", "asymp"])
def test_p_and_sizes_come_with_the_distance(how: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=20), rng.normal(0.7, 1, 25)
    found = ks(np.append(a, np.nan), b, how)  # type: ignore[arg-type]
    theirs = ks_2samp(a, b, method=how)
    assert (found.value, found.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert (found.n, found.m) == (20, 25)
    with pytest.raises(NlgaugeError, match="exact, asymp or auto"):
        ks(a, b, "guess")  # type: ignore[arg-type]


@given(st.integers(0, 2**31))
def test_weights_are_repeated_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, (2, 12)).astype(float)
    scores[1, rng.integers(12)] = np.nan
    low, high = rng.integers(0, 4, 12).astype(float), rng.integers(0, 4, 12).astype(float)
    found = ks_weighted(scores, low, high)
    for row, value in zip(scores, found, strict=True):
        a, b = np.repeat(row, low.astype(int)), np.repeat(row, high.astype(int))
        assert value == pytest.approx(ks_distance(a, b), nan_ok=True)


def test_the_permutation_p_agrees_with_the_exact_one_for_single_rows() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(1, 40))
    low = (np.arange(40) < 18).astype(float)
    scores[0, :18] -= 0.6
    found, p = ks_permutation(scores, low, 1 - low, draws=4000, seed=3)
    exact = ks_2samp(scores[0, :18], scores[0, 18:], method="exact")
    assert found[0] == pytest.approx(exact.statistic)
    assert p[0] == pytest.approx(exact.pvalue, abs=4 * np.sqrt(exact.pvalue / 4000))


def test_three_equal_raters_are_no_more_evidence_than_one() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(1, 60))
    low = (rng.random(60) < 0.5).astype(float)
    once, thrice = (ks_permutation(scores, k * low, k * (1 - low), draws=199)[1][0] for k in (1, 3))
    assert once == thrice
    rows = ks_2samp(np.repeat(scores[0][low > 0], 3), np.repeat(scores[0][low == 0], 3)).pvalue
    assert rows < once / 2  # what taking the rows as independent would claim


def test_ties_count_only_where_both_distributions_are_complete() -> None:
    """A two-valued score: the null must have its ties too, else p would be too large."""
    scores = np.array([[0.0] * 10 + [1.0] * 10])
    low = np.array([1.0] * 9 + [0.0] + [1.0] + [0.0] * 9)
    found, p = ks_permutation(scores, low, 1 - low, draws=2000, seed=5)
    assert found[0] == pytest.approx(0.8)
    # By hand: at least 9 of the 10 low rows among the ten zeros, or at most 1: 2 · (10 · 10 + 1) / C(20, 10).
    assert p[0] == pytest.approx(202 / 184756, abs=0.002)


def test_metrics_with_holes_use_their_own_outputs_and_order_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(3, 30))
    scores[1, :5] = np.nan
    low = (np.arange(30) % 2).astype(float)
    found, p = ks_permutation(scores, low, 1 - low, draws=99)
    again, q = ks_permutation(scores[::-1], low, 1 - low, draws=99)
    assert (found.tolist(), p.tolist()) == (again[::-1].tolist(), q[::-1].tolist())
    alone = ks_permutation(scores[1:2, 5:], low[5:], 1 - low[5:], draws=99)
    assert (found[1], p[1]) == (alone[0][0], alone[1][0])


def test_chance_is_what_unrelated_scores_reach() -> None:
    rng = np.random.default_rng(7)
    low = (np.arange(40) < 10).astype(float)
    theirs = np.mean([ks_2samp(x[:10], x[10:]).statistic for x in rng.normal(size=(400, 40))])
    assert ks_chance(low, 1 - low, draws=400) == pytest.approx(theirs, abs=0.03)
    assert np.isnan(ks_chance(low, 0 * low))
