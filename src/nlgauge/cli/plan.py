"""How many inputs, systems or raters do I need to tell two metrics apart? And what would a random score reach?"""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.errors import NlgaugeError
from nlgauge.table import Table

NEEDS_FILE = True
STUDY = "The study to plan"


@with_data
def command(
    pick: Selection,
    measure: Annotated[
        str, typer.Option("--measure", help="One measure.", rich_help_panel=o.CHOICE)
    ] = "input/kendall",
    power: Annotated[
        float, typer.Option("--power", help="Chance to find the difference.", rich_help_panel=STUDY)
    ] = 0.8,
    axis: Annotated[
        str,
        typer.Option(
            "--axis", help="What to have more of: inputs, systems or raters.", rich_help_panel=STUDY
        ),
    ] = "inputs",
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size", help="Numbers to try (20,40,80); found by doubling without.", rich_help_panel=STUDY
        ),
    ] = None,
    how: Annotated[
        str,
        typer.Option(
            "--how",
            help="What the test swaps: systems (speaks of other systems too), both, inputs.",
            rich_help_panel=STUDY,
        ),
    ] = "systems",
    level: Annotated[
        float, typer.Option("--level", help="Significance level.", rich_help_panel=STUDY)
    ] = 0.05,
    trials: Annotated[
        int, typer.Option("--trials", help="Simulated studies a size; more is surer.", rich_help_panel=STUDY)
    ] = 100,
    chance: Annotated[
        bool,
        typer.Option("--chance/--no-chance", help="Also what a random score reaches.", rich_help_panel=o.OUT),
    ] = True,
) -> list[Table] | None:
    """How many inputs, systems or raters do I need to tell two metrics apart? And what would a random score reach?

    [bold]Examples[/bold]

      nlgauge plan pilot.csv --metrics bleu,bertscore --measure input/kendall --power .8

      nlgauge plan pilot.csv --metrics bleu,bertscore --axis systems --trials 500
    """
    if len(pick.metrics or pick.data.metrics) != 2:
        raise NlgaugeError(
            f"plan compares two metrics: name them with --metrics a,b. Metrics with scores: {', '.join(pick.data.metrics)}."
        )
    try:
        sizes = [int(s) for s in o.listed(size) or ()]
    except ValueError:
        raise NlgaugeError(f"--size {','.join(size or ())}: write whole numbers, such as 20,40,80.") from None
    options = {
        "measure": measure,
        "power": power,
        "axis": axis,
        "sizes": sizes or None,
        "how": how,
        "level": level,
        "trials": trials,
    }
    return pick.each("plan", **options) + (pick.each("chance") if chance else [])
