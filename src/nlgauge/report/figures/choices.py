"""Strengths of systems by choices between two outputs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.number import percent
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import COLORS, SIGNS, cut, distinct, framed, plain, there, whiskers
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("rank")
def strength_dots(table: Table) -> go.Figure:
    """Systems, best by people on top: chance to beat an average other, one sign a side; lines part the tiers."""
    import plotly.graph_objects as go

    sides, names = distinct(table, "side")[:7], distinct(table, "system")
    place = {name: k for k, name in enumerate(names)}
    drawn = go.Figure()
    for k, side in enumerate(sides):
        rows = [
            {**r, "value": 100 * r["win_chance"], "low": 100 * r["win_low"], "high": 100 * r["win_high"]}
            for r in table
            if r["side"] == side
        ]
        shift = 0.5 * ((k + 0.5) / len(sides) - 0.5)
        tips = [
            f"{plain(r['system'])}: {percent(r['value'] / 100)}"
            + (f" [{r['low']:.0f}, {r['high']:.0f}]" if there(r["low"]) else "")
            + f", {r['wins']} wins, {r['ties']} ties, {r['losses']} losses"
            for r in rows
        ]
        drawn.add_trace(
            go.Scatter(
                x=[r["value"] for r in rows],
                y=[place[r["system"]] + shift for r in rows],
                mode="markers",
                name="human" if side == HUMAN else plain(side),
                text=tips,
                hovertemplate="%{text}<extra></extra>",
                marker={"color": COLORS[k], "symbol": SIGNS[k], "size": 9},
                error_x=whiskers(rows, COLORS[k], width=0),
            )
        )
    first = [r for r in table if r["side"] == sides[0] and r["group"] == 1]
    for above, below in pairwise(first):
        if above["tier"] != below["tier"]:
            drawn.add_hline(y=place[below["system"]] - 0.5, line={"width": 1, "dash": "dot", "color": "#888888"})
    framed(
        drawn,
        120 + 30 * len(names),
        showlegend=len(sides) > 1,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": "chance to beat an average other system, % (a tie is half)"},
    )
    ticks = {"tickvals": list(range(len(names))), "ticktext": [cut(n) for n in names]}
    drawn.update_yaxes(**ticks, range=[len(names) - 0.5, -0.5], zeroline=False)
    drawn.add_vline(x=50, line={"width": 1, "color": "#888888"})
    return drawn
