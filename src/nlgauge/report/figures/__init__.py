"""Figures: functions from the Table of an analysis to a plotly figure, one look for all.

`FIGURES` maps the analysis to its picture; a new picture is one function and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nlgauge.report.figures.matrices import heat_map, significance_matrix
from nlgauge.report.figures.ranks import interval_plot, rank_picture
from nlgauge.report.figures.raters import agreement_bars, replacement_bars
from nlgauge.report.figures.simulated import power_curve, study_curves
from nlgauge.report.figures.trust import p_value_curves, power_and_consistency, stability_figure
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["FIGURES", "figure_of", "heat_map", "p_value_curves", "power_and_consistency"]

FIGURES: dict[str, Callable[[Table], go.Figure]] = {
    "correlation": heat_map,
    "ceiling": heat_map,
    "significance": significance_matrix,
    "ranking": rank_picture,
    "intervals": interval_plot,
    "stability": stability_figure,
    "agreement": agreement_bars,
    "replacement": replacement_bars,
    "plan": power_curve,
    "relation": study_curves,
    "scale": study_curves,
}


def figure_of(table: Table) -> go.Figure | None:
    """The picture of a table, or None where there is none to draw."""
    draw = FIGURES.get(table.kind)
    return draw(table) if draw is not None and table.rows else None
