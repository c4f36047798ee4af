"""What is there: metrics, measures, analyses, figures, readers, judges; written from the code.

[bold]Examples[/bold]

  nlgauge list metrics --needs source

  nlgauge list metrics bleu chrf

  nlgauge list judges gao2025

  nlgauge list figures
"""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.table import Row
from nlgauge.terminal import wrapped

NEEDS = "Only metrics that need this: references, source, context, control, none."


def command(
    what: Annotated[str, typer.Argument(help="metrics, measures, analyses, figures, readers or judges.")] = "metrics",
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Metrics of which all is shown; judges whose settings are.", metavar="[NAME]..."),
    ] = None,
    needs: Annotated[list[str] | None, typer.Option("--needs", help=NEEDS)] = None,
    family: Annotated[str | None, typer.Option("--family", help="Only metrics of this family.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Everything about each metric, not one line.")] = False,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    from nlgauge.report.listing import available

    table = available(what, o.listed(needs), family, names)
    detailed = "options" in table.columns and format == "table" and out is None
    if detailed and (names or long):
        o.say([line for row in table for line in _facts(row, min(o.console().width, 100))])
    else:
        if detailed:
            table.notes[0] += "; NAME... or --long shows all about them, --needs and --family narrow the list"
        o.show([table], format, out)


def _facts(row: Row, width: int) -> list[str]:
    """All that is known of a metric, one fact a line."""
    facts = [(name, str(value)) for name, value in row.items() if name != "metric" and value not in (None, "", "–")]
    side = max(len(name) for name, _ in facts) + 4
    lines = [row["metric"]]
    for name, text in facts:
        first, *more = wrapped(text, width - side)
        lines += [f"  {name:{side - 2}}{first}", *(" " * side + line for line in more)]
    return [*lines, ""]
