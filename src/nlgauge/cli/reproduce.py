"""The five papers recomputed: each published cell beside ours, with a verdict."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.errors import NlgaugeError

if TYPE_CHECKING:
    from nlgauge.papers import Sources, Study
    from nlgauge.papers.inventory import Item
    from nlgauge.table import Row, Table

DATA = "Data"


def command(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="nimah2023, deng2021, gao2025, colombo2023, novikova2017, or a short name (checklist, ctc, measures, ceiling, novikova)."
        ),
    ] = None,
    table: Annotated[str | None, typer.Argument(help="One table of that paper: 9, D.1, …")] = None,
    every: Annotated[bool, typer.Option("--all", help="All studies of all papers: the scoreboard.")] = False,
    only_differs: Annotated[
        bool, typer.Option("--only-differs", help="Show only the cells that differ.")
    ] = False,
    no_slow: Annotated[
        bool, typer.Option("--no-slow", help="Leave out what runs a model or takes minutes.")
    ] = False,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror",
            help="Folder of the published sets (else NLGAUGE_DATA, else the cache).",
            rich_help_panel=DATA,
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="File that keeps scores of models (else NLGAUGE_STORE, else the cache).",
            rich_help_panel=DATA,
        ),
    ] = None,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """The five papers recomputed: each published cell beside ours, with a verdict.

    A cell is equal when ours rounds to what the paper prints, within tolerance, or differs (the reason follows in words);
    where there is no value, the verdict says whether it needs weights or a file that others publish, or was never published.
    A difference is a result, not an error: the exit code is 0.

    [bold]Examples[/bold]

      nlgauge reproduce   (what can be recomputed, and its state)

      nlgauge reproduce novikova2017 9   (Table 9, cell by cell)

      nlgauge reproduce novikova --only-differs   (all its tables)

      nlgauge reproduce --all --no-slow   (the scoreboard, without models)

      nlgauge reproduce gao2025 5 -o table5.csv
    """  # fmt: skip
    from nlgauge.papers import Sources
    from nlgauge.papers.inventory import find_paper, find_table, items, studies

    if table is not None and every:
        raise NlgaugeError("--all takes no TABLE: name a paper, or nothing.")
    if paper is None and not every:
        o.show([overview(mirror)], format, out)
        return
    known = find_paper(paper).id if paper is not None else None
    if known is not None and table is not None:
        chosen, listed = find_table(known, table)
    else:
        chosen, listed = studies(known), items(known)
    left = [s for s in chosen if s.slow and no_slow]
    sources = Sources(mirror, store, tell=lambda line: o.tell([f"  {line}"]), slow=not no_slow)
    tables = run([s for s in chosen if s not in left], sources, only_differs, board_only=every)
    if left:
        o.tell([f"left out (--no-slow): {', '.join(s.name for s in left)}"])
    # A table without a study says what is missing; with --all the list without arguments and docs/papers.md do.
    without = [] if every else [i for i in listed if not i.study and (i.kind == "table" or not chosen)]
    if without:
        tables.append(not_recomputed(without))
    if tables:
        o.show(tables, format, out)


def run(chosen: list[Study], sources: Sources, only_differs: bool, board_only: bool) -> list[Table]:
    """The tables cell by cell, then the scoreboard when there are several."""
    from nlgauge.papers.compare import DIFFERS, compare, only, scoreboard

    compared = []
    for i, study in enumerate(chosen, 1):
        start = time.perf_counter()
        o.tell([f"{i}/{len(chosen)} {study.name}: {study.title}"])
        compared.append((study, compare(study, sources)))
        if (took := time.perf_counter() - start) > 5:
            o.tell([f"{study.name} took {took:.0f} s"])
    shown = [] if board_only and not only_differs else [t for _, t in compared]
    if only_differs:
        shown = [t for t in (only(t, [DIFFERS]) for t in shown) if t.rows or len(chosen) == 1]
    return [*shown, *([scoreboard(compared)] if board_only or len(compared) > 1 else [])]


def overview(mirror: Path | None) -> Table:
    """All tables and figures of the papers: what can be recomputed here, and what is missing."""
    from nlgauge.papers.catalogue import entry, mirror_folder
    from nlgauge.papers.inventory import STATES, items, studies
    from nlgauge.table import Table

    folder = mirror_folder(mirror)
    state = {i.study: i.state for i in items() if i.study}
    rows: list[Row] = []
    for s in studies():
        absent = [n for n in s.sets if entry(n).here(folder) != "yes"]
        rows.append(
            {"study": s.name.replace("/", " "), "what": s.title, "state": state.get(s.name, "recomputed"),
             "data": "not here: " + ", ".join(absent) if absent else "here", "slow": "slow" if s.slow else ""}
        )  # fmt: skip
    slow = any(row["slow"] for row in rows)
    rest = [i for i in items() if not i.study and i.kind == "table"]
    return Table(
        "Studies: tables of the papers that are recomputed here",
        rows,
        method="; ".join(f"{name}: {meaning}" for name, meaning in STATES.items()) + ".",
        notes=[
            f"data: in {folder}",
            f"{len(rest)} more tables of the papers have no study: `nlgauge reproduce PAPER TABLE` says what is missing; "
            "docs/papers.md lists everything.",
            "`nlgauge reproduce --all` recomputes all of them.",
        ],
        kind="studies",
        shown=["study", "what", "state", "data", *(["slow"] if slow else [])],
    )


def not_recomputed(without: list[Item]) -> Table:
    """What the paper has and no study recomputes, with what is missing."""
    from nlgauge.table import Table

    rows: list[Row] = [
        {"paper": i.paper, "item": i.name, "what": i.what, "state": i.state, "here": i.where, "missing": i.missing}
        for i in without
    ]  # fmt: skip
    return Table("Not recomputed cell by cell", rows, kind="inventory", shown=list(rows[0])[1:])
