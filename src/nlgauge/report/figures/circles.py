"""Figures 1 to 3 of novikova2017: correlations as circles, and the crosses of Williams' test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nlgauge.analyses.agreement.inter_metric import PEOPLE
from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.heat_maps import by_wins
from nlgauge.report.figures.look import DIVERGING, QUIET, distinct, framed, key, panels, plain, there
from nlgauge.report.figures.plotly_json import PlotlyFigure, scatter
from nlgauge.table import Table

POSITIVE, NEGATIVE = DIVERGING[-1][1], DIVERGING[0][1]


@figure()
def correlation_circles(table: Table, cell: int = 0) -> PlotlyFigure:
    """Show `inter-metric` as circles: blue is positive, orange is negative, larger is stronger (Figure 1). Human
    ratings have a border. `cell`: pixels of the largest circle, for a narrow figure.
    """
    names = distinct(table, "metric")
    people = len({row["metric"] for row in table if row["kind"] == "human"})
    tall = _cell(len(names))
    cell = cell or tall
    points = [(row["other"], row["metric"], row["value"]) for row in table if row["metric"] != row["other"]]
    figure = PlotlyFigure(_circles(points, cell))
    if people:
        figure.add_shape(
            type="rect",
            x0=-0.5,
            x1=len(names) - 0.5,
            y0=-0.5,
            y1=people - 0.5,
            line={"color": QUIET, "width": 2.5},
            layer="above",
        )
    framed(figure, 220 + tall * len(names), margin={"l": 10, "r": 10, "t": 130, "b": 60})
    _legend(figure, -8, "<br>human ratings in the border" if people else "")
    return _square(figure, [n.removeprefix(PEOPLE) for n in names], names, tall)


@figure()
def bin_circles(*tables: Table, bins: Sequence[str] = ("bad", "average and good"), width: int = 760) -> PlotlyFigure:
    """Show `quality-bins` in one panel per bin, with aspects as rows and metrics as columns (Figure 3)."""
    rows = [row for table in tables for row in table]
    metrics, aspects = distinct(rows, "metric"), distinct(rows, "aspect")
    cell = min(40, max(22, width // max(1, len(metrics))))
    figure, places = panels([f"rated {name}" for name in bins], most=1, apart=80, shared_xaxes=True, shared_yaxes=False)
    for name, at in zip(bins, places, strict=True):
        points = [(row["metric"], row["aspect"], row["value"]) for row in rows if row["bin"] == name]
        figure.add_trace(_circles(points, cell, texts=len(metrics) <= 16), **at)
    tall = max(58, (cell + 14) * len(aspects))
    framed(figure, 190 + (tall + 45) * len(bins), margin={"l": 10, "r": 20, "t": 65, "b": 130})
    _legend(figure, 32, top=True)
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=[plain(m) for m in metrics],
        tickangle=-55,
        dtick=1,
        range=[-0.6, len(metrics) - 0.4],
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=[plain(a) for a in aspects],
        dtick=1,
        range=[len(aspects) - 0.4, -0.6],
    )
    return figure


@figure()
def not_different(table: Table, level: float = 0.05) -> PlotlyFigure:
    """Show `compare-pairs` (test=williams): a cross marks metrics without a significant difference (Figure 2)."""
    names = by_wins(table)
    cell = _cell(len(names))
    # One number a pair; a pair without one is left empty, which the note of the table explains.
    alike = [row for row in table if row["p_corrected"] >= level]
    pairs = [
        (row[a], row[b], row["p_corrected"]) for row in alike for a, b in (("better", "worse"), ("worse", "better"))
    ]
    figure = PlotlyFigure(
        scatter(
            x=[plain(a) for a, _, _ in pairs],
            y=[plain(b) for _, b, _ in pairs],
            mode="markers",
            marker={"symbol": "x-thin", "size": 0.45 * cell, "line": {"width": 2, "color": NEGATIVE}},
            text=[number(p) for _, _, p in pairs],
            hovertemplate="%{y}, %{x}: p = %{text}<extra></extra>",
        )
    )
    framed(figure, 190 + cell * len(names), margin={"l": 10, "r": 10, "t": 130, "b": 45})
    key(figure, f"× no significant difference (p ≥ {number(level)})", -8, color=NEGATIVE)
    return _square(figure, names, names, cell)


def _circles(points: Sequence[tuple[str, str, float]], cell: int, texts: bool = False) -> Any:
    placed = [point for point in points if there(point[2])]
    return scatter(
        x=[plain(x.removeprefix(PEOPLE)) for x, _, _ in placed],
        y=[plain(y.removeprefix(PEOPLE)) for _, y, _ in placed],
        mode="markers+text" if texts else "markers",
        text=[number(v, 2) for _, _, v in placed],
        textposition="bottom center",
        textfont={"size": 10},
        cliponaxis=False,
        # The area says the strength: a correlation of 1 fills its cell.
        marker={
            "size": [max(2.0, 0.92 * cell * math.sqrt(abs(v))) for _, _, v in placed],
            "opacity": 0.9,
            "color": [POSITIVE if v >= 0 else NEGATIVE for _, _, v in placed],
            "line": {"width": 0},
        },
        hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
    )


def _legend(figure: PlotlyFigure, shift: int, more: str = "", top: bool = False) -> None:
    words = (
        f"<span style='color:{POSITIVE}'>● positive</span>  <span style='color:{NEGATIVE}'>● negative</span>  "
        f"area: strength{more}"
    )
    key(figure, words, shift, top, align="left")


def _square(figure: PlotlyFigure, shown: Sequence[str], names: Sequence[str], cell: int) -> PlotlyFigure:
    axis = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [plain(n) for n in shown],
        "dtick": 1,
        "tickfont": {"size": 12 if cell >= 24 else 9},
        "zeroline": False,
    }
    figure.update_xaxes(side="top", tickangle=-60, range=[-0.5, len(names) - 0.5], **axis)
    figure.update_yaxes(range=[len(names) - 0.5, -0.5], **axis)
    return figure


def _cell(count: int) -> int:
    return 30 if count <= 22 else 25 if count <= 26 else 16
