"""Prediction of human ratings by all metrics together, and by other human aspects (Colombo et al. 2023, Fig. 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted
from nlgauge.analyses.sides import Sides, measure_for
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.design.prediction import (
    Grouped,
    Model,
    Reached,
    best_single,
    fold_count,
    folds,
    held_out,
    model_of,
    reached,
    within_inputs,
)
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array, Ints

ModelName = Literal["xgboost", "ridge"]
FEATURE_SETS = {
    "best metric": "the metric that is best on the other folds",
    "automatic": "all metrics",
    "human": "other human aspects",
    "both": "all metrics and other human aspects",
}
INTERVAL = (
    "95% confidence interval: t over folds, variance corrected for shared training data (Nadeau and Bengio 2003)."
)
FOLD = re.compile(r"fold_\d+$")
SPLITS = {
    "inputs": "inputs are not split",
    "outputs": "outputs are split, so other outputs of an input may be in the training data",
}


@analysis(
    "predictability",
    trials="mean",
    paper="colombo2023",
    takes="dataset",
    question="How well do all metrics together, or other human aspects, predict human ratings?",
)
def predictability(
    choice: Choice,
    *,
    model: ModelName = "xgboost",
    split: Grouped = "inputs",
    count: int = 5,
    measure: Named | None = None,
    progress: Progress | None = None,
) -> Table:
    """Compute how well all metrics together predict the human ratings on held-out folds.

    Returns
    -------
    Table
        One row per aspect and set of features (best single metric, all metrics, the other human aspects,
        both): mean over folds with its interval, and the value of each fold.

    Notes
    -----
    Intervals over folds correct the variance for shared training data (Nadeau and Bengio 2003).

    References
    ----------
    Colombo et al. (2023), Figure 3.
    """
    data, seed = choice.data, choice.seed
    sides = Sides.of(choice)
    chosen = measure_for(sides.panel, measure)
    predict, words = model_of(model, seed)
    jobs = list(_jobs(sides))
    if not jobs:
        raise NeedsMissing(
            "there are neither metric scores nor a second aspect to predict human ratings from.", code="no_scores"
        )
    rows: list[Row] = []
    for aspect, name, features in counted(jobs, progress):
        target = sides.humans[aspect]
        fold = deal(target, count, split, seed)
        if name == "best metric":
            value, picked = best_single(features, target, fold, chosen)
            best = [sides.panel.names[k] for k in picked]
            more = {"features": 1, "best": ", ".join(dict.fromkeys(sorted(best, key=lambda b: (-best.count(b), b))))}
        else:
            value = held_out_value(features, target, fold, model, predict, chosen)
            more = {"features": len(features), "best": None}
        rows.append({"aspect": aspect, "predictors": name, **numbers(value, chosen, target), **more})
    return Table(
        title=Title(data.name, f"prediction of human ratings on held-out outputs, {chosen}"),
        rows=rows,
        layout=Layout("aspect", "predictors", "value", extra={"intervals (95%)": _intervals}),
        heads={"predictors": "predicted from"},
        definitions={name: FEATURE_SETS[name] for name in dict.fromkeys(row["predictors"] for row in rows)}
        | {str(chosen): chosen.definition},
        method=f"{words}; {fold_columns(rows[0])} folds, {SPLITS[split]}; the measure in each fold, mean over "
        f"folds. {INTERVAL}",
        notes=[*_notes(sides, rows), *sides.remarks()],
        signature=sides.signature(measure=chosen, model=model, split=split, folds=count, seed=seed),
    )


def _jobs(sides: Sides) -> Iterator[tuple[str, str, Array]]:
    """Yield aspect, name of the feature set, and features."""
    metrics = sides.automatic()
    for aspect in sides.humans:
        others = [h for a, h in sides.humans.items() if a != aspect]
        if len(metrics):
            yield aspect, "best metric", metrics
            yield aspect, "automatic", metrics
        if others:
            yield aspect, "human", np.stack(others)
        if others and len(metrics):
            yield aspect, "both", np.concatenate([metrics, np.stack(others)])


def deal(target: Array, count: int, split: Grouped, seed: int) -> Ints:
    """Return the folds of an aspect, which are equal for every feature set."""
    there = np.isfinite(target)
    return folds(there, fold_count(there, count, split), np.random.default_rng(np.random.SeedSequence(seed)), split)


def held_out_value(
    features: Array, target: Array, fold: Ints, model: ModelName, predict: Model, measure: Measure
) -> Reached:
    """Return the value of the features on held-out folds; ridge regression uses ranks within inputs."""
    x, y = (
        (features, target)
        if model == "xgboost"
        else (within_inputs(features), np.asarray(within_inputs(target[None])[0]))
    )
    return reached(held_out(x, y, fold, predict), target, fold, measure)


def numbers(value: Reached, measure: Measure, target: Array) -> Row:
    """Return the columns of every table of held-out values."""
    return {"measure": str(measure), **held_out_columns(value), "n": int(np.isfinite(target).sum())}


def held_out_columns(value: Reached) -> Row:
    """Return the mean over folds with its interval, and a column per fold with the value on it."""
    folds = {f"fold_{k}": float(v) for k, v in enumerate(value.folds, start=1)}
    return {"value": value.value, "low": value.low, "high": value.high, **folds}


def fold_columns(row: Row) -> int:
    """Return the number of folds with a value in a row."""
    return sum(bool(FOLD.match(column)) for column in row)


def _intervals(rows: list[Row]) -> str:
    return "; ".join(f"{row['predictors']} {number(row['low'])} {number(row['high'])}" for row in rows)


def _notes(sides: Sides, rows: list[Row]) -> list[str]:
    notes = [
        f"{row['aspect']}: the best metric on the training folds was {row['best']}." for row in rows if row["best"]
    ]
    if len(sides.humans) == 1:
        notes.append("there is one aspect, so there are no other human ratings to predict it from.")
    if not sides.panel.metrics:
        notes.append("there are no metric scores: human ratings are predicted from other aspects only.")
    lost = sum(bool(np.isnan(value)) for row in rows for column, value in row.items() if FOLD.match(column))
    if lost:
        notes.append(f"{lost} folds without a value are left out (they have no input with two outputs that differ).")
    return notes
