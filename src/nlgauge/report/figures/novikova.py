"""Pictures of novikova2017's questions: tables of correlations as colours, systems and metrics as dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, DIVERGING, QUIET, framed, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Okabe and Ito, without black and yellow.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]
MOST_LINES = 80  # lines of a dot plot; beyond that the table is the better picture


@figure("split")
def part_map(table: Table) -> go.Figure:
    """Metrics (and aspects) down, parts across; the star and dagger stand in the cells."""
    rows = [{**row, "line": table.line_name(row), "text": table.text(row, "value")} for row in table]
    return _heat(rows, "line", "part", "value", "text")


@figure("quality-bins")
def bin_map(table: Table) -> go.Figure:
    rows = [{**row, "text": table.text(row, "value")} for row in table]
    return _heat(rows, "metric", "bin", "value", "text")


@figure("inter-metric")
def metric_map(table: Table) -> go.Figure:
    """The square of Figure 1: blue agrees, orange disagrees; people first."""
    few = len({row["metric"] for row in table}) <= 16
    rows = [{**row, "text": number(row["value"], 2, missing="") if few else ""} for row in table]
    return _heat(rows, "metric", "other", "value", "text", top=1.0)


@figure("characteristics")
def characteristic_map(table: Table) -> go.Figure:
    """How much stronger the correlation is where the characteristic is high (blue) or low (orange)."""
    several = len({row["aspect"] for row in table}) > 1
    rows = [
        {
            "metric": row["metric"],
            "column": f"{row['characteristic']}, {row['aspect']}" if several else row["characteristic"],
            "gain": abs(row["value_high"]) - abs(row["value_low"]),
            "text": f"{table.text(row, 'value_low')} / {table.text(row, 'value_high')}"
            if not several
            else "",
        }
        for row in table
    ]
    return _heat(rows, "metric", "column", "gain", "text")


@figure("system-means")
def mean_dots(table: Table) -> go.Figure:
    """Each system's distance from the mean of the systems, in standard deviations; filled where the difference is significant."""
    lines: dict[str, list[Row]] = {}
    parts = table.columns[: table.columns.index("quantity")]  # by which the data were split
    for row in table:
        place = " ".join(row[c] for c in parts)
        lines.setdefault(f"{row['quantity']} ({place})" if place else row["quantity"], []).append(row)
    systems = list(dict.fromkeys(row["system"] for row in table))
    shown = dict(list(lines.items())[:MOST_LINES])
    series = []
    for k, system in enumerate(systems):
        points = []
        for line, rows in shown.items():
            centre = sum(r["value"] for r in rows) / len(rows)
            spread = math.sqrt(sum(_number(r["sd"]) ** 2 for r in rows) / len(rows)) or 1.0
            points += [
                (line, (r["value"] - centre) / spread, table.text(r, "value"), r["significant"])
                for r in rows
                if r["system"] == system
            ]
        series.append((system, COLOURS[k % len(COLOURS)], points))
    return _dots(list(shown), series, "standard deviations from the mean of the systems", _rest(lines))


@figure("relative-ranking")
def accuracy_dots(table: Table) -> go.Figure:
    """Per cent of pairs ordered as people do, raw and quantised, beside random scores."""
    lines = {_place(row, "metric"): row for row in table}
    shown = dict(list(lines.items())[:MOST_LINES])
    kinds = (
        ("raw", ACCENT, "accuracy", "significant"),
        ("quantised", COLOURS[1], "quantised", "significant_quantised"),
        ("random", QUIET, "random", ""),
    )
    series = [
        (name, colour, [(line, row[column], f"{row[column]:.1f} %", bool(mark) and row[mark]) for line, row in shown.items()])
        for name, colour, column, mark in kinds
    ]  # fmt: skip
    return _dots(list(shown), series, "per cent of pairs ordered as people order them", _rest(lines))


@figure("best-metric")
def best_dots(table: Table) -> go.Figure:
    """The best metric of each type and the next one, without sign."""
    lines = [f"{row['type']}: {row['metric']}" for row in table]
    best = [
        (line, abs(row["value"]), f"{row['metric']} {table.text(row, 'value')}", row["clearly_best"])
        for line, row in zip(lines, table, strict=True)
    ]
    following = [
        (line, abs(row["next_value"]), f"{row['next']} {number(row['next_value'], 2, missing='')}", False)
        for line, row in zip(lines, table, strict=True)
        if row["next"]
    ]
    return _dots(lines, [("best", ACCENT, best), ("next", QUIET, following)], "absolute correlation", "")


@figure("ensemble")
def ensemble_dots(table: Table) -> go.Figure:
    """Ensemble and best single metric for each pair of parts learnt from and tested on."""
    lines = {
        f"{row['train']} → {row['test']}, {row['aspect']}": row
        for row in table
        if not math.isnan(row["value"])
    }
    shown = dict(list(lines.items())[:MOST_LINES])
    series = [
        ("ensemble", ACCENT, [(line, r["value"], f"{number(r['value'], 2, missing='')}, {r['setting']}", r["setting"] == "in-domain") for line, r in shown.items()]),
        ("best single metric", QUIET, [(line, r["best_single"], f"{r['metric']} {number(r['best_single'], 2, missing='')}", False) for line, r in shown.items()]),
    ]  # fmt: skip
    return _dots(list(shown), series, "correlation on the tested part (filled: in-domain)", _rest(lines))


@figure("disagreements")
def disagreement_points(table: Table) -> go.Figure:
    """Place by the metric against place by people; the text of the output is in the tip."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for k, who in enumerate(dict.fromkeys(row["who"] for row in table)):
        rows = [row for row in table if row["who"] == who]
        tips = [
            plain(
                f"{r['system']}, {r['input']}, {r['aspect']}: {table.text(r, 'output') if r['output'] else '(no text)'}"
            )
            for r in rows
        ]
        figure.add_trace(
            go.Scatter(
                x=[r["people_place"] for r in rows], y=[r["metric_place"] for r in rows], mode="markers", name=plain(who), text=tips,
                marker={"color": COLOURS[k], "size": 10}, hovertemplate="%{text}<extra></extra>",
            )
        )  # fmt: skip
    figure.add_shape(type="line", x0=0, y0=0, x1=1, y1=1, line={"color": QUIET, "dash": "dot"})
    figure.update_xaxes(title="place by people (1 best)", range=[-0.03, 1.03])
    figure.update_yaxes(title="place by the metric", range=[-0.03, 1.03])
    return _with_legend(framed(figure, 460, margin={"l": 10, "r": 20, "t": 50, "b": 50}))


def _heat(
    rows: Sequence[Row], line: str, column: str, value: str, text: str, top: float | None = None
) -> go.Figure:
    import plotly.graph_objects as go

    lines, columns = (list(dict.fromkeys(str(row[key]) for row in rows)) for key in (line, column))
    at = {(str(row[line]), str(row[column])): row for row in rows}
    values = [[_known(at, (i, j), value) for j in columns] for i in lines]
    few = len(columns) <= 16
    texts = [[str(at[i, j][text]) if few and (i, j) in at else "" for j in columns] for i in lines]
    most = top or max((abs(v) for each in values for v in each if v is not None), default=1.0) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=values, x=[plain(_cut(c)) for c in columns], y=[plain(_cut(i)) for i in lines], text=texts, texttemplate="%{text}",
            colorscale=DIVERGING, zmin=-most, zmax=most, xgap=1, ygap=1, colorbar={"title": "", "thickness": 12},
            hovertemplate="%{y}<br>%{x}: %{z:.4f}<extra></extra>",
        )
    )  # fmt: skip
    framed(
        figure,
        150 + (26 if len(lines) <= 40 else 15) * len(lines),
        margin={"l": 10, "r": 10, "t": 110, "b": 10},
    )
    size = 13 if len(lines) <= 40 else 10
    figure.update_xaxes(side="top", tickangle=-40, type="category", dtick=1, tickfont={"size": size})
    figure.update_yaxes(autorange="reversed", type="category", dtick=1, tickfont={"size": size})
    return figure


def _dots(
    lines: list[str],
    series: Sequence[tuple[str, str, list[tuple[str, float, str, bool]]]],
    title: str,
    rest: str,
) -> go.Figure:
    """Lines down the side, one colour a series; a filled dot is significant (or what the caller says)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, colour, every in series:
        points = [p for p in every if not math.isnan(p[1])]
        figure.add_trace(
            go.Scatter(
                x=[p[1] for p in points], y=[plain(_cut(p[0])) for p in points], mode="markers", name=plain(name),
                text=[plain(p[2]) for p in points], hovertemplate="%{y}: %{text}<extra>" + plain(name) + "</extra>",
                marker={"color": [colour if p[3] else "rgba(0,0,0,0)" for p in points], "size": 10, "line": {"color": colour, "width": 2}},
            )
        )  # fmt: skip
    tall = 22 if len(lines) <= 40 else 15
    framed(figure, 130 + tall * max(len(lines), 2), margin={"l": 10, "r": 20, "t": 50, "b": 60})
    names = [plain(_cut(line)) for line in lines]
    figure.update_xaxes(title=title + rest)
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=names, range=[len(lines) - 0.5, -0.5], dtick=1,
        tickfont={"size": 13 if len(lines) <= 40 else 10},
    )  # fmt: skip
    return _with_legend(figure)


def _with_legend(figure: go.Figure) -> go.Figure:
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0})
    return figure


def _place(row: Row, last: str) -> str:
    """`METEOR, quality (BAGEL)`"""
    part = row.get("part", "all")
    return f"{row[last]}, {row['aspect']}" + (f" ({part})" if part != "all" else "")


def _rest(lines: dict[str, Any]) -> str:
    return f" (first {MOST_LINES} of {len(lines)} lines)" if len(lines) > MOST_LINES else ""


def _known(at: dict[tuple[str, str], Row], key: tuple[str, str], value: str) -> float | None:
    found = at[key][value] if key in at else None
    return None if found is None or math.isnan(found) else float(found)


def _number(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _cut(text: str) -> str:
    """Axis labels of a bearable length."""
    return text if len(text) <= 44 else text[:43] + "…"
