"""Figures 1 to 6 and 9 of nimah2023: agreement that carries over or not, and distances beside the order of people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nlgauge.number import number
from nlgauge.report.figures.checklist import COLOURS, SIGNS
from nlgauge.report.figures.look import GRID, LABEL, QUIET, apart, framed, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# What each table calls its columns and its value; `aspect-preference` has one similarity a metric.
KINDS = {
    "discrimination": ("contrast", "value"),
    "system-discrimination": ("pairs", "value"),
    "aspect-preference": ("", "value"),
    "system-preference": ("pairs", "value"),
}


def distance_and_order(distance: Table, order: Table, lines: str = "metric") -> go.Figure:
    """Left how far a metric tells levels or systems apart (KS), right whether it orders them as people do.

    Figures 2, 3 and 9: `discrimination` and `aspect-preference`. Figures 4 to 6: `system-discrimination` and
    `system-preference`. `lines="family"` where the tables were made with per=family.
    """
    from plotly.subplots import make_subplots

    # A line without any value (an aspect that was not rated on these levels) only takes room.
    known = [row for t in (distance, order) for row in t if not math.isnan(row[KINDS[t.kind][1]])]
    names = list(dict.fromkeys(row[lines] for row in known))
    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04,
        subplot_titles=["tells them apart", "orders them as people do"],
    )  # fmt: skip
    groups = _groups([distance, order])
    for column, table in enumerate((distance, order), start=1):
        for trace in _marks(table, lines, groups, first=column == 1):
            figure.add_trace(trace, row=1, col=column)
    framed(
        figure, 170 + 24 * len(names), showlegend=True, margin={"l": 10, "r": 20, "t": 80, "b": 55},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )  # fmt: skip
    for title in figure.layout.annotations:
        title.update(yshift=26, font={"size": 14})
    figure.update_xaxes(title="KS distance", range=[-0.03, 1.05], col=1)
    figure.update_xaxes(title="similarity with people's order", range=[-0.03, 1.05], col=2)
    shown = [plain(n) for n in names]
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=shown, range=[len(names) - 0.5, -0.5], dtick=1
    )
    return figure


def _groups(tables: Sequence[Table]) -> list[str]:
    """Lo-Hi, Lo-Mod, … or easy, hard: the same colour left and right."""
    found = []
    for table in tables:
        column = KINDS.get(table.kind, ("", ""))[0]
        found += [str(row[column]) for row in table if column]
    return list(dict.fromkeys(found))


def _marks(table: Table, lines: str, groups: Sequence[str], first: bool) -> list[Any]:
    import plotly.graph_objects as go

    column, value = KINDS[table.kind]
    traces = []
    for group in dict.fromkeys(str(row[column]) if column else "all levels" for row in table):
        rows = [r for r in table if (not column or str(r[column]) == group) and not math.isnan(r[value])]
        place = groups.index(group) if group in groups else len(groups)
        traces.append(
            go.Scatter(
                x=[row[value] for row in rows], y=[plain(row[lines]) for row in rows], mode="markers", name=plain(group),
                legendgroup=group, showlegend=first or group not in groups,
                marker={"size": 10, "color": COLOURS[place % len(COLOURS)], "symbol": SIGNS[place % len(SIGNS)], "opacity": 0.9,
                        "line": {"width": 1, "color": "white"}},
                hovertemplate="%{y}<br>" + plain(group) + ": %{x:.3f}<extra></extra>",
            )
        )  # fmt: skip
    return traces


def transfer_lines(table: Table) -> go.Figure:
    """One line a family (or metric) over the groups of data, its name at the end: what falls does not carry over (Figure 1)."""
    import plotly.graph_objects as go

    line = "family" if "metric" not in table.columns else "metric"
    across = "group" if "group" in table.columns else "data"
    groups = list(dict.fromkeys(str(row[across]) for row in table))
    found: dict[str, list[Row]] = {}
    for row in table:
        if not math.isnan(row["value"]):
            found.setdefault(str(row[line]), []).append(row)
    ends = {name: rows[-1]["value"] for name, rows in found.items()}
    values = [row["value"] for rows in found.values() for row in rows]
    tall = (max(values, default=1) - min(values, default=0)) or 1.0
    height = 150 + max(300, 26 * len(found))
    places = apart(ends, tall * 22 / (height - 110))
    figure = go.Figure()
    for k, (name, rows) in enumerate(found.items()):
        colour = COLOURS[k % len(COLOURS)]
        figure.add_trace(
            go.Scatter(
                x=[str(row[across]) for row in rows], y=[row["value"] for row in rows], mode="lines+markers", name=plain(name),
                line={"color": colour, "width": 2}, marker={"size": 9, "symbol": SIGNS[k % len(SIGNS)]},
                hovertemplate=f"{plain(name)}, %{{x}}: %{{y:.3f}}<extra></extra>",
            )
        )  # fmt: skip
        figure.add_annotation(
            x=str(rows[-1][across]), y=places[name], text=f"{plain(name)} {number(ends[name])}", xanchor="left", xshift=12,
            showarrow=False, font={"color": colour, "size": 12}, name=LABEL,
        )  # fmt: skip
    longest = max((len(name) for name in found), default=0)
    framed(figure, height, margin={"l": 10, "r": 60 + 7 * longest, "t": 30, "b": 50})
    figure.update_xaxes(
        type="category", categoryorder="array", categoryarray=groups, range=[-0.2, len(groups) - 0.8]
    )
    figure.update_yaxes(title="correlation with people", zeroline=True, zerolinecolor=QUIET, gridcolor=GRID)
    return figure
