"""Figures of the consensus rankings of Colombo et al. (2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge import Table
from nlgauge.plugins import ACCENT, COLORS, GRID, LEGEND, QUIET, figure, framed, plain, there

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("consensus")
def two_orders(table: Table) -> go.Figure:
    """Plot Kemeny's ranks by humans and by metrics, a line for each system: crossing lines are disagreements."""
    import plotly.graph_objects as go

    name = table.columns[0]
    sides = [side for side in ("human", "metrics") if f"{side}_kemeny" in table.columns]
    rows = table.rows[:40]  # more lines are not distinguishable
    drawn = go.Figure()
    for row in rows:
        places, text = [row[f"{side}_kemeny"] for side in sides], plain(row[name])
        moved = abs(places[0] - places[-1]) > len(table) / 4
        drawn.add_trace(
            go.Scatter(
                x=sides,
                y=places,
                mode="lines+markers+text",
                line={"color": ACCENT if moved else GRID, "width": 2 if moved else 1.5},
                marker={"color": ACCENT if moved else QUIET, "size": 7},
                text=[f"{text} ", f" {text}"][: len(sides)],
                textposition=["middle left", "middle right"][: len(sides)],
                textfont={"size": 11 if len(rows) <= 25 else 9},
                cliponaxis=False,
                hovertemplate=f"{text}: %{{x}} %{{y}}<extra></extra>",
            )
        )
    side = 30 + min(260, 7 * max(len(str(row[name])) for row in rows))
    framed(drawn, 110 + 22 * len(rows), margin={"l": side, "r": side, "t": 40, "b": 40})
    drawn.update_xaxes(side="top", type="category", showgrid=False)
    return drawn.update_yaxes(autorange="reversed", visible=False)


@figure("consensus-distance")
def from_both(table: Table) -> go.Figure:
    """Plot the distance from the human consensus against that from the consensus of the metrics; humans are
    diamonds.
    """
    import plotly.graph_objects as go

    sides = [c for c in ("from_human", "from_metrics") if c in table.columns]
    rows = [row for row in table if all(there(row[c]) for c in sides)]
    places = [(row[sides[0]], row[sides[-1]]) for row in rows]
    drawn = go.Figure()
    for kind, ink, mark in (("automatic", ACCENT, "circle"), ("human", COLORS[1], "diamond")):
        own = [(place, plain(row["metric"])) for place, row in zip(places, rows, strict=True) if row["kind"] == kind]
        drawn.add_trace(
            go.Scatter(
                x=[x for (x, _), _ in own],
                y=[y for (_, y), _ in own],
                mode="markers+text",
                name=kind,
                textfont={"size": 10},
                marker={"color": ink, "symbol": mark, "size": 9},
                textposition="top center",
                cliponaxis=False,
                customdata=[name for _, name in own],
                text=[name if _alone(place, places) else "" for place, name in own],
                hovertemplate="%{customdata}<br>%{x:.3f} %{y:.3f}<extra></extra>",
            )
        )
    framed(drawn, 440, **LEGEND)
    drawn.update_xaxes(title="distance from the human consensus", rangemode="tozero")
    other = "the metrics" if len(sides) > 1 else "human"
    return drawn.update_yaxes(title=f"distance from the consensus of {other}", rangemode="tozero")


def _alone(place: tuple[float, float], places: list[tuple[float, float]]) -> bool:
    """Return whether there is room for a label: no other point is close enough for the labels to overlap."""
    wide, high = (max([1e-9, *(p[i] for p in places)]) for i in (0, 1))
    return sum(abs(p[0] - place[0]) < 0.1 * wide and abs(p[1] - place[1]) < 0.06 * high for p in places) == 1
