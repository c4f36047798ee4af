"""What each metric is good for: one picture a use, chance marked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, QUIET, framed, plain
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Colour and sign both tell the verdict.
VERDICTS = {
    "good": (ACCENT, "circle"),
    "usable": ("#009E73", "square"),
    "cannot tell": ("#E69F00", "diamond"),
    "not": (QUIET, "x-thin-open"),
}


@figure("uses")
def use_dots(table: Table) -> go.Figure:
    """Metrics down the side, a column of dots with intervals for each use; .5 is chance."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    uses = list(dict.fromkeys(row["use"] for row in table))
    names = list(dict.fromkeys(plain(row["metric"]) for row in table))
    figure = make_subplots(
        rows=1,
        cols=len(uses),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=[plain(u) for u in uses],
    )
    for column, use in enumerate(uses, start=1):
        for verdict, (ink, sign) in VERDICTS.items():
            rows = [
                r for r in table if r["use"] == use and r["verdict"] == verdict and not math.isnan(r["value"])
            ]
            ends = [[r["high"] - r["value"] for r in rows], [r["value"] - r["low"] for r in rows]]
            figure.add_trace(
                go.Scatter(
                    x=[r["value"] for r in rows], y=[plain(r["metric"]) for r in rows], mode="markers", name=verdict, legendgroup=verdict,
                    showlegend=False, marker={"color": ink, "symbol": sign, "size": 10, "line": {"color": ink, "width": 2}},
                    error_x={"type": "data", "symmetric": False, "array": ends[0], "arrayminus": ends[1], "color": ink, "thickness": 1.5, "width": 0},
                    text=[f"{verdict}: {number(r['value'])} [{number(r['low'])}, {number(r['high'])}]" for r in rows],
                    hovertemplate="%{y}<br>%{text}<extra></extra>",
                ),
                row=1, col=column,
            )  # fmt: skip
    # As `add_vline` draws them, which takes a hundred times as long.
    chance = [
        {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "xref": f"x{n}", "yref": f"y{n} domain", "line": {"color": QUIET, "width": 1, "dash": "dot"}}
        for n in ("", *range(2, len(uses) + 1))
    ]  # fmt: skip
    framed(figure, 130 + 26 * len(names), margin={"l": 10, "r": 20, "t": 40, "b": 75}, shapes=chance)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=names, range=[len(names) - 0.5, -0.5], dtick=1
    )
    figure.update_xaxes(nticks=5)
    keys = {"circle": "●", "square": "■", "diamond": "◆", "x-thin-open": "✕"}
    words = "   ".join(
        f"<span style='color:{ink}'>{keys[sign]}</span> {verdict}"
        for verdict, (ink, sign) in VERDICTS.items()
    )
    figure.add_annotation(
        text=f"{words}     dotted: chance", xref="paper", yref="paper", x=0, y=0, yshift=-42, yanchor="top", xanchor="left", showarrow=False,
        font={"size": 12},
    )  # fmt: skip
    return figure
