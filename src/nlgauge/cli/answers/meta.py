"""Compare metric scores with people's ratings: the metrics × measures table, or any other analysis.

[bold]Examples[/bold]

  nlgauge meta scores.csv

  nlgauge meta scores.csv --aspect coherence --measure input/kendall,system/pearson -o table.tex

  nlgauge meta all.csv --by dataset,system --measure global/spearman --format csv

  nlgauge meta scores.csv --analysis intervals --set over=inputs --set kind=bca

  nlgauge meta news.csv dialogue.csv --analysis transfer --set groups=@groups.json

  nlgauge meta scores.csv --analysis stability --set draws=10000 --engine ray --address auto
"""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import settings, with_data
from nlgauge.session import Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    files: Annotated[list[str], typer.Argument(help="CSV, TSV, JSONL, JSON or Parquet (also .gz), a known "
                                                    "layout, a published set, or 'example'; several for "
                                                    "transfer.", metavar="FILE...")],
    measure: o.Measures = None,
    analysis: Annotated[str, o.choice("--analysis", "Which question; `nlgauge list analyses`, or file.py@name "
                                                    "for one of your own.")] = "correlation",
    set: Annotated[list[str] | None, o.choice("--set", "An option of the analysis, name=value.")] = None,
    cluster: o.Cluster = None,
    family: o.Family = None,
    figure: Annotated[str | None, o.output("--figure", "A figure of your own for -o, as in my.py@ANALYSIS; that "
                                                       "file is run.")] = None,
    engine: o.EngineName = "local",
    address: o.Address = None,
) -> list[Table]:  # fmt: skip
    from nlgauge import registry
    from nlgauge.engines import engine_of, using

    pick = pick.clustered(cluster).with_family(family)
    options = settings(set)
    if measures := o.listed(measure):
        known = inspect.signature(registry.get("analysis", analysis, allow_code=True).function).parameters
        options |= {"measures": measures} if "measures" in known else {"measure": measures[0]}
    with using(engine_of(engine, address)) as chosen:
        tables = pick.each(analysis, **options)
    if not getattr(chosen, "used", True):
        o.tell([f"--engine {engine}: '{analysis}' had nothing to deal out, so it was computed in this process"])
    return tables
