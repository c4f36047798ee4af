"""How well does a metric agree with people over all outputs, where few are labelled? With intervals that know which."""

from __future__ import annotations

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.estimates._partly_labelled import Rows, check_words, representative, rows_of
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
from nlgauge.stats.estimation.sparse_correlation import COEFFICIENTS, MOST, sparse_correlation
from nlgauge.table import Layout, Row, Table

FEWEST = 30  # labels below which a correlation has no interval here


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
    """Pearson, Spearman and Kendall (tau-b) of every metric with people over all outputs at once (global).

    `probability`, `strata`: columns that say how the labelled rows were drawn; without them, at random. Columns
    `plain`, `plain_low`, `plain_high`: the same without the metric's scores of rows that nobody labelled.
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
        raise NeedsMissing(f"{data.name}: no metric scores found; name their columns with --metric.")
    checked = representative(rows)
    words = [check_words(checked)[0]] if checked else []
    return Table(
        title=f"{data.name}: agreement with people over all outputs from {int(rows.labelled.sum()):,} labels, "
        f"{rows.aspect}",
        rows=found,
        layout=Layout("metric", "measure", "value"),
        cells={"value": _cell},
        method=f"{level:.0%} intervals: mean of jackknife pseudo-values on Fisher's scale, of which the part that the "
        "metric's own score foretells is taken from all rows (PPI++); Student's t.",
        notes=[
            *words, f"{int(rows.labelled.sum()):,} of {len(rows.labels):,} outputs are labelled.",
            *(f"not given: {why}." for why in dict.fromkeys(r["reason"] for r in found if r["reason"])),
        ],
        signature=f"nlgauge:{__version__}|aspect:{rows.aspect}|rows:{len(rows.labels)}|level:{number(level, 2)}",
    )  # fmt: skip


def _rows(rows: Rows, metric: str, level: float) -> list[Row]:
    n = int(rows.labelled.sum())
    lacking = rows.lacking() or (f"needs at least {FEWEST} labels, found {n}" if n < FEWEST else "")
    if n > MOST:
        lacking = f"more than {MOST:,} labels: `nlgauge meta` has their correlation"
    made = []
    for coefficient in COEFFICIENTS:
        values = [np.nan] * 6
        why = lacking
        if not why:
            found = sparse_correlation(rows.sample(rows.scores[metric]), coefficient, level)  # type: ignore[arg-type]
            values = [found.value, found.low, found.high, found.plain, found.plain_low, found.plain_high]
            why = "" if np.isfinite(found.value) else "the metric or people gave one value only"
        names = ("value", "low", "high", "plain", "plain_low", "plain_high")
        made.append({
            "metric": metric, "aspect": rows.aspect, "measure": f"global/{coefficient}",
            **dict(zip(names, values, strict=True)), "p": np.nan, "n": n, "rows": len(rows.labels),
            "reason": why or None,
        })  # fmt: skip
    return made


def _cell(row: Row) -> str:
    if not np.isfinite(row["value"]):
        return "–"
    return f"{number(row['value'], 2)} [{number(row['low'], 2)} {number(row['high'], 2)}]"
