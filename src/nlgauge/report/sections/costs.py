"""Cost of the scores: columns next to them, and the judges' replies in the cache."""

from __future__ import annotations

from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.scoring.costs import COST, known_costs
from nlgauge.table import Row, Table, Title


@section(
    "costs",
    order=120,
    title="Cost of the scores",
    question="What did the scores cost?",
    limitations="The cost elsewhere: prices and machines differ.",
)
def costs(run: ReportContext) -> Findings:
    """From columns such as `bleu seconds` or `my-judge tokens in`, and from the replies in the store of the judges."""
    rows: list[Row] = []
    lines: list[str] = []
    for metric in run.source.metrics or run.data.metrics:
        measured = known_costs(run.data, metric, run.prices, lines)
        if measured:
            rows.append({"metric": metric, **measured})
    if not rows:
        raise NeedsMissing(
            "columns such as ‘NAME seconds’ or ‘NAME tokens in’ next to the scores, or replies of judges in the cache "
            "(`nlgauge judge`)." + (f" {' '.join(lines)}" if lines else "")
        )
    shown = [c for c in COST if any(c in row for row in rows)]
    parts = [f"{c.replace('_', ' ')} {sum(row.get(c, 0.0) for row in rows):,.6g}" for c in shown]
    table = Table(
        Title(run.data.name, "what the scores cost"),
        rows,
        kind="costs",
        shown=["metric", *shown],
        method="Sums over all outputs; for judges over all replies that their scores rest on, also those of "
        "earlier runs.",
        decimals=4 if "cost" in shown else 1,
    )
    if not run.prices and any("replies" in row for row in rows):
        lines.append(f"Prices are unknown: {option('prices')} takes the prices of a million tokens.")
    return Findings([Finding("", f"Total: {', '.join(parts)}.", [table])], lines)
