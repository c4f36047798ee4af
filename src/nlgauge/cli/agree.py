"""Can people agree, and how high could a metric come? ICC, alpha, kappa; the human ceiling; standing in for a rater."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.errors import NeedsMissing
from nlgauge.table import Table

NEEDS_FILE = True


@with_data
def command(
    pick: Selection,
    level: Annotated[
        str,
        typer.Option(
            "--level",
            help="Scale of the ratings: nominal, ordinal, interval or ratio.",
            rich_help_panel=o.CHOICE,
        ),
    ] = "interval",
    draws: Annotated[int, typer.Option("--draws", help="Bootstrap draws.", rich_help_panel=o.CHOICE)] = 1000,
    bootstrap: Annotated[
        str,
        typer.Option(
            "--bootstrap",
            help="What alpha's interval resamples: units (outputs), or pairs of ratings, as the KALPHA macro does.",
            rich_help_panel=o.CHOICE,
        ),
    ] = "units",
) -> list[Table] | None:
    """Can people agree, and how high could a metric come? ICC, alpha, kappa; the human ceiling; standing in for a rater.

    [bold]Example[/bold]

      nlgauge agree ratings.csv --rater annotator
    """
    tables = pick.each("agreement", level=level, draws=draws, bootstrap=bootstrap)
    for analysis in ("ceiling", "replacement") if pick.data.metrics else ():
        try:
            tables += pick.each(analysis)
        except NeedsMissing as error:
            o.tell([f"{analysis}: {error}"])
    return tables
