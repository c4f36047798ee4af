"""Selective judging: the error rate of a rule exceeds its limit no more often than stated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.errors import NlgaugeError
from nlgauge.stats import labels_for_rule, labels_without_error, selective_rule

DATA_SETS = 500
DELTA = 0.1


def allowed(delta: float = DELTA, data_sets: int = DATA_SETS) -> float:
    """Largest share of data sets that chance explains at a rate of delta (upper 99.9% point of the binomial)."""
    return float(stats.binom.ppf(0.999, data_sets, delta)) / data_sets


@pytest.mark.parametrize(("error", "delta", "n"), [(0.05, 0.1, 45), (0.05, 0.05, 59), (0.1, 0.1, 22)])
def test_the_number_of_labels_without_error_is_that_of_the_rule_of_three(error: float, delta: float, n: int) -> None:
    assert labels_without_error(error, delta) == n
    assert (1 - error) ** n <= delta < (1 - error) ** (n - 1)


@pytest.mark.parametrize("errors", [1, 7, 40])
def test_the_number_of_labels_with_errors_is_the_smallest_that_rejects(errors: int) -> None:
    n = labels_without_error(0.05, 0.1, errors)
    assert stats.binom.cdf(errors, n, 0.05) <= 0.1 < stats.binom.cdf(errors, n - 1, 0.05)


def test_more_labels_are_needed_near_the_limit_and_none_are_enough_above_it() -> None:
    needed = [labels_for_rule(rate, 0.05, 0.1) for rate in (0.0, 0.01, 0.02, 0.03)]
    assert needed == sorted(needed) and needed[0] == 45
    assert labels_for_rule(0.06, 0.05, 0.1) == np.inf


def test_without_an_error_everything_is_decided_from_45_labels_on() -> None:
    score = np.arange(45.0)
    assert selective_rule(score, np.zeros(45, bool), error=0.05, delta=0.1).above == -np.inf
    assert not selective_rule(score[1:], np.zeros(44, bool), error=0.05, delta=0.1).holds


def test_equal_scores_are_decided_together() -> None:
    score = np.repeat([3.0, 2.0, 1.0], [50, 50, 50])
    wrong = np.repeat([False, False, True], [50, 50, 50])
    rule = selective_rule(score, wrong, error=0.05, delta=0.1)
    assert (rule.n, rule.wrong, rule.above, rule.first) == (100, 0, 1.0, 2.0)


def test_the_order_of_the_rows_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    score, wrong = rng.integers(0, 30, 300).astype(float), rng.random(300) < 0.02
    order = rng.permutation(300)
    assert selective_rule(score, wrong) == selective_rule(score[order], wrong[order])


def risk_of(above: float, edges: np.ndarray, rates: np.ndarray) -> float:
    """Error rate above a threshold, for scores uniform on (0, 1) whose error rate is constant between edges."""
    low = np.maximum(edges[:-1], above)
    width = np.maximum(edges[1:] - low, 0)
    return float(width @ rates / width.sum()) if width.sum() > 0 else 0.0


SHAPES = {
    "at the limit everywhere": [0.05001] * 5,
    "worse below": [0.2, 0.1, 0.051, 0.03, 0.01],
    "surest verdicts wrong": [0.3, 0.04, 0.02, 0.02, 0.12],
    "in waves": [0.12, 0.02, 0.09, 0.02, 0.06],
}


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_error_rate_exceeds_the_limit_in_at_most_delta_of_data_sets(shape: str, rounded: bool) -> None:
    """Also for a judge whose surest verdicts are wrong: the guarantee does not need a judge that is right when sure."""
    rng = np.random.default_rng(1)
    edges, rates = np.linspace(0, 1, 6), np.array(SHAPES[shape])
    exceeded = 0
    for _ in range(DATA_SETS):
        score = rng.random(400)
        wrong = rng.random(400) < rates[np.minimum((score * 5).astype(int), 4)]
        if rounded:
            score = np.ceil(score * 10) / 10
        rule = selective_rule(score, wrong, error=0.05, delta=DELTA)
        above = max(rule.above, 0.0)  # a rounded score above .3 is a score above .3
        exceeded += rule.holds and risk_of(above, edges, rates) > 0.05
    assert exceeded / DATA_SETS <= allowed()


@pytest.mark.parametrize("inputs", [120, 400])
def test_outputs_of_one_input_do_not_count_as_independent(inputs: int) -> None:
    """All outputs of an input are wrong together; taken as independent, far more than delta of the rules are wrong.

    120 inputs are tested by one row of each, 400 by bets on all rows.
    """
    rng = np.random.default_rng(2)
    counts = np.zeros(2)
    data_sets = 200
    unit = np.repeat(np.arange(inputs), 5)
    for _ in range(data_sets):
        wrong = (rng.random(inputs) < 0.0501)[unit]
        score = rng.random(inputs)[unit] + 0.001 * rng.random(len(unit))
        for k, clusters in enumerate((unit, None)):
            counts[k] += selective_rule(score, wrong, error=0.05, delta=DELTA, clusters=clusters).holds
    assert counts[0] / data_sets <= allowed(DELTA, data_sets) < counts[1] / data_sets


def test_rates_outside_0_and_1_are_refused() -> None:
    with pytest.raises(NlgaugeError, match="must lie between 0 and 1"):
        selective_rule([1.0], [False], error=0.0)
