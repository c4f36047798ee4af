"""Figures of the analyses of nimah2023 that look at several aspects at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge import Table
from nlgauge.plugins import column_dots, figure

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("aspect-disagreement")
def agree_and_disagree(table: Table) -> go.Figure:
    """One line a metric, one mark where the aspects agree and one where they disagree."""
    return column_dots(table).update_xaxes(title="KS distance of low and high rows")


@figure("joint-aspects")
def joint_dots(table: Table) -> go.Figure:
    """One line a metric, one mark a pair of joint levels."""
    return column_dots(table).update_xaxes(title="KS distance between joint levels")
