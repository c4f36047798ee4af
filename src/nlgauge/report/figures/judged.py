"""Judges: how far each agrees with people, and what a coarser scale does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, LETTERS, QUIET, framed, plain
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Okabe and Ito: eight judges that colour-blind readers tell apart; more share colours and differ by sign.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999933", "#8a94a3"]
SIGNS = ["circle", "square", "triangle-up", "diamond", "cross", "x", "star", "hexagon"]


@figure("judges")
def judge_bars(table: Table) -> go.Figure | None:
    """Agreement of each judge (input τ, else the global correlation), best on top; nothing where none is defined."""
    import plotly.graph_objects as go

    kinds = ("input/kendall", "global/spearman", "global/pearson")
    what = next((w for w in kinds if any(r["quantity"] == w for r in table)), None)
    if what is None:
        return None
    rows = sorted(
        (r for r in table if r["quantity"] == what and r["value"] == r["value"]), key=lambda r: -r["value"]
    )
    figure = go.Figure(
        go.Bar(
            x=[r["value"] for r in rows], y=[plain(table.line_name(r)) for r in rows], orientation="h",
            marker={"color": [ACCENT if r["value"] > 0 else QUIET for r in rows]}, text=[number(r["value"]) for r in rows],
            textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )
    )  # fmt: skip
    framed(figure, 90 + 30 * len(rows), bargap=0.3)
    low, high = min([0.0, *(r["value"] for r in rows)]), max([0.1, *(r["value"] for r in rows)])
    figure.update_xaxes(range=[low * 1.25, high * 1.2], title=f"agreement with people ({what})")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    return figure


@figure("fineness")
def fineness_lines(table: Table) -> go.Figure:
    """One small picture a coefficient: the measure over versions from fine to coarse, one line a judge."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    measures = list(dict.fromkeys(r["measure"] for r in table))
    level = next(
        (g for g in ("input", "global", "item", "system") if any(m.startswith(f"{g}/") for m in measures)), ""
    )
    shown = [m for m in measures if m.startswith(f"{level}/")][:3]
    versions = [v for v in dict.fromkeys(r["version"] for r in table) if v != "one draw"]
    order = ["as it is", *sorted((v for v in versions if v != "as it is"), key=lambda v: -int(v.split()[0]))]
    if any(r["version"] == "one draw" for r in table):
        order.insert(0, "one draw")
    judges = list(dict.fromkeys(r["metric"] for r in table))
    titles = [f"{level} {LETTERS.get(m.partition('/')[2], m.partition('/')[2])}" for m in shown]
    figure = make_subplots(
        rows=1, cols=len(shown), subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.03
    )
    for k, judge in enumerate(judges):
        for column, measure in enumerate(shown):
            at = {r["version"]: r["value"] for r in table if r["metric"] == judge and r["measure"] == measure}
            figure.add_trace(
                go.Scatter(
                    x=order, y=[at.get(v) for v in order], mode="lines+markers", name=plain(judge), legendgroup=judge,
                    showlegend=column == 0, line={"color": COLOURS[k % 8], "width": 2},
                    marker={"symbol": SIGNS[(k // 8 + k) % 8], "size": 8}, hovertemplate=f"{plain(judge)}, %{{x}}: %{{y:.3f}}<extra></extra>",
                ),
                row=1, col=column + 1,
            )  # fmt: skip
    framed(figure, 420, showlegend=True, legend={"orientation": "h", "y": -0.25})
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=order, tickangle=-30)
    figure.update_yaxes(title="agreement with people", row=1, col=1)
    return figure
