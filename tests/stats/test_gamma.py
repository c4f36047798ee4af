"""Gamma against another implementation's figures, and against all alignments tried one by one."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.stats.agreement.gamma import disorder, gamma

# Made with pygamma-agreement 0.5.9 (CombinedCategoricalDissimilarity(alpha=1, beta=1, delta_empty=1), which computes in
# single precision; gamma: ShuffleContinuumSampler, 400 samples) on random units of 200 letters.
PEER = json.loads((Path(__file__).parent / "pygamma_disorders.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", PEER)
def test_the_disorder_is_that_of_pygamma_agreement(case: dict[str, object]) -> None:
    first, second = np.array(case["first"], float), np.array(case["second"], float)
    assert disorder(first, second) == pytest.approx(case["disorder"], abs=1e-6)


@pytest.mark.parametrize("case", [case for case in PEER if "gamma" in case])
def test_gamma_is_that_of_pygamma_agreement_but_for_the_draws(case: dict[str, object]) -> None:
    first, second = np.array(case["first"], float), np.array(case["second"], float)
    # a draw's disorder has an SD of .3 here: 400 of theirs and 1000 of ours make a standard error of about .013
    assert gamma(first, second, 200, np.random.default_rng(0), 1000) == pytest.approx(case["gamma"], abs=0.05)


UNITS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6), st.integers(0, 1)), max_size=4)


def every_alignment(first: np.ndarray, second: np.ndarray) -> float:
    """The least sum over all ways to give units of one rater to units of the other, or to nobody."""
    short, long = sorted((first.tolist(), second.tolist()), key=len)
    best = float(len(short) + len(long))
    for chosen in permutations([*range(len(long)), *[None] * len(short)], len(short)):
        cost = 0.0
        for (s, e, kind), at in zip(short, chosen, strict=True):
            if at is None:
                cost += 1
            else:
                s2, e2, kind2 = long[at]
                cost += ((abs(s - s2) + abs(e - e2)) / (e - s + e2 - s2)) ** 2 + (kind != kind2)
        best = min(best, cost + len(long) - sum(at is not None for at in chosen))
    return best / ((len(short) + len(long)) / 2)


@settings(max_examples=60, deadline=None)
@given(UNITS, UNITS)
def test_the_best_alignment_is_the_best_of_all(
    one: list[tuple[int, int, int]], two: list[tuple[int, int, int]]
) -> None:
    first, second = (np.array([(s, s + n, k) for s, n, k in units], float).reshape(-1, 3) for units in (one, two))
    if len(one) + len(two):
        assert disorder(first, second) == pytest.approx(every_alignment(first, second), abs=1e-12)
        assert disorder(first, second) == pytest.approx(disorder(second, first), abs=1e-12)
    else:
        assert np.isnan(disorder(first, second))


def test_full_agreement_is_one_and_chance_is_about_nought() -> None:
    rng = np.random.default_rng(5)
    starts = rng.integers(0, 4000, (2, 120))
    first, second = (np.stack([s, s + 10, np.zeros(120)], axis=1).astype(float) for s in starts)
    assert gamma(first, first.copy(), 4000, np.random.default_rng(0)) == 1.0
    assert abs(gamma(first, second, 4000, np.random.default_rng(0), 100)) < 0.1
