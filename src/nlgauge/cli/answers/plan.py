"""How many labels do I need (--for)? How many inputs, systems or raters to tell two metrics apart?

[bold]Examples[/bold]

  nlgauge plan pilot.csv --metrics bleu,bertscore --measure input/kendall --power .8

  nlgauge plan pilot.csv --metrics bleu,bertscore --axis systems --trials 500

  nlgauge plan pilot.csv --for estimate --width .2 --metrics judge

  nlgauge plan log.csv --for estimate --width .1 --cluster conversation_id

  nlgauge plan pilot.csv --for gate kappa=.6
"""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NlgaugeError
from nlgauge.session import Selection
from nlgauge.table import Table

study = o.panel("The study to plan")
labels = o.panel("Labels needed")


@with_data
def command(
    pick: Selection,
    gate: Annotated[str, typer.Argument(help="With --for gate: a figure of verdicts and what it must pass, kappa=.6.",
                                        metavar="[GATE]")] = "kappa=.6",
    goal: Annotated[str | None, labels("--for", "Labels needed for: estimate, gate or compare (two systems).")] = None,
    width: Annotated[float | None, labels("--width", "Of the interval, with --for estimate; a tenth of the range of "
                                                     "the ratings by default.")] = None,
    people_pass_from: Annotated[float | None, labels("--people-pass-from", "With --for gate: the lowest rating that "
                                                                           "passes.")] = None,
    judge_pass_from: Annotated[float | None, labels("--judge-pass-from", "With --for gate: the judge's lowest number "
                                                                         "that passes.")] = None,
    systems: Annotated[list[str] | None, labels("--systems", "Two systems, with --for compare; the two rated highest "
                                                             "by default.")] = None,
    cluster: o.Cluster = None,
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
    pick = pick.clustered(cluster)
    try:
        sizes = [int(s) for s in o.listed(size) or ()]
    except ValueError:
        raise NlgaugeError(f"--size {','.join(size or ())}: write whole numbers, such as 20,40,80.") from None
    if goal is not None:
        return pick.each(
            "labels-needed", goal=goal, width=width, gate=gate, systems=o.listed(systems), power=power,
            sizes=sizes or None, trials=trials, people_pass_from=people_pass_from, judge_pass_from=judge_pass_from,
        )  # fmt: skip
    if len(pick.metrics or pick.data.metrics) != 2:
        raise NlgaugeError(
            "plan compares two metrics: name them with --metrics a,b. Metrics with scores: "
            f"{', '.join(pick.data.metrics)}."
        )
    planned = pick.each(
        "plan", measure=measure, power=power, axis=axis, sizes=sizes or None, how=how, level=level, trials=trials
    )  # fmt: skip
    return planned + (pick.each("chance") if chance else [])
