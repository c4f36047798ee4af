"""Figures: functions from the Table of an analysis to a plotly figure, one look for all.

A picture registers itself with `@figure("analysis", …)`; the first look-up imports every module of this folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from nlgauge.errors import NlgaugeError
from nlgauge.table import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

Draw = TypeVar("Draw", bound="Callable[[Table], go.Figure]")
_found: dict[str, Callable[[Table], go.Figure]] = {}
_complete: set[str] = set()


def figure(*kinds: str) -> Callable[[Draw], Draw]:
    """Decorator: this function draws the tables of these analyses."""

    def keep(draw: Draw) -> Draw:
        _found.update(dict.fromkeys(kinds, draw))
        return draw

    return keep


def figures() -> dict[str, Callable[[Table], go.Figure]]:
    """Analysis -> its picture, all of them."""
    if not _complete:
        for module in pkgutil.iter_modules(__path__, f"{__name__}."):
            importlib.import_module(module.name)
        _complete.add("all")
    return _found


def figure_of(table: Table) -> go.Figure | None:
    """The picture of a table, or None where there is none to draw."""
    draw = figures().get(table.kind)
    return draw(table) if draw is not None and table.rows else None


def plot(table: Table) -> go.Figure:
    """The plotly figure of a table, as in the report; `table.plot()` is the same.

    Examples
    --------
    >>> import nlgauge as ng
    >>> figure = ng.plot(ng.correlate(ng.example()))
    >>> type(figure).__name__
    'Figure'
    """
    shown = table.parts[0] if len(table.parts) == 1 else table
    found = None if shown.parts else figure_of(shown)
    if found is None:
        several = "a table of several aspects or groups has no one figure; plot one of its parts"
        raise NlgaugeError(
            f"{shown.title}: {several if shown.parts else f'there is no figure of {shown.kind or shown.title!r}'}."
        )
    return found
