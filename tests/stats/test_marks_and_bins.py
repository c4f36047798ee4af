"""Stars of correlations, tests of two means and dealt-out parts, each against scipy or by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.stats.tests.independent_parts import dealt_test, dealt_tests
from nlgauge.stats.tests.two_samples import MeanTest, mean_test
from nlgauge.stats.tests.zero_correlation import adjacent_inputs_p, lag_one_correlation, zero_test


@pytest.mark.parametrize("n", [5, 20, 300])
def test_a_star_is_scipys_p_of_pearson_and_spearman(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    z = x + rng.normal(0, 2, n)
    assert zero_test(*_of(stats.pearsonr(x, z), n)) == pytest.approx(stats.pearsonr(x, z).pvalue)
    assert zero_test(*_of(stats.spearmanr(x, z), n), "spearman") == pytest.approx(stats.spearmanr(x, z).pvalue)


def test_kendalls_star_is_scipys_asymptotic_p_without_ties() -> None:
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 40))
    found = stats.kendalltau(x, z, method="asymptotic")
    assert zero_test(found.statistic, 40, "kendall") == pytest.approx(found.pvalue)


def test_too_few_points_have_no_p_and_a_perfect_correlation_has_p_zero() -> None:
    assert np.isnan(zero_test(0.5, 2))
    assert np.isnan(zero_test(np.nan, 30))
    assert zero_test(-1.0, 10) == 0.0
    with pytest.raises(NlgaugeError, match="implemented for pearson"):
        zero_test(0.1, 10, "tau-c")


def _of(found: object, n: int) -> tuple[float, int]:
    return float(found.statistic), n  # type: ignore[attr-defined]


SCIPY = {
    "t": lambda a, b: stats.ttest_ind(a, b, equal_var=False).pvalue,
    "student": lambda a, b: stats.ttest_ind(a, b).pvalue,
    "mann-whitney": lambda a, b: stats.mannwhitneyu(a, b).pvalue,
    "paired-t": lambda a, b: stats.ttest_rel(a, b).pvalue,
    "wilcoxon": lambda a, b: stats.wilcoxon(a, b).pvalue,
}


@pytest.mark.parametrize("test", SCIPY)
def test_two_means_as_scipy_tests_them(test: MeanTest) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 30), rng.normal(0.4, 2, 30)
    assert mean_test(a, b, test) == pytest.approx(SCIPY[test](a, b))


def test_missing_values_leave_a_pair_in_paired_tests_only() -> None:
    a, b = np.array([1.0, 2.0, 4.0, np.nan, 3.0]), np.array([2.0, 4.0, 5.0, 9.0, 3.5])
    assert mean_test(a, b, "paired-t") == pytest.approx(stats.ttest_rel(a[[0, 1, 2, 4]], b[[0, 1, 2, 4]]).pvalue)
    assert mean_test(a, b, "t") == pytest.approx(stats.ttest_ind(a[[0, 1, 2, 4]], b, equal_var=False).pvalue)


def test_sign_flips_come_near_the_exact_count_of_all_flips() -> None:
    gap = np.array([0.5, 1.0, -0.2, 0.7, 0.9, 0.3])
    every = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T @ gap
    exact = (np.abs(every) >= gap.sum() - 1e-9).mean()
    drawn = mean_test(gap, np.zeros(6), "permutation", draws=20000, rng=np.random.default_rng(0))
    assert drawn == pytest.approx(exact, abs=0.01)


def test_equal_samples_do_not_differ_and_single_values_say_nothing() -> None:
    same = np.full(4, 2.0)
    assert [mean_test(same, same, t) for t in ("t", "wilcoxon", "permutation")] == [1.0, 1.0, 1.0]
    assert np.isnan(mean_test(np.array([1.0]), same))
    with pytest.raises(NameUnknown, match="no test 'z'"):
        mean_test(same, same, "z")  # type: ignore[arg-type]


def test_parts_that_differ_are_told_apart_and_equal_ones_are_not() -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=400)
    x = np.stack([z + rng.normal(0, 1, 400), np.where(np.arange(400) < 200, z, rng.normal(size=400))])
    first = np.arange(400) < 200
    p = dealt_tests(x, z, first, ~first, ranks=True, draws=400, rng=np.random.default_rng(0))
    assert p[0] > 0.05
    assert p[1] == pytest.approx(1 / 401)


def test_the_dealt_p_is_the_share_of_dealings_with_as_large_a_difference() -> None:
    """The plain twin: deal by hand and correlate with numpy; same stream of random numbers, same p."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 2, 25))
    b[0] += 0.5 * b[1]
    ours = dealt_test((a[0], a[1]), (b[0], b[1]), ranks=False, draws=200, rng=np.random.default_rng(9))

    def scaled(v: np.ndarray) -> np.ndarray:
        return (v - v.mean()) / v.std()

    x, z = (np.concatenate([scaled(a[k]), scaled(b[k])]) for k in (0, 1))
    mask = np.arange(50) < 25
    masks = np.random.default_rng(9).permuted(np.broadcast_to(np.where(mask, 1.0, 0.0), (200, 50)), axis=1) > 0

    def gap(first: np.ndarray) -> float:
        return abs(np.corrcoef(x[first], z[first])[0, 1] - np.corrcoef(x[~first], z[~first])[0, 1])

    seen = gap(mask)
    assert ours == pytest.approx((sum(gap(m) >= seen - 1e-10 for m in masks) + 1) / 201)


def test_constant_or_tiny_parts_have_no_p() -> None:
    flat = (np.ones(10), np.arange(10.0))
    rising = (np.arange(10.0), np.arange(10.0))
    rng = np.random.default_rng(0)
    assert np.isnan(dealt_test(flat, rising, ranks=False, draws=50, rng=rng))
    assert np.isnan(dealt_test((rising[0][:2], rising[1][:2]), rising, ranks=True, draws=50, rng=rng))


def test_correlation_of_adjacent_inputs_is_found_in_order_and_not_after_shuffling() -> None:
    rng = np.random.default_rng(11)
    document = np.repeat(rng.normal(size=(5, 30)), 4, axis=1)
    values = document + rng.normal(size=(5, 120))
    assert adjacent_inputs_p(values) < 0.001
    assert lag_one_correlation(values) == pytest.approx(0.375, abs=0.1)  # half of the variance, in three of four pairs
    assert adjacent_inputs_p(values[:, rng.permutation(120)]) > 0.05
    assert adjacent_inputs_p(np.tile([-1.0, 1.0], 60)) > 0.99  # one-sided: alternating values are no documents


def test_p_of_adjacent_inputs_is_the_share_of_orders_with_as_large_a_sum() -> None:
    values = np.array([0.0, 1.0, 3.0, 3.5, 2.0, 0.5])
    centered = values - values.mean()
    sums = [centered[list(o[1:])] @ centered[list(o[:-1])] for o in permutations(range(6))]
    share = np.mean(np.array(sums) >= centered[1:] @ centered[:-1] - 1e-9)
    assert adjacent_inputs_p(values) == pytest.approx(share, abs=0.03)


def test_rare_failures_and_large_values_raise_no_alarm() -> None:
    """The test is exact for a shuffled file: a normal approximation calls two adjacent failures of four significant."""
    rng = np.random.default_rng(12)
    rare = [adjacent_inputs_p(rng.permutation(np.repeat([1.0, 0.0], [4, 76]))) for _ in range(300)]
    large = [adjacent_inputs_p(np.exp(3 * rng.normal(size=(4, 40)))) for _ in range(300)]
    assert np.mean(np.array(rare) < 0.05) < 0.1
    assert np.mean(np.array(large) < 0.05) < 0.1


def test_missing_values_and_constants_say_nothing() -> None:
    values = np.repeat([[1.0, 2.0, 4.0, 8.0, 16.0]], 4, axis=1)
    values[0, 3] = np.nan
    assert adjacent_inputs_p(values) < 0.01
    assert np.isnan(adjacent_inputs_p(np.full(30, np.nan)))
    assert np.isnan(adjacent_inputs_p(np.ones(30)))
    assert np.isnan(adjacent_inputs_p([1, 2, 3]))
    assert np.isnan(lag_one_correlation(np.ones(30)))
