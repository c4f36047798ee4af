"""How alike do the measures rank the metrics?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import DIVERGING, GROUPINGS, LETTERS, framed, label
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("measures")
def agreement_of_measures(table: Table) -> go.Figure:
    """Measures × measures: do they put the metrics into the same order? By grouping, so that blocks show."""
    import plotly.graph_objects as go

    at = {row["measure"]: row for row in table}
    names = sorted(at, key=_place)
    values = [[1.0 if a == b else table.facts["agreement"][a].get(b) for b in names] for a in names]
    texts = [[number(v, 2, missing="") for v in line] for line in values]
    labels = [label(name) for name in names]
    figure = go.Figure(
        go.Heatmap(
            z=values, x=labels, y=labels, text=texts, texttemplate="%{text}", colorscale=DIVERGING, zmin=-1, zmax=1, xgap=2, ygap=2,
            hovertemplate="%{y} and %{x}<br>τ = %{z:.3f}<extra></extra>", colorbar={"title": "τ", "thickness": 12},
        )
    )  # fmt: skip
    framed(figure, 160 + 30 * len(names), margin={"l": 10, "r": 10, "t": 80, "b": 10})
    figure.update_xaxes(side="top", tickangle=-40, type="category", showgrid=False, dtick=1)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)
    return figure


def _place(measure: str) -> tuple[int, int, str]:
    grouping, _, coefficient = measure.partition("/")
    groupings, coefficients = list(GROUPINGS), list(LETTERS)
    known = coefficients.index(coefficient) if coefficient in coefficients else len(coefficients)
    return groupings.index(grouping), known, measure
