"""Heat maps: metrics × measures, metrics × parts, significance matrices, and rank agreement."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlgauge.number import interval, number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import (
    DIVERGING,
    GROUPINGS,
    LETTERS,
    QUIET,
    distinct,
    ends,
    framed,
    heat,
    in_words,
    panels,
    plain,
    there,
)
from nlgauge.report.figures.plotly_json import PlotlyFigure, heatmap
from nlgauge.stats.correlation.measure import Measure
from nlgauge.table import Layout, Row, Table

# From sure to unsure: dark blue below .001, white above .1.
STEPS = [(0.001, "#08519c"), (0.01, "#3182bd"), (0.05, "#9ecae1"), (0.1, "#deebf7"), (1.01, "#f7f7f7")]
WORDS = ["p < .001", "p < .01", "p < .05", "p < .1", "p ≥ .1"]
# Dark: the same order. Light: unrelated (.5). Orange: reversed.
NEARNESS = [[0, "#08306b"], [0.25, "#4292c6"], [0.5, "#f7f7f7"], [0.75, "#f1a340"], [1, "#b35806"]]
VERDICTS = {True: 1.0, False: -1.0, None: 0.0}
MAX_LABELED_COLUMNS = 16  # columns whose cells have room for a number


@figure("correlate", "ceiling", "split")
def heat_map(table: Table) -> PlotlyFigure:
    """Draw a table as it is printed, cells as colors; chance is white, intervals are in the tips.

    Parameters
    ----------
    table : Table

    Returns
    -------
    plotly figure
    """
    # Many parts are printed as a list, which is a table of colors all the same.
    layout = table.layout or Layout(("aspect", "metric"), "part", "value")
    at = {layout.place(row): row for row in table}
    lines, across = (list(dict.fromkeys(place[side] for place in at)) for side in (0, 1))
    cells = [[at.get((line, column), {}) for column in across] for line in lines]
    return heat(
        [[_color_value(row, layout.value) for row in each] for each in cells],
        [in_words(c) if "/" in str(c) else layout.head(c) for c in across],
        [layout.line_text(line) for line in lines],
        [[table.text(row, layout.value).partition(" ")[0] if row else "" for row in each] for each in cells]
        if len(across) <= MAX_LABELED_COLUMNS
        else None,
        top=None,
        customdata=[[_tip(row, layout.value) for row in each] for each in cells],
        hovertemplate="%{y}<br>%{x}: %{customdata}<extra></extra>",
    )


def _color_value(row: Row, column: str) -> float | None:
    """Return the number that sets the color: a pairwise accuracy is rescaled to -1 to 1, where chance is 0."""
    value, measure = row.get(column), str(row.get("measure", ""))
    if column != "value" or "/" not in measure or not there(value):
        return value
    return float(Measure.parse(measure).signed(np.asarray(value, np.float64)))


def _tip(row: Row, column: str) -> str:
    value = row.get(column)
    if value is None or not there(value):
        return ""
    return f"{value:.4f}{ends(row['low'], row['high']) if 'low' in row else ''}"


@figure("inter-metric")
def metric_map(table: Table) -> PlotlyFigure:
    """Show the correlation matrix of Figure 1: blue is positive, orange is negative; human ratings come first."""
    return square(distinct(table, "metric"), {(row["metric"], row["other"]): row["value"] for row in table})


@figure("inter-aspect")
def aspect_matrix(table: Table) -> PlotlyFigure:
    """Show the kappa of the levels of each pair of aspects."""
    names = list(dict.fromkeys(name for row in table for name in (row["first"], row["second"])))
    both = {(row[a], row[b]): row["kappa"] for row in table for a, b in (("first", "second"), ("second", "first"))}
    return square(names, both, decimals=3, colorbar={"title": "kappa", "thickness": 12})


@figure("measures")
def agreement_of_measures(table: Table) -> PlotlyFigure:
    """Show how similarly the measures rank the metrics, sorted by grouping."""
    names = sorted((row["measure"] for row in table), key=_place)
    taus = {(a, b): 1.0 if a == b else table.facts["agreement"][a].get(b) for a in names for b in names}
    drawn = square(
        names,
        taus,
        hovertemplate="%{y} and %{x}<br>τ = %{z:.3f}<extra></extra>",
        colorbar={"title": "τ", "thickness": 12},
    )
    labels = [in_words(name) for name in names]
    drawn.data[0].update(x=labels, y=labels)
    return drawn


def _place(measure: str) -> tuple[int, int, str]:
    grouping, _, coefficient = measure.partition("/")
    groupings, coefficients = list(GROUPINGS), list(LETTERS)
    rank = coefficients.index(coefficient) if coefficient in coefficients else len(coefficients)
    return groupings.index(grouping), rank, measure


@figure("complementarity")
def distance_matrix(table: Table) -> PlotlyFigure:
    """Show the distances of all aspects and metrics, human ratings first and separated by lines (Fig. 2)."""
    names, apart = [row["metric"] for row in table], table.facts["distance"]
    far = {(a, b): None if a == b else apart[a][b] for a in names for b in names}
    bar = {"thickness": 12, "tickvals": [0, 0.5, 1], "ticktext": ["0 same", "0.5", "1 reversed"]}
    drawn = square(
        names,
        far,
        decimals=3,
        low=0.0,
        colorscale=NEARNESS,
        colorbar=bar,
        hovertemplate="%{y}<br>%{x}: %{text}<extra></extra>",
    )
    people, last = sum(row["kind"] == "human" for row in table) - 0.5, len(names) - 0.5
    if -0.5 < people < last:
        line = {"color": QUIET, "width": 3}
        drawn.add_shape(type="line", x0=-0.5, x1=last, y0=people, y1=people, line=line)
        drawn.add_shape(type="line", x0=people, x1=people, y0=-0.5, y1=last, line=line)
    return drawn


def square(
    names: list[str], at: dict[tuple[str, str], Any], decimals: int = 2, low: float | None = None, **trace: Any
) -> PlotlyFigure:
    """Show a square matrix of names."""
    values = [[at.get((a, b)) for b in names] for a in names]
    texts = [[number(v, decimals, missing="") for v in each] for each in values]
    template = {} if len(names) <= MAX_LABELED_COLUMNS else {"texttemplate": ""}
    return heat(values, names, names, texts, low=low, **{**template, **trace})


@figure("compare-pairs")
def significance_matrix(table: Table) -> PlotlyFigure:
    """Show whether the row is better than the column; darker is more significant. Cells or tooltips show corrected
    p-values.
    """
    names = by_wins(table)
    p = {(row["better"], row["worse"]): row["p_corrected"] for row in table}
    texts = [[number(p.get((a, b)), missing="") for b in names] for a in names]
    scale = [[edge, c] for i, (_, c) in enumerate(STEPS) for edge in (i / len(STEPS), (i + 1) / len(STEPS))]
    return heat(
        [[_step(p.get((a, b))) for b in names] for a in names],
        names,
        names,
        texts,
        top=len(STEPS),
        low=0,
        colorscale=scale,
        texttemplate="%{text}" if len(names) <= MAX_LABELED_COLUMNS else "",
        hovertemplate="%{y} better than %{x}<br>p = %{text}<extra></extra>",
        colorbar={"tickvals": [i + 0.5 for i in range(len(STEPS))], "ticktext": WORDS, "thickness": 12},
    )


def by_wins(table: Table) -> list[str]:
    """Sort metrics by the number of metrics that they outperform."""
    wins = {name: 0 for row in table for name in (row["better"], row["worse"])}
    for row in table:
        wins[row["better"]] += 1
    return sorted(wins, key=lambda name: -wins[name])


def _step(p: float | None) -> float | None:
    return next(i for i, (edge, _) in enumerate(STEPS) if p < edge) + 0.5 if p is not None and there(p) else None


@figure("checklist")
def verdict_grid(table: Table) -> PlotlyFigure:
    """Show metrics × assessments with their values: blue passes, orange fails, white could not be assessed."""
    metrics, columns = distinct(table, "metric"), distinct(table, "assessment")
    at = {(row["metric"], row["assessment"]): row for row in table}
    cells = [[at[m, c] for c in columns] for m in metrics]
    inks = ["#f1a340", "#f7f7f7", "#67a9cf"]
    return heat(
        [[VERDICTS[row["passes"]] for row in line] for line in cells],
        columns,
        metrics,
        [[number(row["value"]) + (" ✓" if row["passes"] else "") for row in line] for line in cells],
        colorscale=[[edge, ink] for k, ink in enumerate(inks) for edge in (k / 3, (k + 1) / 3)],
        showscale=False,
        customdata=[[_verdict(row) for row in line] for line in cells],
        textfont={"color": "#1b1b1b"},
        hovertemplate="%{y}, %{x}: %{text}<br>%{customdata}<extra></extra>",
    )


def _verdict(row: Row) -> str:
    if row["passes"] is None:
        return plain(row["reason"] or "human reference")
    human = f"; human {number(row['human'])}" if there(row["human"]) else ""
    return f"{'passes' if row['passes'] else 'does not pass'}{human}"


@figure("wins")
def win_matrices(table: Table, across: int = 4) -> PlotlyFigure:
    """Show win rates of rows over columns, and ties (=), by human ratings (left) and metrics (right). The color is wins
    minus losses, so that ties count for neither side. `across`: squares next to each other.
    """
    sides, names = distinct(table, "side")[:4], distinct(table, "first")
    shown = [plain(n) for n in names]
    tall = 150 + 34 * len(names)
    drawn, places = panels(sides, most=across, apart=90, tall=tall, horizontal_spacing=0.04)
    for side, at in zip(sides, places, strict=True):
        rows = {(row["first"], row["second"]): row for row in table if row["side"] == side}
        cells = [[rows[a, b] for b in names] for a in names]
        drawn.add_trace(
            heatmap(
                z=[[2 * r["value"] + r["tied"] - 1 if r["n"] else None for r in line] for line in cells],
                x=shown,
                y=shown,
                coloraxis="coloraxis",
                xgap=1,
                ygap=1,
                text=[[_win(r) for r in line] for line in cells],
                texttemplate="%{text}" if len(names) <= 8 else "",
                customdata=[[_win_tip(r) for r in line] for line in cells],
                hovertemplate="%{y} over %{x}<br>%{customdata}<extra>" + plain(side) + "</extra>",
            ),
            **at,
        )
    bar = {"title": "wins −<br>losses", "thickness": 12}
    framed(
        drawn,
        100 + tall * places[-1]["row"],
        margin={"l": 10, "r": 10, "t": 50, "b": 40},
        coloraxis={"colorscale": DIVERGING, "cmin": -1, "cmax": 1, "colorbar": bar},
    )
    drawn.update_xaxes(tickangle=-50, type="category", showgrid=False, dtick=1)
    return drawn.update_yaxes(autorange="reversed", type="category", showgrid=False, dtick=1)


def _win(row: Row) -> str:
    """Return a cell with the win rate and, below it, the share of ties if there are any, as in `.62`."""
    if not row["n"]:
        return ""
    return number(row["value"], 2) + (f"<br>={number(row['tied'], 2)}" if row["tied"] else "")


def _win_tip(row: Row) -> str:
    if not row["n"]:
        return "never compared"
    return f"wins {number(row['value'])}, ties {number(row['tied'])} of {row['n']} comparisons"


@figure("robustness")
def robustness_map(table: Table) -> PlotlyFigure:
    """Show the share of score drops by metric and perturbation: blue if correct, orange if a false alarm, gray if
    unknown.
    """
    kinds, metrics = distinct(table, "perturbation"), distinct(table, "metric")
    at = {(row["metric"], row["perturbation"]): row for row in table}
    damaging = {row["perturbation"] for row in table if row["should"] == "fall"}
    # Blanks between the perturbations that should cost something and those that should not.
    columns = [*(k for k in kinds if k in damaging), " ", *(k for k in kinds if k not in damaging)]
    cells = [[at.get((metric, kind), {}) for kind in columns] for metric in metrics]
    signs = {"fall": 1.0, "stay": -1.0, "not fall": -1.0}
    return heat(
        [[signs.get(row["should"], 0.0) * row["falls"] if row else None for row in line] for line in cells],
        columns,
        metrics,
        [[number(row["falls"], 2, missing="") if row else "" for row in line] for line in cells],
        customdata=[[_fall_tip(row) for row in line] for line in cells],
        hovertemplate="%{y}, %{x}<br>%{customdata}<extra></extra>",
        hoverongaps=False,
        colorbar={
            "tickvals": [-1, 0, 1],
            "ticktext": ["false alarms", "does not fall", "damage noticed"],
            "thickness": 12,
        },
    )


def _fall_tip(row: Row) -> str:
    if not row or not there(row["falls"]):
        return "no pairs" if row else ""
    should = f"should {row['should']}" if row["should"] != "open" else "nothing can be expected"
    falls = interval(row["falls"], row["falls_low"], row["falls_high"])
    change = interval(row["change"], row["change_low"], row["change_high"])
    moved = f"<br>mean change {change} SD" if there(row["change"]) else ""
    return (
        f"{should}<br>falls {falls}, ties {number(row['ties'])}, rises {number(row['rises'])} of "
        f"{row['pairs']} pairs{moved}"
    )
