"""Smallest set of complementary metrics that predicts human ratings best (proposed by Colombo et al. 2023)."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted, finite_mean
from nlgauge.analyses.complementarity.predictability import INTERVAL, ModelName, held_out_columns
from nlgauge.analyses.sides import Sides, measure_for
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import number
from nlgauge.options import option
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.portfolio import Portfolio, portfolio
from nlgauge.stats.design.prediction import model_of
from nlgauge.stats.ranking.rankings import rank_distances
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

LEVEL = 0.05
COLUMNS = ("aspect", "size", "added", "alone", "apart", "inner", "value", "low", "high", "gain", "in_folds", "chosen")
STOP = "Stop rule: the smallest set within one standard error of the best one in the inner folds."


@analysis(
    "portfolio",
    trials="mean",
    paper="colombo2023",
    takes="dataset",
    question="Which small set of metrics predicts human ratings best?",
)
def metric_portfolio(
    choice: Choice,
    *,
    most: int = 8,
    model: ModelName = "ridge",
    count: int = 5,
    measure: Named | None = None,
    progress: Progress | None = None,
) -> Table:
    """Select the small set of metrics that best predicts the human ratings.

    Parameters
    ----------
    most : int, default 8
        Maximum number of metrics in the set.
    model : {'xgboost', 'ridge'}, default 'ridge'
        Model for the reported values: ridge regression, or XGBoost on the same ranks (extra `boost`). Metrics are
        always selected by ridge regression, which is fast.

    Returns
    -------
    Table
        One row per aspect and number of metrics: the metric added, what the portfolio reaches on inputs that
        had no part in choosing it, and the gain. The last row of an aspect is all metrics together.

    Notes
    -----
    Greedy forward selection with nested cross-validation over inputs. The stop rule takes the smallest portfolio
    within one standard error of the best one in the inner folds. Intervals over folds correct the variance for
    shared training data (Nadeau and Bengio 2003).
    """
    data, seed = choice.data, choice.seed
    if most < 1:
        raise NlgaugeError(f"{option('most')} must be at least 1; got {most}.")
    sides = Sides.of(choice)
    scores = sides.automatic()
    if len(scores) < 2:
        raise NeedsMissing(f"a portfolio requires at least two metrics; found {len(scores)}.", code="too_few_metrics")
    chosen = measure_for(sides.panel, measure)
    refit = None if model == "ridge" else model_of(model, seed)[0]
    apart = rank_distances(scores, np.zeros(len(scores), bool)).mean["tau-b"]
    rows: list[Row] = []
    answers: list[str] = []
    for aspect, target in counted(sides.humans.items(), progress):
        found = portfolio(scores, target, chosen, most=most, count=count, model=refit, seed=seed)
        rows += _rows(sides, aspect, found, chosen, apart)
        answers.append(_answer(sides, aspect, found))
    within = "within inputs" if sides.panel.n_systems > 1 else "over all outputs (there is one system)"
    refitted = "" if model == "ridge" else " The chosen sets are refitted with XGBoost for the values."
    return Table(
        title=Title(data.name, f"portfolio of metrics that predicts human ratings, {chosen}"),
        rows=rows,
        shown=[*COLUMNS],
        definitions={
            "alone": "value of the single metric, on all outputs",
            "apart": "mean distance between its rankings and those of the metrics before it (complementarity, tau-b)",
            "inner": "value of the set in the inner folds",
            "value": "value of a set of this size, chosen and fitted on the other folds, on a held-out fold; "
            "mean over folds",
            "gain": "increase of the value over the previous size",
            "in folds": "number of folds in which the stop rule selects the metric",
            str(chosen): chosen.definition,
        },
        method=f"Greedy forward selection, ridge regression on ranks {within}, nested cross-validation: {count} folds "
        f"of inputs, each held out in turn.{refitted} {STOP} {INTERVAL}",
        answers=answers,
        notes=sides.remarks(),
        signature=sides.signature(measure=chosen, model=model, folds=count, most=most, seed=seed),
    )


def _rows(sides: Sides, aspect: str, found: Portfolio, measure: Measure, apart: Array) -> list[Row]:
    names, path = sides.panel.names, found.path
    alone = evaluate(sides.automatic(), sides.humans[aspect], [measure]).value[:, 0]
    kept = [set(p.chosen[: p.size]) for p in found.paths if p.chosen]
    nothing = float("nan")
    shared = {"aspect": aspect, "measure": str(measure), "alone": nothing, "apart": nothing, "inner": nothing}
    rows: list[Row] = []
    before = nothing
    for size, (k, reached) in enumerate(zip(path.chosen, found.curve, strict=True)):
        own = {
            "size": size + 1,
            "added": names[k],
            "alone": float(alone[k]),
            "apart": finite_mean(apart[k][path.chosen[:size]]),
            "inner": float(path.value[size]),
            "gain": reached.value - before,
            "in_folds": sum(k in of_fold for of_fold in kept),
            "chosen": size < path.size,
        }
        rows.append({**shared, **own, **held_out_columns(reached)})
        before = reached.value
    every = {"size": len(names), "added": "all metrics", "gain": nothing, "in_folds": None, "chosen": None}
    return [*rows, {**shared, **every, **held_out_columns(found.whole)}]


def _answer(sides: Sides, aspect: str, found: Portfolio) -> str:
    path, stopped, whole = found.path, found.stopped, found.whole
    if not path.chosen:
        return f"{aspect}: no metric has a defined value in the folds."
    names = [sides.panel.names[k] for k in path.chosen[: path.size]]
    sizes = sorted(p.size for p in found.paths if p.chosen)
    many = f"{sizes[0]} to {sizes[-1]} metrics" if sizes[0] < sizes[-1] else f"{sizes[0]} metric" + "s" * (sizes[0] > 1)
    single = found.curve[0]
    reached = (
        f"Sets chosen in this way ({many} metrics per fold) reach {number(stopped.value)} "
        f"[{number(stopped.low)}, {number(stopped.high)}] on held-out inputs; the best single metric "
        f"{number(single.value)}, all {len(sides.panel.names)} metrics {number(whole.value)}"
    )
    p = gain_p(stopped.folds, single.folds)
    if p < LEVEL:
        return (
            f"{aspect}: use {', '.join(names)}. {reached}; the gain over one metric is significant (p = {number(p)})."
        )
    told = "cannot be tested" if np.isnan(p) else f"p {number(p)}"
    return (
        f"{aspect}: several metrics are not significantly better than one ({told}); the stop rule selects "
        f"{', '.join(names)}. {reached}."
    )


def gain_p(several: Array, single: Array) -> float:
    """Return the one-sided p of the test that a set is better than one metric, from the differences of the folds.

    Folds share their training data: the variance is corrected for it after Nadeau and Bengio (2003).

    >>> round(gain_p(np.array([0.5, 0.6, 0.45, 0.58, 0.52]), np.array([0.4, 0.48, 0.46, 0.47, 0.44])), 3)
    0.043
    """
    gains = np.asarray(several - single, np.float64)
    gains = gains[np.isfinite(gains)]
    k = len(gains)
    if k < 3 or not gains.std() > 0:
        return float("nan")
    return float(stdtr(k - 1, -gains.mean() / np.sqrt((1 / k + 1 / (k - 1)) * gains.var(ddof=1))))
