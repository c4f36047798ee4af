"""How well does a metric agree with people over all outputs, where few are labelled? With intervals that know which."""

from __future__ import annotations

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.estimates._partly_labelled import Rows, check_words, representative, rows_of
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
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

FEWEST = 30  # labels below which a correlation has no interval here
GROUPED = (
    " Input: mean over inputs whose outputs are all labelled. System: means that the labels leave open, drawn around a "
    "line on the metric's means (random effects); for these systems."
)
INPUTS = 15  # labelled inputs below which their mean has none
SYSTEMS = 5  # systems below which a correlation of their means says nothing


@analysis(
    "sparse-agreement",
    question="How well does a metric agree with people over all outputs, from labels of a few?",
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
    """Compute the agreement of metrics with human ratings over all outputs from labels of a few.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    aspect : str, optional
        Aspect of the labels; may be left out where there is only one.
    probability : str, optional
        Column with the probability with which each labeled output was drawn; without it and `strata`, labels
        are taken as a simple random sample.
    strata : str, optional
        Column with the stratum in which each output was drawn.
    level : float, default 0.95
        Level of the confidence intervals.

    Returns
    -------
    Table
        One row per metric and measure: Pearson, Spearman and Kendall (tau-b) over all outputs at once
        (`global`), and where there are several systems by `input`, by system (`item`) and over `system` means,
        each with its interval. `plain`, `plain_low` and `plain_high` are the same without the scores of
        unlabeled outputs.

    Notes
    -----
    Mean of jackknife pseudo-values on Fisher's scale; the part that the metric's own score predicts is taken from
    all outputs (PPI++).
    """
    data = choice.data
    named = list(choice.metrics if choice.metrics is not None else data.metrics)
    found: list[Row] = []
    rows = None
    for name in named:
        rows = rows_of(
            data, data.aspect(aspect), [name], probability=probability, strata=strata, keep_people=choice.keep_people
        )
        found += _rows(rows, name, level)
    if rows is None:
        raise NeedsMissing(
            f"no metric scores found; name their columns with {option('metrics')}.", data=data.name, code="no_scores"
        )
    checked = representative(rows.of(~np.isin(rows.system, rows.label_counts().left_out)))
    words = [check_words(checked)[0]] if checked else []
    return Table(
        title=Title(
            data.name, f"agreement with people over all outputs from {rows.labeled.sum():,} labels, {rows.aspect}"
        ),
        rows=found,
        layout=Layout("metric", "measure", "value")
        if len(found) == len(named) * len(COEFFICIENTS)
        else Layout("measure", "metric", "value"),
        cells={"value": _cell},
        method=f"{level:.0%} intervals: mean of jackknife pseudo-values on Fisher's scale, of which the part that the "
        "metric's own score foretells is taken from all rows (PPI++); Student's t."
        + ("" if len(found) == len(named) * len(COEFFICIENTS) else GROUPED),
        notes=[
            *words,
            f"{int(rows.labeled.sum()):,} of {len(rows.labels):,} outputs are labelled.",
            *filter(None, [rows.label_counts().count_text()]),
            *(f"not given: {why}." for why in dict.fromkeys(r["reason"] for r in found if r["reason"])),
        ],
        signature=f"nlgauge:{__version__}|aspect:{rows.aspect}|rows:{len(rows.labels)}|level:{number(level, 2)}",
    )


def _rows(rows: Rows, metric: str, level: float) -> list[Row]:
    made = []
    groupings = ("global", "input", "item", "system") if len(set(rows.system)) > 1 else ("global",)
    for grouping in groupings:
        why = _lacking(rows, grouping)
        for coefficient in COEFFICIENTS:
            found = SparseCorrelation(*[np.nan] * 6) if why else _found(rows, metric, grouping, coefficient, level)  # type: ignore[arg-type]
            made.append(
                {
                    "metric": metric,
                    "aspect": rows.aspect,
                    "measure": f"{grouping}/{coefficient}",
                    **vars(found),
                    "p": np.nan,
                    "n": int(rows.labeled.sum()),
                    "rows": len(rows.labels),
                    "reason": why or (None if np.isfinite(found.value) else "the metric or people gave one value only"),
                }
            )
    return made


def _lacking(rows: Rows, grouping: str) -> str:
    """What is missing for an interval; empty where nothing is."""
    n = int(rows.labeled.sum())
    if n > MAX_LABELS and grouping in ("global", "item"):
        return f"more than {MAX_LABELS:,} labels: `nlgauge analyze correlate` has their correlation"
    if why := rows.lacking() or (f"needs at least {FEWEST} labels, found {n}" if n < FEWEST else ""):
        return why
    counts = rows.label_counts()
    if counts.left_out and grouping == "global":
        return f"global: {counts.gap_text()}"
    systems = list(counts.names)
    if grouping == "input":
        if rows.strata is not None or (rows.probability is not None and np.ptp(rows.probability[rows.labeled]) > 0):
            return (
                "input: outputs were drawn one by one with different probabilities, so that of a whole input is unknown"
            )
        whole = int(np.isfinite(_by_input(rows, rows.labels)).all(axis=1).sum())
        words = f"input: needs at least {INPUTS} inputs with labels of all {len(systems)} systems, found {whole}"
        return f"{words}; {call('label FILE', goal='ranking')} draws whole inputs" if whole < INPUTS else ""
    if grouping == "system" and len(systems) < SYSTEMS:
        return f"system: needs at least {SYSTEMS} systems, found {len(systems)}"
    least = {"item": FEWEST, "system": INPUTS}.get(grouping, 0)
    few = [s for s in systems if (rows.labeled & (rows.system == s)).sum() < least]
    return f"{grouping}: needs at least {least} labels of every system; {len(few)} have fewer" if few else ""


def _by_input(rows: Rows, values: Array) -> Array:
    """Inputs × systems, NaN where an input has no such output."""
    inputs, at = np.unique(rows.input, return_inverse=True)
    systems, of = np.unique(rows.system, return_inverse=True)
    found = np.full((len(inputs), len(systems)), np.nan)
    found[at.reshape(-1), of.reshape(-1)] = values
    return found


def _found(rows: Rows, metric: str, grouping: str, coefficient: Coefficient, level: float) -> SparseCorrelation:
    score = rows.scores[metric]
    if grouping == "global":
        return sparse_correlation(rows.sample(score), coefficient, level)
    if grouping == "input":
        scores, labels = _by_input(rows, score), _by_input(rows, rows.labels)
        units = np.nanmax(_by_input(rows, rows.unit.astype(np.float64)), axis=1)
        there = np.isfinite(scores).all(axis=1)
        labels[~np.isfinite(labels).all(axis=1)] = np.nan
        clusters = np.unique(units[there], return_inverse=True)[1].reshape(-1)
        return input_correlation(PartlyLabeled(labels[there], scores[there], clusters=clusters), coefficient, level)[0]
    parts = [rows.of(rows.system == name) for name in dict.fromkeys(rows.system.tolist())]
    samples, units = [p.sample(p.scores[metric]) for p in parts], [p.unit for p in parts]
    return (item_correlation if grouping == "item" else system_correlation)(samples, units, coefficient, level)


def _cell(row: Row) -> str:
    if not np.isfinite(row["value"]):
        return "–"
    return f"{number(row['value'], 2)} [{number(row['low'], 2)}, {number(row['high'], 2)}]"
