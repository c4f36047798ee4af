"""Published cells compared with ours: difference, verdict, and the scoreboard over tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from nlgauge import NlgaugeError, Table
from nlgauge.plugins import Cell, Row
from nlgauge_papers import (
    Difference,
    Key,
    LeftOut,
    NeedsDownload,
    NeedsWeights,
    NeverPublished,
    Ours,
    Sources,
    Study,
    published_rows,
    why_absent,
)
from nlgauge_papers.ledger import DIFFERS, JUDGED, NEVER, WEIGHTS, WITHIN, ledger_row, tiers
from nlgauge_papers.ledger import DOWNLOAD as ELSEWHERE
from nlgauge_papers.ledger import ERROR as SLIP
from nlgauge_papers.ledger import LEFT_OUT as LEFT
from nlgauge_papers.ledger import MATCHES as EQUAL
from nlgauge_papers.ledger import NOTHING as ABSENT

CHOSEN = "matches with an annotator chosen to match"
HOLDS, EXCEPTIONS = "claim holds", "claim has exceptions"
OTHER, FEWER = get_args(Difference)
RUNS_A_MODEL = LeftOut("runs a model; --no-slow leaves it out")
MISSING = {NeverPublished: NEVER, NeedsDownload: ELSEWHERE, NeedsWeights: WEIGHTS, LeftOut: LEFT}
VERDICTS = (*JUDGED, CHOSEN, HOLDS, EXCEPTIONS, OTHER, FEWER, WEIGHTS, ELSEWHERE, NEVER, LEFT, ABSENT)
HEADS = {
    WITHIN: "within",
    SLIP: "paper's error",
    CHOSEN: "chosen annotator",
    HOLDS: "claims hold",
    EXCEPTIONS: "claims fail",
    ELSEWHERE: "needs download",
    ABSENT: "no value",
}
WITH_SLIP = "ours with the error"


@dataclass
class Narrow(Table):
    """Layout of a table for narrow terminals: `joined` columns share one, `heads` are shorter. Rows do not change."""

    joined: list[str] = field(default_factory=list)
    heads: dict[str, str] = field(default_factory=dict)
    ledger: list[Row] = field(default_factory=list)

    @property
    def csv_rows(self) -> list[Row]:
        """Return the rows of the CSV file: the printed cells of all tables in one format."""
        return self.ledger

    def grid(self, counted: bool = True) -> tuple[list[str], list[list[Cell]]]:
        """Return header and cells with the joined columns in one."""
        header, body = super().grid()
        n = len(self.joined)
        if n > 1:
            header = ["cell", *header[n:]]
            body = [[Cell(", ".join(c.text for c in cells[:n])), *cells[n:]] for cells in body]
        return [self.heads.get(h, h) for h in header], body


@dataclass(frozen=True)
class Printed:
    """A cell as the paper prints it, or a claim and its number of statements; `line`: its line in the file."""

    key: Key
    text: str
    mark: str = ""
    line: int = 0

    @property
    def value(self) -> float:
        """Return the printed text as a number; the minus sign may be a dash."""
        return float(self.text.replace("−", "-").replace(",", ""))

    @property
    def decimals(self) -> int:
        """Return how many decimals the paper prints."""
        return len(self.text.partition(".")[2])


def published(study: Study) -> tuple[list[str], list[Printed]]:
    """Return the names of the key columns, and the cells."""
    rows = published_rows(study.paper, study.table)
    names = [c for c in rows[0] if c not in ("printed", "stated", "mark")]
    column = "stated" if study.claims else "printed"
    return names, [
        Printed(tuple(row[c] for c in names), row[column], row.get("mark") or "", line)
        for line, row in enumerate(rows, 2)  # the first line holds the names of the columns
    ]


def verdict(printed: Printed, ours: float | None, tolerance: float) -> str:
    """Return `matches` when our value, rounded to the decimals of the paper, equals the printed one (ties either way).

    >>> verdict(Printed(("a",), ".396"), 0.3957, 0.01)
    'matches'
    """
    if ours is None or math.isnan(ours):
        return ABSENT
    off = abs(ours - printed.value)
    if off <= 0.5 * 10**-printed.decimals + 1e-9:
        return EQUAL
    return WITHIN if off <= tolerance + 1e-9 else DIFFERS


def compare(study: Study, sources: Sources) -> Narrow:
    """Compare every published cell of a table with ours."""
    names, cells = published(study)
    if study.slow and not sources.slow:
        ours = Ours({}, {(): RUNS_A_MODEL})
    else:
        try:
            ours = study(sources)
        except NlgaugeError as error:  # the data or an extra are missing: every cell of the table says so
            ours = Ours({}, {(): why_absent(error)})
    if ours.slips:
        ours = replace(ours, additional={**ours.additional, WITH_SLIP: ours.slips})
    rows = [_row(study, names, cell, ours) for cell in cells]
    keys = [n for n in names if len({row[n] for row in rows}) > 1] or names
    text = "stated" if study.claims else "printed"
    return Narrow(
        title=f"Paper {study.paper}, {study.label}: {study.title}",
        rows=rows,
        method="stated: statements into which we split what the paper says in words; it prints no such number. "
        "ours: how many hold."
        if study.claims
        else f"matches: rounds to what the paper prints; within tolerance: at most {study.tolerance:g} off; "
        + (f"{WITH_SLIP}: an error of the paper reproduced, the reason names it; " if ours.slips else "")
        + "a reason explains a verdict and never changes it.",
        notes=[count(rows, "claims" if study.claims else "cells"), *ours.notes, *_numbered(rows)],
        decimals=1 + max((cell.decimals for cell in cells), default=2),
        kind="reproduce",
        ledger=[ledger_row(study, c.key, c.text, c.line, row) for c, row in zip(cells, rows, strict=True)],
        joined=keys,
        shown=[
            *keys,
            text,
            "ours",
            "difference",
            *ours.additional,
            "verdict",
            *(["why"] if any(r["why"] for r in rows) else []),
        ],
    )


def _row(study: Study, names: Sequence[str], cell: Printed, ours: Ours) -> Row:
    value = ours.values.get(cell.key, math.nan)
    result = verdict(cell, value, study.tolerance)
    reason = ours.reason(cell.key, absent=result == ABSENT)
    if result == ABSENT:
        result = MISSING.get(type(reason), ABSENT)
    elif cell.key in ours.other:
        result = ours.other[cell.key]
    elif result != EQUAL and verdict(cell, ours.slips.get(cell.key), 0) == EQUAL:
        result = SLIP
    elif study.claims:
        result = HOLDS if result == EQUAL else EXCEPTIONS
    elif cell.key in ours.chosen and result == EQUAL:
        result = CHOSEN
    whole = cell.decimals == 0 and not math.isnan(value) and value == int(value)  # a count prints as one
    shown, off = (int(value), int(value - cell.value)) if whole else (value, value - cell.value)
    return {
        **dict(zip(names, cell.key, strict=True)),
        "stated" if study.claims else "printed": cell.text,
        "ours": shown,
        "difference": off,
        **{rule: values.get(cell.key, math.nan) for rule, values in ours.additional.items()},
        "verdict": result,
        "reason": "" if result in (EQUAL, WITHIN, HOLDS) else str(reason),
        "why": "",
    }


def _numbered(rows: list[Row]) -> list[str]:
    """Move reasons below the table instead of next to each cell; rows get their numbers."""
    reasons = list(dict.fromkeys(row["reason"] for row in rows if row["reason"]))
    for row in rows:
        row["why"] = f"[{reasons.index(row['reason']) + 1}]" if row["reason"] else ""
    return [f"[{i}] {reason}" for i, reason in enumerate(reasons, 1)]


def only(table: Narrow, wanted: Sequence[str]) -> Narrow:
    """Return the cells with these verdicts; the counts below stay those of the whole table."""
    rows = [row for row in table.rows if row["verdict"] in wanted]
    needed = {row["why"] for row in rows}
    gone = {row["why"] for row in table.rows} - needed - {""}
    notes = [note for note in table.notes if note.partition(" ")[0] not in gone]
    shown = [c for c in table.shown if c != "why" or needed - {""}]
    ledger = [row for row in table.ledger if row["verdict"] in wanted]
    return replace(table, rows=rows, notes=notes, shown=shown, ledger=ledger)


def count(rows: Iterable[Row], noun: str = "cells") -> str:
    """Return for example `378 cells: 370 equal, 8 within tolerance`."""
    results = [row["verdict"] for row in rows]
    return f"{len(results)} {noun}: " + ", ".join(f"{results.count(v)} {v}" for v in VERDICTS if v in results)


def scoreboard(compared: Sequence[tuple[Study, Narrow]], ledger: bool = True) -> Table:
    """Return one row per table, then one per paper: cells by verdict, and why cells were not compared.

    `ledger`: the scoreboard covers all tables, so it includes their cells.
    """

    rows: list[Row] = []
    papers: dict[str, Counter[str]] = {}
    notes = []
    for study, table in compared:
        result = Counter(row["verdict"] for row in table.rows)
        papers.setdefault(study.paper, Counter()).update(result)
        why = "; ".join(dict.fromkeys(row["reason"] for row in table.rows if row["reason"]))
        rows.append({"paper": study.paper, "table": study.name, "what": study.title, **_counts(result), "why": why})
        if main := _main_reason(table.rows):
            notes.append(f"{study.name}: {main}")
    ordered: list[Row] = []
    for paper, result in papers.items():
        ordered += [row for row in rows if row["paper"] == paper]
        ordered.append({"paper": paper, "table": paper, "what": "", **_counts(result), "why": ""})
    all_ = sum(papers.values(), Counter[str]())
    if len(papers) > 1:
        ordered.append({"paper": "all", "table": "all", "what": "", **_counts(all_), "why": ""})
    return Narrow(
        title="The five papers recomputed: cells of their tables compared with ours",
        rows=ordered,
        method="; ".join(MEANING[v] for v in ("compared", *VERDICTS) if v in MEANING and (v == "compared" or all_[v]))
        + ". `nlgauge reproduce PAPER TABLE` shows the cells of one table.",
        notes=[in_reach([row for _, table in compared for row in table.ledger]), *notes],
        kind="scoreboard",
        ledger=[row for _, table in compared for row in table.ledger] if ledger else [],
        # titles are in the list without arguments
        shown=["table", "compared", *(v for v in VERDICTS if v in JUDGED or all_[v])],
        heads=HEADS,
    )


def in_reach(ledger: Sequence[Row]) -> str:
    """Return how many cells have a value, and what the others need."""
    result = tiers(ledger)
    rest = {
        "data get": "after `nlgauge data get all`",
        "package": "with an extra installed",
        "browser": "after downloads by hand",
        "weights": "with a model (--weights, or without --no-slow)",
        "none": "never published or with nothing to compute",
    }
    listed = "; ".join(f"{result[name]:,} {words}" for name, words in rest.items() if result[name])
    return f"{result['here']:,} of {len(ledger):,} cells have a value" + (f"; the others: {listed}" if listed else "")


MEANING = {
    "compared": "compared = matches + within + differs + paper's error",
    SLIP: "paper's error: matches after reproducing an error in the paper; the table shows both values",
    CHOSEN: "chosen annotator: matches, but the annotator was picked because the ratings match the paper",
    HOLDS: "claims: sentences of the paper counted as statements, not printed cells",
    OTHER: "other weights: computed with other weights than the paper's, not judged",
    FEWER: "fewer sets: a mean over fewer data sets than the paper's, not judged",
    WEIGHTS: "needs weights: `nlgauge reproduce --weights` computes it where the weights are",
    ELSEWHERE: "needs download: `nlgauge data get NAME` downloads it or says where it is",
    NEVER: "never published: only the authors can compute it",
    LEFT: "left out: by --no-slow, or an extra is not installed",
    ABSENT: "no value: there is nothing to compute; the reason says why",
}


def _counts(found: Counter[str]) -> Row:
    return {"cells": found.total(), "compared": sum(found[v] for v in JUDGED), **{v: found[v] for v in VERDICTS}}


def _main_reason(rows: Sequence[Row]) -> str:
    """Return the most frequent reason of the cells that are not recomputed."""
    words = Counter(row["reason"] for row in rows if row["reason"])
    return "" if not words else max(words, key=lambda w: (words[w], w))
