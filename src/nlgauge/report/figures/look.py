"""One look for all figures: font, colours that colour-blind readers tell apart, and the common frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# Diverging blue–orange: tells sign without red and green, and stays apart in greyscale.
DIVERGING = [[0, "#b35806"], [0.25, "#f1a340"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]]
# One colour a grouping (Okabe and Ito), one dash and one sign a coefficient: twelve measures without a long legend.
GROUPINGS = {"system": "#D55E00", "input": "#0072B2", "global": "#009E73", "item": "#CC79A7"}
DASHES = {"pearson": "solid", "spearman": "dash", "kendall": "dot"}
SYMBOLS = {"pearson": "circle", "spearman": "square", "kendall": "triangle-up"}
LETTERS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
ACCENT, QUIET, GRID = "#2878b5", "#8a94a3", "rgba(128,136,150,.25)"


def colour(measure: str) -> str:
    return GROUPINGS.get(measure.partition("/")[0], ACCENT)


def dash(measure: str) -> str:
    return DASHES.get(measure.partition("/")[2], "longdash")


def symbol(measure: str) -> str:
    return SYMBOLS.get(measure.partition("/")[2], "diamond")


def label(measure: str) -> str:
    """`input τ`"""
    grouping, _, coefficient = measure.partition("/")
    return f"{grouping} {LETTERS.get(coefficient, coefficient)}"


def plain(text: Any) -> str:
    """Plotly reads a few HTML tags in texts: a name is shown as it is written."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def number(value: float) -> str:
    """`.123`, as in the tables."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def framed(figure: go.Figure, height: int, **layout: Any) -> go.Figure:
    """The common frame; transparent, so that the page's colours (light or dark) show through."""
    figure.update_layout(
        font={"family": FONT, "size": 13}, height=height, margin={"l": 10, "r": 20, "t": 40, "b": 50},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", showlegend=False, hovermode="closest",
    )  # fmt: skip
    figure.update_layout(**layout)
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=QUIET, automargin=True, fixedrange=True)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=QUIET, automargin=True, fixedrange=True)
    return figure
