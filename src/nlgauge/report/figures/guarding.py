"""Biases of a judge next to the effects in human ratings, and how a change is split between judge and data."""

from __future__ import annotations

from itertools import compress
from typing import Any

from nlgauge.analyses.judges.bias import FOUND, ONE_SIDED, check_name
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, COLORS, LEGEND, QUIET, cut, framed, marks, there
from nlgauge.report.figures.plotly_json import Figure
from nlgauge.table import Row, Table, grouped

MAX_LINES = 40  # of a figure
PARTS = {
    "total": "all scores", "judge_shift": "the judge", "data_shift": "the data", "spread": "its spread",
    "judge_shift_all_looks": "the judge, all looks", "agreement": "agreement",
}  # fmt: skip
NEVER = ("leniency", "spread")  # in points: another scale than effects in SDs


@figure("bias")
def bias_forest(table: Table) -> Figure | None:
    """One line per judge, aspect and check: effects in judge and human ratings, and the bias with its interval."""
    rows = [row for row in table if there(row["value"]) and not _on_the_side_not_asked(row)][:MAX_LINES]
    if not rows:
        return None
    judges = list(grouped(rows, "judge_name"))
    lines = [_line(row, len(judges) > 1) for row in rows]
    drawn = Figure()
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
def shift_split(table: Table) -> Figure | None:
    """One line per judge and part of the change: the judge's, the data's, spread and agreement, with intervals."""
    rows = [row for row in table if there(row["value"])][:MAX_LINES]
    if not rows:
        return None
    lines = [f"{cut(row['metric'], 22)}<br>{PARTS[row['measure']]}" for row in rows]
    drawn = Figure()
    for name, said, ink in (
        ("found", FOUND, COLORS[1]),
        ("not found", "not found", ACCENT),
        ("not tested", None, QUIET),
    ):
        drawn.add_trace(_with_ends(rows, lines, [row["verdict"] == said for row in rows], name, ink))
    return _framed(drawn, lines, "new less old, in points (agreement: correlation or kappa)")


def _on_the_side_not_asked(row: Row) -> bool:
    """A judge that spreads its scores more than people do has no bias to the middle, however sure that is."""
    return bool(row["value"] * ONE_SIDED.get(row["measure"], row["value"]) < 0)


def _line(row: Row, several: bool) -> str:
    return f"{cut(row['judge_name'], 22)}<br>" * several + f"{cut(row['aspect'], 16)}: {check_name(row['measure'])}"


def _with_ends(rows: list[Row], lines: list[str], shown: list[bool], name: str, ink: str) -> Any:
    own = list(compress(rows, shown))
    return marks([row["value"] for row in own], list(compress(lines, shown)), ink, rows=own, name=name)


def _framed(drawn: Figure, lines: list[str], title: str) -> Figure:
    framed(drawn, 130 + (36 if "<br>" in lines[0] else 26) * max(2, len(lines)), **LEGEND)
    drawn.update_layout(margin={"l": 10, "r": 20, "t": 50, "b": 50})
    drawn.update_xaxes(title={"text": title, "font": {"size": 12}}, zeroline=True)
    drawn.update_yaxes(
        type="category", categoryorder="array", categoryarray=lines, range=[len(lines) - 0.5, -0.5], dtick=1
    )
    return drawn
