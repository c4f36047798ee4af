"""Strengths of systems by choices between two outputs."""

from __future__ import annotations

from itertools import pairwise

from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.number import percent
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import COLORS, SIGNS, cut, distinct, framed, lanes, marks, plain, there
from nlgauge.report.figures.plotly_json import Figure
from nlgauge.table import Table


@figure("rank")
def strength_dots(table: Table) -> Figure:
    """Systems, best by people on top: chance to beat an average other, one sign a side; lines part the tiers."""
    sides, names = distinct(table, "side")[:7], distinct(table, "system")
    place = {name: k for k, name in enumerate(names)}
    drawn = Figure()
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
        x, y = [r["value"] for r in rows], [place[r["system"]] + shift for r in rows]
        name, marker = "human" if side == HUMAN else plain(side), {"symbol": SIGNS[k], "size": 9}
        drawn.add_trace(marks(x, y, COLORS[k], rows=rows, texts=tips, name=name, marker=marker))
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
    lanes(drawn, [cut(n) for n in names])
    drawn.add_vline(x=50, line={"width": 1, "color": "#888888"})
    return drawn
