"""From a file of scores and ratings to a report: tables on screen, one HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o


def command(
    file: Annotated[
        str, typer.Argument(help="As for meta; without it the built-in example.", metavar="[FILE]")
    ] = "example",
    aspect: o.Aspects = None,
    measure: o.Measures = None,
    metrics: o.Metrics = None,
    by: o.By = None,
    keep_people: o.KeepPeople = False,
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    lower: o.Lower = None,
    repeats: o.Repeats = "auto",
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The report, an .html file.", rich_help_panel=o.OUT)
    ] = None,
) -> None:
    """From a file of scores and ratings to a report: tables on screen, one HTML page.

    [bold]Examples[/bold]

      nlgauge run                      (the built-in example)

      nlgauge run scores.csv           (writes scores.report.html)

      nlgauge run scores.csv --aspect coherence -o coherence.html
    """
    from nlgauge.cli.meta import correlate
    from nlgauge.data.card import card
    from nlgauge.errors import NlgaugeError
    from nlgauge.report.page import write_report

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise NlgaugeError(f"-o {out}: the report is one .html file; use `nlgauge meta -o` for {out.suffix}.")
    data = o.load(
        file, system=system, input=input, output=output, human=o.listed(human), metrics=o.listed(metric), rater=rater,
        lower=lower, repeats=repeats, encoding=encoding, reader=reader,
    )  # fmt: skip
    lines = card(data, keep_people)
    o.tell(lines)
    tables = correlate(
        data, o.listed(aspect), o.listed(measure), o.listed(metrics), o.listed(by), keep_people, seed
    )
    o.show(tables, format)
    stem = "example" if file == "example" else Path(file).name.split(".")[0]
    path = write_report(out or Path(f"{stem}.report.html"), data.name, lines, tables, sys.argv[1:])
    o.tell([f"report: {path}"])
