"""Greedy selection with nested cross-validation."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.portfolio import Path, portfolio
from nlgauge.stats.design.prediction import boosted

INPUT = Measure.parse("input/kendall")


def test_noise_is_worth_nothing_outside_although_it_shines_inside() -> None:
    """The best of 40 noise metrics looks good in the folds that chose it; held out it is worth nothing."""
    inside, outside = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = portfolio(rng.normal(size=(40, 6, 60)), rng.normal(size=(6, 60)), INPUT, most=3)
        inside.append(found.path.value[-1])
        outside += [found.stopped.value, *(c.value for c in found.curve)]
    assert min(inside) > 0.08
    assert abs(np.mean(outside)) < 0.04


def test_two_halves_of_the_truth_are_found_and_the_copy_is_not() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 8, 100))
    metrics = np.stack([rng.normal(size=a.shape), a, a + rng.normal(0, 0.05, a.shape), rng.normal(size=a.shape), b])
    found = portfolio(metrics, a + b, INPUT, most=4)
    assert found.path.size == 2
    assert set(found.path.chosen[:2]) in ({1, 4}, {2, 4})
    assert found.curve[1].value > 0.7
    assert found.curve[0].value < 0.6
    assert found.stopped.value > 0.7


def test_the_first_step_is_the_metric_that_is_best_alone() -> None:
    rng = np.random.default_rng(2)
    target = rng.normal(size=(7, 40))
    metrics = np.stack([target + rng.normal(0, sd, target.shape) for sd in (3.0, 0.5, 1.5)])
    found = portfolio(metrics, target, INPUT, most=3)
    alone = evaluate(metrics, target, [INPUT]).value[:, 0]
    assert found.path.chosen[0] == int(alone.argmax()) == 1
    assert found.path.value[0] == pytest.approx(alone[1], abs=1e-9)  # folds of equal size: the mean is the mean of all


def test_the_stop_rule_takes_the_smallest_set_within_one_standard_error() -> None:
    path = Path([3, 1, 2], np.array([0.40, 0.47, 0.48]), np.array([0.02, 0.02, 0.02]))
    assert path.size == 2
    assert Path([3, 1], np.array([0.40, 0.47]), np.array([0.02, np.nan])).size == 2
    assert Path([0, 1], np.array([0.5, 0.4]), np.array([0.0, 0.0])).size == 1


def test_missing_ratings_and_scores_are_left_out_and_other_inputs_not_touched() -> None:
    rng = np.random.default_rng(3)
    target = rng.normal(size=(6, 50))
    metrics = np.stack([target + rng.normal(0, 1, target.shape) for _ in range(3)])
    target[rng.random(target.shape) < 0.2] = np.nan
    metrics[rng.random(metrics.shape) < 0.1] = np.nan
    found = portfolio(metrics, target, INPUT, most=3)
    assert found.curve[2].value > found.curve[0].value > 0.3


def test_xgboost_refits_the_same_sets() -> None:
    rng = np.random.default_rng(4)
    target = rng.normal(size=(6, 40))
    metrics = np.stack([target + rng.normal(0, 1, target.shape) for _ in range(3)])
    quick, trees = (portfolio(metrics, target, INPUT, most=2, model=m) for m in (None, boosted()))
    assert quick.path.chosen == trees.path.chosen
    assert 0 < trees.curve[1].value < quick.curve[1].value
