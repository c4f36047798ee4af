"""People: how well they agree, and whether a metric may stand in for one of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, QUIET, framed, plain
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("agreement")
def agreement_bars(table: Table) -> go.Figure:
    """One bar a coefficient with its interval; what does not exist is left out (the table says why)."""
    import plotly.graph_objects as go

    rows = [row for row in table if not math.isnan(row["value"])]
    ends = [
        [0.0 if math.isnan(row[end]) else abs(row[end] - row["value"]) for row in rows]
        for end in ("high", "low")
    ]
    figure = go.Figure(
        go.Bar(
            x=[row["value"] for row in rows], y=[row["coefficient"] for row in rows], orientation="h",
            text=[number(row["value"]) for row in rows], textposition="inside", insidetextanchor="start", marker={"color": ACCENT},
            error_x={"type": "data", "symmetric": False, "array": ends[0], "arrayminus": ends[1], "color": QUIET, "thickness": 2},
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )
    )  # fmt: skip
    framed(figure, 90 + 30 * len(rows), bargap=0.3)
    low = min([0.0, *(row["value"] for row in rows)])
    figure.update_xaxes(range=[low - 0.02 if low < 0 else 0, 1.02], title="agreement (1: perfect, 0: chance)")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    return figure


@figure("replacement")
def replacement_bars(table: Table) -> go.Figure:
    """How often each metric is at least as close to the raters as one of them; full bars pass the test."""
    import plotly.graph_objects as go

    rows = [row for row in table if not math.isnan(row["advantage"])]
    figure = go.Figure(
        go.Bar(
            x=[row["advantage"] for row in rows], y=[plain(row["metric"]) for row in rows], orientation="h",
            marker={"color": [ACCENT if row["passes"] else QUIET for row in rows]},
            text=[f"{number(row['advantage'])}, ω {number(row['winning_rate'])}{' passes' if row['passes'] else ''}" for row in rows],
            textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )  # fmt: skip
    framed(figure, 90 + 30 * len(rows), bargap=0.3)
    figure.update_xaxes(range=[0, 1.15], title="advantage: how often it is as close as the rater left out")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    return figure
