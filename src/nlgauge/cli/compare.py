"""Is one metric really better than another? Ranks with significance, or all pairs."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.table import Table

NEEDS_FILE = True
TEST = "The test"


@with_data
def command(
    pick: Selection,
    measure: Annotated[
        str, typer.Option("--measure", help="One measure.", rich_help_panel=o.CHOICE)
    ] = "input/kendall",
    test: Annotated[
        str,
        typer.Option(
            "--test",
            help="auto (would it hold for systems and inputs like these?), or permutation (these very outputs), williams, bootstrap.",
            rich_help_panel=TEST,
        ),
    ] = "auto",
    how: Annotated[
        str | None,
        typer.Option(
            "--how",
            help="What is swapped or resampled: both, inputs, systems (or cells); asks for the permutation test.",
            rich_help_panel=TEST,
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option("--draws", help="Random draws (1000; system/… with auto: 2000).", rich_help_panel=TEST),
    ] = None,
    correction: Annotated[
        str, typer.Option("--correction", help="For many pairs: holm, bh or none.", rich_help_panel=TEST)
    ] = "holm",
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="nlgauge, or as nlpstats, sacrerouge, mt-metrics-eval, nlgcorreval.",
            rich_help_panel=TEST,
        ),
    ] = "nlgauge",
    pairs: Annotated[
        bool, typer.Option("--pairs", help="All pairs instead of ranks.", rich_help_panel=o.OUT)
    ] = False,
) -> list[Table] | None:
    """Is one metric really better than another? Ranks with significance, or all pairs.

    [bold]Examples[/bold]

      nlgauge compare scores.csv --aspect coherence

      nlgauge compare scores.csv --measure system/pearson --test williams --pairs -o pairs.csv
    """
    options = {
        "measure": measure,
        "test": test,
        "how": how,
        "correction": correction,
        "profile": profile,
        "draws": draws,
    }
    return pick.each("significance" if pairs else "ranking", **options)
