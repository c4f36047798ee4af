"""Prediction of human ratings from metrics on held-out data: folds, models and values (Colombo et al. 2023, section 3).

Features are F × N × M (features × systems × inputs), the target N × M; NaN is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.ranking.rankings import ranks
from nlgauge.stats.resampling.canonical import table_order
from nlgauge.types import Array, Ints, Mask

Model = Callable[[Array, Array, Array], Array]
Grouped = Literal["inputs", "outputs"]

PENALTY = 0.01  # of ridge, times the number of training outputs: metrics of one family are nearly the same


def folds(there: Mask, count: int, rng: np.random.Generator, by: Grouped = "inputs") -> Ints:
    """Assign every output to a fold, −1 where there is nothing to predict.

    `inputs`: all outputs of an input are in one fold, so that no input is on both sides. `outputs`: single outputs.
    """
    if by not in ("inputs", "outputs"):
        raise NameUnknown(f"no folds by '{by}'; use inputs or outputs.")
    result = np.full(there.shape, -1, np.int64)
    if by == "outputs":
        cells = rng.permutation(np.flatnonzero(there))
        result.flat[cells] = np.arange(len(cells)) % count
        return result
    inputs = rng.permutation(np.flatnonzero(there.any(axis=0)))
    result[:, inputs] = np.arange(len(inputs)) % count
    return np.where(there, result, -1)


def fold_count(there: Mask, wanted: int, by: Grouped = "inputs", least: int = 2) -> int:
    """Return the requested number of folds, at most one per input (output); too few is an error."""
    result = int(there.any(axis=0).sum() if by == "inputs" else there.sum())
    if result < least or wanted < 2:
        raise NeedsMissing(
            f"cross-validation needs at least {least} rated {by} and 2 folds; found {result} and {wanted}."
        )
    return min(wanted, result)


def within_inputs(scores: Array) -> Array:
    """Rank the systems of each input from −1 (worst) to 1; ties get their mean rank, missing scores get 0.

    With one system, the ranks are over all outputs.

    >>> within_inputs(np.array([[[0.2], [0.9], [0.4]]]))[0, :, 0].round(2).tolist()
    [-0.67, 0.67, 0.0]
    """
    x = np.asarray(scores, np.float64)
    shape = x.shape
    x = x.reshape(*shape[:-2], -1, 1) if shape[-2] == 1 else x
    count = (~np.isnan(x)).sum(axis=-2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        centered = (count + 1 - 2 * ranks(x, x.ndim - 2)) / count
    return np.asarray(np.nan_to_num(centered).reshape(shape))


def ridge(penalty: float = PENALTY) -> Model:
    """Fit linear regression with a small penalty, so that nearly equal metrics share their weight."""

    def predict(x: Array, y: Array, new: Array) -> Array:
        mean = x.mean(axis=0)
        z = x - mean
        gram = z.T @ z + penalty * len(x) * np.eye(x.shape[1])
        weights = np.linalg.solve(gram, z.T @ (y - y.mean()))
        return np.asarray((new - mean) @ weights + y.mean())

    return predict


def boosted(seed: int = 0) -> Model:
    """Fit XGBoost's regressor with its defaults, as Colombo et al. (2023); one thread for reproducible trees."""
    try:
        import xgboost
    except ImportError:
        raise NeedsMissing("XGBoost needs the extra 'boost': pip install \"nlgauge[boost]\"") from None
    settings = {
        "objective": "reg:squarederror",
        "max_depth": 6,
        "eta": 0.3,
        "tree_method": "hist",
        "nthread": 1,
        "seed": seed,
    }

    def predict(x: Array, y: Array, new: Array) -> Array:
        trees = xgboost.train(settings, xgboost.DMatrix(x, y, nthread=1), 100)
        return np.asarray(trees.predict(xgboost.DMatrix(new, nthread=1)), np.float64)

    return predict


def model_of(name: str, seed: int = 0) -> tuple[Model, str]:
    """Return a model by name, and its description."""
    available: dict[str, tuple[Callable[[], Model], str]] = {
        "xgboost": (lambda: boosted(seed), "XGBoost regressor on the scores (100 trees of depth 6)"),
        "ridge": (ridge, "ridge regression on ranks within inputs"),
    }
    if name not in available:
        raise NameUnknown(f"no model '{name}'; use {' or '.join(available)}.")
    make, words = available[name]
    return make(), words


def held_out(features: Array, target: Array, fold: Ints, model: Model) -> Array:
    """Predict every output with a model fitted on the other folds."""
    predicted = np.full(target.shape, np.nan)
    # Trees choose the first of equal splits: features are ordered by content, not by their position in the file.
    cells = features[table_order(features)].reshape(len(features), -1).T
    y, index = target.ravel(), fold.ravel()
    for f in range(int(fold.max()) + 1):
        train, test = (index >= 0) & (index != f), index == f
        if train.any() and test.any():
            predicted.flat[np.flatnonzero(test)] = model(cells[train], y[train], cells[test])
    return predicted


@dataclass(frozen=True)
class Reached:
    """A measure on held-out data: its value in each fold, the mean, and a 95% interval of the mean."""

    folds: Array
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Array) -> Reached:
        """Compute the corrected interval: folds share training data, so their spread is too small (Nadeau and Bengio
        2003).
        """
        from scipy.special import stdtrit

        k, selected = len(values), values[np.isfinite(values)]
        if not len(selected):
            return cls(values, np.nan, np.nan, np.nan)
        mean = float(selected.mean())
        if len(selected) < 2 or k < 2:
            return cls(values, mean, np.nan, np.nan)
        half = stdtrit(len(selected) - 1, 0.975) * np.sqrt(selected.var(ddof=1) * (1 / len(selected) + 1 / (k - 1)))
        return cls(values, mean, mean - float(half), mean + float(half))


def reached(predicted: Array, target: Array, fold: Ints, measure: Measure) -> Reached:
    """Compute the measure of the predictions in each fold."""
    return Reached.of(np.array([_in_fold(predicted[None], target, fold == f, measure)[0] for f in _all(fold)]))


def best_single(metrics: Array, target: Array, fold: Ints, measure: Measure) -> tuple[Reached, Ints]:
    """Evaluate on each fold the metric that is best on the other folds; also return which one it was."""
    values, chosen = [], []
    for f in _all(fold):
        train = _in_fold(metrics, target, (fold >= 0) & (fold != f), measure)
        best = int(np.argmax(np.nan_to_num(train, nan=-2.0)))
        chosen.append(best)
        values.append(_in_fold(metrics[best : best + 1], target, fold == f, measure)[0])
    return Reached.of(np.array(values)), np.array(chosen, np.int64)


def _all(fold: Ints) -> range:
    return range(int(fold.max()) + 1)


def _in_fold(metrics: Array, target: Array, mask: Mask, measure: Measure) -> Any:
    inputs = mask.any(axis=0)
    human = np.where(mask, target, np.nan)[:, inputs]
    return evaluate(metrics[:, :, inputs], human, [measure]).value[:, 0]
