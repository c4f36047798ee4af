"""Line charts: power, sample size, simulations, coarser scales, progress over years, and transfer."""

from __future__ import annotations

from typing import Any

from nlgauge.analyses.judges.fineness import ONE_DRAW, ORIGINAL
from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import (
    ACCENT,
    COLORS,
    GRID,
    GROUPINGS,
    LABEL,
    LETTERS,
    QUIET,
    SIGNS,
    apart,
    at_end,
    color,
    curve,
    cut,
    dash,
    distinct,
    framed,
    label,
    panels,
    plain,
    symbol,
    there,
    whiskers,
)
from nlgauge.report.figures.plotly_json import PlotlyFigure, scatter
from nlgauge.table import Row, Table, grouped

FEW_LINES = 6  # whose whiskers can be distinguished


@figure("plan")
def power_curve(table: Table) -> PlotlyFigure:
    """Show power by the number of inputs, systems or annotators; the dashed line is the target power."""
    axis = next(name for name in ("inputs", "systems", "raters") if name in table.columns)
    rows = [row for row in table if there(row["power"])]
    drawn = PlotlyFigure(
        scatter(
            x=[str(row[axis]) for row in rows],
            y=[row["power"] for row in rows],
            mode="lines+markers+text",
            text=[number(row["power"], 2) for row in rows],
            textposition="top right",
            cliponaxis=False,
            line={"color": ACCENT},
            marker={"size": [13 if row["now"] else 8 for row in rows]},
            error_y={"type": "data", "array": [1.96 * row["se"] for row in rows], "color": QUIET, "thickness": 1.5},
            hovertemplate=f"%{{x}} {axis}: power %{{y:.2f}}<extra></extra>",
        )
    )
    if rows:
        target = rows[0]["target"]
        drawn.add_hline(
            y=target,
            line={"color": QUIET, "dash": "dash"},
            annotation_text=f"power {target:g}",
            annotation_position="top left",
        )
    framed(drawn, 380)
    drawn.update_xaxes(title=f"{axis} (large mark: as in the data)", type="category")
    return drawn.update_yaxes(title="power", range=[0, 1.08])


@figure("labels-needed")
def label_curve(table: Table) -> PlotlyFigure:
    """Show the interval width, or the share of conclusive studies, by number of labels; dashed: the target."""
    falls = any(row["measure"] == "estimate" for row in table)
    drawn = PlotlyFigure()
    for k, name in enumerate(distinct(table, "metric")):
        rows = [row for row in table if row["metric"] == name and there(row["value"])]
        drawn.add_trace(
            scatter(
                x=[row["labels"] for row in rows],
                y=[row["value"] for row in rows],
                mode="lines+markers",
                name="labels alone" if name == "human" else name,
                line={"color": QUIET if name == "human" else COLORS[k % len(COLORS)]},
                error_y={"type": "data", "array": [1.96 * row["se"] for row in rows], "thickness": 1.2},
                hovertemplate="%{x} labels: %{y:.3f}<extra></extra>",
            )
        )
    target = next(row["target"] for row in table)
    drawn.add_hline(
        y=target,
        line={"color": QUIET, "dash": "dash"},
        annotation_text=f"{'width' if falls else 'share'} {target:g}",
        annotation_position="top right" if falls else "top left",
    )
    framed(drawn, 380)
    drawn.update_layout(showlegend=True)
    drawn.update_xaxes(title="labels", type="log", tickvals=distinct(table, "labels"), tickformat="d")
    return drawn.update_yaxes(title="width of the interval" if falls else "decided", rangemode="tozero")


@figure("relation", "scale")
def study_curves(table: Table, *more: Table, across: int = 4) -> PlotlyFigure:
    """Show one panel per grouping and one line per coefficient, labeled at its end: Figures 1 (ρ_sys, μ_ρ) and 2
    (scale).

    The panels of a further table are below; `across`: panels next to each other.
    """
    tables = (table, *more)
    groupings = [g for g in GROUPINGS if any(row["measure"].startswith(f"{g}/") for row in table)]
    drawn, places = panels(groupings * len(tables), most=min(across, len(groupings)), apart=95, tall=340)
    for k, each in enumerate(tables):
        title, rows = _steps(each)
        at = dict(zip(groupings, places[k * len(groupings) :], strict=False))
        for measure in distinct(each, "measure"):
            _add_line(drawn, rows, measure, title, at[measure.partition("/")[0]])
        for place in at.values():
            drawn.update_xaxes(title=title, **({"type": "category"} if each.kind == "scale" else {}), **place)
    framed(drawn, 60 + 340 * places[-1]["row"])
    return drawn.update_yaxes(title="correlation", col=1)


def _steps(table: Table) -> tuple[str, list[Row]]:
    """Return the varied quantity, and the rows with its value as `at`."""
    if table.kind == "scale":
        return "distinct values", [{**row, "at": table.line_name(row)} for row in table]
    axis = next(name for name in ("rho_sys", "mu_rho") if name in table.columns)
    return table.heading(axis), [{**row, "at": row[axis]} for row in table]


def _add_line(drawn: PlotlyFigure, every: list[Row], measure: str, title: str, at: dict[str, int]) -> None:
    rows = [row for row in every if row["measure"] == measure]
    grouping, _, coefficient = measure.partition("/")
    # The letters stand at different points of the lines, which run close together.
    place = {"pearson": -1, "spearman": len(rows) // 2, "kendall": len(rows) // 4}.get(coefficient, 0)
    texts = [""] * len(rows)
    texts[place] = LETTERS.get(coefficient, coefficient)
    # Where Pearson's line (or Spearman's, of Pearson's own) runs above this one, the letter has room below.
    other = f"{grouping}/{'spearman' if coefficient == 'pearson' else 'pearson'}"
    above = [r["value"] for r in every if r["measure"] == other]
    below = coefficient == "kendall" or (len(above) == len(rows) and bool(rows[place]["value"] < above[place] - 1e-9))
    more: dict[str, Any] = {
        "mode": "lines+markers+text",
        "texts": texts,
        "textposition": "bottom center" if below else "top center",
        "textfont": {"size": 15},
        "cliponaxis": False,
        "line": {"color": color(measure), "dash": dash(measure)},
        "marker": {"symbol": symbol(measure), "size": 6},
        "hovertemplate": f"{measure}<br>{title} %{{x}}: %{{y:.3f}}<extra></extra>",
    }
    x, y = [row["at"] for row in rows], [row["value"] for row in rows]
    drawn.add_trace(curve(x, y, color(measure), measure, **more), **at)


@figure("fineness")
def fineness_lines(table: Table) -> PlotlyFigure:
    """Show each coefficient in a small panel: the measure from fine to coarse scores, with one line per judge."""
    measures, judges = distinct(table, "measure"), distinct(table, "metric")
    level = next((g for g in ("input", "global", "item", "system") if any(m.startswith(f"{g}/") for m in measures)), "")
    shown = [m for m in measures if m.startswith(f"{level}/")][:3]
    versions, cut = distinct(table, "version"), {r["version"]: r["levels"] for r in table if r["levels"]}
    coarse = sorted(cut, key=lambda v: -cut[v])
    order = [*(v for v in (ONE_DRAW, ORIGINAL) if v in versions), *coarse]
    drawn, places = panels([label(m) for m in shown], most=3)
    for k, judge in enumerate(judges):
        ink, sign = COLORS[k % len(COLORS)], SIGNS[(k // len(COLORS) + k) % len(SIGNS)]
        for measure, at in zip(shown, places, strict=True):
            by_key = {r["version"]: r["value"] for r in table if r["metric"] == judge and r["measure"] == measure}
            legend: dict[str, Any] = {"legendgroup": judge, "showlegend": at["col"] == 1}
            drawn.add_trace(curve(order, [by_key.get(v) for v in order], ink, judge, sign=sign, **legend), **at)
    framed(drawn, 420, showlegend=True, legend={"orientation": "h", "y": -0.25})
    drawn.update_xaxes(type="category", categoryorder="array", categoryarray=order, tickangle=-30)
    return drawn.update_yaxes(title="agreement with human ratings", row=1, col=1)


@figure("progress")
def over_years(table: Table) -> PlotlyFigure:
    """Show one line per aspect over the years (Fig. 1); tooltips name new metrics. Many lines have no error bars."""
    drawn = PlotlyFigure()
    known = grouped((row for row in table if there(row["value"])), "aspect")
    values = [
        row[end] for rows in known.values() for row in rows for end in ("low", "high", "value") if there(row[end])
    ]
    tall = max(values, default=1.0) - min(values, default=0.0)
    labels = apart({aspect: rows[-1]["value"] for aspect, rows in known.items()}, tall * 18 / 330)
    for k, (aspect, rows) in enumerate(known.items()):
        ink = COLORS[k % len(COLORS)]
        # Next to each other, or the whiskers of one year hide each other.
        aside = 0.13 * (k - (len(known) - 1) / 2) * (len(known) <= FEW_LINES)
        last = rows[-1]["year"] + 0.13 * min(len(known), FEW_LINES) / 2
        at_end(drawn, last, labels[aspect], plain(aspect), ink)
        more: dict[str, Any] = {
            "line": {"color": ink, "dash": "dot"},
            "error_y": whiskers(rows, ink, thickness=1) if len(known) <= FEW_LINES else None,
            "customdata": [row["year"] for row in rows],
            "texts": [plain(", ".join(table.facts["new"][row["year"]])) for row in rows],
            "hovertemplate": f"{plain(aspect)}, %{{customdata}}: %{{y:.3f}}<br>new: %{{text}}<extra></extra>",
        }
        x, y = [row["year"] + aside for row in rows], [row["value"] for row in rows]
        drawn.add_trace(curve(x, y, ink, aspect, sign=SIGNS[(k // len(COLORS) + k) % len(SIGNS)], **more))
    framed(drawn, 430, margin={"l": 10, "r": 40 + 7 * max(map(len, known), default=0), "t": 30, "b": 50})
    years = [row["year"] for row in table]
    span = max(years) - min(years)
    drawn.update_xaxes(
        title="all metrics released up to",
        dtick=1 if span <= 12 else 2 if span <= 24 else 5,
        tickformat="d",
        range=[min(years) - 0.8, max(years) + 0.8],
    )
    return drawn.update_yaxes(title=_held_out(table), rangemode="tozero")


@figure("portfolio")
def gain_curve(table: Table) -> PlotlyFigure:
    """Show the performance of growing sets on held-out inputs; filled: kept by the stop rule, dashed: all metrics."""
    aspects = distinct(table, "aspect")
    drawn, places = panels(aspects, apart=170, horizontal_spacing=0.1, shared_yaxes=False)
    for aspect, at in zip(aspects, places, strict=True):
        rows = [row for row in table if row["aspect"] == aspect and there(row["value"])]
        for trace in _gains(rows):
            drawn.add_trace(trace, **at)
    framed(drawn, 60 + 330 * places[-1]["row"], margin={"l": 10, "r": 20, "t": 40, "b": 130})
    drawn.update_xaxes(type="category", tickangle=-40, tickfont={"size": 11})
    return drawn.update_yaxes(title=_held_out(table), col=1)


def _gains(rows: list[Row]) -> list[Any]:
    steps, whole = ([row for row in rows if (row["chosen"] is None) == last] for last in (False, True))
    names = [cut(f"{'+ ' if row['size'] > 1 else ''}{row['added']}", 22) for row in steps]
    traces = [
        scatter(
            x=names,
            y=[row["value"] for row in steps],
            mode="lines+markers",
            line={"color": ACCENT},
            error_y=whiskers(steps),
            marker={
                "size": 10,
                "line": {"color": ACCENT, "width": 2},
                "color": [ACCENT if r["chosen"] else "#ffffff" for r in steps],
            },
            text=[plain(row["added"]) for row in steps],
            hovertemplate="%{text}: %{y:.3f}<extra></extra>",
        )
    ]
    if whole and names:
        words = f"all {whole[0]['size']} metrics: %{{y:.3f}}<extra></extra>"
        line = {"color": QUIET, "dash": "dash"}
        traces.append(
            scatter(x=[names[0], names[-1]], y=[whole[0]["value"]] * 2, mode="lines", line=line, hovertemplate=words)
        )
    return traces


def _held_out(table: Table) -> str:
    return f"{plain(table.rows[0]['measure'])} on held-out data"


@figure()
def transfer_lines(table: Table) -> PlotlyFigure:
    """Show one line per family (or metric) over the groups of data, labeled at its end (nimah2023, Figure 1)."""
    line = "metric" if "metric" in table.columns else "family"
    across = "group" if "group" in table.columns else "data"
    groups = [str(group) for group in distinct(table, across)]
    by_key = grouped((row for row in table if there(row["value"])), line)
    last = {name: rows[-1]["value"] for name, rows in by_key.items()}
    values = [row["value"] for rows in by_key.values() for row in rows]
    height = 150 + max(300, 26 * len(by_key))
    places = apart(last, ((max(values, default=1) - min(values, default=0)) or 1.0) * 22 / (height - 110))
    drawn = PlotlyFigure()
    for k, (name, rows) in enumerate(by_key.items()):
        ink = COLORS[k % len(COLORS)]
        x, y = [str(row[across]) for row in rows], [row["value"] for row in rows]
        drawn.add_trace(curve(x, y, ink, name, sign=SIGNS[k % len(SIGNS)]))
        words = f"{plain(name)} {number(last[name])}"
        at_end(drawn, x[-1], places[name], words, ink, xshift=12, font={"color": ink, "size": 12}, name=LABEL)
    framed(drawn, height, margin={"l": 10, "r": 60 + 7 * max(map(len, by_key), default=0), "t": 30, "b": 50})
    drawn.update_xaxes(type="category", categoryorder="array", categoryarray=groups, range=[-0.2, len(groups) - 0.8])
    return drawn.update_yaxes(
        title="correlation with human ratings", zeroline=True, zerolinecolor=QUIET, gridcolor=GRID
    )
