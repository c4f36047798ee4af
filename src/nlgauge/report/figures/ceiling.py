"""The glass ceiling (colombo2023): who ranks like whom, what can be predicted, progress over years, and portfolios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, GRID, GROUPINGS, QUIET, apart, framed, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Dark: the same order. Light: unrelated (.5). Orange: turned round.
NEARNESS = [[0, "#08306b"], [0.25, "#4292c6"], [0.5, "#f7f7f7"], [0.75, "#f1a340"], [1, "#b35806"]]
SETS = {"best metric": QUIET, "automatic": "#0072B2", "human": "#D55E00", "both": "#009E73"}
COLOURS = [*GROUPINGS.values(), "#E69F00", "#56B4E9", QUIET, "#000000"]
MARKS = ["circle", "square", "triangle-up", "diamond", "cross", "x", "star", "hexagon"]


@figure("complementarity")
def distance_matrix(table: Table) -> go.Figure:
    """All aspects and metrics against all, people first; the lines part people from metrics (Fig. 2)."""
    import plotly.graph_objects as go

    names = [row["metric"] for row in table]
    apart = table.facts["distance"]
    values = [[None if a == b or math.isnan(apart[a][b]) else apart[a][b] for b in names] for a in names]
    shown = [plain(name) for name in names]
    small = len(names) <= 20
    texts = [[number(v) if v is not None else "" for v in row] for row in values]
    figure = go.Figure(
        go.Heatmap(
            z=values, x=shown, y=shown, text=texts, texttemplate="%{text}" if small else "", colorscale=NEARNESS, zmin=0, zmax=1,
            xgap=1, ygap=1, hovertemplate="%{y}<br>%{x}: %{text}<extra></extra>",
            colorbar={"thickness": 12, "tickvals": [0, 0.5, 1], "ticktext": ["0 same", ".5", "1 turned"]},
        )
    )  # fmt: skip
    people = sum(row["kind"] == "human" for row in table)
    if 0 < people < len(names):
        line = {"color": "#c00000", "width": 2}
        ends = {"x0": -0.5, "x1": len(names) - 0.5}
        figure.add_shape(type="line", y0=people - 0.5, y1=people - 0.5, line=line, **ends)
        figure.add_shape(
            type="line", x0=people - 0.5, x1=people - 0.5, y0=-0.5, y1=len(names) - 0.5, line=line
        )
    cell, size = (30, 12) if small else (14, 9)
    framed(figure, 190 + cell * len(names), margin={"l": 10, "r": 10, "t": 130, "b": 10})
    figure.update_xaxes(
        side="top", tickangle=-60, showgrid=False, type="category", tickfont={"size": size}, dtick=1
    )
    figure.update_yaxes(
        autorange="reversed", showgrid=False, type="category", tickfont={"size": size}, dtick=1
    )
    return figure


@figure("consensus")
def two_orders(table: Table) -> go.Figure:
    """Kemeny's places by people and by metrics, a line for each system: crossing lines are disagreements."""
    import plotly.graph_objects as go

    name = table.columns[0]
    sides = [side for side in ("people", "metrics") if f"{side}_kemeny" in table.columns]
    rows = table.rows[:40]  # more lines cannot be told apart
    figure = go.Figure()
    for row in rows:
        places = [row[f"{side}_kemeny"] for side in sides]
        moved = abs(places[0] - places[-1]) > len(table) / 4
        figure.add_trace(
            go.Scatter(
                x=sides, y=places, mode="lines+markers+text", line={"color": ACCENT if moved else GRID, "width": 2 if moved else 1.5},
                marker={"color": ACCENT if moved else QUIET, "size": 7}, text=[plain(f"{row[name]} ")] + [plain(f" {row[name]}")] * (len(sides) - 1),
                textposition=["middle left", "middle right"][: len(sides)], textfont={"size": 11 if len(rows) <= 25 else 9},
                cliponaxis=False, hovertemplate=f"{plain(row[name])}: %{{x}} %{{y}}<extra></extra>",
            )
        )  # fmt: skip
    longest = max(len(str(row[name])) for row in rows)
    side = 30 + min(260, 7 * longest)
    framed(figure, 110 + 22 * len(rows), margin={"l": side, "r": side, "t": 40, "b": 40})
    figure.update_xaxes(side="top", type="category", showgrid=False)
    figure.update_yaxes(autorange="reversed", visible=False)
    return figure


@figure("consensus-distance")
def from_both(table: Table) -> go.Figure:
    """Distance from people's consensus against distance from that of the metrics; people are diamonds."""
    import plotly.graph_objects as go

    sides = [c for c in ("from_people", "from_metrics") if c in table.columns]
    rows = [row for row in table if all(not math.isnan(row[c]) for c in sides)]
    places = [(row[sides[0]], row[sides[-1]]) for row in rows]
    figure = go.Figure()
    for kind, colour, mark in (("automatic", ACCENT, "circle"), ("human", "#D55E00", "diamond")):
        mine = [row for row in rows if row["kind"] == kind]
        figure.add_trace(
            go.Scatter(
                x=[row[sides[0]] for row in mine], y=[row[sides[-1]] for row in mine], mode="markers+text", name=kind,
                marker={"color": colour, "symbol": mark, "size": 9}, textposition="top center", textfont={"size": 10}, cliponaxis=False, customdata=[plain(row["metric"]) for row in mine],
                text=[plain(row["metric"]) if _alone((row[sides[0]], row[sides[-1]]), places) else "" for row in mine],
                hovertemplate="%{customdata}<br>%{x:.3f} %{y:.3f}<extra></extra>",
            )
        )  # fmt: skip
    framed(figure, 440, showlegend=True, legend={"orientation": "h", "y": 1.08})
    figure.update_xaxes(title="distance from the consensus of people", rangemode="tozero")
    other = "the metrics" if len(sides) > 1 else "people"
    figure.update_yaxes(title=f"distance from the consensus of {other}", rangemode="tozero")
    return figure


def _alone(place: tuple[float, float], places: list[tuple[float, float]]) -> bool:
    """Room for a name: no other point so near that the names would lie over each other."""
    wide, high = (max([1e-9, *(p[i] for p in places)]) for i in (0, 1))
    near = [p for p in places if abs(p[0] - place[0]) < 0.1 * wide and abs(p[1] - place[1]) < 0.06 * high]
    return len(near) == 1


@figure("predictability")
def prediction_bars(table: Table) -> go.Figure:
    """Bars for each aspect: what people are predicted from, with intervals over folds (Fig. 3)."""
    import plotly.graph_objects as go

    aspects = list(dict.fromkeys(row["aspect"] for row in table))
    figure = go.Figure()
    for name in dict.fromkeys(row["predictors"] for row in table):
        rows = {
            row["aspect"]: row for row in table if row["predictors"] == name and not math.isnan(row["value"])
        }
        mine = [rows[a] for a in aspects if a in rows]
        figure.add_trace(
            go.Bar(
                x=[plain(row["aspect"]) for row in mine], y=[row["value"] for row in mine], name=name,
                marker={"color": SETS.get(name, ACCENT)}, error_y=_whiskers(mine),
                hovertemplate="%{x}, " + name + ": %{y:.3f}<extra></extra>",
            )
        )  # fmt: skip
    framed(figure, 430, barmode="group", showlegend=True, legend={"orientation": "h", "y": 1.1}, bargap=0.25)
    figure.update_yaxes(title=_measure(table))
    figure.update_xaxes(type="category", showgrid=False)
    return figure


@figure("progress")
def over_years(table: Table) -> go.Figure:
    """One line an aspect, from year to year; what was new stands in the tips (Fig. 1)."""
    import plotly.graph_objects as go

    figure = go.Figure()
    known: dict[str, list[Row]] = {}
    for row in table:
        if not math.isnan(row["value"]):
            known.setdefault(row["aspect"], []).append(row)
    values = [end for rows in known.values() for row in rows for end in (row["low"], row["high"], row["value"]) if not math.isnan(end)]  # fmt: skip
    tall = max(values, default=1.0) - min(values, default=0.0)
    ends = apart({aspect: rows[-1]["value"] for aspect, rows in known.items()}, tall * 18 / 330)
    for k, (aspect, rows) in enumerate(known.items()):
        # Beside each other, or the whiskers of one year hide each other.
        aside = 0.13 * (k - (len(known) - 1) / 2)
        figure.add_annotation(
            x=rows[-1]["year"] + 0.13 * len(known) / 2, y=ends[aspect], text=plain(aspect), xanchor="left", xshift=8, showarrow=False,
            font={"color": COLOURS[k % len(COLOURS)]},
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(
                x=[row["year"] + aside for row in rows], customdata=[row["year"] for row in rows], y=[row["value"] for row in rows], mode="lines+markers", name=plain(aspect),
                line={"color": COLOURS[k % len(COLOURS)], "dash": "dot"}, marker={"symbol": MARKS[k % len(MARKS)], "size": 8},
                error_y={**_whiskers(rows), "thickness": 1, "color": COLOURS[k % len(COLOURS)]}, text=[plain(", ".join(table.facts["new"][row["year"]])) for row in rows],
                hovertemplate=f"{plain(aspect)}, %{{customdata}}: %{{y:.3f}}<br>new: %{{text}}<extra></extra>",
            )
        )  # fmt: skip
    longest = max((len(aspect) for aspect in known), default=0)
    framed(figure, 430, margin={"l": 10, "r": 40 + 7 * longest, "t": 30, "b": 50})
    figure.update_xaxes(
        title="all metrics released up to", dtick=_step([row["year"] for row in table]), tickformat="d"
    )
    figure.update_yaxes(title=_measure(table))
    return figure


@figure("portfolio")
def gain_curve(table: Table) -> go.Figure:
    """What sets of growing size reach on held-out inputs; filled marks are kept by the stop rule, dashes are all metrics."""
    from plotly.subplots import make_subplots

    aspects = list(dict.fromkeys(row["aspect"] for row in table))
    across = min(len(aspects), 2)
    down = -(-len(aspects) // across)
    figure = make_subplots(
        rows=down, cols=across, subplot_titles=[plain(a) for a in aspects], horizontal_spacing=0.1,
        vertical_spacing=min(0.3, 170 / (330 * down)),
    )  # fmt: skip
    for place, aspect in enumerate(aspects):
        rows = [row for row in table if row["aspect"] == aspect]
        _add_curve(figure, rows, {"row": place // across + 1, "col": place % across + 1})
    framed(figure, 60 + 330 * down, margin={"l": 10, "r": 20, "t": 40, "b": 130})
    figure.update_xaxes(type="category", tickangle=-40, tickfont={"size": 11})
    figure.update_yaxes(title=_measure(table), col=1)
    return figure


def _add_curve(figure: go.Figure, rows: list[Row], at: dict[str, int]) -> None:
    import plotly.graph_objects as go

    steps = [row for row in rows if row["chosen"] is not None and not math.isnan(row["value"])]
    whole = [row for row in rows if row["chosen"] is None and not math.isnan(row["value"])]
    names = [plain(_cut(f"{'+ ' if row['size'] > 1 else ''}{row['added']}")) for row in steps]
    figure.add_trace(
        go.Scatter(
            x=names, y=[row["value"] for row in steps], mode="lines+markers", line={"color": ACCENT}, error_y=_whiskers(steps),
            marker={"size": 10, "line": {"color": ACCENT, "width": 2}, "color": [ACCENT if r["chosen"] else "#ffffff" for r in steps]},
            text=[plain(row["added"]) for row in steps], hovertemplate="%{text}: %{y:.3f}<extra></extra>",
        ),
        **at,
    )  # fmt: skip
    if whole and names:
        figure.add_trace(
            go.Scatter(
                x=[names[0], names[-1]], y=[whole[0]["value"]] * 2, mode="lines", line={"color": QUIET, "dash": "dash"},
                hovertemplate=f"all {whole[0]['size']} metrics: %{{y:.3f}}<extra></extra>",
            ),
            **at,
        )  # fmt: skip


def _whiskers(rows: list[Row]) -> dict[str, Any]:
    ends = [[row["high"] - row["value"] for row in rows], [row["value"] - row["low"] for row in rows]]
    up, down = ([0.0 if math.isnan(e) else max(0.0, e) for e in side] for side in ends)
    return {
        "type": "data",
        "symmetric": False,
        "array": up,
        "arrayminus": down,
        "color": QUIET,
        "thickness": 1.5,
    }


def _measure(table: Table) -> str:
    return f"{plain(table.rows[0]['measure'])} on held-out data"


def _step(years: list[int]) -> int:
    return 1 if max(years) - min(years) <= 12 else 2 if max(years) - min(years) <= 24 else 5


def _cut(name: str, most: int = 22) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
