"""Common style of all figures: font, colors for color-blind readers, and shared layouts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nlgauge.foreign_text import visible
from nlgauge.number import missing, number
from nlgauge.report.figures.plotly_json import PlotlyFigure, bar, heatmap, scatter, subplots
from nlgauge.table import Row

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# Diverging blue–orange: tells sign without red and green, and stays apart in greyscale.
DIVERGING = [[0, "#b35806"], [0.25, "#f1a340"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]]
# Okabe and Ito; more series than colors differ by sign.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555"]
SIGNS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"]
# One color a grouping, one dash and one sign a coefficient: twelve measures without a long legend.
GROUPINGS = {"system": "#D55E00", "input": "#0072B2", "global": "#009E73", "item": "#CC79A7"}
DASHES = {"pearson": "solid", "spearman": "dash", "kendall": "dot"}
SYMBOLS = {"pearson": "circle", "spearman": "square", "kendall": "triangle-up"}
LETTERS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
LABEL = "label"  # annotations of this name get the page's color behind them when a figure is saved
ACCENT, QUIET, GRID = "#2878b5", "#8a94a3", "rgba(128,136,150,.25)"
LEGEND: dict[str, Any] = {"showlegend": True, "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}}
MANY = 40  # lines that still get large letters


def color(measure: str) -> str:
    """Return the color of a measure: one for each grouping."""
    return GROUPINGS.get(measure.partition("/")[0], ACCENT)


def dash(measure: str) -> str:
    """Return the dash of a measure: one for each coefficient."""
    return DASHES.get(measure.partition("/")[2], "longdash")


def symbol(measure: str) -> str:
    """Return the marker of a measure: one for each coefficient."""
    return SYMBOLS.get(measure.partition("/")[2], "diamond")


def label(measure: str) -> str:
    """Return a measure in a few letters: `input τ`."""
    grouping, _, coefficient = measure.partition("/")
    return f"{grouping} {LETTERS.get(coefficient, coefficient)}"


def in_words(measure: str) -> str:
    """Return a measure in words, as text under a figure.

    >>> in_words("input/kendall"), in_words("input/pairwise-accuracy")
    ('input Kendall', 'input pairwise accuracy')
    """
    grouping, _, coefficient = measure.partition("/")
    return f"{grouping} {coefficient.capitalize() if coefficient in LETTERS else coefficient.replace('-', ' ')}"


def plain(text: Any) -> str:
    """Return a text as plotly shows it as it is written: plotly reads a few HTML tags in texts.

    Parameters
    ----------
    text : object

    Returns
    -------
    str
    """
    return str(visible(str(text))).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: Any, most: int = 44) -> str:
    """Shorten an axis label."""
    name = str(text)
    return plain(name if len(name) <= most else name[: most - 1] + "…")


def distinct(rows: Iterable[Row], column: str) -> list[Any]:
    """Return the values of a column in the order of the rows, each once.

    Parameters
    ----------
    rows : iterable of dict
    column : str

    Returns
    -------
    list
    """
    return list(dict.fromkeys(row[column] for row in rows))


def there(value: float | None) -> bool:
    """Return whether a cell holds a value.

    Parameters
    ----------
    value : float or None

    Returns
    -------
    bool
        False for None and NaN.
    """
    return not missing(value)


def ends(low: float, high: float) -> str:
    """Return an interval for a tooltip, as in ` [.47, .57]`."""
    return f" [{number(low)}, {number(high)}]" if there(low) else ""


def whiskers(rows: Sequence[Row], ink: str = QUIET, **more: Any) -> dict[str, Any]:
    """Return error bars from `value` to `low` and `high`; none if an end is unknown."""
    up, down = (
        [max(0.0, sign * (row[end] - row["value"])) if there(row[end]) else 0.0 for row in rows]
        for end, sign in (("high", 1), ("low", -1))
    )
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "color": ink, "thickness": 1.5, **more}


def marks(
    x: Sequence[Any],
    y: Sequence[Any],
    ink: Any,
    *,
    rows: Sequence[Row] = (),
    texts: Sequence[str] | None = None,
    marker: dict[str, Any] | None = None,
    **trace: Any,
) -> Any:
    """Return one series of markers; `rows` have the ends of their intervals, `texts` are the tooltips."""
    tip = "%{y}: %{x:.2f}<extra></extra>" if texts is None else "%{text}<extra></extra>"
    common: dict[str, Any] = {"mode": "markers", "text": texts, "hovertemplate": tip}
    if rows:
        common["error_x"] = whiskers(rows, ink, width=0)
    return scatter(x=x, y=y, marker={"color": ink, "size": 10, **(marker or {})}, **{**common, **trace})


def curve(x: Sequence[Any], y: Sequence[Any], ink: str, name: Any, *, sign: str = "circle", **trace: Any) -> Any:
    """Return one line with markers; its tooltips show the name and the position."""
    common = {
        "mode": "lines+markers",
        "name": plain(name),
        "line": {"color": ink, "width": 2},
        "marker": {"symbol": sign, "size": 8},
        "hovertemplate": f"{plain(name)}, %{{x}}: %{{y:.3f}}<extra></extra>",
    }
    return marks(x, y, ink, **{**common, **trace})


def at_end(figure: PlotlyFigure, x: Any, y: float, text: str, ink: str, **more: Any) -> None:
    """Write the name of a line to the right of its last point."""
    common = {"xanchor": "left", "xshift": 8, "showarrow": False, "font": {"color": ink}}
    figure.add_annotation(x=x, y=y, text=text, **{**common, **more})


def upright(x: float, xref: str = "x", yref: str = "paper") -> dict[str, Any]:
    """Return a dotted vertical line as a shape."""
    place = {"x0": x, "x1": x, "y0": 0, "y1": 1, "xref": xref, "yref": yref}
    return {"type": "line", **place, "line": {"color": QUIET, "width": 1, "dash": "dot"}}


def lanes(figure: PlotlyFigure, names: Sequence[str]) -> PlotlyFigure:
    """Write names on the vertical axis, one at each integer."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names)}
    return figure.update_yaxes(**ticks, zeroline=False, range=[len(names) - 0.5, -0.5])


def framed(figure: PlotlyFigure, height: int, **layout: Any) -> PlotlyFigure:
    """Give a figure the common frame.

    Parameters
    ----------
    figure : plotly figure
    height : int
        In pixels.
    **layout
        Of plotly; it has the last word.

    Returns
    -------
    plotly figure
        The same one. It is transparent, so that the page's colors (light or dark) show through.
    """
    titled = any(a.yanchor == "bottom" and (a.y or 0) > 0.99 for a in figure.layout.annotations)
    top = 40 if titled else 15  # room for the titles of panels
    common = {
        "font": {"family": FONT, "size": 13}, "height": height, "margin": {"l": 10, "r": 20, "t": top, "b": 50},
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "showlegend": False, "hovermode": "closest",
    }  # fmt: skip
    figure.update_layout(**{**common, **layout})
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=QUIET, automargin=True, fixedrange=True)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=QUIET, automargin=True, fixedrange=True)
    return figure


def heat(
    values: Sequence[Sequence[float | None]],
    columns: Sequence[str],
    lines: Sequence[str],
    texts: Sequence[Sequence[str]] | None,
    *,
    top: float | None = 1.0,
    low: float | None = None,
    **trace: Any,
) -> PlotlyFigure:
    """Draw lines × columns as colors; zero is white.

    Parameters
    ----------
    values : sequence of sequences of float or None
        Lines of columns.
    columns, lines : sequence of str
        Their names.
    texts : sequence of sequences of str, optional
        Texts of the cells.
    top : float, optional
        Value of the strongest color; the largest one where None.
    low : float, optional
        Value of the other end; minus `top` by default.
    **trace
        Of plotly's Heatmap.

    Returns
    -------
    plotly figure
    """
    most = top or max((abs(v) for each in values for v in each if v is not None and there(v)), default=1.0) or 1.0
    common = {
        "colorscale": DIVERGING,
        "colorbar": {"title": "", "thickness": 12},
        "texttemplate": "%{text}" if texts else "",
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{y}<br>%{x}: %{z:.4f}<extra></extra>",
    }
    figure = PlotlyFigure(
        heatmap(
            z=[[v if there(v) else None for v in each] for each in values],
            x=[cut(c) for c in columns],
            y=[cut(i) for i in lines],
            text=texts,
            zmin=-most if low is None else low,
            zmax=most,
            **{**common, **trace},
        )
    )
    few = len(lines) <= MANY
    framed(figure, 150 + (28 if few else 15) * len(lines), margin={"l": 10, "r": 10, "t": 110, "b": 10})
    axis: dict[str, Any] = {"type": "category", "dtick": 1, "showgrid": False, "tickfont": {"size": 13 if few else 10}}
    figure.update_xaxes(side="top", tickangle=-45, **axis)
    figure.update_yaxes(autorange="reversed", **axis)
    return figure


def bars(
    values: Sequence[float], names: Sequence[Any], title: str, colors: str | Sequence[str] = ACCENT, **trace: Any
) -> PlotlyFigure:
    """Draw one bar a line, the first on top.

    Parameters
    ----------
    values : sequence of float
    names : sequence
    title : str
        Of the axis.
    colors : str or sequence of str, optional
    **trace
        Of plotly's Bar.

    Returns
    -------
    plotly figure
    """
    common: dict[str, Any] = {
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{y}: %{x:.3f}<extra></extra>",
    }
    figure = PlotlyFigure(
        bar(x=values, y=[plain(n) for n in names], orientation="h", marker={"color": colors}, **{**common, **trace})
    )
    framed(figure, 100 + 28 * len(names), bargap=0.3)
    figure.update_xaxes(title=title)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)
    return figure


def listed(figure: PlotlyFigure, names: Sequence[Any], height: int = 0, **layout: Any) -> PlotlyFigure:
    """Return the layout of charts with names on the vertical axis, in their order."""
    few = len(names) <= MANY
    framed(figure, height or 130 + (24 if few else 15) * max(len(names), 2), **layout)
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=[cut(n) for n in names],
        range=[len(names) - 0.5, -0.5],
        dtick=1,
        tickfont={"size": 13 if few else 10},
    )
    return figure


def panels(
    titles: Sequence[str], most: int = 2, apart: int = 70, tall: int = 330, **more: Any
) -> tuple[PlotlyFigure, list[dict[str, int]]]:
    """Return small multiples and their positions; `apart` is the distance between two rows in pixels."""
    across = max(1, min(most, len(titles)))
    down = max(1, -(-len(titles) // across))
    figure = subplots(
        down,
        across,
        [plain(t) for t in titles],
        vertical_spacing=min(0.4, apart / (tall * down)),
        **{"horizontal_spacing": 0.03, "shared_yaxes": True, **more},
    )
    return figure, [{"row": k // across + 1, "col": k % across + 1} for k in range(len(titles))]


def key(
    figure: PlotlyFigure, text: str, shift: int, top: bool = False, align: str = "center", **more: Any
) -> PlotlyFigure:
    """Write a line of text above or below the figure that explains colors and marks."""
    figure.add_annotation(
        text=text,
        xref="paper",
        yref="paper",
        x=0,
        y=int(top),
        yshift=shift,
        xanchor="left",
        yanchor="bottom" if top else "top",
        showarrow=False,
        align=align,
        font={"size": 12, **more},
    )
    return figure


def apart(places: dict[str, float], gap: float) -> dict[str, float]:
    """Move labels as little as possible so that they are at least `gap` apart, in their order.

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
    """Return the minimum distance between the centers of two stacks of labels."""
    return gap * (len(two[0][0]) + len(two[1][0])) / 2
