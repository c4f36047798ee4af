"""Plotly figures as JSON, without plotly's classes; the report draws them as SVG.

Plotly's own classes check every property, which takes ten times as long as drawing the figure. `to_plotly` makes one of
them where a user asked for the figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any


class Properties(dict[str, Any]):
    """Properties of a part of a figure, also available as attributes; None if not set."""

    def __getattr__(self, name: str) -> Any:
        value = self.get(name)
        return Properties(value) if type(value) is dict else value


def _trace(kind: str, /, **properties: Any) -> Properties:
    return Properties(type=kind, **{name: value for name, value in properties.items() if value is not None})


# Traces of points or lines, of bars, and of colored cells.
scatter, bar, heatmap = (partial(_trace, kind) for kind in ("scatter", "bar", "heatmap"))


class PlotlyFigure:
    """A figure with traces and a layout; its methods have the names and the effect of those of plotly's figures."""

    def __init__(self, traces: Properties | Sequence[Properties] = ()) -> None:
        self.data: list[Properties] = [traces] if isinstance(traces, Properties) else list(traces)
        self.layout = Properties(xaxis=Properties(), yaxis=Properties(), annotations=[], shapes=[])
        self.across = 1

    def to_dict(self) -> dict[str, Any]:
        """Return what plotly.js takes."""
        return {"data": self.data, "layout": self.layout}

    def add_trace(self, trace: Properties, row: int = 1, col: int = 1) -> PlotlyFigure:
        """Add a trace to a panel."""
        x, y = self._axes(row, col)
        self.data.append(Properties({**trace, "xaxis": x, "yaxis": y}))
        return self

    def add_shape(self, **properties: Any) -> PlotlyFigure:
        """Add a line or a rectangle."""
        self.layout.shapes.append(Properties(properties))
        return self

    def add_annotation(self, **properties: Any) -> PlotlyFigure:
        """Add a text."""
        self.layout.annotations.append(Properties(properties))
        return self

    def add_hline(
        self, y: Any, line: dict[str, Any], annotation_text: str = "", annotation_position: str = "top left"
    ) -> PlotlyFigure:
        """Add a line across the figure, and a text above its left or right end."""
        domain = {"xref": "x domain", "yref": "y"}
        self.add_shape(type="line", x0=0, x1=1, y0=y, y1=y, line=line, **domain)
        if annotation_text:
            side = annotation_position.removeprefix("top ")
            text = {"text": annotation_text, "showarrow": False, "xanchor": side, "yanchor": "bottom"}
            self.add_annotation(x=int(side == "right"), y=y, **text, **domain)
        return self

    def add_vline(self, x: Any, line: dict[str, Any], row: int = 1, col: int = 1) -> PlotlyFigure:
        """Add a line from the bottom of a panel to its top."""
        across, up = self._axes(row, col)
        return self.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, xref=across, yref=f"{up} domain", line=line)

    def update_layout(self, **properties: Any) -> PlotlyFigure:
        """Change properties of the whole figure."""
        _merge(self.layout, properties)
        return self

    def update_xaxes(self, row: Any = None, col: Any = None, **properties: Any) -> PlotlyFigure:
        """Change all horizontal axes, or those of a row, a column or a panel."""
        return self._update_axes("xaxis", row, col, properties)

    def update_yaxes(self, row: Any = None, col: Any = None, **properties: Any) -> PlotlyFigure:
        """Change all vertical axes, or those of a row, a column or a panel."""
        return self._update_axes("yaxis", row, col, properties)

    def _update_axes(self, kind: str, row: Any, col: Any, properties: dict[str, Any]) -> PlotlyFigure:
        for name in [name for name in self.layout if name.startswith(kind)]:
            k = int(name[len(kind) :] or 1) - 1
            if row in (None, k // self.across + 1) and col in (None, k % self.across + 1):
                _merge(self.layout[name], properties)
        return self

    def _axes(self, row: int, col: int) -> tuple[str, str]:
        k = (row - 1) * self.across + col
        return (f"x{k}", f"y{k}") if k > 1 else ("x", "y")


def _merge(into: dict[str, Any], properties: dict[str, Any]) -> None:
    """Update properties; nested properties are merged."""
    for name, value in properties.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = Properties(value) if isinstance(value, dict) else value


def subplots(
    rows: int,
    cols: int,
    subplot_titles: Sequence[str],
    *,
    vertical_spacing: float,
    horizontal_spacing: float,
    shared_xaxes: bool | str = False,
    shared_yaxes: bool | str = False,
) -> PlotlyFigure:
    """Return a figure of panels as plotly's `make_subplots` places them: the first one is at the top left.

    `shared_xaxes`: True for one horizontal axis per column, `shared_yaxes`: True for one vertical axis per row; "all"
    for one of all panels. Only the outer axes have labels then.
    """
    figure = PlotlyFigure()
    figure.across = cols
    wide, tall = (1 - horizontal_spacing * (cols - 1)) / cols, (1 - vertical_spacing * (rows - 1)) / rows
    for row, col in _places(rows, cols):
        x, y = figure._axes(row, col)
        left, bottom = (col - 1) * (wide + horizontal_spacing), (rows - row) * (tall + vertical_spacing)
        across = Properties(anchor=y, domain=[left, left + wide])
        up = Properties(anchor=x, domain=[bottom, bottom + tall])
        first_x = figure._axes(rows, 1 if shared_xaxes == "all" else col)[0]
        first_y = figure._axes(*((rows, 1) if shared_yaxes == "all" else (row, 1)))[1]
        if shared_xaxes and x != first_x:
            across |= {"matches": first_x, **({"showticklabels": False} if row < rows else {})}
        if shared_yaxes and y != first_y:
            up |= {"matches": first_y, **({"showticklabels": False} if col > 1 else {})}
        figure.layout |= {f"xaxis{x[1:]}": across, f"yaxis{y[1:]}": up}
    for title, (row, col) in zip(subplot_titles, _places(rows, cols), strict=False):
        x, y = figure._axes(row, col)
        middle = sum(figure.layout[f"xaxis{x[1:]}"].domain) / 2
        top = figure.layout[f"yaxis{y[1:]}"].domain[1]
        place = {"x": middle, "y": top, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
        if title:
            figure.add_annotation(text=title, showarrow=False, font={"size": 16}, **place)
    return figure


def _places(rows: int, cols: int) -> Iterator[tuple[int, int]]:
    return ((row, col) for row in range(1, rows + 1) for col in range(1, cols + 1))


def to_plotly(figure: Any) -> Any:
    """Return a figure of plotly's own class; one that is of it already stays as it is."""
    import plotly.graph_objects as go

    return go.Figure(figure.to_dict()) if isinstance(figure, PlotlyFigure) else figure
