"""Dots: metrics with their values, intervals and marks; ranks by human ratings against ranks by a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import (
    ACCENT,
    COLORS,
    LEGEND,
    QUIET,
    SIGNS,
    color,
    cut,
    distinct,
    ends,
    framed,
    key,
    label,
    listed,
    marks,
    panels,
    plain,
    there,
    upright,
)
from nlgauge.report.figures.plotly_json import PlotlyFigure
from nlgauge.table import Row, Table

Point = tuple[str, float, str, bool]  # line, value, tip, filled
MAX_USE_ROWS = 15  # metrics in the figure of uses
MOST_LINES = 80  # lines of a dot plot; beyond that the table is the better picture
LANE = 0.022  # width of a bar's lane, as a share of the plot
# Color and sign both show the badge.
BADGES = {
    "reliable": (ACCENT, "circle", "●"),
    "inconclusive": (COLORS[4], "diamond", "◆"),
    "not reliable": (QUIET, "x-thin-open", "✕"),
}
KS_AND_ORDER = {
    "discrimination": "KS distance between two levels of quality",
    "system-discrimination": "KS distance between two systems, mean over pairs",
    "system-preference": "similarity with the human order (chance 0.667)",
    "transfer": "correlation with human ratings",
}


@figure("compare")
def rank_picture(table: Table) -> PlotlyFigure:
    """Show metrics with intervals, best on top; bars on the right join metrics without significant differences."""
    rows = [row for row in table if there(row["value"])]
    groups = joined([row["metric"] for row in rows], table.facts["no_different_from"])
    lanes = max((lane for *_, lane in groups), default=-1) + 1
    share = min(0.35, LANE * (lanes + 1)) if groups else 0.0
    drawn = PlotlyFigure(_with_intervals(rows, [f"{row['rank']}  {row['metric']}" for row in rows], ACCENT))
    framed(
        drawn,
        110 + 26 * len(rows),
        xaxis={"domain": [0, 1 - share], "title": plain(rows[0]["measure"]) if rows else ""},
    )
    drawn.update_yaxes(autorange="reversed", type="category", dtick=1)
    for first, last, lane in groups:
        x = 1 - share + LANE * (lane + 1)
        drawn.add_shape(
            type="line",
            xref="paper",
            yref="y",
            x0=x,
            x1=x,
            y0=first - 0.25,
            y1=last + 0.25,
            line={"color": QUIET, "width": 5},
        )
    if groups:
        drawn.add_annotation(
            text="bars: not significantly different",
            xref="paper",
            yref="paper",
            x=1,
            y=1,
            yanchor="bottom",
            xanchor="right",
            showarrow=False,
            font={"size": 11},
        )
    return drawn


def joined(names: list[str], alike: dict[str, list[str]]) -> list[tuple[int, int, int]]:
    """Return the longest runs of neighbors without a significant difference: (first, last, lane), of two or more."""
    close = [set(alike[name]) for name in names]
    runs: list[tuple[int, int]] = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and all(names[last + 1] in close[k] for k in range(first, last + 1)):
            last += 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    free: list[int] = []  # where each lane is free again
    placed = []
    for first, last in runs:
        lane = next((i for i, end in enumerate(free) if end < first), len(free))
        free[lane:] = [last, *free[lane + 1 :]]
        placed.append((first, last, lane))
    return placed


@figure("intervals")
def interval_plot(table: Table) -> PlotlyFigure:
    """Show values with intervals in one panel per measure, with one row per metric."""
    measures, names = distinct(table, "measure"), distinct(table, "metric")
    tall = 26 * len(names) + 70
    drawn, places = panels([label(m) for m in measures], most=4, apart=70, tall=tall, horizontal_spacing=0.025)
    for measure, at in zip(measures, places, strict=True):
        rows = [row for row in table if row["measure"] == measure and there(row["value"])]
        drawn.add_trace(_with_intervals(rows, [row["metric"] for row in rows], color(measure)), **at)
    return listed(drawn, names, 60 + tall * places[-1]["row"]).update_xaxes(nticks=5)


def _with_intervals(rows: list[Row], names: Sequence[str], ink: str, **marker: Any) -> Any:
    return marks(
        [row["value"] for row in rows],
        [cut(n) for n in names],
        ink,
        rows=rows,
        texts=[number(row["value"]) + ends(row["low"], row["high"]) for row in rows],
        marker={"size": 9, **marker},
        hovertemplate="%{y}: %{text}<extra></extra>",
    )


@figure("uses")
def use_dots(table: Table) -> PlotlyFigure:
    """Show values with intervals for each use, with one row per metric (the first ones of many); 0.5 is chance."""
    uses, names = distinct(table, "use"), distinct(table, "metric")[:MAX_USE_ROWS]
    drawn, places = panels(uses, most=len(uses))
    for use, at in zip(uses, places, strict=True):
        for verdict, (ink, sign, _) in BADGES.items():
            rows = [r for r in table if r["use"] == use and r["badge"] == verdict and there(r["value"])]
            rows = [r for r in rows if r["metric"] in names]
            points = _with_intervals(
                rows, [r["metric"] for r in rows], ink, symbol=sign, line={"color": ink, "width": 2}
            )
            drawn.add_trace(
                points | {"name": verdict, "hovertemplate": "%{y}<br>" + verdict + ": %{text}<extra></extra>"}, **at
            )
    chance = [upright(0.5, f"x{n}", f"y{n} domain") for n in ("", *range(2, len(uses) + 1))]
    listed(
        drawn, names, 130 + 26 * len(names), margin={"l": 10, "r": 20, "t": 40, "b": 75}, shapes=chance
    ).update_xaxes(nticks=5)
    words = "   ".join(
        f"<span style='color:{ink}'>{sign}</span> {verdict}" for verdict, (ink, _, sign) in BADGES.items()
    )
    every = len(distinct(table, "metric"))
    part = f"     first {len(names)} of {every} metrics" if every > len(names) else ""
    return key(drawn, f"{words}     dotted: chance{part}", -42)


@figure("discrimination", "system-discrimination", "system-preference", "transfer")
def column_dots(table: Table) -> PlotlyFigure:
    """Draw one line per metric and one mark per column of a table that has a `layout`.

    Parameters
    ----------
    table : Table

    Returns
    -------
    plotly figure
    """
    layout = table.layout
    assert layout is not None  # these analyses always have one
    series: dict[Any, list[Row]] = {}
    for row in table:
        series.setdefault(layout.head(layout.place(row)[1]), []).append(row)
    drawn = PlotlyFigure(
        [marked(n, k, [(table.line_name(r), r["value"]) for r in rows]) for k, (n, rows) in enumerate(series.items())]
    )
    places = list(dict.fromkeys(table.line_name(row) for row in table))
    listed(drawn, places, margin={"l": 10, "r": 20, "t": 60, "b": 50}, **LEGEND)
    return drawn.update_xaxes(
        title=KS_AND_ORDER.get(table.kind, ""), **({} if table.kind == "transfer" else {"rangemode": "tozero"})
    )


def marked(name: str, place: int, points: Sequence[tuple[str, float]], **trace: Any) -> Any:
    """Return one series of marks, distinguished by color and by sign."""
    shown = [(line, value) for line, value in points if there(value)]
    return marks(
        [value for _, value in shown],
        [cut(line) for line, _ in shown],
        COLORS[place % len(COLORS)],
        marker={"symbol": SIGNS[place % len(SIGNS)], "opacity": 0.9, "line": {"width": 1, "color": "white"}},
        **{"name": plain(name), "hovertemplate": f"%{{y}}<br>{plain(name)}: %{{x:.3f}}<extra></extra>", **trace},
    )


@figure("system-means")
def mean_dots(table: Table) -> PlotlyFigure:
    """Show each system's distance from the mean of the systems, in standard deviations; filled if significant."""
    lines: dict[str, list[Row]] = {}
    parts = table.columns[: table.columns.index("quantity")]  # by which the data were split
    for row in table:
        place = " ".join(row[c] for c in parts)
        lines.setdefault(f"{row['quantity']} ({place})" if place else row["quantity"], []).append(row)
    series: dict[str, list[Point]] = {system: [] for system in distinct(table, "system")}
    for line, rows in lines.items():
        centre = sum(r["value"] for r in rows) / len(rows)
        spread = math.sqrt(sum(r["sd"] ** 2 for r in rows if there(r["sd"])) / len(rows)) or 1.0
        for r in rows:
            series[r["system"]].append((line, (r["value"] - centre) / spread, table.text(r, "value"), r["significant"]))
    return dots("standard deviations from the mean of the systems", series)


def dots(title: str, series: dict[str, list[Point]], inks: Sequence[str] = COLORS) -> PlotlyFigure:
    """Draw names down the side and one color per series of dots.

    Parameters
    ----------
    title : str
        Of the axis.
    series : dict
        Name -> points: (line, value, tip, whether the dot is filled, such as for a significant value).
    inks : sequence of str, optional
        Colors of the series.

    Returns
    -------
    plotly figure
    """
    lines = list(dict.fromkeys(point[0] for points in series.values() for point in points))
    shown = lines[:MOST_LINES]
    drawn = PlotlyFigure()
    for k, (name, every) in enumerate(series.items()):
        points, ink = [p for p in every if p[0] in shown and there(p[1])], inks[k % len(inks)]
        fill = [ink if p[3] else "rgba(0,0,0,0)" for p in points]
        texts, tip = [plain(p[2]) for p in points], f"%{{y}}: %{{text}}<extra>{plain(name)}</extra>"
        marker = {"line": {"color": ink, "width": 2}}
        x, y = [p[1] for p in points], [cut(p[0]) for p in points]
        drawn.add_trace(marks(x, y, fill, texts=texts, name=plain(name), marker=marker, hovertemplate=tip))
    rest = f" (first {MOST_LINES} of {len(lines)} lines)" if len(lines) > MOST_LINES else ""
    return listed(drawn, shown, margin={"l": 10, "r": 20, "t": 50, "b": 60}, **LEGEND).update_xaxes(title=title + rest)


@figure("disagreements")
def disagreement_points(table: Table) -> PlotlyFigure:
    """Rank by the metric against rank by human ratings; the text of the output is in the tip."""
    drawn = PlotlyFigure()
    for k, who in enumerate(distinct(table, "who")):
        rows = [row for row in table if row["who"] == who]
        tips = [
            f"{r['system']}, {r['input']}, {r['aspect']}: {table.text(r, 'output') if r['output'] else '(no text)'}"
            for r in rows
        ]
        x, y = [r["human_place"] for r in rows], [r["metric_place"] for r in rows]
        drawn.add_trace(marks(x, y, COLORS[k], name=plain(who), texts=[plain(tip) for tip in tips]))
    drawn.add_shape(type="line", x0=0, y0=0, x1=1, y1=1, line={"color": QUIET, "dash": "dot"})
    framed(drawn, 460, margin={"l": 10, "r": 20, "t": 50, "b": 50}, **LEGEND)
    drawn.update_xaxes(title="rank by human ratings (1: best)", range=[-0.03, 1.03])
    return drawn.update_yaxes(title="rank by the metric", range=[-0.03, 1.03])


@figure()
def distance_and_order(distance: Table, order: Table, lines: str = "metric", across: int = 2) -> PlotlyFigure:
    """Show the separation of levels or systems (KS), and the agreement of their order with the human order.

    Figures 2, 3 and 9 of nimah2023: `discrimination` and `aspect-preference`. Figures 4 to 6: `system-discrimination`
    and `system-preference`. `lines="family"` where the tables were made with per=family.
    """
    # A line without any value (an aspect that was not rated on these levels) only takes room.
    names = list(dict.fromkeys(row[lines] for t in (distance, order) for row in t if there(row["value"])))
    tall = 150 + 24 * len(names)
    drawn, places = panels(
        ["discriminates", "orders as humans do"], most=across, apart=100, tall=tall, horizontal_spacing=0.04
    )
    groups = list(dict.fromkeys(_group(row) for table in (distance, order) for row in table))
    for table, at in zip((distance, order), places, strict=True):
        for group in dict.fromkeys(_group(row) for row in table):
            points = [(row[lines], row["value"]) for row in table if _group(row) == group]
            own = table is distance or all(_group(row) != group for row in distance)
            drawn.add_trace(marked(group, groups.index(group), points, legendgroup=group, showlegend=own), **at)
    listed(drawn, names, 20 + tall * places[-1]["row"], margin={"l": 10, "r": 20, "t": 80, "b": 55}, **LEGEND)
    for title, at in zip(drawn.layout.annotations, places, strict=True):
        title.update(yshift=26 if at["row"] == 1 else 4, font={"size": 14})
    for words, at in zip(("KS distance", "similarity with the human order"), places, strict=True):
        drawn.update_xaxes(title=words, range=[-0.03, 1.05], **at)
    return drawn


def _group(row: Row) -> str:
    """Return the group of a row (Lo-Hi, Lo-Mod, … or easy, hard), which has the same color in both panels."""
    return str(row.get("contrast") or row.get("pairs") or "all levels")
