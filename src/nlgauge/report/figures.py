"""Figures: functions that return plotly figures, one look for all (colour-blind-safe, direct labels)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# Diverging blue–orange: tells sign without red and green, and stays apart in greyscale.
DIVERGING = [[0, "#b35806"], [0.25, "#f1a340"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]]


def heat_map(table: Table) -> go.Figure:
    """Metrics × measures, the value in each cell; zero is white."""
    import plotly.graph_objects as go

    header, body = table.grid()
    extra = len(table.layout.extra) if table.layout else 0
    columns = header[1 : len(header) - extra]
    values = [
        [c.value if isinstance(c.value, float) else None for c in cells[1 : 1 + len(columns)]]
        for cells in body
    ]
    texts = [[c.text for c in cells[1 : 1 + len(columns)]] for cells in body]
    top = max((abs(v) for row in values for v in row if v is not None and not math.isnan(v)), default=1.0)
    names = [cells[0].text for cells in body]
    figure = go.Figure(
        go.Heatmap(
            z=values, x=columns, y=names, text=texts, texttemplate="%{text}", colorscale=DIVERGING, zmin=-top, zmax=top,
            xgap=2, ygap=2, hovertemplate="%{y}<br>%{x}: %{z:.4f}<extra></extra>", colorbar={"title": "", "thickness": 12},
        )
    )  # fmt: skip
    figure.update_layout(
        font={"family": FONT, "size": 13}, height=140 + 30 * len(names), margin={"l": 10, "r": 10, "t": 70, "b": 10},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
    )  # fmt: skip
    figure.update_xaxes(side="top", tickangle=-40, fixedrange=True)
    figure.update_yaxes(autorange="reversed", automargin=True, fixedrange=True)
    return figure
