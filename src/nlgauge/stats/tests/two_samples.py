"""Tests of whether two systems differ in their mean, paired by input or not (Novikova et al. 2017, Tables 2 and 8)."""

from __future__ import annotations

import warnings
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import NameUnknown
from nlgauge.types import Array, Ints

MeanTest = Literal["t", "student", "mann-whitney", "paired-t", "wilcoxon", "permutation"]
CHOICE_DRAWS = 4999
PAIRED = ("paired-t", "wilcoxon", "permutation")
TEST_NAMES: dict[str, str] = {
    "t": "Welch's t test for two samples",
    "student": "Student's t test for two samples",
    "mann-whitney": "Mann and Whitney's test",
    "paired-t": "paired t test over inputs that both systems have",
    "wilcoxon": "Wilcoxon's signed rank test over inputs that both systems have",
    "permutation": "sign flips of the differences over inputs that both systems have",
}


def mean_test(
    a: Array, b: Array, test: MeanTest = "t", *, draws: int = 1000, rng: np.random.Generator | None = None
) -> float:
    """Compute the two-sided p-value of two systems' scores, one value per input, NaN where missing; NaN if undefined.

    >>> round(mean_test(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 5.0])), 4)
    0.2846
    """
    if test not in get_args(MeanTest):
        raise NameUnknown(f"no test '{test}'; use {', '.join(get_args(MeanTest))}.")
    there = np.isfinite(a), np.isfinite(b)
    if test in PAIRED:
        gap = (a - b)[there[0] & there[1]]
        return _paired(gap, test, draws, rng or np.random.default_rng(0)) if len(gap) > 1 else float("nan")
    first, second = a[there[0]], b[there[1]]
    if min(len(first), len(second)) < 2:
        return float("nan")
    from scipy import stats

    if np.ptp(np.concatenate([first, second])) == 0:
        return 1.0
    if test == "mann-whitney":
        return float(stats.mannwhitneyu(first, second).pvalue)
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # a system with constant scores has a variance of 0, which is fine
        return float(stats.ttest_ind(first, second, equal_var=test == "student").pvalue)


def unit_means(values: Array, units: Ints) -> Array:
    """Average the values of each unit (input, document): rows of one unit are not independent of each other.

    >>> unit_means(np.array([1.0, 3.0, 5.0]), np.array([7, 7, 9])).tolist()
    [2.0, 5.0]
    """
    _, code = np.unique(units, return_inverse=True)
    return np.asarray(np.bincount(code, values) / np.bincount(code))


def choice_test(signs: ArrayLike, groups: ArrayLike) -> float:
    """Compute the two-sided p-value that +1 and -1 are equally likely, for choices that are dependent within groups
    (inputs).

    The sums of whole groups change their signs at random. Where no group has two choices, it is the binomial test.

    >>> choice_test([1, 1, 1, -1], ["a", "b", "c", "d"])
    0.625
    """
    values, (names, number) = (np.asarray(signs, np.float64), np.unique(np.asarray(groups), return_inverse=True))
    if not len(values):
        return float("nan")
    if len(names) == len(values):
        from scipy.stats import binomtest

        return float(binomtest(int((values > 0).sum()), len(values)).pvalue)
    sums = np.bincount(number, values).astype(np.float64)
    return _paired(sums, "permutation", CHOICE_DRAWS, np.random.default_rng(np.random.SeedSequence(0)))


def _paired(gap: Array, test: str, draws: int, rng: np.random.Generator) -> float:
    from scipy import stats

    if not gap.any():
        return 1.0
    if test == "wilcoxon":
        return float(stats.wilcoxon(gap).pvalue)
    if test == "paired-t":
        return float(stats.ttest_1samp(gap, 0.0).pvalue) if np.ptp(gap) > 0 else 0.0
    signs = rng.integers(0, 2, (draws, len(gap))) * 2 - 1
    drawn = np.abs(
        signs @ np.sort(np.abs(gap))
    )  # signs are flipped at random anyway; sorting makes the order of inputs irrelevant
    # Sums of the same gaps in another order may differ in the last bits.
    hits = int((drawn >= abs(gap.sum()) - 1e-9 * np.abs(gap).sum()).sum())
    return (hits + 1) / (draws + 1)
