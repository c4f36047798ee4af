"""Simulations: the power curve of a planned study, and Figures 1 and 2 of gao2025."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, GROUPINGS, LETTERS, QUIET, colour, dash, framed, symbol
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("plan")
def power_curve(table: Table) -> go.Figure:
    """Power against the number of inputs, systems or raters; the dashed line is the power asked for."""
    import plotly.graph_objects as go

    axis = next(name for name in ("inputs", "systems", "raters") if name in table.columns)
    rows = [row for row in table if not math.isnan(row["power"])]
    figure = go.Figure(
        go.Scatter(
            x=[str(row[axis]) for row in rows], y=[row["power"] for row in rows], mode="lines+markers+text",
            text=[number(row["power"], 2) for row in rows], textposition="top right", cliponaxis=False,
            line={"color": ACCENT}, marker={"size": [13 if row["now"] else 8 for row in rows]},
            error_y={"type": "data", "array": [1.96 * row["se"] for row in rows], "color": QUIET, "thickness": 1.5},
            hovertemplate=f"%{{x}} {axis}: power %{{y:.2f}}<extra></extra>",
        )
    )  # fmt: skip
    if rows:
        figure.add_hline(y=rows[0]["target"], line={"color": QUIET, "dash": "dash"}, annotation_text=f"power {rows[0]['target']:g}",
                         annotation_position="top left")  # fmt: skip
    framed(figure, 380)
    figure.update_xaxes(title=f"{axis} (large mark: as in the data)", type="category")
    figure.update_yaxes(title="power", range=[0, 1.08])
    return figure


@figure("relation", "scale")
def study_curves(table: Table) -> go.Figure:
    """One panel a grouping, one line a coefficient, labelled at its end: Figure 1 (ρ_sys or μ_ρ) and Figure 2 (scale size)."""
    from plotly.subplots import make_subplots

    if table.kind == "scale":
        axis, title = "scale", "distinct values"
        at = [
            " / ".join(dict.fromkeys((str(row["metric_values"]), str(row["human_values"])))) for row in table
        ]
    else:
        axis = next(name for name in ("rho_sys", "mu_rho") if name in table.columns)
        title, at = table.heading(axis), [row[axis] for row in table]
    rows = [{**row, "at": place} for row, place in zip(table, at, strict=True)]
    groupings = [g for g in GROUPINGS if any(row["measure"].startswith(f"{g}/") for row in table)]
    figure = make_subplots(
        rows=1,
        cols=max(1, len(groupings)),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=groupings,
    )
    for measure in dict.fromkeys(row["measure"] for row in table):
        _add_line(figure, rows, measure, title, 1 + groupings.index(measure.partition("/")[0]))
    framed(figure, 400)
    figure.update_xaxes(title=title, **({"type": "category"} if axis == "scale" else {}))
    figure.update_yaxes(title="value", col=1)
    return figure


def _add_line(figure: go.Figure, table: list[Row], measure: str, title: str, column: int) -> None:
    import plotly.graph_objects as go

    rows = [row for row in table if row["measure"] == measure]
    coefficient = measure.partition("/")[2]
    # The letters stand at different points of the lines, which run close together.
    places = {"pearson": -1, "spearman": len(rows) // 2, "kendall": len(rows) // 4}
    texts = [""] * len(rows)
    texts[places.get(coefficient, 0)] = LETTERS.get(coefficient, coefficient)
    below = coefficient == "kendall" or _below(table, measure, places.get(coefficient, 0))
    figure.add_trace(
        go.Scatter(
            x=[row["at"] for row in rows], y=[row["value"] for row in rows], mode="lines+markers+text", text=texts,
            textposition="bottom center" if below else "top center", textfont={"size": 15}, cliponaxis=False, name=measure,
            line={"color": colour(measure), "dash": dash(measure)}, marker={"symbol": symbol(measure), "size": 6},
            hovertemplate=f"{measure}<br>{title} %{{x}}: %{{y:.3f}}<extra></extra>",
        ),
        row=1,
        col=column,
    )  # fmt: skip


def _below(table: list[Row], measure: str, place: int) -> bool:
    """Whether Pearson's line (or Spearman's, of Pearson's own) runs above this one at that place: its letter has room below."""
    grouping, _, coefficient = measure.partition("/")
    other = f"{grouping}/{'spearman' if coefficient == 'pearson' else 'pearson'}"
    mine, theirs = ([r["value"] for r in table if r["measure"] == m] for m in (measure, other))
    return len(mine) == len(theirs) and bool(mine[place] < theirs[place] - 1e-9)
