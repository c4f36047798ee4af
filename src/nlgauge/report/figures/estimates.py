"""Estimated human ratings of all outputs: labels only, with the judge, and the judge only as a warning."""

from __future__ import annotations

import math

from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, COLORS, QUIET, cut, distinct, framed, lanes, marks, plain
from nlgauge.report.figures.plotly_json import Figure
from nlgauge.table import Table

# Color and sign both tell the estimator.
INKS = {
    "ppi_plus": ("with the judge (PPI++)", ACCENT, "circle"),
    "labels_only": ("labels only", QUIET, "square"),
    "judge_only": ("judge only: no estimate", COLORS[1], "x-thin-open"),
}
APART = 0.25  # between the dots of one system


@figure("estimate")
def estimate_dots(table: Table) -> Figure | None:
    """One line per system, a dot with its interval per estimator; a cross is the judge's mean, which may be far off."""
    kinds = [m for m in INKS if any(r["measure"] == m for r in table)]
    if not kinds:
        return None
    systems = distinct(table, "system")
    drawn = Figure()
    for k, measure in enumerate(kinds):
        words, ink, sign = INKS[measure]
        rows = [r for r in table if r["measure"] == measure and not math.isnan(r["value"])]
        x = [r["value"] for r in rows]
        y = [systems.index(r["system"]) + APART * (k - 0.5 * (len(kinds) - 1)) for r in rows]
        texts = [plain(f"{r['system']}, {words}") for r in rows]
        tip = "%{text}: %{x}<extra></extra>"
        marker = {"size": 11, "symbol": sign, "line": {"color": ink, "width": 3}}
        drawn.add_trace(marks(x, y, ink, rows=rows, texts=texts, name=words, marker=marker, hovertemplate=tip))
    framed(drawn, 130 + 64 * len(systems), margin={"l": 10, "r": 20, "t": 60, "b": 50})
    drawn.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    lanes(drawn, [plain(cut(s)) for s in systems])
    title = "share that passes" if table.facts["share"] else "mean human rating"
    drawn.update_xaxes(title=title, **({"tickformat": ".0%"} if table.facts["share"] else {}))
    return drawn
