"""Figures of the analyses of Novikova et al. (2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge import Table
from nlgauge.plugins import ACCENT, COLORS, QUIET, distinct, dots, figure, heat, heat_map, number, there

if TYPE_CHECKING:
    import plotly.graph_objects as go

Point = tuple[str, float, str, bool]  # line, value, tip, filled


@figure("relative-ranking")
def accuracy_dots(table: Table) -> go.Figure:
    """Plot the percentage of pairs ordered as by humans, raw and quantized, and that of random scores."""
    series: dict[str, list[Point]] = {"raw": [], "quantized": [], "random": []}
    for row in table:
        line = f"{row['metric']}, {row['aspect']}" + (f" ({row['part']})" if row["part"] != "all" else "")
        for name, column, filled in (
            ("raw", "accuracy", row["significant"]),
            ("quantized", "quantized", row["significant_quantized"]),
            ("random", "random", False),
        ):
            series[name].append((line, row[column], f"{row[column]:.1f}%", filled))
    return dots("percentage of pairs ordered as in the human ratings", series, [ACCENT, COLORS[1], QUIET])


@figure("quality-bins")
def bin_map(table: Table) -> go.Figure:
    """Plot metrics × bins as colors."""
    return heat_map(table)


@figure("best-metric")
def best_dots(table: Table) -> go.Figure:
    """Plot the best metric of each type and the next one, without sign."""
    series: dict[str, list[Point]] = {"best": [], "next": []}
    for row in table:
        line = f"{row['type']}: {row['metric']}"
        series["best"].append(
            (line, abs(row["value"]), f"{row['metric']} {table.text(row, 'value')}", row["clearly_best"])
        )
        if row["next"]:
            series["next"].append(
                (line, abs(row["next_value"]), f"{row['next']} {number(row['next_value'], 2)}", False)
            )
    return dots("absolute correlation", series, [ACCENT, QUIET])


@figure("ensemble")
def ensemble_dots(table: Table) -> go.Figure:
    """Plot the ensemble and the best single metric for each pair of training and test parts."""
    series: dict[str, list[Point]] = {"ensemble": [], "best single metric": []}
    for row in (r for r in table if there(r["value"])):
        line, inside = f"{row['train']} → {row['test']}, {row['aspect']}", row["setting"] == "in-domain"
        series["ensemble"].append((line, row["value"], f"{number(row['value'], 2)}, {row['setting']}", inside))
        series["best single metric"].append(
            (line, row["best_single"], f"{row['metric']} {number(row['best_single'], 2)}", False)
        )
    return dots("correlation on the tested part (filled: in-domain)", series, [ACCENT, QUIET])


@figure("characteristics")
def characteristic_map(table: Table) -> go.Figure:
    """Plot how much stronger the correlation is if the characteristic is high (blue) or low (orange)."""
    several = len(distinct(table, "aspect")) > 1
    column = {id(r): f"{r['characteristic']}, {r['aspect']}" if several else r["characteristic"] for r in table}
    index = {(row["metric"], column[id(row)]): row for row in table}
    lines, across = distinct(table, "metric"), list(dict.fromkeys(column.values()))
    cells = [[index.get((line, c)) for c in across] for line in lines]
    values = [[abs(r["value_high"]) - abs(r["value_low"]) if r else None for r in each] for each in cells]
    texts = [
        ["" if several or not r else f"{table.text(r, 'value_low')} / {table.text(r, 'value_high')}" for r in each]
        for each in cells
    ]
    return heat(values, across, lines, texts, top=None)
