"""Strengths from choices: the maximum of the plain likelihood, finite where there is none, the same whoever computes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from nlgauge.errors import DataError
from nlgauge.stats.ranking.annotators import effective_annotators
from nlgauge.stats.ranking.ballots import Ballots, TieModel, both_orders, connected
from nlgauge.stats.ranking.bradley_terry import bootstrap, equality_tests, expected_score, fit
from nlgauge.stats.ranking.simultaneous_tests import all_pairs, deviations

MODELS: list[TieModel] = ["davidson", "rao-kupper", "half", "drop"]


def votes(n: int = 300, systems: int = 4, units: int = 60, seed: int = 0, covariates: int = 0) -> Ballots:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, systems, n)
    b = (a + rng.integers(1, systems, n)) % systems
    more = rng.normal(size=(n, covariates)) if covariates else None
    eta = 0.5 * (b - a) + 0.3 + (0 if more is None else more @ np.full(covariates, 0.4))
    weights = np.stack([np.exp(eta / 2), np.exp(-eta / 2), np.full(n, 0.6)], axis=1)
    cut = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    outcome = (rng.random(n)[:, None] > cut[:, :2]).sum(axis=1)
    return Ballots(a, b, outcome, rng.integers(0, units, n), more)


def counted(first: int, second: int, won: int, lost: int, tied: int = 0) -> list[tuple[int, int, int]]:
    return [(first, second, o) for o, n in enumerate((won, lost, tied)) for _ in range(n)]


def ballots(rows: list[tuple[int, int, int]]) -> Ballots:
    a, b, o = np.array(rows).T
    return Ballots(a, b, o, np.arange(len(rows)))


def log_likelihood(parameters: np.ndarray, v: Ballots, systems: int, ties: TieModel) -> float:
    """Written out choice by choice, as the papers print it."""
    theta = np.append(parameters[: systems - 1], 0.0)
    home, tie, effects = parameters[systems - 1], parameters[systems], parameters[systems + 1 :]
    total = 0.0
    for k in range(len(v)):
        eta = theta[v.first[k]] - theta[v.second[k]] + home
        eta += 0.0 if v.covariates is None else float(v.covariates[k] @ effects)
        strong, weak = np.exp(eta), 1.0
        if ties == "davidson":
            level = np.exp(tie) * np.sqrt(strong * weak)
            p = np.array([strong, weak, level]) / (strong + weak + level)
        elif ties == "rao-kupper":
            kappa = np.exp(tie)
            p = np.array([strong / (strong + kappa * weak), weak / (weak + kappa * strong)])
            p = np.append(p, 1 - p.sum())
        else:
            p = np.array([strong, weak, np.sqrt(strong * weak)]) / (strong + weak)
        total += 0.0 if ties == "drop" and v.outcome[k] == 2 else float(np.log(p[v.outcome[k]]))
    return -total


@pytest.mark.parametrize("covariates", [0, 2])
@pytest.mark.parametrize("ties", MODELS)
def test_strengths_maximise_the_plain_likelihood(ties: TieModel, covariates: int) -> None:
    v = votes(150, covariates=covariates)
    made = fit(v, 4, ties, position=True)
    start = np.concatenate([np.zeros(4), [0.3], np.zeros(covariates)])
    best = minimize(log_likelihood, start, (v, 4, ties), "BFGS", options={"gtol": 1e-5}).x
    theta = np.append(best[:3], 0.0)
    assert made.theta == pytest.approx(theta - theta.mean(), abs=2e-4)
    assert made.effects == pytest.approx([best[3], *best[5:]], abs=2e-4)
    if ties in ("davidson", "rao-kupper"):
        assert made.tie == pytest.approx(best[4], abs=2e-4)


@pytest.mark.parametrize("ties", MODELS)
def test_the_chance_of_a_win_and_half_a_tie_is_that_of_the_model(ties: TieModel) -> None:
    gaps = np.array([-3.0, -0.4, 0.0, 0.9])
    one, other = expected_score(gaps, 0.4, ties), expected_score(-gaps, 0.4, ties)
    assert one + other == pytest.approx(np.ones(4))
    assert (np.diff(one) > 0).all()


def test_two_systems_have_the_log_odds_of_their_wins() -> None:
    made = fit(ballots(counted(0, 1, 30, 10)), 2)
    assert made.theta[0] - made.theta[1] == pytest.approx(np.log(3))
    assert np.sqrt(2 * made.model[0, 0] - 2 * made.model[0, 1]) == pytest.approx(np.sqrt(1 / 30 + 1 / 10))


def test_one_who_won_all_has_a_finite_penalized_strength_and_the_others_keep_their_order() -> None:
    rows = counted(0, 1, 10, 0) + counted(0, 2, 10, 0) + counted(1, 2, 12, 4, 2)
    for ties in MODELS:
        made = fit(ballots(rows), 3, ties)
        assert made.penalized
        assert np.isfinite(made.theta).all()
        assert made.theta[0] > made.theta[1] > made.theta[2]
        assert np.isfinite(made.covariance).all()
        assert np.isfinite(bootstrap(ballots(rows), made, 50, np.random.default_rng(0))).all()
    assert not fit(ballots([*rows, (1, 0, 0)]), 3).penalized


def test_equality_of_two_systems_is_tested_as_by_mcnemar_whoever_won_all() -> None:
    for won, lost in ((30, 10), (25, 0), (0, 12)):
        n = won + lost
        (z,) = equality_tests(ballots(counted(0, 1, won, lost)), 2, "davidson", False, [(0, 1)])
        assert z == pytest.approx((won - lost) / np.sqrt(n) * np.sqrt((n - 1) / n))


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_equality_is_tested_by_the_score_of_the_plain_likelihood(ties: TieModel) -> None:
    """Maximum under equality by scipy, derivatives by differences, one choice at a time."""
    v = votes(120, systems=3, units=120, seed=2)
    v = replace(v, unit=np.arange(len(v)))

    def full(free: np.ndarray, gap: float) -> np.ndarray:  # system 1 = system 2 + gap; 2 is the 0
        return np.array([free[0], gap, free[1], free[2]])

    best = minimize(
        lambda free: log_likelihood(full(free, 0.0), v, 3, ties), [0.1, 0.1, 0.3], method="BFGS", options={"gtol": 1e-6}
    ).x
    at, step = full(best, 0.0), 1e-4
    ways = np.eye(4) * step
    each = np.array(
        [
            [
                (log_likelihood(at - w, v.part([k]), 3, ties) - log_likelihood(at + w, v.part([k]), 3, ties))
                / (2 * step)
                for w in ways
            ]
            for k in range(len(v))
        ]
    )
    whole = np.array(
        [
            [
                sum(p * q * log_likelihood(at + p * a + q * b, v, 3, ties) for p in (1, -1) for q in (1, -1))
                for a in ways
            ]
            for b in ways
        ]
    ) / (4 * step**2)
    rest = [0, 2, 3]
    score = each[:, 1] - each[:, rest] @ np.linalg.solve(whole[np.ix_(rest, rest)], whole[rest, 1])
    wanted = score.sum() / np.sqrt((score**2).sum() * 120 / 119)
    (z,) = equality_tests(v, 3, ties, True, [(1, 2)])
    assert z == pytest.approx(wanted, abs=2e-3)
    assert equality_tests(v, 3, ties, True, [(2, 1)]) == pytest.approx([-z])


def test_equality_with_one_who_won_all_needs_no_strength_and_the_order_of_pairs_does_not_matter() -> None:
    rows = counted(0, 1, 10, 0) + counted(0, 2, 10, 0) + counted(1, 2, 12, 4, 2)
    for ties in MODELS:
        one, other, back = equality_tests(ballots(rows), 3, ties, False, [(0, 1), (0, 2), (2, 0)])
        assert one > 2.5
        assert other > one  # the weaker of the two is further away
        assert back == pytest.approx(-other)


def test_systems_that_nobody_compared_are_in_groups_of_their_own() -> None:
    v = ballots(counted(0, 2, 3, 2) + counted(1, 3, 1, 1) + counted(3, 4, 1, 1))
    assert connected(v, 5) == [[1, 3, 4], [0, 2]]


def test_the_first_place_is_only_told_from_the_system_in_pairs_seen_both_ways() -> None:
    assert both_orders(ballots(counted(0, 1, 3, 2) + counted(1, 0, 1, 1))) == 1.0
    assert both_orders(ballots(counted(0, 1, 3, 2) + counted(0, 2, 1, 1))) == 0.0


def test_only_ties_are_refused() -> None:
    with pytest.raises(DataError, match="all comparisons are ties"):
        fit(ballots(counted(0, 1, 0, 0, 5)), 2)


@pytest.mark.parametrize("covariates", [0, 1])
@pytest.mark.parametrize("ties", MODELS)
def test_a_draw_of_the_bootstrap_is_the_estimate_on_the_units_drawn(ties: TieModel, covariates: int) -> None:
    v = votes(covariates=covariates)
    v = v.part(v.outcome != 2) if ties == "drop" else v
    v = v.part(np.bincount(v.unit)[v.unit] > 1)
    made = fit(v, 4, ties, position=True)
    drawn = bootstrap(v, made, 5, np.random.default_rng(3))
    names = np.unique(v.unit)
    weights = np.random.default_rng(3).multinomial(len(names), np.full(len(names), 1 / len(names)), size=5)
    for k in range(5):
        rows = np.concatenate(
            [np.flatnonzero(v.unit == u) for u, w in zip(names, weights[k], strict=True) for _ in range(w)]
        )
        again = fit(v.part(rows), 4, ties, position=True)
        assert drawn[k, :4] == pytest.approx(again.theta, abs=1e-5)


def test_units_of_one_choice_are_drawn_as_counts_of_equal_choices() -> None:
    v = votes(400, systems=3)
    v = Ballots(v.first, v.second, v.outcome, np.arange(len(v)))
    made = fit(v, 3)
    drawn = bootstrap(v, made, 3, np.random.default_rng(3))
    choices, times = np.unique(np.stack([v.first, v.second, v.outcome]), axis=1, return_counts=True)
    counts = np.random.default_rng(3).multinomial(len(v), times / len(v), size=3)
    for k in range(3):
        again = np.repeat(choices, counts[k], axis=1)
        assert drawn[k, :3] == pytest.approx(fit(Ballots(*again, np.arange(len(v))), 3).theta, abs=1e-5)


def test_choices_on_one_unit_that_repeat_each_other_count_once() -> None:
    v = votes(200, units=100_000)
    thrice = v.part(np.repeat(np.arange(200), 3))
    one, three = fit(v, 4), fit(thrice, 4)
    assert three.theta == pytest.approx(one.theta)
    assert np.diag(three.covariance)[:4] == pytest.approx(np.diag(one.covariance)[:4])
    assert (np.diag(three.model)[:4] < 0.5 * np.diag(one.model)[:4]).all()


def with_preferences(n: int, annotators: int, spread: float, seed: int = 0) -> Ballots:
    """Three equal systems, every choice on an input of its own, annotators with preferences of their own."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = (a + rng.integers(1, 3, n)) % 3
    who, worth = rng.integers(0, annotators, n), rng.normal(0, spread, (annotators, 3))
    won = rng.random(n) < 1 / (1 + np.exp(worth[who, b] - worth[who, a]))
    return Ballots(a, b, np.where(won, 0, 1), np.arange(n), None, who)


def test_the_covariance_with_annotators_is_that_of_leaving_each_out() -> None:
    """On inputs of their own V_input = V_intersection, so that V is the jackknife over annotators, here by refitting."""
    v = with_preferences(3000, 8, 1.0)
    assert v.annotator is not None
    made = fit(v, 3)
    without = np.array([fit(v.part(v.annotator != g), 3).theta for g in range(8)]) - made.theta
    assert np.diag(made.covariance)[:3] == pytest.approx(7 / 8 * (without**2).sum(axis=0), rel=0.05)
    alone = fit(replace(v, annotator=None), 3)
    assert made.theta.tolist() == alone.theta.tolist()
    assert (np.diag(made.covariance)[:3] > 3 * np.diag(alone.covariance)[:3]).all()
    assert made.freedom == pytest.approx(7, abs=0.2) and alone.freedom == 2999


def test_votes_that_one_annotator_repeats_on_other_inputs_count_once() -> None:
    v = votes(200, units=100_000)
    thrice = v.part(np.repeat(np.arange(200), 3))
    thrice = replace(thrice, unit=np.arange(600), annotator=np.repeat(np.arange(200), 3))
    one, three = fit(v, 4), fit(thrice, 4)
    assert np.diag(three.covariance)[:4] == pytest.approx(np.diag(one.covariance)[:4], rel=0.15)


def test_annotators_with_one_vote_each_add_nothing() -> None:
    v = votes(400, units=80)
    alone, known = fit(v, 4), fit(replace(v, annotator=np.arange(400)), 4)
    assert np.diag(known.covariance)[:4] == pytest.approx(np.diag(alone.covariance)[:4], rel=0.05)


def test_errors_with_annotators_do_not_depend_on_the_order_of_systems() -> None:
    v, turn = with_preferences(300, 5, 0.3), np.array([2, 0, 1])
    one, other = fit(v, 3), fit(replace(v, first=turn[v.first], second=turn[v.second]), 3)
    assert other.covariance[:3, :3][np.ix_(turn, turn)] == pytest.approx(one.covariance[:3, :3])


def test_the_effective_number_of_annotators_is_that_of_the_system_with_the_fewest() -> None:
    v = ballots(counted(0, 1, 20, 20) + counted(1, 2, 20, 20))
    assert effective_annotators(v, 3) == 0.0
    assert effective_annotators(replace(v, annotator=np.arange(80) % 4), 3) == pytest.approx(4)
    assert effective_annotators(replace(v, annotator=np.where(np.arange(80) < 40, np.arange(80) % 4, 0)), 3) == 1.0
    unnamed = np.where(np.arange(80) % 8 < 4, np.arange(80) % 4, -1 - np.arange(80))
    assert effective_annotators(replace(v, annotator=unnamed), 3) == pytest.approx(4)


def test_equality_is_tested_with_what_annotators_differ_by() -> None:
    """Where all agree nothing is added; where they are split the same wins say less."""
    v = ballots(counted(0, 1, 40, 20))
    agree, split = np.arange(60) % 6, np.arange(60) // 10  # 4 wins of ten for each, or all and none
    (alone,), (agreeing,), (splitting,) = (
        equality_tests(replace(v, annotator=who), 2, "davidson", False, [(0, 1)]) for who in (None, agree, split)
    )
    assert agreeing == pytest.approx(alone)
    assert 0 < splitting < 0.6 * alone


def test_all_pairs_at_once_ask_for_more_than_one_pair_does() -> None:
    covariance = np.eye(6) / 20
    found = all_pairs(np.zeros(6), covariance, deviations(covariance, 10_000, np.random.default_rng(0)))
    assert found.reach == pytest.approx(4.03 / np.sqrt(2), abs=0.05)  # Tukey's studentised range, 6 means
    assert (found.tiers() == 1).all()
    assert (found.ranks[0] == 1).all() and (found.ranks[1] == 6).all()
