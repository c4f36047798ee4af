"""Published cells beside ours: difference, verdict, and the scoreboard over tables."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from nlgauge.errors import NlgaugeError
from nlgauge.studies import Key, Ours, Sources, Study
from nlgauge.table import Cell, Row, Table

EQUAL, WITHIN, DIFFERS, ABSENT = "equal", "within tolerance", "differs", "not computable"
OTHER = "not judged"
VERDICTS = (EQUAL, WITHIN, DIFFERS, OTHER, ABSENT)
JUDGED = (EQUAL, WITHIN, DIFFERS)


@dataclass
class Narrow(Table):
    """A table for narrow terminals: `joined` columns stand in one, `heads` gives shorter headings. The rows stay as they are."""

    joined: list[str] = field(default_factory=list)
    heads: dict[str, str] = field(default_factory=dict)

    def grid(self) -> tuple[list[str], list[list[Cell]]]:
        header, body = super().grid()
        n = len(self.joined)
        if n > 1:
            header = ["cell", *header[n:]]
            body = [[Cell(", ".join(c.text for c in cells[:n])), *cells[n:]] for cells in body]
        return [self.heads.get(h, h) for h in header], body


@dataclass(frozen=True)
class Printed:
    """A cell as the paper prints it. `decimals` is its precision."""

    key: Key
    text: str
    mark: str = ""

    @property
    def value(self) -> float:
        return float(self.text.replace("−", "-").replace(",", ""))

    @property
    def decimals(self) -> int:
        return len(self.text.partition(".")[2])


def published(study: Study) -> tuple[list[str], list[Printed]]:
    """Names of the key columns, and the cells."""
    with study.published.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        names = [c for c in reader.fieldnames or [] if c not in ("printed", "mark")]
        cells = [
            Printed(tuple(row[c] for c in names), row["printed"], row.get("mark") or "") for row in reader
        ]
    return names, cells


def verdict(printed: Printed, ours: float | None, tolerance: float) -> str:
    """`equal` when our value, rounded as the paper rounds, prints the same (a tie may go either way).

    >>> verdict(Printed(("a",), ".396"), 0.3957, 0.01)
    'equal'
    """
    if ours is None or math.isnan(ours):
        return ABSENT
    off = abs(ours - printed.value)
    if off <= 0.5 * 10**-printed.decimals + 1e-9:
        return EQUAL
    return WITHIN if off <= tolerance + 1e-9 else DIFFERS


def compare(study: Study, sources: Sources) -> Narrow:
    """Every published cell of the table beside ours."""
    names, cells = published(study)
    try:
        ours = study(sources)
    except NlgaugeError as error:  # the data or an extra are not at hand: the whole table says so
        ours = Ours({}, {(): str(error)})
    rows = [_row(names, cell, ours, study.tolerance) for cell in cells]
    keys = [n for n in names if len({row[n] for row in rows}) > 1] or names
    return Narrow(
        title=f"Paper {study.paper}, {study.label}: {study.title}",
        rows=rows,
        method=f"equal: rounds to what the paper prints; within tolerance: at most {study.tolerance:g} off; "
        "reasons are words, they change no verdict.",
        notes=[count(rows), *ours.notes, *_numbered(rows)],
        decimals=1 + max((cell.decimals for cell in cells), default=2),
        kind="reproduce",
        joined=keys,
        shown=[*keys, "printed", "ours", "difference", "verdict", *(["why"] if any(r["why"] for r in rows) else [])],
    )  # fmt: skip


def _row(names: Sequence[str], cell: Printed, ours: Ours, tolerance: float) -> Row:
    value = ours.values.get(cell.key, math.nan)
    found = verdict(cell, value, tolerance)
    if found != ABSENT and cell.key in ours.other:
        found = OTHER
    whole = cell.decimals == 0 and not math.isnan(value) and value == int(value)  # a count prints as one
    shown, off = (int(value), int(value - cell.value)) if whole else (value, value - cell.value)
    return {
        **dict(zip(names, cell.key, strict=True)), "printed": cell.text, "ours": shown, "difference": off, "verdict": found,
        "reason": "" if found in (EQUAL, WITHIN) else ours.reason(cell.key), "why": "",
    }  # fmt: skip


def _numbered(rows: list[Row]) -> list[str]:
    """Reasons below the table instead of beside each cell; the rows get their numbers."""
    reasons = list(dict.fromkeys(row["reason"] for row in rows if row["reason"]))
    for row in rows:
        row["why"] = f"[{reasons.index(row['reason']) + 1}]" if row["reason"] else ""
    return [f"[{i}] {reason}" for i, reason in enumerate(reasons, 1)]


def only(table: Narrow, wanted: Sequence[str]) -> Narrow:
    """The cells with these verdicts; the counts below stay those of the whole table."""
    rows = [row for row in table.rows if row["verdict"] in wanted]
    needed = {row["why"] for row in rows}
    notes = [n for n in table.notes if not n.startswith("[") or n.split(" ")[0] in needed]
    shown = [c for c in table.shown if c != "why" or needed - {""}]
    return replace(table, rows=rows, notes=notes, shown=shown)


def count(rows: Iterable[Row]) -> str:
    """`378 cells: 370 equal, 8 within tolerance`"""
    found = [row["verdict"] for row in rows]
    return f"{len(found)} cells: " + ", ".join(f"{found.count(v)} {v}" for v in VERDICTS if v in found)


def scoreboard(compared: Sequence[tuple[Study, Table]]) -> Table:
    """One line a table, then one a paper: cells compared, equal, within tolerance, different, not computable."""
    rows: list[Row] = []
    papers: dict[str, Counter[str]] = {}
    notes = []
    for study, table in compared:
        found = Counter(row["verdict"] for row in table.rows)
        papers.setdefault(study.paper, Counter()).update(found)
        why = "; ".join(dict.fromkeys(row["reason"] for row in table.rows if row["reason"]))
        rows.append(
            {"paper": study.paper, "table": study.name, "what": study.title, **_counts(found), "why": why}
        )
        if main := _main_reason(table.rows):
            notes.append(f"{study.name}: {main}")
    ordered: list[Row] = []
    for paper, found in papers.items():
        ordered += [row for row in rows if row["paper"] == paper]
        ordered.append({"paper": paper, "table": f"{paper} all", "what": "", **_counts(found), "why": ""})
    if len(papers) > 1:
        found = sum(papers.values(), Counter())
        ordered.append({"paper": "all", "table": "all", "what": "", **_counts(found), "why": ""})
    return Narrow(
        title="The papers, recomputed: cells of the published tables beside ours",
        rows=ordered,
        method=f"compared = equal + within tolerance + differs; absent: {ABSENT}; {OTHER}: ours has other weights, metrics or sets than the paper's and only stands beside. "
        "`nlgauge reproduce PAPER TABLE` shows the cells of one table.",
        notes=notes,
        kind="scoreboard",
        shown=["table", "compared", *VERDICTS],  # titles are in the list without arguments
        heads={WITHIN: "within", ABSENT: "absent"},
    )  # fmt: skip


def _counts(found: Counter[str]) -> Row:
    return {
        "cells": found.total(),
        "compared": sum(found[v] for v in JUDGED),
        **{v: found[v] for v in VERDICTS},
    }


def _main_reason(rows: Sequence[Row]) -> str:
    """What explains most of the cells that are not recomputed."""
    words = Counter(row["reason"] for row in rows if row["reason"])
    return "" if not words else max(words, key=lambda w: (words[w], w))
