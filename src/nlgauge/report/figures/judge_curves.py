"""Curves of a judge's score: recall and precision at each threshold, and calibration."""

from __future__ import annotations

import math
from typing import Any

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import (
    COLORS,
    LEGEND,
    QUIET,
    SIGNS,
    curve,
    distinct,
    ends,
    framed,
    panels,
    plain,
    there,
    whiskers,
)
from nlgauge.report.figures.plotly_json import PlotlyFigure
from nlgauge.table import Table

RATES = {
    "fail_recall": ("recall on failures", COLORS[1]),
    "fail_precision": ("precision on failures", COLORS[3]),
    "pass_recall": ("recall on passes", COLORS[0]),
}
MAX_JUDGES = 4  # panels


@figure("threshold")
def threshold_curves(table: Table) -> PlotlyFigure | None:
    """Draw recalls and precision at each threshold, a panel per judge; the dashed line is the one of least cost."""

    if "threshold" not in table.columns:
        return None  # the summary has numbers and no curve
    judges = distinct(table, "metric")[:MAX_JUDGES]
    drawn, places = panels(judges if len(judges) > 1 else [""], apart=90, tall=340)
    for judge, at in zip(judges, places, strict=True):
        for measure, (name, ink) in RATES.items():
            rows = sorted(
                (
                    r
                    for r in table
                    if (r["metric"], r["measure"]) == (judge, measure)
                    and there(r["value"])
                    and math.isfinite(r["threshold"])
                ),
                key=lambda r: r["threshold"],
            )
            more: dict[str, Any] = {
                "mode": "lines",
                "showlegend": at == places[0],
                "texts": [number(r["value"], 2) + ends(r["low"], r["high"]) for r in rows],
                "hovertemplate": f"{name} from %{{x:.3g}} on: %{{text}}<extra>{plain(judge)}</extra>",
            }
            x, y = [r["threshold"] for r in rows], [r["value"] for r in rows]
            drawn.add_trace(curve(x, y, ink, name, **more), **at)
        chosen = table.facts.get("chosen", {}).get(judge)
        if chosen is not None and there(chosen) and math.isfinite(chosen):
            drawn.add_vline(x=chosen, line={"color": QUIET, "dash": "dash", "width": 1}, **at)
    framed(drawn, 90 + 310 * places[-1]["row"], margin={"l": 10, "r": 20, "t": 50, "b": 50}, **LEGEND)
    drawn.update_xaxes(title="pass from this score on (dashed: chosen)")
    return drawn.update_yaxes(range=[-0.02, 1.02])


@figure("calibration")
def reliability_curve(table: Table) -> PlotlyFigure | None:
    """Draw the share that passes in bins of the judge's score; on the diagonal the score is the probability."""
    if "score" not in table.columns or not any(r["measure"] == "share_passed" for r in table):
        return None
    drawn = PlotlyFigure()
    for k, judge in enumerate(distinct(table, "metric")):
        rows = [r for r in table if r["metric"] == judge and there(r["value"])]
        ink = COLORS[k % len(COLORS)]
        more: dict[str, Any] = {
            "line": {"color": ink, "width": 1.5},
            "error_y": whiskers(rows, ink),
            "texts": [f"{number(r['value'], 2)}{ends(r['low'], r['high'])}, n = {r['n']}" for r in rows],
            "hovertemplate": "mean score %{x:.2f}: share passed %{text}<extra></extra>",
        }
        x, y = [r["score"] for r in rows], [r["value"] for r in rows]
        drawn.add_trace(curve(x, y, ink, judge, sign=SIGNS[k % len(SIGNS)], **more))
    drawn.add_shape(type="line", x0=0, y0=0, x1=1, y1=1, line={"color": QUIET, "dash": "dot"})
    framed(drawn, 400, margin={"l": 10, "r": 20, "t": 50, "b": 50}, **LEGEND)
    drawn.update_xaxes(title="mean score of the bin (dotted: perfect calibration)", range=[-0.02, 1.02])
    return drawn.update_yaxes(title="share that humans passed", range=[-0.02, 1.02])
