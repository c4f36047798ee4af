"""The checklist (nimah2023): distances and similarities per metric, who beats whom, and the page of verdicts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, DIVERGING, QUIET, framed, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Okabe and Ito: told apart by colour-blind readers, and by the sign as well.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555"]
SIGNS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"]
VERDICTS = {True: 1.0, False: -1.0, None: 0.0}
WORDS = {
    "discrimination": "KS distance between two levels of quality",
    "system-discrimination": "KS distance between two systems, mean over pairs",
    "system-preference": "similarity with people's order (chance .667)",
    "transfer": "correlation with people",
    "aspect-disagreement": "KS distance of low and high rows",
    "joint-aspects": "KS distance between joint levels",
}


@figure(*WORDS)
def dots(table: Table) -> go.Figure:
    """One line a metric, one mark a column of the table; the figure of the tables with several numbers a metric."""
    import plotly.graph_objects as go

    layout = table.layout
    lines = [] if layout is None else list(dict.fromkeys(layout.place(row)[0] for row in table))
    across = [] if layout is None else list(dict.fromkeys(layout.place(row)[1] for row in table))
    figure = go.Figure()
    for place, name in enumerate(across):
        mine = [
            row
            for row in table
            if layout and layout.place(row)[1] == name and not math.isnan(row[layout.value])
        ]
        figure.add_trace(
            go.Scatter(
                x=[row[layout.value] for row in mine] if layout else [],
                y=[plain(table.line_name(row)) for row in mine] if layout else [],
                mode="markers", name=plain(layout.head(name)) if layout else "",
                marker={"size": 10, "color": COLOURS[place % len(COLOURS)], "symbol": SIGNS[place % len(SIGNS)],
                        "opacity": 0.9, "line": {"width": 1, "color": "white"}},
                hovertemplate="%{y}<br>" + (plain(layout.head(name)) if layout else "") + ": %{x:.3f}<extra></extra>",
            )
        )  # fmt: skip
    framed(
        figure, 130 + 24 * len(lines), showlegend=True, margin={"l": 10, "r": 20, "t": 60, "b": 50},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    figure.update_xaxes(
        title=WORDS[table.kind], **({} if table.kind == "transfer" else {"rangemode": "tozero"})
    )
    figure.update_yaxes(
        autorange="reversed",
        type="category",
        categoryorder="array",
        categoryarray=[plain(x) for x in lines],
        dtick=1,
    )
    return figure


@figure("aspect-preference")
def level_gaps(table: Table) -> go.Figure:
    """How much higher the metric scores high rows than low ones; full bars have people's order of the levels."""
    import plotly.graph_objects as go

    rows = [row for row in table if not math.isnan(row["high_minus_low"])]
    figure = go.Figure(
        go.Bar(
            x=[row["high_minus_low"] for row in rows], y=[plain(row["metric"]) for row in rows], orientation="h",
            marker={"color": [ACCENT if row["value"] == 1 else QUIET for row in rows]},
            text=[plain(table.text(row, "order")) for row in rows], textposition="none",
            hovertemplate="%{y}: %{x:.3f}<br>%{text}<extra></extra>",
        )
    )  # fmt: skip
    framed(figure, 110 + 24 * len(rows), bargap=0.3)
    figure.update_xaxes(title="high minus low, in standard deviations (blue: people's order)")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)
    return figure


@figure("inter-aspect")
def aspect_matrix(table: Table) -> go.Figure:
    """Aspects × aspects, kappa of their levels."""
    import plotly.graph_objects as go

    names = list(dict.fromkeys(name for row in table for name in (row["first"], row["second"])))
    at = {frozenset((row["first"], row["second"])): row["kappa"] for row in table}
    values = [[_known(at.get(frozenset((a, b)))) if a != b else None for b in names] for a in names]
    shown = [plain(name) for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=values, x=shown, y=shown, text=[[_text(v) for v in row] for row in values], texttemplate="%{text}",
            colorscale=DIVERGING, zmin=-1, zmax=1, xgap=2, ygap=2, colorbar={"title": "kappa", "thickness": 12},
            hovertemplate="%{y} – %{x}: %{text}<extra></extra>",
        )
    )  # fmt: skip
    framed(figure, 170 + 34 * len(names), margin={"l": 10, "r": 10, "t": 100, "b": 10})
    figure.update_xaxes(side="top", tickangle=-40, type="category", showgrid=False)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    return figure


@figure("wins")
def win_matrices(table: Table) -> go.Figure:
    """People left, metrics right: the share of comparisons that the row wins over the column, and of ties (=). The colour is
    wins minus losses, so that ties take neither side."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    sides = list(dict.fromkeys(row["side"] for row in table))[:4]
    names = list(dict.fromkeys(row["first"] for row in table))
    figure = make_subplots(
        rows=1,
        cols=len(sides),
        subplot_titles=[plain(s) for s in sides],
        shared_yaxes=True,
        horizontal_spacing=0.04,
    )
    for place, side in enumerate(sides, start=1):
        rows = {(row["first"], row["second"]): row for row in table if row["side"] == side}
        values = [[_net(rows[a, b]) for b in names] for a in names]
        figure.add_trace(
            go.Heatmap(
                z=values, x=[plain(n) for n in names], y=[plain(n) for n in names], coloraxis="coloraxis", xgap=1, ygap=1,
                text=[[_win(rows[a, b]) for b in names] for a in names], texttemplate="%{text}" if len(names) <= 8 else "",
                customdata=[[_tip(rows[a, b]) for b in names] for a in names],
                hovertemplate="%{y} over %{x}<br>%{customdata}<extra>" + plain(side) + "</extra>",
            ),
            row=1, col=place,
        )  # fmt: skip
    framed(
        figure, 250 + 34 * len(names), margin={"l": 10, "r": 10, "t": 50, "b": 40},
        coloraxis={"colorscale": DIVERGING, "cmin": -1, "cmax": 1, "colorbar": {"title": "wins −<br>losses", "thickness": 12}},
    )  # fmt: skip
    figure.update_xaxes(tickangle=-50, type="category", showgrid=False, dtick=1)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)
    return figure


@figure("checklist")
def verdict_grid(table: Table) -> go.Figure:
    """Metrics × assessments: blue passes, orange does not, white could not be assessed; the number in the cell."""
    import plotly.graph_objects as go

    metrics = list(dict.fromkeys(row["metric"] for row in table))
    columns = list(dict.fromkeys(row["assessment"] for row in table))
    at = {(row["metric"], row["assessment"]): row for row in table}
    cells = [[at[m, c] for c in columns] for m in metrics]
    scale = [
        [0, "#f1a340"],
        [0.33, "#f1a340"],
        [0.33, "#f7f7f7"],
        [0.67, "#f7f7f7"],
        [0.67, "#67a9cf"],
        [1, "#67a9cf"],
    ]
    figure = go.Figure(
        go.Heatmap(
            z=[[VERDICTS[row["passes"]] for row in line] for line in cells], x=columns, y=[plain(m) for m in metrics],
            text=[[(_text(_known(row["value"])) or "–") + (" ✓" if row["passes"] else "") for row in line] for line in cells],
            texttemplate="%{text}", customdata=[[_verdict(row) for row in line] for line in cells], colorscale=scale, zmin=-1, zmax=1, xgap=2, ygap=2,
            showscale=False, hovertemplate="%{y}, %{x}: %{text}<br>%{customdata}<extra></extra>", textfont={"color": "#1b1b1b"},
        )
    )  # fmt: skip
    framed(figure, 130 + 26 * len(metrics), margin={"l": 10, "r": 10, "t": 70, "b": 10})
    figure.update_xaxes(side="top", type="category", showgrid=False)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)
    return figure


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _text(value: float | None) -> str:
    return "" if value is None else number(value)


def _win(row: Row) -> str:
    """`.62` and the share of ties below, where there are any."""
    if not row["n"]:
        return ""
    return number(row["value"], 2) + (f"<br>={number(row['tied'], 2)}" if row["tied"] else "")


def _net(row: Row) -> float | None:
    return 2 * row["value"] + row["tied"] - 1 if row["n"] else None


def _tip(row: Row) -> str:
    if not row["n"]:
        return "never compared"
    return f"wins {number(row['value'])}, ties {number(row['tied'])} of {row['n']} comparisons"


def _verdict(row: Row) -> str:
    if row["passes"] is None:
        return plain(row["reason"] or "what people reach")
    return ("passes" if row["passes"] else "does not pass") + (
        f"; people {number(row['human'])}" if _known(row["human"]) is not None else ""
    )
