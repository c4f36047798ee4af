"""Matrices: metrics × measures, and which metric is better than which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import DIVERGING, framed, plain
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# From sure to unsure: dark blue below .001, white above .1.
STEPS = [(0.001, "#08519c"), (0.01, "#3182bd"), (0.05, "#9ecae1"), (0.1, "#deebf7"), (1.01, "#f7f7f7")]
WORDS = ["p < .001", "p < .01", "p < .05", "p < .1", "p ≥ .1"]


@figure("correlation", "ceiling")
def heat_map(table: Table) -> go.Figure:
    """Metrics × measures, the value in each cell; zero is white."""
    import plotly.graph_objects as go

    header, body = table.grid()
    extra = len(table.layout.extra) if table.layout else 0
    columns = [plain(name) for name in header[1 : len(header) - extra]]
    values = [
        [c.value if isinstance(c.value, float) else None for c in cells[1 : 1 + len(columns)]]
        for cells in body
    ]
    texts = [[c.text for c in cells[1 : 1 + len(columns)]] for cells in body]
    tips = _intervals(table, len(columns))
    top = max((abs(v) for row in values for v in row if v is not None and not math.isnan(v)), default=1.0)
    names = [plain(cells[0].text) for cells in body]
    figure = go.Figure(
        go.Heatmap(
            z=values, x=columns, y=names, text=texts, texttemplate="%{text}", colorscale=DIVERGING, zmin=-top, zmax=top,
            xgap=2, ygap=2, customdata=tips, hovertemplate="%{y}<br>%{x}: %{z:.4f}%{customdata}<extra></extra>", colorbar={"title": "", "thickness": 12},
        )
    )  # fmt: skip
    framed(figure, 140 + 30 * len(names), margin={"l": 10, "r": 10, "t": 70, "b": 10})
    figure.update_xaxes(side="top", tickangle=-40, type="category")
    figure.update_yaxes(autorange="reversed", type="category")
    return figure


def _intervals(table: Table, columns: int) -> list[list[str]]:
    """` [.47, .57]` for each cell, where the rows know it."""
    layout = table.layout
    if layout is None:
        return [[""] * columns for _ in table.rows]
    at = {layout.place(row): row for row in table}
    lines, across = (list(dict.fromkeys(place[side] for place in at)) for side in (0, 1))
    found = [[at.get((line, column), {}) for column in across] for line in lines]
    known = [[row.get("low") is not None and not math.isnan(row["low"]) for row in rows] for rows in found]
    return [
        [
            f" [{number(row['low'])}, {number(row['high'])}]" if ok else ""
            for row, ok in zip(rows, oks, strict=True)
        ]
        for rows, oks in zip(found, known, strict=True)
    ]


@figure("significance")
def significance_matrix(table: Table) -> go.Figure:
    """Row better than column; the darker, the surer. The corrected p stands in the cell (few metrics) or in the tip."""
    import plotly.graph_objects as go

    wins = {name: 0 for row in table for name in (row["better"], row["worse"])}
    for row in table:
        wins[row["better"]] += 1
    names = sorted(wins, key=lambda name: -wins[name])
    p = {(row["better"], row["worse"]): row["p_corrected"] for row in table}
    step = [[_step(p.get((a, b))) for b in names] for a in names]
    texts = [
        [number(v) if (v := p.get((a, b))) is not None and not math.isnan(v) else "" for b in names]
        for a in names
    ]
    shown = [plain(name) for name in names]
    scale = [[edge, c] for i, (_, c) in enumerate(STEPS) for edge in (i / len(STEPS), (i + 1) / len(STEPS))]
    figure = go.Figure(
        go.Heatmap(
            z=step, x=shown, y=shown, text=texts, texttemplate="%{text}" if len(names) <= 16 else "", colorscale=scale,
            zmin=0, zmax=len(STEPS), xgap=1, ygap=1, hovertemplate="%{y} better than %{x}<br>p = %{text}<extra></extra>",
            colorbar={"tickvals": [i + 0.5 for i in range(len(STEPS))], "ticktext": WORDS, "thickness": 12},
        )
    )  # fmt: skip
    cell = 30 if len(names) <= 30 else 14
    framed(figure, 150 + cell * len(names), margin={"l": 10, "r": 10, "t": 110, "b": 10})
    size = 13 if len(names) <= 30 else 10
    figure.update_xaxes(
        side="top", tickangle=-45, showgrid=False, type="category", tickfont={"size": size}, dtick=1
    )
    figure.update_yaxes(
        autorange="reversed", showgrid=False, type="category", tickfont={"size": size}, dtick=1
    )
    return figure


def _step(p: float | None) -> float | None:
    if p is None or math.isnan(p):
        return None
    return next(i for i, (edge, _) in enumerate(STEPS) if p < edge) + 0.5
