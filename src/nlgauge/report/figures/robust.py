"""Which metric notices which damage, and what alarms it for nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import DIVERGING, framed, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("robustness")
def robustness_map(table: Table) -> go.Figure:
    """Metrics × perturbations: the share of falls. Blue where a fall is right, orange where it is a false alarm, grey
    where nothing can be said."""
    import plotly.graph_objects as go

    kinds = list(dict.fromkeys(row["perturbation"] for row in table))
    metrics = list(dict.fromkeys(row["metric"] for row in table))
    at = {(row["metric"], row["perturbation"]): row for row in table}
    # Blanks between the perturbations that should cost something and those that should not.
    columns = [*(k for k in kinds if _damages(table, k)), " ", *(k for k in kinds if not _damages(table, k))]
    cells = [[at.get((metric, kind)) for kind in columns] for metric in metrics]
    drawn = go.Heatmap(
        z=[[_colour(row) for row in line] for line in cells], x=columns, y=[plain(m) for m in metrics],
        text=[[_share(row) for row in line] for line in cells], texttemplate="%{text}",
        customdata=[[_tip(row) for row in line] for line in cells], hovertemplate="%{y}, %{x}<br>%{customdata}<extra></extra>",
        colorscale=DIVERGING, zmin=-1, zmax=1, xgap=2, ygap=2, hoverongaps=False,
        colorbar={"tickvals": [-1, 0, 1], "ticktext": ["false_alarms", "does not fall", "damage noticed"], "thickness": 12},
    )  # fmt: skip
    figure = go.Figure(drawn)
    framed(figure, 160 + 30 * len(metrics), margin={"l": 10, "r": 10, "t": 90, "b": 10})
    figure.update_xaxes(side="top", tickangle=-45, type="category", showgrid=False, dtick=1)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)
    return figure


def _damages(table: Table, kind: str) -> bool:
    return any(row["should"] == "fall" for row in table if row["perturbation"] == kind)


def _colour(row: Row | None) -> float | None:
    if row is None or math.isnan(row["falls"]):
        return None
    signs = {"fall": 1.0, "stay": -1.0, "not fall": -1.0}
    return signs[row["should"]] * float(row["falls"]) if row["should"] in signs else 0.0


def _share(row: Row | None) -> str:
    return "" if row is None else number(row["falls"], 2, missing="")


def _tip(row: Row | None) -> str:
    if row is None:
        return ""
    if math.isnan(row["falls"]):
        return "no pairs"
    parts = [
        f"should {row['should']}" if row["should"] != "open" else "nothing can be expected",
        f"falls {number(row['falls'])} [{number(row['falls_low'])}, {number(row['falls_high'])}], ties {number(row['ties'])}, "
        f"rises {number(row['rises'])} of {row['pairs']} pairs",
    ]
    if not math.isnan(row["change"]):
        parts.append(
            f"mean change {number(row['change'])} SD [{number(row['change_low'])}, {number(row['change_high'])}]"
        )
    return "<br>".join(parts)
