"""Metrics on a line: ranks with bars joining what is no different, and intervals as dots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, QUIET, colour, framed, label, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

LANE = 0.022  # width of a bar's lane, as a share of the plot


@figure("ranking")
def rank_picture(table: Table) -> go.Figure:
    """Best metric on top; dot and interval; at the right a bar joins metrics of which no two differ significantly."""
    import plotly.graph_objects as go

    rows = [row for row in table if not math.isnan(row["value"])]
    names = [plain(f"{row['rank']}  {row['metric']}") for row in rows]
    groups = joined([row["metric"] for row in rows], table.facts["no_different_from"])
    share = min(0.35, LANE * (_lanes(groups) + 1)) if groups else 0.0
    figure = go.Figure(_dots(rows, names, ACCENT))
    framed(
        figure,
        110 + 26 * len(rows),
        xaxis={"domain": [0, 1 - share], "title": plain(rows[0]["measure"]) if rows else ""},
    )
    figure.update_yaxes(autorange="reversed", type="category", dtick=1)
    for first, last, lane in groups:
        x = 1 - share + LANE * (lane + 1)
        figure.add_shape(
            type="line", xref="paper", yref="y", x0=x, x1=x, y0=first - 0.25, y1=last + 0.25,
            line={"color": QUIET, "width": 5},
        )  # fmt: skip
    if groups:
        figure.add_annotation(
            text="bars: no different", xref="paper", yref="paper", x=1, y=1, yanchor="bottom", xanchor="right",
            showarrow=False, font={"size": 11},
        )  # fmt: skip
    return figure


def joined(names: list[str], alike: dict[str, list[str]]) -> list[tuple[int, int, int]]:
    """Longest runs of neighbours of which no two differ significantly: (first, last, lane), two or more metrics each."""
    close = [set(alike[name]) for name in names]
    runs: list[tuple[int, int]] = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and all(names[last + 1] in close[k] for k in range(first, last + 1)):
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    ends: list[int] = []  # where each lane is free again
    placed = []
    for first, last in runs:
        lane = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[lane:] = [last, *ends[lane + 1 :]]
        placed.append((first, last, lane))
    return placed


@figure("intervals")
def interval_plot(table: Table) -> go.Figure:
    """One panel a measure, metrics down the side, the value with its interval."""
    from plotly.subplots import make_subplots

    measures = list(dict.fromkeys(row["measure"] for row in table))
    names = list(dict.fromkeys(row["metric"] for row in table))
    across = min(len(measures), 4)
    down = -(-len(measures) // across)
    tall = 26 * len(names)
    figure = make_subplots(
        rows=down, cols=across, shared_yaxes=True, horizontal_spacing=0.025,
        vertical_spacing=min(0.12, 70 / (down * (tall + 70))), subplot_titles=[label(m) for m in measures],
    )  # fmt: skip
    for place, measure in enumerate(measures):
        rows = [row for row in table if row["measure"] == measure and not math.isnan(row["value"])]
        at = {"row": place // across + 1, "col": place % across + 1}
        figure.add_trace(_dots(rows, [plain(row["metric"]) for row in rows], colour(measure)), **at)
    framed(figure, 60 + (tall + 70) * down)
    order = [plain(name) for name in names]
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=order, range=[len(names) - 0.5, -0.5], dtick=1
    )
    figure.update_xaxes(nticks=5)
    return figure


def _dots(rows: list[Row], names: list[str], colour_of: str) -> Any:
    import plotly.graph_objects as go

    ends = [[row["high"] - row["value"] for row in rows], [row["value"] - row["low"] for row in rows]]
    ends = [[max(0.0, e) if not math.isnan(e) else 0.0 for e in side] for side in ends]
    tips = [f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]" for row in rows]
    return go.Scatter(
        x=[row["value"] for row in rows], y=names, mode="markers", marker={"color": colour_of, "size": 9}, text=tips,
        error_x={"type": "data", "symmetric": False, "array": ends[0], "arrayminus": ends[1], "color": colour_of, "thickness": 1.5, "width": 0},
        hovertemplate="%{y}: %{text}<extra></extra>",
    )  # fmt: skip


def _lanes(groups: list[tuple[int, int, int]]) -> int:
    return max((lane for *_, lane in groups), default=-1) + 1
