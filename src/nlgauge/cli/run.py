"""From a file of scores and ratings to a report: tables on screen, one HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    file: Annotated[
        str, typer.Argument(help="As for meta; without it the built-in example.", metavar="[FILE]")
    ] = "example",
    measure: o.Measures = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The report, an .html file.", rich_help_panel=o.OUT)
    ] = None,
    format: o.Format = "table",
) -> list[Table] | None:
    """From a file of scores and ratings to a report: tables on screen, one HTML page.

    [bold]Examples[/bold]

      nlgauge run                      (the built-in example)

      nlgauge run scores.csv           (writes scores.report.html)

      nlgauge run scores.csv --aspect coherence -o coherence.html
    """
    from nlgauge.errors import NlgaugeError
    from nlgauge.report.page import write_report

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise NlgaugeError(f"-o {out}: the report is one .html file; use `nlgauge meta -o` for {out.suffix}.")
    tables = pick.each("correlation", measures=o.listed(measure))
    o.show(tables, format)
    stem = "example" if file == "example" else Path(file).name.split(".")[0]
    path = write_report(out or Path(f"{stem}.report.html"), pick.data.name, pick.card, tables, sys.argv[1:])
    o.tell([f"report: {path}"])
    return None
