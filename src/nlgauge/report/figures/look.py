"""One look for all figures: font, colours that colour-blind readers tell apart, and the common frame."""

from __future__ import annotations

from collections.abc import Sequence
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
LABEL = "label"  # annotations of this name get the page's colour behind them when a figure is saved
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


def framed(figure: go.Figure, height: int, **layout: Any) -> go.Figure:
    """The common frame; transparent, so that the page's colours (light or dark) show through."""
    common = {
        "font": {"family": FONT, "size": 13}, "height": height, "margin": {"l": 10, "r": 20, "t": 40, "b": 50},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": "closest",
    }  # fmt: skip
    figure.update_layout(**{**common, **layout})
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=QUIET, automargin=True, fixedrange=True)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=QUIET, automargin=True, fixedrange=True)
    return figure


def apart(places: dict[str, float], gap: float) -> dict[str, float]:
    """Labels moved just so far that they stand at least `gap` from each other, in their order.

    >>> apart({"a": 0.0, "b": 0.1, "c": 2.0}, 1.0)
    {'a': -0.45, 'b': 0.55, 'c': 2.0}
    """
    clusters: list[tuple[list[str], float]] = []
    for name in sorted(places, key=lambda n: places[n]):
        clusters.append(([name], places[name]))
        while len(clusters) > 1 and clusters[-1][1] - clusters[-2][1] < _room(clusters[-2:], gap) - 1e-12:
            (low, _), (high, _) = clusters[-2], clusters.pop()
            names = [*low, *high]
            clusters[-1] = names, sum(places[n] for n in names) / len(names)
    return {
        name: round(centre + gap * (i - (len(names) - 1) / 2), 12)
        for names, centre in clusters
        for i, name in enumerate(names)
    }


def _room(two: Sequence[tuple[list[str], float]], gap: float) -> float:
    """How far the middles of two stacks of labels must be apart."""
    return gap * (len(two[0][0]) + len(two[1][0])) / 2
