"""The five papers recomputed: each published cell beside ours, with a verdict.

A cell is equal when ours rounds to what the paper prints, within tolerance, equal once a slip of the paper is
repeated (both values are shown), or differs (the reason follows in words); where there is no value, the verdict
says whether it needs weights or a file that others publish, or was never published. A difference is a result, not
an error: the exit code is 0.

[bold]Examples[/bold]

  nlgauge reproduce   (what can be recomputed, and its state)

  nlgauge reproduce novikova2017 9   (Table 9, cell by cell)

  nlgauge reproduce novikova --only-differs   (all its tables)

  nlgauge reproduce --all --no-slow   (the scoreboard, without models)

  nlgauge reproduce gao2025 5 -o table5.csv

  nlgauge reproduce deng2021 choice --set task=consistency   (a further study, with an option)
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import settings
from nlgauge.errors import NlgaugeError

DATA = "Data"


def command(
    paper: Annotated[
        str | None,
        typer.Argument(
            help="nimah2023, deng2021, gao2025, colombo2023, novikova2017, or a short name (checklist, ctc, "
            "measures, ceiling, novikova)."
        ),
    ] = None,
    table: Annotated[str | None, typer.Argument(help="One table of that paper: 9, D.1, …")] = None,
    every: Annotated[bool, typer.Option("--all", help="All studies of all papers: the scoreboard.")] = False,
    only_differs: Annotated[bool, typer.Option("--only-differs", help="Show only the cells that differ.")] = False,
    no_slow: Annotated[bool, typer.Option("--no-slow", help="Leave out what runs a model or takes minutes.")] = False,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror", help="Folder of the published sets (else NLGAUGE_DATA, else the cache).", rich_help_panel=DATA
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
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Option of a further study: name=value.", rich_help_panel=DATA)
    ] = None,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    from nlgauge_papers import Sources
    from nlgauge_papers.reproduce import overview, reproduce

    if paper is None and not every:
        o.show([overview(mirror)], format, out)
        return
    if table is not None and every:
        raise NlgaugeError("--all takes no TABLE: name a paper, or nothing.")
    sources = Sources(mirror, store, tell=lambda line: o.tell([line]), slow=not no_slow)
    if tables := reproduce(paper, table, sources, only_differs=only_differs, options=settings(sets)):
        o.show(tables, format, out)
