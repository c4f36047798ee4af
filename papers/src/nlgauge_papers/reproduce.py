"""reproduce(): tables of the five papers recomputed, each published cell compared with ours."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge import NlgaugeError, Table
from nlgauge.datasets import entry, mirror_folder
from nlgauge.plugins import Row
from nlgauge_papers import Sources, Study
from nlgauge_papers.compare import Narrow, compare, only, scoreboard
from nlgauge_papers.inventory import STATES, Item, find_paper, find_table, items, studies
from nlgauge_papers.ledger import DIFFERS


def reproduce(
    paper: str | None = None,
    table: str | None = None,
    sources: Sources | None = None,
    *,
    only_differs: bool = False,
    options: Mapping[str, Any] | None = None,
) -> list[Table]:
    """Reproduce one table of a paper cell by cell, all tables of a paper, or (without arguments) the scoreboard of all
    papers.

    Parameters
    ----------
    paper : a citation key or short name, such as "novikova2017".
    table : the number or name of one table, such as "9" or "D.1"; or a further study, such as "choice".
    sources : where the published sets and cached scores are, whether slow studies run, and the progress callback.
    only_differs : only cells that differ from the print.
    options : options of a further study.

    Examples
    --------
    >>> table, = reproduce("nimah2023", "section-3.3")
    >>> sorted({row["verdict"] for row in table})
    ['differs', 'matches']
    """
    sources = sources or Sources()
    available = find_paper(paper).id if paper is not None else None
    if available is not None and table is not None:
        chosen, listed = find_table(available, table)
    else:
        chosen, listed = [s for s in studies(available) if not s.further], items(available)
    own = [s for s in chosen if s.further and (sources.slow or not s.slow)]
    if options and not own:
        raise NlgaugeError("--set: only further studies have options; `nlgauge reproduce` lists them.")
    tables = [t for s in own for t in s.tables(sources, **(options or {}))]
    tables += compared([s for s in chosen if not s.further], sources, only_differs, board_only=paper is None)
    if left := [s for s in chosen if s.slow and not sources.slow]:
        sources.tell(f"left out (--no-slow): {', '.join(s.name for s in left)}")
    # A table without a study says what is missing; for all papers the overview and docs/papers/inventory.md do.
    without = [] if paper is None else [i for i in listed if not i.study and (i.kind == "table" or not chosen)]
    return [*tables, *([not_recomputed(without)] if without else [])]


def compared(chosen: Sequence[Study], sources: Sources, only_differs: bool, board_only: bool) -> list[Table]:
    """Return the tables cell by cell, then the scoreboard if there are several tables."""
    results = []
    for i, study in enumerate(chosen, 1):
        start = time.perf_counter()
        sources.tell(f"{i}/{len(chosen)} {study.name}: {study.title}")
        results.append((study, compare(study, sources)))
        if (took := time.perf_counter() - start) > 5:
            sources.tell(f"{study.name} took {took:.0f} s")
    shown = [] if board_only and not only_differs else [t for _, t in results]
    if only_differs:
        shown = [t for t in (only(t, [DIFFERS]) for t in shown) if t.rows or len(chosen) == 1]
    return [*shown, *([scoreboard(results, ledger=not shown)] if board_only or len(results) > 1 else [])]


def overview(mirror: str | Path | None = None) -> Table:
    """Return all tables and figures of the papers: which can be recomputed here, and what is missing for the others."""
    folder = mirror_folder(mirror)
    state = {i.study: i.state for i in items() if i.study}
    rows: list[Row] = []
    for s in studies():
        absent = [n for n in s.sets if entry(n).here(folder) != "yes"]
        rows.append(
            {
                "study": s.name.replace("/", " "),
                "what": s.title,
                "state": "our own" if s.further else state.get(s.name, "recomputed"),
                "data": "not here: " + ", ".join(absent) if absent else "here",
                "slow": "slow" if s.slow else "",
            }
        )
    slow = any(row["slow"] for row in rows)
    rest = [i for i in items() if not i.study and i.kind == "table"]
    return Table(
        "Studies: tables of the papers that are recomputed here",
        rows,
        method="; ".join(f"{name}: {meaning}" for name, meaning in STATES.items()) + ".",
        notes=[
            f"data: in {folder}",
            f"{len(rest)} more tables of the papers have no study: `nlgauge reproduce PAPER TABLE` says what is "
            "missing; docs/papers/inventory.md lists everything.",
            "`nlgauge reproduce --all` recomputes all of them.",
        ],
        kind="studies",
        shown=["study", "what", "state", "data", *(["slow"] if slow else [])],
    )


def not_recomputed(without: list[Item]) -> Table:
    """Return the items of the paper that no study recomputes, with what is missing."""
    rows: list[Row] = [
        {"paper": i.paper, "item": i.name, "what": i.what, "state": i.state, "here": i.where, "missing": i.missing}
        for i in without
    ]
    return Narrow("Not recomputed cell by cell", rows, kind="inventory", shown=list(rows[0])[1:])
