"""Discriminative power against ranking consistency of measures, and p-value curves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nlgauge.report.figures import figure
from nlgauge.report.figures.look import (
    COLORS,
    DASHES,
    GROUPINGS,
    LEGEND,
    LETTERS,
    SIGNS,
    SYMBOLS,
    color,
    dash,
    distinct,
    framed,
    key,
    label,
    marks,
    panels,
    plain,
    symbol,
    there,
)
from nlgauge.report.figures.plotly_json import PlotlyFigure, scatter
from nlgauge.table import Row, Table


@figure("stability")
def power_and_consistency(table: Table) -> PlotlyFigure:
    """Show discriminative power (left is better) and ranking consistency (top is better) of each measure."""
    figure = PlotlyFigure(_points(table))
    figure.update_xaxes(title="discriminative power: mean p of a pair of metrics (lower is better)", rangemode="tozero")
    figure.update_yaxes(title="same order on two halves (top)")
    return _with_key(framed(figure, 440, margin={"l": 10, "r": 20, "t": 15, "b": 60}), table, lines=False)


@figure()
def p_value_curves(table: Table) -> PlotlyFigure:
    """Show the sorted p-values of each measure: curves close to the axes discriminate best; the area is the DP."""
    figure = PlotlyFigure(_curves(table))
    figure.update_xaxes(title="share of metric pairs")
    figure.update_yaxes(title="p", range=[0, 1])
    return _with_key(framed(figure, 420, margin={"l": 10, "r": 20, "t": 60, "b": 50}), table)


@figure("judge-measures")
def power_and_consistency_by_family(table: Table) -> PlotlyFigure:
    """Show discriminative power and ranking consistency in one panel per family of scorers, on shared axes."""
    names = distinct(table, "family")
    drawn, places = panels(names, most=3, apart=90, tall=300, shared_xaxes="all", shared_yaxes="all")
    for name, at in zip(names, places, strict=True):
        cells: dict[str, Row] = {}
        for row in table:
            if row["family"] == name:
                cells.setdefault(row["measure"], {"measure": row["measure"]})[row["what"].lower()] = row["value"]
        for trace in _points(list(cells.values())):
            drawn.add_trace(trace | {"mode": "markers"}, **at)
    lines = -(-len(names) // 3)
    framed(drawn, 90 + 300 * lines, margin={"l": 10, "r": 20, "t": 40, "b": 60})
    drawn.update_xaxes(rangemode="tozero", showticklabels=True)
    drawn.update_xaxes(title="DP (lower: distinguishes scorers)", row=lines)
    drawn.update_yaxes(title="RC (top: ranks them alike)", col=1)
    return _with_key(drawn, table, lines=False)


@figure("judge-statements")
def statement_intervals(table: Table) -> PlotlyFigure:
    """Show each statement with intervals per family; right of 0 agrees with the paper, filled if significant."""
    lines = [f"{row['claim'][:2]} {row['statement']}" for row in table]
    drawn = PlotlyFigure()
    names = distinct(table, "family")
    for k, name in enumerate(names):
        group = [(line, _as_stated(row)) for line, row in zip(lines, table, strict=True) if row["family"] == name]
        shift = (k - (len(names) - 1) / 2) * 0.7 / max(len(names), 1)
        rows = [row for _, row in group]
        sure = [row["verdict"] in ("holds", "does not hold") for row in rows]
        ink, sign = COLORS[k % len(COLORS)], SIGNS[k % len(SIGNS)]
        x, y = [row["value"] for row in rows], [i + shift for i in range(len(rows))]
        tips = {"texts": [line for line, _ in group], "hovertemplate": "%{text}: %{x:.3f}<extra></extra>"}
        marker = {"size": 9, "symbol": [sign if s else f"{sign}-open" for s in sure]}
        drawn.add_trace(marks(x, y, ink, rows=rows, name=plain(name), marker=marker, **tips))
    shown = list(dict.fromkeys(lines))
    framed(drawn, 130 + 34 * len(shown), **LEGEND, margin={"l": 10, "r": 20, "t": 60, "b": 50})
    drawn.update_yaxes(
        tickvals=list(range(len(shown))), ticktext=[plain(s) for s in shown], autorange="reversed", zeroline=False
    )
    drawn.update_xaxes(title="difference in DP or RC; right of 0: as the paper states (for ≈ near 0)", zeroline=True)
    return drawn


def _as_stated(row: Row) -> Row:
    """Flip the sign of a row so that a difference stated in the paper is positive."""
    if " < " not in row["statement"]:
        return row
    return {**row, "value": -row["value"], "low": -row["high"], "high": -row["low"]}


def _points(table: Iterable[Row]) -> list[Any]:
    rows = [row for row in table if there(row["dp"]) and there(row["rc"])]
    places = _label_places([(row["dp"], row["rc"]) for row in rows])
    return [
        scatter(
            x=[row["dp"]],
            y=[row["rc"]],
            mode="markers+text",
            text=[label(row["measure"])],
            textposition=place,
            marker={"color": color(row["measure"]), "symbol": symbol(row["measure"]), "size": 11},
            textfont={"size": 12},
            cliponaxis=False,
            name=row["measure"],
            hovertemplate="%{text}<br>DP %{x:.3f}, RC %{y:.3f}<extra></extra>",
        )
        for row, place in zip(rows, places, strict=True)
    ]


def _curves(table: Table) -> list[Any]:
    return [
        scatter(
            x=[(i + 0.5) / len(curve) for i in range(len(curve))],
            y=curve,
            mode="lines",
            line={"color": color(measure), "dash": dash(measure), "width": 2},
            name=measure,
            hovertemplate=label(measure) + "<br>p = %{y:.3f}<extra></extra>",
        )
        for measure, curve in ((row["measure"], table.facts["curves"][row["measure"]]) for row in table)
        if curve
    ]


# Where a label may stand, as the distance of its middle from the point in label widths and heights.
SIDES = {"top center": (0, 1), "bottom center": (0, -1), "middle right": (0.8, 0), "middle left": (-0.8, 0),
         "top right": (0.7, 0.9), "bottom left": (-0.7, -0.9), "top left": (-0.7, 0.9),
         "bottom right": (0.7, -0.9)}  # fmt: skip


def _label_places(points: list[tuple[float, float]]) -> list[str]:
    """Place each label on one side, such that few labels overlap each other or a point."""
    if not points:
        return []
    tall = max(max(p[1] for p in points) - min(p[1] for p in points), 1e-9)
    wide = max(*(p[0] for p in points), 1e-9)  # the axis begins at 0
    width, height = 0.07, 0.065  # of a label, as shares of the plot
    marks = [(x / wide, y / tall) for x, y in points]
    labels: list[tuple[float, float]] = []
    sides = []
    for x, y in marks:
        places = {side: (x + dx * width, y + dy * height) for side, (dx, dy) in SIDES.items()}

        def crowd(side: str, places: dict[str, tuple[float, float]] = places) -> float:
            u, v = places[side]
            # How much of it other labels cover: a corner matters less than a whole word.
            over = sum(max(0, 1 - abs(u - a) / width) * max(0, 1 - abs(v - b) / height) for a, b in labels)
            near = sum(abs(u - a) < 0.6 * width and abs(v - b) < 0.7 * height for a, b in marks)
            outside = not -0.02 < u < 1.02 + width / 2
            return 4 * over + near + 3 * outside

        best = min(SIDES, key=crowd)
        labels.append(places[best])
        sides.append(best)
    return sides


def _with_key(figure: PlotlyFigure, table: Table, lines: bool = True) -> PlotlyFigure:
    """Explain colors, marks and dashes in one line of text instead of a legend of twelve entries."""
    used = [g for g in GROUPINGS if any(row["measure"].startswith(f"{g}/") for row in table)]
    colors = "  ".join(f"<span style='color:{GROUPINGS[g]}'>■ {g}</span>" for g in used)
    signs = {"circle": "●", "square": "■", "triangle-up": "▲"}
    dashes = {"solid": "──", "dash": "– –", "dot": "····"}
    mark = {c: dashes[DASHES[c]] if lines else signs[SYMBOLS[c]] for c in LETTERS}
    kinds = "  ".join(f"{mark[c]} {LETTERS[c]} {c}" for c in LETTERS)
    return key(figure, f"{colors}<br>{kinds}", -66, align="left").update_layout(margin={"b": 115})
