"""Agreement of a metric with human ratings over all outputs, estimated from a small labeled sample."""

from __future__ import annotations

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.estimates._partly_labeled import Rows, check_words, representative, rows_of
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import number, row_interval
from nlgauge.options import call, option
from nlgauge.stats.estimation.grouped_correlation import input_correlation, item_correlation, system_correlation
from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.sparse_correlation import (
    COEFFICIENTS,
    MAX_LABELS,
    Coefficient,
    SparseCorrelation,
    sparse_correlation,
)
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

FEWEST = 30  # labels that an interval of a correlation requires
GROUPED = (
    " Input: mean over inputs whose outputs are all labeled. System: unknown means are drawn around a regression "
    "line on "
    "the metric's means (random effects); for these systems."
)
INPUTS = 15  # labeled inputs that an interval of their mean requires
SYSTEMS = 5  # systems that a correlation of their means requires


@analysis(
    "sparse-agreement",
    question="How well does a metric agree with human ratings over all outputs, if only few are labeled?",
    takes="dataset",
)
def sparse_agreement(
    choice: Choice,
    *,
    aspect: str | None = None,
    probability: str | None = None,
    strata: str | None = None,
    level: float = 0.95,
) -> Table:
    """Estimate the agreement of metrics with human ratings over all outputs from a small labeled sample.

    Returns
    -------
    Table
        One row per metric and measure: Pearson, Spearman and Kendall (tau-b) over all outputs at once
        (`global`), and with several systems by `input`, by system (`item`) and over `system` means, each with its
        interval. `plain`, `plain_low` and `plain_high` are the same without the scores of unlabeled outputs.

    Notes
    -----
    Mean of jackknife pseudo-values on Fisher's scale; the part that the metric's score predicts is estimated from all
    outputs (PPI++).
    """
    data = choice.data
    named = list(choice.metrics if choice.metrics is not None else data.metrics)
    results: list[Row] = []
    rows = None
    for name in named:
        rows = rows_of(
            data, data.aspect(aspect), [name], probability=probability, strata=strata, keep_human=choice.keep_human
        )
        results += _rows(rows, name, level)
    if rows is None:
        raise NeedsMissing(
            f"there are no metric scores; name their columns with {option('metrics')}.", code="no_scores"
        )
    checked = representative(rows.of(~np.isin(rows.system, rows.label_counts().left_out)))
    words = [check_words(checked)[0]] if checked else []
    return Table(
        title=Title(
            data.name,
            f"agreement with human ratings over all outputs from {rows.labeled.sum():,} labels, {rows.aspect}",
        ),
        rows=results,
        layout=Layout("metric", "measure", "value")
        if len(results) == len(named) * len(COEFFICIENTS)
        else Layout("measure", "metric", "value"),
        cells={"value": row_interval},
        method=f"{level:.0%} confidence intervals: mean of jackknife pseudo-values on Fisher's scale, with the part "
        "that "
        "the metric's score predicts estimated from all outputs (PPI++); Student's t."
        + ("" if len(results) == len(named) * len(COEFFICIENTS) else GROUPED),
        notes=[
            *words,
            f"{int(rows.labeled.sum()):,} of {len(rows.labels):,} outputs are labeled.",
            *filter(None, [rows.label_counts().count_text()]),
            *(f"not available: {why}." for why in dict.fromkeys(r["reason"] for r in results if r["reason"])),
        ],
        signature=f"nlgauge:{__version__}|aspect:{rows.aspect}|rows:{len(rows.labels)}|level:{number(level, 2)}",
    )


def _rows(rows: Rows, metric: str, level: float) -> list[Row]:
    made = []
    groupings = ("global", "input", "item", "system") if len(set(rows.system)) > 1 else ("global",)
    for grouping in groupings:
        why = _lacking(rows, grouping)
        for coefficient in COEFFICIENTS:
            result = SparseCorrelation(*[np.nan] * 6) if why else _estimate(rows, metric, grouping, coefficient, level)  # type: ignore[arg-type]
            made.append(
                {
                    "metric": metric,
                    "aspect": rows.aspect,
                    "measure": f"{grouping}/{coefficient}",
                    **vars(result),
                    "p": np.nan,
                    "n": int(rows.labeled.sum()),
                    "rows": len(rows.labels),
                    "reason": why or (None if np.isfinite(result.value) else "scores or human ratings are constant"),
                }
            )
    return made


def _lacking(rows: Rows, grouping: str) -> str:
    """Return the reason why there is no interval; empty if there is one."""
    n = int(rows.labeled.sum())
    if n > MAX_LABELS and grouping in ("global", "item"):
        return f"more than {MAX_LABELS:,} labels: use {call('analyze correlate FILE')}"
    if why := rows.lacking() or (f"requires at least {FEWEST} labels; found {n}" if n < FEWEST else ""):
        return why
    counts = rows.label_counts()
    if counts.left_out and grouping == "global":
        return f"global: {counts.gap_text()}"
    systems = list(counts.names)
    if grouping == "input":
        if rows.strata is not None or (rows.probability is not None and np.ptp(rows.probability[rows.labeled]) > 0):
            return "input: outputs were drawn separately, so the sampling probabilities of whole inputs are unknown"
        whole = int(np.isfinite(_by_input(rows, rows.labels)).all(axis=1).sum())
        words = f"input: requires at least {INPUTS} inputs with labels of all {len(systems)} systems; found {whole}"
        return f"{words} ({call('label FILE', goal='ranking')} draws whole inputs)" if whole < INPUTS else ""
    if grouping == "system" and len(systems) < SYSTEMS:
        return f"system: requires at least {SYSTEMS} systems; found {len(systems)}"
    least = {"item": FEWEST, "system": INPUTS}.get(grouping, 0)
    few = [s for s in systems if (rows.labeled & (rows.system == s)).sum() < least]
    return f"{grouping}: requires at least {least} labels of every system; {len(few)} have fewer" if few else ""


def _by_input(rows: Rows, values: Array) -> Array:
    """Return values as inputs × systems, NaN without an output."""
    inputs, row = np.unique(rows.input, return_inverse=True)
    systems, column = np.unique(rows.system, return_inverse=True)
    table = np.full((len(inputs), len(systems)), np.nan)
    table[row.reshape(-1), column.reshape(-1)] = values
    return table


def _estimate(rows: Rows, metric: str, grouping: str, coefficient: Coefficient, level: float) -> SparseCorrelation:
    score = rows.scores[metric]
    if grouping == "global":
        return sparse_correlation(rows.sample(score), coefficient, level)
    if grouping == "input":
        scores, labels = _by_input(rows, score), _by_input(rows, rows.labels)
        units = np.nanmax(_by_input(rows, rows.unit.astype(np.float64)), axis=1)
        full = np.isfinite(scores).all(axis=1)
        labels[~np.isfinite(labels).all(axis=1)] = np.nan
        clusters = np.unique(units[full], return_inverse=True)[1].reshape(-1)
        return input_correlation(PartlyLabeled(labels[full], scores[full], clusters=clusters), coefficient, level)[0]
    parts = [rows.of(rows.system == name) for name in dict.fromkeys(rows.system.tolist())]
    samples, units = [p.sample(p.scores[metric]) for p in parts], [p.unit for p in parts]
    return (item_correlation if grouping == "item" else system_correlation)(samples, units, coefficient, level)
