"""Figures: functions from the Table of an analysis to a plotly figure, in a common style.

A picture registers itself with `@figure("analysis", …)`. It is made as the JSON of plotly, which the report draws
itself; Python gets plotly's own figure.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nlgauge import registry
from nlgauge.errors import NlgaugeError
from nlgauge.report.figures.plotly_json import to_plotly
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


def figure(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the figure of analyses.

    Parameters
    ----------
    *kinds : str
        Names of the analyses whose tables it draws.

    Returns
    -------
    callable
        The decorator of a function from a Table to a figure; called, the function returns plotly's own figure.
    """

    def keep(draw: Callable[..., Any]) -> Callable[..., Any]:
        for kind in kinds:
            registry.register("figure", kind)(draw)

        @functools.wraps(draw)
        def drawn(*args: Any, **options: Any) -> Any:
            return to_plotly(draw(*args, **options))

        return drawn

    return keep


def figure_of(table: Table, figure: str | None = None) -> go.Figure | None:
    """Return the plotly figure of a table, or None if there is none to draw; `figure`: see `plot`."""
    return to_plotly(figure_json(table, figure))


def figure_json(table: Table, figure: str | None = None) -> Any:
    """Return the figure of a table as the report draws it, or None if there is none to draw."""
    name = figure or table.kind
    if (kind := name.rpartition("@")[2]) != table.kind:
        raise NlgaugeError(f"figure {name}: draws tables of '{kind}', and this is one of '{table.kind}'.")
    if name not in registry.names("figure") and not registry.names_code(name):
        return None
    return registry.get("figure", name, allow_code=figure is not None)(table) if table.rows else None


def plot(table: Table, figure: str | None = None) -> go.Figure:
    """Return the plotly figure of a table, as in the report; `table.plot()` returns the same figure.

    Parameters
    ----------
    table : Table
        Of one aspect and group; of several, plot one of its `parts`.
    figure : str, optional
        A figure of your own instead: file.py@name, where the name is that of the analysis whose tables it draws.

    Examples
    --------
    >>> import nlgauge as ng
    >>> figure = plot(ng.correlate(ng.example()))
    >>> type(figure).__name__
    'Figure'
    """
    shown = table.parts[0] if len(table.parts) == 1 else table
    drawn = None if shown.parts else figure_of(shown, figure)
    if drawn is None:
        several = "a table of several aspects or groups has no one figure; plot one of its parts"
        raise NlgaugeError(
            f"{shown.title}: {several if shown.parts else f'no figure draws {shown.kind or shown.title!r}'}."
        )
    return drawn
