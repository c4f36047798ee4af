"""Figures of the analyses of Ni'mah et al. (2023) with several aspects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge import Table
from nlgauge.plugins import column_dots, figure

if TYPE_CHECKING:
    import plotly.graph_objects as go


@figure("aspect-disagreement")
def agree_and_disagree(table: Table) -> go.Figure:
    """Plot one line per metric with two marks: where the aspects agree and where they disagree."""
    return column_dots(table).update_xaxes(title="KS distance of low and high rows")


@figure("joint-aspects")
def joint_dots(table: Table) -> go.Figure:
    """Plot one line per metric and one mark per pair of joint levels."""
    return column_dots(table).update_xaxes(title="KS distance between joint levels")
