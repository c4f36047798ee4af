"""Folds, models and held-out values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.linear_model import Ridge

from nlgauge.errors import NeedsMissing
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.design.prediction import (
    Reached,
    best_single,
    boosted,
    fold_count,
    folds,
    held_out,
    reached,
    ridge,
    within_inputs,
)

INPUT = Measure.parse("input/kendall")


def test_grouped_folds_share_no_input_and_hold_every_rated_output_once() -> None:
    rng = np.random.default_rng(0)
    there = rng.random((6, 53)) < 0.8
    fold = folds(there, 5, rng)
    assert ((fold >= 0) == there).all()
    for column in fold.T:
        assert len(set(column[column >= 0].tolist())) <= 1
    sizes = [len(set(np.flatnonzero((fold == f).any(axis=0)))) for f in range(5)]
    assert max(sizes) - min(sizes) <= 1


def test_plain_folds_are_even_and_part_inputs() -> None:
    fold = folds(np.ones((6, 50), bool), 5, np.random.default_rng(0), "outputs")
    assert np.bincount(fold.ravel()).tolist() == [60] * 5
    assert any(len(set(column.tolist())) > 1 for column in fold.T)


def test_too_few_inputs_for_folds_are_refused() -> None:
    assert fold_count(np.ones((4, 3), bool), 5) == 3
    with pytest.raises(NeedsMissing, match="at least 2 rated inputs"):
        fold_count(np.ones((4, 1), bool), 5)


def test_ridge_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x, y, new = rng.normal(size=(80, 5)), rng.normal(size=80), rng.normal(size=(9, 5))
    theirs = Ridge(alpha=0.01 * 80).fit(x, y).predict(new)
    assert ridge(0.01)(x, y, new) == pytest.approx(theirs)


def test_a_held_out_prediction_never_saw_its_fold() -> None:
    """A model that remembers its training targets finds none of the test targets among them."""
    rng = np.random.default_rng(1)
    target = rng.normal(size=(5, 40))
    fold = folds(np.ones(target.shape, bool), 5, rng)
    seen: list[set[float]] = []

    def remember(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        seen.append(set(y.tolist()))
        return np.zeros(len(new))

    held_out(rng.normal(size=(3, 5, 40)), target, fold, remember)
    for f, known in enumerate(seen):
        assert not known & set(target[fold == f].tolist())
        assert known == set(target[fold != f].tolist())


@pytest.mark.parametrize("model", [ridge(), boosted()])
def test_pure_noise_predicts_nothing_on_held_out_inputs(model: object) -> None:
    rng = np.random.default_rng(2)
    target, noise = rng.normal(size=(8, 120)), rng.normal(size=(6, 8, 120))
    fold = folds(np.ones(target.shape, bool), 5, rng)
    value = reached(held_out(noise, target, fold, model), target, fold, INPUT)  # type: ignore[arg-type]
    assert abs(value.value) < 0.06
    assert value.low < 0 < value.high


def test_plain_folds_leak_what_an_input_gives_away_and_grouped_folds_do_not() -> None:
    """The metric only names the input; with plain folds its other outputs tell how good they are."""
    rng = np.random.default_rng(3)
    target = np.tile(rng.normal(size=60), (6, 1)) + rng.normal(0, 0.1, (6, 60))
    naming = np.tile(np.arange(60.0), (6, 1))[None]
    whole = Measure.parse("global/kendall")
    value = {}
    for by in ("inputs", "outputs"):
        fold = folds(np.ones(target.shape, bool), 5, np.random.default_rng(0), by)  # type: ignore[arg-type]
        value[by] = reached(held_out(naming, target, fold, boosted()), target, fold, whole).value
    assert value["outputs"] > 0.7
    assert abs(value["inputs"]) < 0.3


def test_values_per_fold_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    target, predicted = rng.normal(size=(6, 20)), rng.normal(size=(6, 20))
    fold = folds(np.ones(target.shape, bool), 4, rng)
    for f, value in enumerate(reached(predicted, target, fold, INPUT).folds):
        mine = [kendalltau(predicted[:, u], target[:, u]).statistic for u in np.flatnonzero((fold == f).any(axis=0))]
        assert value == pytest.approx(np.mean(mine))


def test_the_best_single_metric_is_chosen_without_the_fold_it_is_judged_on() -> None:
    """Metric 1 is perfect on fold 0 only, metric 0 on all others: fold 0 must be judged by metric 0."""
    rng = np.random.default_rng(5)
    target = rng.normal(size=(6, 40))
    fold = folds(np.ones(target.shape, bool), 4, rng)
    metrics = np.stack([np.where(fold == 0, -target, target), np.where(fold == 0, target, -target)])
    value, picked = best_single(metrics, target, fold, INPUT)
    assert picked[0] == 0
    assert value.folds == pytest.approx([-1, 1, 1, 1])


def test_intervals_are_wider_than_the_plain_t_interval_by_the_correction() -> None:
    values = np.array([0.1, 0.2, 0.15, 0.3, 0.25])
    found = Reached.of(values)
    half = 2.776445 * values.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    assert (found.low, found.high) == pytest.approx((0.2 - half, 0.2 + half))


def test_ranks_within_inputs_know_only_order_and_put_gaps_in_the_middle() -> None:
    scores = np.array([[[1.0, 7.0], [2.0, np.nan], [np.nan, np.nan], [50.0, 7.0]]])
    assert within_inputs(scores)[0, :, 0] == pytest.approx([-2 / 3, 0, 0, 2 / 3])
    assert within_inputs(scores)[0, :, 1].tolist() == [0, 0, 0, 0]
    one_system = within_inputs(np.array([[[5.0, 1.0, 9.0]]]))
    assert one_system[0, 0] == pytest.approx([0, -2 / 3, 2 / 3])


def test_boosted_trees_are_the_same_in_every_run() -> None:
    rng = np.random.default_rng(6)
    x, y, new = rng.normal(size=(200, 4)), rng.normal(size=200), rng.normal(size=(30, 4))
    assert (boosted(1)(x, y, new) == boosted(1)(x, y, new)).all()
