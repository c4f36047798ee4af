"""Which measure can be trusted on my data? Discriminative power and ranking consistency of all measures."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.table import Table

NEEDS_FILE = True


@with_data
def command(
    pick: Selection,
    measure: o.Measures = None,
    test: Annotated[
        str, typer.Option("--test", help="permutation or williams.", rich_help_panel=o.CHOICE)
    ] = "permutation",
    draws: Annotated[
        int, typer.Option("--draws", help="Draws of each test.", rich_help_panel=o.CHOICE)
    ] = 1000,
    trials: Annotated[
        int, typer.Option("--trials", help="Random halves of the inputs.", rich_help_panel=o.CHOICE)
    ] = 1000,
    profile: Annotated[
        str, typer.Option("--profile", help="As for compare.", rich_help_panel=o.CHOICE)
    ] = "nlgauge",
) -> list[Table] | None:
    """Which measure can be trusted on my data? Discriminative power and ranking consistency of all measures.

    [bold]Example[/bold]

      nlgauge stability scores.csv --aspect coherence
    """
    return pick.each(
        "stability", measures=o.listed(measure), test=test, draws=draws, trials=trials, profile=profile
    )
