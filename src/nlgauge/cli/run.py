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
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the metrics × measures table.", rich_help_panel=o.CHOICE)
    ] = False,
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
    more = [] if quick else more_sections(pick)
    if format == "table":
        o.show(tables)
        o.say(answers(more))
    else:
        o.show([*tables, *more], format)
    tables = [*tables, *more]
    stem = "example" if file == "example" else Path(file).name.split(".")[0]
    path = write_report(out or Path(f"{stem}.report.html"), pick.data.name, pick.card, tables, sys.argv[1:])
    o.tell([f"report: {path}"])
    return None


def more_sections(pick: Selection) -> list[Table]:
    """What stands behind the numbers: can people agree, which metrics differ, which measure to trust; where it applies."""
    from nlgauge.errors import NeedsMissing

    # Tests of all pairs grow with the square of the metrics: fewer draws where there are many.
    draws = 1000 if len(pick.data.metrics) <= 20 else 200
    tables: list[Table] = []
    for analysis, options in (
        ("agreement", {}),
        ("ceiling", {}),
        ("ranking", {"measure": "input/kendall", "draws": draws}),
        ("stability", {"draws": draws}),
    ):
        try:
            tables += pick.each(analysis, **options)
        except NeedsMissing as error:
            o.tell([f"{analysis} left out: {error}"])
    return tables


def answers(tables: list[Table]) -> list[str]:
    """One plain line for each section that is not printed in full."""
    lines = []
    for table in tables:
        row = table.rows[0]
        about = f"{row['aspect']}: "
        if table.kind == "agreement":
            lines.append(
                f"{about}raters agree with {row['coefficient']} {row['value']:.2f} [{row['low']:.2f} {row['high']:.2f}]"
            )
        elif table.kind == "ranking":
            first = [r["metric"] for r in table.rows if r["rank"] == 1]
            others = (
                f"; not clearly better than {_some(first[1:])}" if len(first) > 1 else "; clearly the best"
            )
            lines.append(
                f"{about}best by {row['measure']} is {row['metric']}, {row['value']:.2f} [{row['low']:.2f} {row['high']:.2f}]{others}"
            )
        elif table.kind == "stability":
            lines.append(about + table.notes[0][0].lower() + table.notes[0][1:])
    return lines


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
