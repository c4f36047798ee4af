"""Dots with intervals, names down the side: verdicts, biases and drift of judges, estimates, strengths of systems."""

from __future__ import annotations

import math
from itertools import compress, pairwise
from typing import Any

from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.judges.bias import FOUND, ONE_SIDED, check_name
from nlgauge.number import percent
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import (
    ACCENT,
    COLORS,
    LEGEND,
    QUIET,
    SIGNS,
    cut,
    distinct,
    framed,
    key,
    lanes,
    marks,
    plain,
    there,
    upright,
)
from nlgauge.report.figures.plotly_json import PlotlyFigure
from nlgauge.table import Row, Table, grouped

SHARES = {
    "fail_recall": "recall on failures<br>(TNR)",
    "pass_recall": "recall on passes<br>(TPR)",
    "fail_precision": "precision on failures<br>(NPV)",
    "pass_precision": "precision on passes<br>(PPV)",
    "agreement": "accuracy",
    "human_agreement": "agreement of<br>two annotators",
}
INKS = (ACCENT, "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # one per judge; human agreement is grey


@figure("verdicts")
def share_dots(table: Table) -> PlotlyFigure:
    """Show one row per share, with a dot and an interval per judge; the dotted line is the majority-class baseline."""
    judges = list(dict.fromkeys(r["metric"] for r in table if r["measure"] == "agreement"))
    shown = [m for m in SHARES if any(r["measure"] == m and not math.isnan(r["value"]) for r in table)]
    drawn = PlotlyFigure()
    for k, name in enumerate([*judges, "human"]):
        rows = [r for r in table if r["metric"] == name and r["measure"] in SHARES and not math.isnan(r["value"])]
        if rows:
            ink = QUIET if k == len(judges) else INKS[k % len(INKS)]
            shift = 0 if len(judges) == 1 or k == len(judges) else 0.5 * (k / (len(judges) - 1) - 0.5)
            who = plain("humans" if name == "human" else name)
            x, y = [r["value"] for r in rows], [shown.index(r["measure"]) + shift for r in rows]
            tips = [f"{who}: {r['value']:.0%} of {r['n']:,}" for r in rows]
            drawn.add_trace(marks(x, y, ink, rows=rows, texts=tips, name=who, marker={"size": 11}))
    common = [r["value"] for r in table if r["measure"] in ("always_pass", "always_fail")]
    lines = [upright(max(common))] if common else []
    framed(drawn, 110 + 52 * len(shown), margin={"l": 10, "r": 20, "t": 20, "b": 70}, shapes=lines)
    drawn.update_layout(showlegend=len(judges) > 1, legend={"orientation": "h", "y": 1.12})
    lanes(drawn, [SHARES[m] for m in shown])
    drawn.update_xaxes(range=[-0.02, 1.02])
    return key(drawn, "dotted: always giving the more common verdict", -36)


MAX_LINES = 40  # of a figure
SHIFTS = {
    "total": "all scores", "judge_shift": "the judge", "data_shift": "the data", "spread": "its spread",
    "judge_shift_all_looks": "the judge, all looks", "agreement": "agreement",
}  # fmt: skip
NEVER = ("leniency", "spread")  # in points: another scale than effects in SDs


@figure("bias")
def bias_forest(table: Table) -> PlotlyFigure | None:
    """Show the effects on judge scores and on human ratings, and the bias with its interval, per judge, aspect and
    check.
    """
    rows = [row for row in table if there(row["value"]) and not _on_the_side_not_asked(row)][:MAX_LINES]
    if not rows:
        return None
    judges = list(grouped(rows, "judge_name"))
    lines = [_line(row, len(judges) > 1) for row in rows]
    drawn = PlotlyFigure()
    for name, column, ink, sign in (
        ("human ratings", "human", QUIET, "diamond-open"),
        ("judge", "judge", COLORS[4], "circle-open"),
    ):
        shown = [
            (row, line)
            for row, line in zip(rows, lines, strict=True)
            if there(row[column]) and row["measure"] not in NEVER
        ]
        x, marker = [row[column] for row, _ in shown], {"symbol": sign, "size": 9, "line": {"width": 2}}
        drawn.add_trace(marks(x, [line for _, line in shown], ink, name=name, marker=marker))
    for name, found, ink in (("bias, found", True, COLORS[1]), ("bias, not found", False, ACCENT)):
        drawn.add_trace(_with_ends(rows, lines, [(row["verdict"] == FOUND) == found for row in rows], name, ink))
    return _framed(drawn, lines, "judge − human, in the unit of the check (leniency and spread: points)")


@figure("drift")
def shift_split(table: Table) -> PlotlyFigure | None:
    """Show the parts of a change with intervals: those of the judge and of the data, spread, and agreement."""
    rows = [row for row in table if there(row["value"])][:MAX_LINES]
    if not rows:
        return None
    lines = [f"{cut(row['metric'], 22)}<br>{SHIFTS[row['measure']]}" for row in rows]
    drawn = PlotlyFigure()
    for name, said, ink in (
        ("found", FOUND, COLORS[1]),
        ("not found", "not found", ACCENT),
        ("not tested", None, QUIET),
    ):
        drawn.add_trace(_with_ends(rows, lines, [row["verdict"] == said for row in rows], name, ink))
    return _framed(drawn, lines, "new less old, in points (agreement: correlation or kappa)")


def _on_the_side_not_asked(row: Row) -> bool:
    """Return whether the effect is on the untested side: a wider range than annotators is no central tendency."""
    return bool(row["value"] * ONE_SIDED.get(row["measure"], row["value"]) < 0)


def _line(row: Row, several: bool) -> str:
    return f"{cut(row['judge_name'], 22)}<br>" * several + f"{cut(row['aspect'], 16)}: {check_name(row['measure'])}"


def _with_ends(rows: list[Row], lines: list[str], shown: list[bool], name: str, ink: str) -> Any:
    own = list(compress(rows, shown))
    return marks([row["value"] for row in own], list(compress(lines, shown)), ink, rows=own, name=name)


def _framed(drawn: PlotlyFigure, lines: list[str], title: str) -> PlotlyFigure:
    framed(drawn, 130 + (36 if "<br>" in lines[0] else 26) * max(2, len(lines)), **LEGEND)
    drawn.update_layout(margin={"l": 10, "r": 20, "t": 50, "b": 50})
    drawn.update_xaxes(title={"text": title, "font": {"size": 12}}, zeroline=True)
    drawn.update_yaxes(
        type="category", categoryorder="array", categoryarray=lines, range=[len(lines) - 0.5, -0.5], dtick=1
    )
    return drawn


# Color and sign both tell the estimator.
ESTIMATORS = {
    "ppi_plus": ("with the judge (PPI++)", ACCENT, "circle"),
    "labels_only": ("labels only", QUIET, "square"),
    "judge_only": ("judge only: no estimate", COLORS[1], "x-thin-open"),
}
APART = 0.25  # between the dots of one system


@figure("estimate")
def estimate_dots(table: Table) -> PlotlyFigure | None:
    """Show one row per system, with a dot and an interval per estimator; a cross is the uncorrected judge mean."""
    kinds = [m for m in ESTIMATORS if any(r["measure"] == m for r in table)]
    if not kinds:
        return None
    systems = distinct(table, "system")
    drawn = PlotlyFigure()
    for k, measure in enumerate(kinds):
        words, ink, sign = ESTIMATORS[measure]
        rows = [r for r in table if r["measure"] == measure and not math.isnan(r["value"])]
        x = [r["value"] for r in rows]
        y = [systems.index(r["system"]) + APART * (k - 0.5 * (len(kinds) - 1)) for r in rows]
        texts = [plain(f"{r['system']}, {words}") for r in rows]
        tip = "%{text}: %{x}<extra></extra>"
        marker = {"size": 11, "symbol": sign, "line": {"color": ink, "width": 3}}
        drawn.add_trace(marks(x, y, ink, rows=rows, texts=texts, name=words, marker=marker, hovertemplate=tip))
    framed(drawn, 130 + 64 * len(systems), margin={"l": 10, "r": 20, "t": 60, "b": 50})
    drawn.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    lanes(drawn, [plain(cut(s)) for s in systems])
    title = "share that passes" if table.facts["share"] else "mean human rating"
    drawn.update_xaxes(title=title, **({"tickformat": ".0%"} if table.facts["share"] else {}))
    return drawn


@figure("rank")
def strength_dots(table: Table) -> PlotlyFigure:
    """Show each system's win probability against an average one, best by human votes on top; lines separate tiers."""
    sides, names = distinct(table, "side")[:7], distinct(table, "system")
    place = {name: k for k, name in enumerate(names)}
    drawn = PlotlyFigure()
    for k, side in enumerate(sides):
        rows = [
            {**r, "value": 100 * r["win_chance"], "low": 100 * r["win_low"], "high": 100 * r["win_high"]}
            for r in table
            if r["side"] == side
        ]
        shift = 0.5 * ((k + 0.5) / len(sides) - 0.5)
        tips = [
            f"{plain(r['system'])}: {percent(r['value'] / 100)}"
            + (f" [{r['low']:.0f}, {r['high']:.0f}]" if there(r["low"]) else "")
            + f", {r['wins']} wins, {r['ties']} ties, {r['losses']} losses"
            for r in rows
        ]
        x, y = [r["value"] for r in rows], [place[r["system"]] + shift for r in rows]
        name, marker = "human" if side == HUMAN else plain(side), {"symbol": SIGNS[k], "size": 9}
        drawn.add_trace(marks(x, y, COLORS[k], rows=rows, texts=tips, name=name, marker=marker))
    first = [r for r in table if r["side"] == sides[0] and r["group"] == 1]
    for above, below in pairwise(first):
        if above["tier"] != below["tier"]:
            drawn.add_hline(y=place[below["system"]] - 0.5, line={"width": 1, "dash": "dot", "color": "#888888"})
    framed(
        drawn,
        120 + 30 * len(names),
        showlegend=len(sides) > 1,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        xaxis={"title": "chance to beat an average other system, % (a tie is half)"},
    )
    lanes(drawn, [cut(n) for n in names])
    drawn.add_vline(x=50, line={"width": 1, "color": "#888888"})
    return drawn
