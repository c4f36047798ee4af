"""Means of people's ratings from few labels and many judge scores: values, designs, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.estimation.means import MeanEstimate, PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.rogan_gladen import rogan_gladen
from nlgauge.stats.estimation.several_judges import cross_fitted
from nlgauge.stats.estimation.systems import compare_systems, left_out_systems, pool_means, transfer_test

REPETITIONS = 600
SLACK = 4 * np.sqrt(0.05 * 0.95 / REPETITIONS)


def verdicts(n: int, rows: int, p: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the first n rows, NaN after; a judge that is right in nine of ten rows."""
    rng = np.random.default_rng(seed)
    y = (rng.random((REPETITIONS, rows)) < p).astype(float)
    f = np.where(rng.random(y.shape) < 0.9, y, 1 - y)
    labels = y.copy()
    labels[:, n:] = np.nan
    return labels, f


def held(found: MeanEstimate, truth: float) -> float:
    return float(((found.low <= truth) & (truth <= found.high)).mean())


@pytest.mark.parametrize("method", ["labels", "ppi", "ppi++"])
@pytest.mark.parametrize(("n", "p"), [(30, 0.05), (30, 0.9), (100, 0.2)])
def test_intervals_of_shares_hold_the_truth(method: str, n: int, p: float) -> None:
    labels, f = verdicts(n, 500, p)
    assert held(mean_estimate(PartlyLabeled(labels, f), method), p) > 0.95 - SLACK


def test_the_judge_alone_does_not_hold_the_truth() -> None:
    labels, f = verdicts(100, 500, 0.1)
    assert held(mean_estimate(PartlyLabeled(labels, f), "judge"), 0.1) < 0.05


def test_a_good_judge_narrows_and_a_useless_one_costs_little() -> None:
    labels, f = verdicts(100, 1000, 0.5)
    plain = mean_estimate(PartlyLabeled(labels), "labels").width.mean()
    noise = np.random.default_rng(0).random(f.shape)
    assert mean_estimate(PartlyLabeled(labels, f)).width.mean() < 0.75 * plain
    assert mean_estimate(PartlyLabeled(labels, noise)).width.mean() < 1.03 * plain


def test_rows_drawn_with_known_probabilities_are_weighed_back() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(3, 1, (REPETITIONS, 800))
    f = y + rng.normal(0, 1, y.shape)
    probability = np.clip(0.15 * np.exp(0.5 * (f - 3)), 0.02, 0.9)
    labels = np.where(rng.random(y.shape) < probability, y, np.nan)
    blind = mean_estimate(PartlyLabeled(labels, f), "labels")
    for method in ("labels", "ppi++"):
        assert held(mean_estimate(PartlyLabeled(labels, f, probability), method), 3.0) > 0.95 - SLACK
    assert held(blind, 3.0) < 0.5


def test_clusters_widen_the_interval_to_the_stated_level() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(100), 5)
    y = rng.normal(0, 1, (REPETITIONS, 100))[:, clusters] + rng.normal(0, 0.5, (REPETITIONS, 500))
    f = y + rng.normal(0, 1, y.shape)
    labels = np.where(clusters < 30, y, np.nan)
    assert held(mean_estimate(PartlyLabeled(labels, f, clusters=clusters)), 0.0) > 0.95 - SLACK
    assert held(mean_estimate(PartlyLabeled(labels, f)), 0.0) < 0.8


def test_no_failed_row_among_the_labels_still_leaves_room_for_failures() -> None:
    labels = np.concatenate([np.ones(30), np.full(300, np.nan)])
    found = mean_estimate(PartlyLabeled(labels, np.ones(330)))
    assert found.value == 1 and found.low < 0.92


def test_the_order_of_rows_does_not_matter() -> None:
    labels, f = verdicts(60, 300, 0.4)
    order = np.random.default_rng(0).permutation(300)
    scores = np.column_stack([f[0], f[1]])
    found = [
        mean_estimate(PartlyLabeled(labels[0][o], cross_fitted(labels[0][o], scores[o]))) for o in (slice(None), order)
    ]
    assert np.allclose([found[0].value, found[0].low], [found[1].value, found[1].low], atol=1e-12)


def test_systems_that_differ_are_told_apart_and_ranks_hold_the_true_order() -> None:
    rng = np.random.default_rng(4)
    ability = np.linspace(0, 2, 5)
    latent = rng.normal(0, 1, 300) + ability[:, None] + rng.normal(0, 0.7, (5, 300))
    labels = np.where(np.arange(300) < 80, latent, np.nan)
    scores = latent + rng.normal(0, 0.5, latent.shape)
    found = compare_systems([PartlyLabeled(y, f) for y, f in zip(labels, scores, strict=True)], [np.arange(300)] * 5)
    assert (found.best_rank <= [5, 4, 3, 2, 1]).all() and (found.worst_rank >= [5, 4, 3, 2, 1]).all()
    assert (found.high[found.difference < -0.4] < 0).all()  # paired by input: the shared difficulty cancels


def test_rogan_gladen_holds_the_truth_and_refuses_a_judge_at_chance() -> None:
    rng = np.random.default_rng(5)
    passed, others = rng.binomial(100, 0.3, REPETITIONS), rng.binomial(900, 0.3, REPETITIONS)
    a, b = rng.binomial(passed, 0.85), rng.binomial(100 - passed, 0.8)
    # The judge passes labelled rows and others.
    judge = a + (100 - passed - b) + rng.binomial(others, 0.85) + rng.binomial(900 - others, 0.2)
    found = rogan_gladen((judge, 1000), (a, passed), (b, 100 - passed))
    assert ((found.low <= 0.3) & (found.high >= 0.3)).mean() > 0.95 - SLACK
    assert np.isnan(rogan_gladen((500, 1000), (26, 50), (25, 50)).value)


def test_labels_of_ten_of_forty_systems_leave_the_other_thirty_out() -> None:
    """Each system alone might have no label by chance; thirty of them do not."""
    rows, labels = np.full(40, 30), np.zeros(40, np.int64)
    labels[:10] = 9
    assert left_out_systems(labels, rows).tolist() == [False] * 10 + [True] * 30


@pytest.mark.parametrize("seed", range(5))
def test_random_labels_leave_no_system_out(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(20, 400, 15)
    drawn = np.random.default_rng([seed, 1]).multivariate_hypergeometric(rows, 60)
    assert not left_out_systems(drawn, rows).any()


def test_the_pooled_mean_of_correlated_systems_is_wider_and_of_one_system_its_own() -> None:
    rng = np.random.default_rng(2)
    labels = np.where(np.arange(200) < 60, rng.integers(1, 6, (2, 200)), np.nan)
    each = [mean_estimate(PartlyLabeled(part, bounds=(1, 5)), "labels") for part in labels]
    half = np.array([0.5, 0.5])
    alone, alike = pool_means(each, half), pool_means(each, half, np.ones((2, 2)))
    assert alike.width > 1.3 * alone.width
    one = pool_means(each[:1], np.ones(1))
    assert (one.low, one.high) == pytest.approx((each[0].low, each[0].high))


def test_a_judge_that_made_no_error_in_a_small_probe_does_not_transfer_by_that() -> None:
    """No error among 20 labels allows 14%: the margin of 5% stays undecided."""
    verdict = np.tile([1.0, 0.0], 200)
    reference = PartlyLabeled(verdict, verdict)
    probe = PartlyLabeled(np.where(np.arange(400) < 20, verdict, np.nan), verdict)
    assert transfer_test(reference, probe, 0.05).outcome == "undecided"
    many = PartlyLabeled(np.where(np.arange(400) < 350, verdict, np.nan), verdict)
    assert transfer_test(reference, many, 0.05).outcome == "transfers"


def test_rows_of_one_cluster_do_not_decide_a_transfer() -> None:
    rng = np.random.default_rng(4)
    quality = np.repeat(rng.normal(3, 1, 40), 10)
    score, labels = rng.normal(3, 1, 400), np.where(np.arange(400) < 200, quality, np.nan)
    clusters = np.repeat(np.arange(40), 10)
    alone, together = (
        transfer_test(PartlyLabeled(labels, score, clusters=c), PartlyLabeled(labels, score, clusters=c), 0.3)
        for c in (None, clusters)
    )
    assert together.high - together.low > 2 * (alone.high - alone.low)
