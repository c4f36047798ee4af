"""Published cells beside ours: difference, verdict, and the scoreboard over tables."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass

from nlgauge.errors import NlgaugeError
from nlgauge.studies import Key, Ours, Sources, Study
from nlgauge.table import Row, Table

EQUAL, WITHIN, DIFFERS, ABSENT = "equal", "within tolerance", "differs", "not computable"
VERDICTS = (EQUAL, WITHIN, DIFFERS, ABSENT)


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


def compare(study: Study, sources: Sources) -> Table:
    """Every published cell of the table beside ours."""
    names, cells = published(study)
    try:
        ours = study(sources)
    except NlgaugeError as error:  # the data or an extra are not at hand: the whole table says so
        ours = Ours({}, {(): str(error)})
    rows: list[Row] = []
    for cell in cells:
        value = ours.values.get(cell.key)
        found = verdict(cell, value, study.tolerance)
        off = math.nan if value is None else value - cell.value
        rows.append(
            {**dict(zip(names, cell.key, strict=True)), "printed": cell.text, "ours": math.nan if value is None else value,
             "difference": off, "verdict": found, "reason": "" if found in (EQUAL, WITHIN) else ours.reason(cell.key)}
        )  # fmt: skip
    return Table(
        title=f"Paper {study.paper}, Table {study.table}: {study.title}",
        rows=rows,
        method=f"equal: rounds to what the paper prints; within tolerance: at most {study.tolerance:g} off; "
        "reasons are words, they change no verdict.",
        notes=[count(rows), *ours.notes],
        kind="reproduce",
    )


def count(rows: Iterable[Row]) -> str:
    """`378 cells: 370 equal, 8 within tolerance`"""
    found = [row["verdict"] for row in rows]
    return f"{len(found)} cells: " + ", ".join(f"{found.count(v)} {v}" for v in VERDICTS if v in found)


def scoreboard(compared: Iterable[tuple[Study, Table]]) -> Table:
    """One line a table: cells compared, equal, within tolerance, different, not computable, and the main reason."""
    rows: list[Row] = []
    for study, table in compared:
        found = [row["verdict"] for row in table.rows]
        words = [row["reason"] for row in table.rows if row["reason"]]
        rows.append(
            {"paper": study.paper, "table": study.table, "what": study.title, "cells": len(found),
             **{v: found.count(v) for v in VERDICTS},
             "why": max(set(words), key=lambda w: (words.count(w), w)) if words else ""}
        )  # fmt: skip
    return Table(
        title="The five papers, recomputed",
        rows=rows,
        method="each published cell beside ours; `nlgauge reproduce PAPER TABLE` shows the cells of one table.",
        kind="scoreboard",
    )
