"""How many inputs, systems or raters do I need to tell two metrics apart? And what would a random score reach?"""

from __future__ import annotations

from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NlgaugeError
from nlgauge.session import Selection
from nlgauge.table import Table

NEEDS_FILE = True
study = o.panel("The study to plan")


@with_data
def command(
    pick: Selection,
    measure: o.Measure = "input/kendall",
    power: Annotated[float, study("--power", "Chance to find the difference.")] = 0.8,
    axis: Annotated[str, study("--axis", "What to have more of: inputs, systems or raters.")] = "inputs",
    size: Annotated[list[str] | None, study("--size", "Numbers to try (20,40,80); found by doubling without.")] = None,
    how: Annotated[str, study("--how", "What the test swaps: systems (speaks of other systems too), both, "
                                       "inputs.")] = "systems",
    level: Annotated[float, study("--level", "Significance level.")] = 0.05,
    trials: Annotated[int, study("--trials", "Simulated studies a size; more is surer.")] = 100,
    chance: Annotated[bool, o.output("--chance/--no-chance", "Also what a random score reaches.")] = True,
) -> list[Table]:  # fmt: skip
    """How many inputs, systems or raters do I need to tell two metrics apart? And what would a random score reach?

    [bold]Examples[/bold]

      nlgauge plan pilot.csv --metrics bleu,bertscore --measure input/kendall --power .8

      nlgauge plan pilot.csv --metrics bleu,bertscore --axis systems --trials 500
    """
    if len(pick.metrics or pick.data.metrics) != 2:
        raise NlgaugeError(
            "plan compares two metrics: name them with --metrics a,b. Metrics with scores: "
            f"{', '.join(pick.data.metrics)}."
        )
    try:
        sizes = [int(s) for s in o.listed(size) or ()]
    except ValueError:
        raise NlgaugeError(f"--size {','.join(size or ())}: write whole numbers, such as 20,40,80.") from None
    planned = pick.each(
        "plan", measure=measure, power=power, axis=axis, sizes=sizes or None, how=how, level=level, trials=trials
    )  # fmt: skip
    return planned + (pick.each("chance") if chance else [])
