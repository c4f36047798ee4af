"""Figures 3 to 7 of deng2021: bars of published and recomputed correlations, and accuracy of the alignment against
correlation; and the general picture of a recomputed table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import LEGEND, QUIET, framed, key, panels, plain
from nlgauge.report.figures.plotly_json import PlotlyFigure, bar, scatter
from nlgauge.table import Row, Table

# As in the paper. Figures 3, 4 and 6 part metrics by their need of references, Figure 5 by what they match.
KINDS = {
    "like references": "#0072B2",
    "no references": "#CC79A7",
    "matches words": "#0072B2",
    "matches embeddings": "#CC79A7",
    "information alignment": "#D55E00",
}
WORDS = ("BLEU", "ROUGE", "METEOR", "ChrF")
FREE = ("SummaQA", "BLANC", "SUPERT", "FactCC", "QAGS", "FED", "USR", "Response Length", "Word Length")
ALIGNED = ("Ours", "Align", "Engagingness", "Groundedness")
VERDICTS = {
    "matches": ("#0072B2", "circle"), "within tolerance": ("#56B4E9", "square"), "differs": ("#D55E00", "x"),
    "equal with a rater chosen to match": ("#0072B2", "circle-open"), "claim holds": ("#0072B2", "triangle-up"),
    "claim has exceptions": ("#D55E00", "triangle-down"), "equal with the paper's slip": ("#009E73", "circle-open"),
    "other weights": (QUIET, "diamond"), "fewer sets": (QUIET, "diamond-open"),
}  # fmt: skip
PAIR = {"pearson": 1.0, "spearman": 0.45}  # opacity: dark and light, as in the paper
BOTH, ALONE = 0.38, 0.7  # widths of bars
CURVES = {"pearson": ("#D55E00", "circle", "solid"), "spearman": ("#0072B2", "square", "dash")}


def kind_of(metric: str) -> str:
    """Return the color of a metric of deng2021."""
    if metric.startswith(ALIGNED):
        return "information alignment"
    return "no references" if metric.startswith(FREE) else "like references"


def match_of(metric: str) -> str:
    """Return the colors of Figure 5, in which output and input are compared because there are no references.

    >>> match_of("BLEU"), match_of("BLEURT"), match_of("Ours (D)")
    ('matches words', 'matches embeddings', 'information alignment')
    """
    if metric.startswith(ALIGNED):
        return "information alignment"
    return "matches words" if metric.startswith(WORDS) and metric != "BLEURT" else "matches embeddings"


@figure()
def alignment_bars(
    *tables: Table, titles: Sequence[str] = (), leave: Sequence[str] = (), kind: Callable[[str], str] = kind_of
) -> PlotlyFigure:
    """Show published correlations as bars (dark: Pearson, light: Spearman) and recomputed ones as diamonds.

    Takes the tables that `nlgauge reproduce deng2021 D.1` prints. `leave` names panels to leave out, such as CNN/DM of
    Table D.4. `kind`: which color a metric has.
    """
    sets = [(name, rows) for table in tables for name, rows in _sets(table) if name not in leave]
    figure, places = panels(list(titles) or [name for name, _ in sets], apart=200)
    for at, (_, rows) in zip(places, sets, strict=True):
        names = sorted({r["metric"] for r in rows}, key=lambda m: _order(m, rows, kind))
        for trace in [*_bars(rows, names, kind), _diamonds(rows, names)]:
            figure.add_trace(trace, **at)
        figure.update_xaxes(
            tickvals=list(range(len(names))), ticktext=[_shown(n) for n in names], range=[-0.7, len(names) - 0.3], **at
        )
    framed(figure, 180 + 330 * places[-1]["row"], barmode="overlay", margin={"l": 10, "r": 10, "t": 60, "b": 160})
    figure.update_xaxes(tickangle=-55, showgrid=False, zeroline=False, tickfont={"size": 11})
    figure.update_yaxes(title="correlation with human ratings", col=1)
    there = {kind(r["metric"]) for _, rows in sets for r in rows}
    words = [f"<span style='color:{c}'>■ {k}</span>" for k, c in KINDS.items() if k in there]
    # Short lines, for narrow pictures.
    lines = ["  ".join(words[:2]), *words[2:], "as printed: full r, pale ρ  ◆ r of NLGauge"]
    return key(figure, "<br>".join(lines), 26, top=True, align="left").update_layout(margin={"t": 70 + 15 * len(lines)})


def _sets(table: Table) -> list[tuple[str, list[Row]]]:
    """Return the rows of single outputs (`sample`), by data set if the table has several."""
    rows = [r for r in table if r.get("level", "sample") == "sample" and r.get("coefficient") in PAIR]
    several = list(dict.fromkeys(r["set"] for r in rows)) if rows and "set" in rows[0] else []
    if not several:
        return [(table.title, rows)]
    return [(name, [r for r in rows if r["set"] == name]) for name in several]


def _shown(metric: str) -> str:
    """Return the printed name of a metric; `Ours` in the paper means its own metric."""
    return plain(metric.replace("Ours (", "CTC ("))


def _order(metric: str, rows: Sequence[Row], kind: Callable[[str], str]) -> tuple[int, int]:
    return list(KINDS).index(kind(metric)), next(i for i, r in enumerate(rows) if r["metric"] == metric)


def _bars(rows: Sequence[Row], names: Sequence[str], kind: Callable[[str], str]) -> list[Any]:
    """Draw two narrow bars next to each other; `offset` sets their positions."""
    both = _both(rows)
    width = BOTH if both else ALONE
    bars = []
    for coefficient, opacity in PAIR.items():
        own_rows = [r for r in rows if r["coefficient"] == coefficient]
        if not own_rows:
            continue
        start = -width / 2 if not both else (-width if coefficient == "pearson" else 0.0)
        bars.append(
            bar(
                x=[names.index(r["metric"]) for r in own_rows],
                y=[float(str(r["printed"]).replace("−", "-")) for r in own_rows],
                text=[_shown(r["metric"]) for r in own_rows],
                textposition="none",
                width=width,
                offset=start,
                name=f"{coefficient}, printed",
                marker={"color": [KINDS[kind(r["metric"])] for r in own_rows], "opacity": opacity},
                hovertemplate=f"%{{text}}: {coefficient} %{{y:.4f}} in the paper<extra></extra>",
            )
        )
    return bars


def _both(rows: Sequence[Row]) -> bool:
    return len({r["coefficient"] for r in rows}) > 1


def _diamonds(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Draw diamonds at the center of the Pearson bars."""
    own_rows = [r for r in rows if r["coefficient"] == "pearson" and not math.isnan(r["ours"])]
    left = BOTH / 2 if _both(rows) else 0.0
    return scatter(
        x=[names.index(r["metric"]) - left for r in own_rows],
        y=[r["ours"] for r in own_rows],
        mode="markers",
        name="NLGauge",
        text=[_shown(r["metric"]) for r in own_rows],
        marker={"symbol": "diamond", "size": 8, "color": "#1b1b1b", "line": {"color": "white", "width": 1}},
        customdata=[r["verdict"] for r in own_rows],
        hovertemplate="%{text}: %{y:.4f} here (%{customdata})<extra></extra>",
    )


@figure("alignment-accuracy")
def accuracy_curves(table: Table) -> PlotlyFigure:
    """Show the accuracy of the alignment against the metric's correlation, one panel per task (Figure 7).

    Rows: task, accuracy, pearson, spearman and, where it helps, label (what the model was).
    """
    tasks = list(dict.fromkeys(str(row["task"]) for row in table))
    figure, places = panels(
        tasks, most=3 if len(tasks) < 4 else 2, apart=100, horizontal_spacing=0.12, shared_yaxes=False
    )
    for at, task in zip(places, tasks, strict=True):
        rows = sorted((r for r in table if str(r["task"]) == task), key=lambda r: r["accuracy"])
        for name, (color, sign, dash) in CURVES.items():
            figure.add_trace(
                scatter(
                    x=[r["accuracy"] for r in rows],
                    y=[r[name] for r in rows],
                    mode="lines+markers",
                    name=name,
                    legendgroup=name,
                    showlegend=at == places[0],
                    line={"color": color, "dash": dash},
                    marker={"symbol": sign, "size": 9},
                    cliponaxis=False,
                    customdata=[plain(r.get("label", "")) for r in rows],
                    hovertemplate="%{customdata} accuracy %{x:.3f}: %{y:.3f}<extra></extra>",
                ),
                **at,
            )
    height = 80 + 340 * places[-1]["row"]
    above = {"orientation": "h", "x": 0, "y": 1 + 40 / height, "yanchor": "bottom"}
    framed(figure, height, margin={"l": 10, "r": 30, "t": 90, "b": 50}, showlegend=True, legend=above)
    figure.update_xaxes(title="accuracy of the alignment")
    figure.update_yaxes(title="correlation with human ratings", col=1)
    return figure


@figure("reproduce")
def printed_and_ours(table: Table) -> PlotlyFigure:
    """Show each cell as a point: published value (horizontal) and recomputed value (vertical); equal ones lie on the
    line.
    """
    said = "stated" if "stated" in table.columns else "printed"  # a claim, or a cell
    keys = table.columns[: table.columns.index(said)]
    rows = [(float(str(r[said]).replace("−", "-").replace(",", "")), r) for r in table if not math.isnan(r["ours"])]
    figure = PlotlyFigure()
    ends = [v for printed, r in rows for v in (printed, r["ours"])]
    if ends:
        low, high = min(ends), max(ends)
        figure.add_shape(type="line", x0=low, y0=low, x1=high, y1=high, line={"color": QUIET, "dash": "dot"})
    for verdict, (color, sign) in VERDICTS.items():
        own_rows = [(printed, r) for printed, r in rows if r["verdict"] == verdict]
        if own_rows:
            figure.add_trace(
                scatter(
                    x=[printed for printed, _ in own_rows],
                    y=[r["ours"] for _, r in own_rows],
                    mode="markers",
                    name=f"{verdict} ({len(own_rows)})",
                    marker={"color": color, "symbol": sign, "size": 9, "opacity": 0.85},
                    text=[plain(", ".join(str(r[k]) for k in keys)) for _, r in own_rows],
                    customdata=[number(r["difference"]) for _, r in own_rows],
                    hovertemplate=f"%{{text}}<br>{said} %{{x}}, ours %{{y:.4f}} (%{{customdata}})<extra></extra>",
                )
            )
    framed(figure, 480, **LEGEND)
    figure.update_xaxes(title="as the paper prints it" if said == "printed" else "statements of the paper")
    figure.update_yaxes(title="NLGauge")
    return figure
