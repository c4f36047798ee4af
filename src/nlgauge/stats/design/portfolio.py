"""The smallest set of metrics that predicts human ratings best: forward selection with nested cross-validation.

Colombo et al. (2023) propose to combine complementary metrics and leave the choice open. Metrics and ratings are ranks
within inputs, the model is ridge regression; the sums of products that it needs are stored by fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.stats.correlation.coefficients import ratio
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.prediction import PENALTY, Model, Reached, fold_count, folds, within_inputs
from nlgauge.stats.resampling.canonical import table_order
from nlgauge.types import Array, Ints


@dataclass(frozen=True)
class Path:
    """Metrics in order of selection, and the value of each size in the inner folds."""

    chosen: list[int]
    value: Array
    error: Array  # standard error over inner folds

    @property
    def size(self) -> int:
        """The smallest size within one standard error of the best (one-standard-error rule)."""
        best = int(np.argmax(self.value))
        error = float(np.nan_to_num(self.error[best]))
        return int(np.flatnonzero(self.value >= self.value[best] - error)[0]) + 1


@dataclass(frozen=True)
class Portfolio:
    """`path` is selected on all data; `curve` is the value of each size on inputs not used in the selection.

    `stopped`: the size by the one-standard-error rule in each outer fold, `paths`: their selections; `whole`: all
    metrics.
    """

    path: Path
    curve: list[Reached]
    stopped: Reached
    paths: list[Path]
    whole: Reached


def portfolio(
    metrics: Array,
    target: Array,
    measure: Measure,
    *,
    most: int = 8,
    count: int = 5,
    model: Model | None = None,
    seed: int = 0,
) -> Portfolio:
    """Select metrics (K × N × M, higher is better) that predict the target (N × M); `model` refits the selected sets.

    The inputs are assigned to `count` folds once. Each fold is held out in turn while the selection uses the others,
    each of which is held out in turn within it (nested cross-validation).
    """
    order = table_order(metrics)  # ties are broken by content, not by order in the file
    metrics = metrics[order]
    there = np.isfinite(target)
    count = fold_count(there, count, least=3)
    data = _Folded.of(metrics, target, folds(there, count, np.random.default_rng(np.random.SeedSequence(seed))))
    most = min(most, len(metrics))
    table = np.full((most, count), np.nan)
    whole, stopped = np.full(count, np.nan), np.full(count, np.nan)
    paths: list[Path] = []
    for f in range(count):
        path = greedy(data, measure, [g for g in range(count) if g != f], most)
        paths.append(path)
        for size in range(len(path.chosen)):
            table[size, f] = data.score(path.chosen[: size + 1], f, measure, model)
        whole[f] = data.score(range(len(metrics)), f, measure, model)
        stopped[f] = table[path.size - 1, f] if path.chosen else np.nan
    path = greedy(data, measure, list(range(count)), most)
    curve = [Reached.of(row) for row in table[: len(path.chosen)]]
    path, *paths = (replace(p, chosen=[int(order[k]) for k in p.chosen]) for p in (path, *paths))
    return Portfolio(path, curve, Reached.of(stopped), paths, Reached.of(whole))


@dataclass(frozen=True)
class _Folded:
    """Scores and target as ranks within inputs, split into folds of inputs; 0 where the target is missing.

    `products`: X'X, X'y and the number of outputs of each fold.
    """

    x: list[Array]  # K × N × inputs of the fold
    y: list[Array]
    target: list[Array]
    products: list[tuple[Array, Array, int]]

    @classmethod
    def of(cls, metrics: Array, target: Array, fold: Ints) -> _Folded:
        there = np.isfinite(target)
        x = np.where(there, within_inputs(np.where(there, metrics, np.nan)), 0.0)
        y = within_inputs(target[None])[0]
        cuts = [(fold == f).any(axis=0) for f in range(int(fold.max()) + 1)]
        xs, ys, targets = [x[:, :, c] for c in cuts], [y[:, c] for c in cuts], [target[:, c] for c in cuts]
        flat = [(a.reshape(len(a), -1), b.ravel()) for a, b in zip(xs, ys, strict=True)]
        sizes = [int(np.isfinite(t).sum()) for t in targets]
        return cls(xs, ys, targets, [(a @ a.T, a @ b, n) for (a, b), n in zip(flat, sizes, strict=True)])

    def sums(self, folds: Sequence[int]) -> tuple[Array, Array, int]:
        """Return the products of several folds together."""
        parts = [self.products[f] for f in folds]
        gram, right = np.sum([p[0] for p in parts], axis=0), np.sum([p[1] for p in parts], axis=0)
        return gram, right, sum(p[2] for p in parts)

    def score(self, chosen: Sequence[int], test: int, measure: Measure, model: Model | None) -> float:
        """Fit the selected metrics on all other folds and evaluate on `test`."""
        picked = list(chosen)
        others = [f for f in range(len(self.x)) if f != test]
        x = self.x[test][picked]
        if model is None:
            gram, right, n = self.sums(others)
            predicted = np.tensordot(_solve(gram[np.ix_(picked, picked)], right[picked], n), x, axes=1)
        else:
            seen = [np.isfinite(self.target[f]) for f in others]
            train = np.concatenate([self.x[f][picked][:, s] for f, s in zip(others, seen, strict=True)], axis=1)
            y = np.concatenate([self.y[f][s] for f, s in zip(others, seen, strict=True)])
            predicted = model(train.T, y, x.reshape(len(picked), -1).T).reshape(x.shape[1:])
        return float(_measured(predicted[None], self.target[test], measure)[0])


def greedy(data: _Folded, measure: Measure, inner: Sequence[int], most: int) -> Path:
    """Add, at each step, the metric with the best mean value over the inner folds; the first one wins a tie."""
    chosen: list[int] = []
    value, error = np.full(most, np.nan), np.full(most, np.nan)
    others = {f: data.sums([g for g in inner if g != f]) for f in inner}
    for size in range(most):
        left = [k for k in range(len(data.x[0])) if k not in chosen]
        reached = np.stack([_candidates(data, f, others[f], chosen, left, measure) for f in inner], axis=1)
        defined = np.isfinite(reached)
        if not defined.any():
            break
        mean = ratio(np.where(defined, reached, 0.0).sum(axis=1), defined.sum(axis=1))
        best = int(np.nanargmax(np.round(mean, 12)))
        values = reached[best][defined[best]]
        value[size] = mean[best]
        error[size] = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        chosen.append(left[best])
    return Path(chosen, value[: len(chosen)], error[: len(chosen)])


def _candidates(
    data: _Folded, test: int, train: tuple[Array, Array, int], chosen: list[int], left: list[int], measure: Measure
) -> Array:
    """Return the value on fold `test` of the selected metrics plus each candidate."""
    gram, right, n = train
    sets = np.array([[*chosen, k] for k in left])
    weights = _solve(gram[sets[:, :, None], sets[:, None, :]], right[sets], n)
    x = data.x[test]
    predicted = x[left] * weights[:, -1, None, None]
    if chosen:
        predicted = predicted + np.tensordot(weights[:, :-1], x[chosen], axes=1)
    return _measured(predicted, data.target[test], measure)


def _solve(gram: Array, right: Array, n: int) -> Array:
    penalty = PENALTY * n * np.eye(gram.shape[-1])
    return np.asarray(np.linalg.solve(gram + penalty, right[..., None])[..., 0])


def _measured(predicted: Array, target: Array, measure: Measure) -> Array:
    # Equal ranks must give equal predictions, whatever the order of the sums.
    return evaluate(np.round(predicted, 9), target, [measure]).value[:, 0]
