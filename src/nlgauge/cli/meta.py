"""Compare metric scores with people's ratings: the metrics × measures table, or any other analysis."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, settings, with_data
from nlgauge.errors import NameUnknown
from nlgauge.table import Table

NEEDS_FILE = True


@with_data
def command(
    pick: Selection,
    files: Annotated[
        list[str],
        typer.Argument(
            help="CSV, TSV, JSONL, JSON or Parquet (also .gz), a known layout, a published set, or 'example'; several for transfer.",
            metavar="FILE...",
        ),
    ],
    measure: o.Measures = None,
    analysis: Annotated[
        str,
        typer.Option("--analysis", help="Which question; `nlgauge list analyses`.", rich_help_panel=o.CHOICE),
    ] = "correlation",
    set: Annotated[
        list[str] | None,
        typer.Option("--set", help="An option of the analysis, name=value.", rich_help_panel=o.CHOICE),
    ] = None,
    engine: o.EngineName = "local",
    address: o.Address = None,
) -> list[Table] | None:
    """Compare metric scores with people's ratings: the metrics × measures table, or any other analysis.

    [bold]Examples[/bold]

      nlgauge meta scores.csv

      nlgauge meta scores.csv --aspect coherence --measure input/kendall,system/pearson -o table.tex

      nlgauge meta all.csv --by dataset,system --measure global/spearman --format csv

      nlgauge meta scores.csv --analysis intervals --set over=inputs --set kind=bca

      nlgauge meta news.csv dialogue.csv --analysis transfer --set groups=@groups.json

      nlgauge meta scores.csv --analysis stability --set draws=10000 --engine ray --address auto
    """
    from nlgauge import registry
    from nlgauge.engines import engine_of, using

    options = settings(set)
    asked = registry.get("analysis", analysis, allow_code=True)
    known = inspect.signature(asked.function).parameters
    if measure:
        measures = o.listed(measure)
        name = "measures" if "measures" in known else "measure"
        options[name] = measures if name == "measures" else (measures or [""])[0]
    for name in options:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            theirs = [n for n in list(known)[1:] if n != "progress"]
            raise NameUnknown(
                f"{analysis}: no option '{name}'.{registry.did_you_mean(name, theirs)} Options: {', '.join(theirs)}."
            )
    picks = [pick] if asked.takes == "datasets" else [replace(pick, data=data) for data in pick.everything]
    with using(engine_of(engine, address)) as chosen:
        tables = [table for each in picks for table in each.each(analysis, **options)]
    if not getattr(chosen, "used", True):
        o.tell(
            [f"--engine {engine}: '{analysis}' had nothing to deal out, so it was computed in this process"]
        )
    return tables
