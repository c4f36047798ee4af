"""What is there: metrics, measures, analyses, readers, judges."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o

NEEDS = "Only metrics that need this: references, source, context, control, none."


def command(
    what: Annotated[str, typer.Argument(help="metrics, measures, analyses, readers or judges.")] = "metrics",
    needs: Annotated[list[str] | None, typer.Option("--needs", help=NEEDS)] = None,
    family: Annotated[str | None, typer.Option("--family", help="Only metrics of this family.")] = None,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """What is there: metrics, measures, analyses, readers, judges; written from the code.

    [bold]Examples[/bold]

      nlgauge list metrics --needs source

      nlgauge list measures
    """
    from nlgauge.door.listing import available

    o.show([available(what, o.listed(needs), family)], format, out)
