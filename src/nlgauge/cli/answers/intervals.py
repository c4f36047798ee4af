"""Intervals on a Parquet table of any size: one metric at a time, in bounded memory, with resume.

The numbers are those of `nlgauge meta --analysis intervals`, which takes any format and needs all of it in memory.
With -o, finished metrics stand in a folder beside that file until all are done: the same command goes on from
there.

[bold]Examples[/bold]

  nlgauge data convert scores.csv -o scores.parquet

  nlgauge intervals scores.parquet --over inputs --measure input/kendall,system/pearson -o table.csv
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o


def command(
    file: Annotated[
        Path,
        typer.Argument(help="A .parquet table: system, input, human.ASPECT, metric.NAME.", metavar="FILE"),
    ],
    aspect: Annotated[str | None, o.choice("--aspect", "Which aspect, where there are several.")] = None,
    measure: Annotated[list[str] | None, o.choice("--measure", "Measures such as input/kendall; by default the "
        "six of system and input level.")] = None,
    over: Annotated[str, o.choice("--over", "What is resampled: inputs, systems or both.")] = "both",
    draws: Annotated[int, o.choice("--draws", "Random draws.", min=1)] = 1000,
    level: Annotated[float, o.choice("--level", "Share inside the interval.")] = 0.95,
    keep_people: o.KeepPeople = False,
    system: o.System = None,
    input: o.Input = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    lower: o.Lower = None,
    higher: o.Higher = None,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:  # fmt: skip
    from nlgauge.analyses.agreement.large_intervals import large_intervals
    from nlgauge.data.large_table import LargeTable
    from nlgauge.data.tables.directions import lower_of
    from nlgauge.errors import NlgaugeError
    from nlgauge.scoring.parts_folder import PartsFolder

    if over not in ("both", "inputs", "systems"):
        raise NlgaugeError(f"--over {over}: use inputs, systems or both.")
    if not 0 < level < 1:
        raise NlgaugeError(f"--level {level}: give a share between 0 and 1, such as 0.95.")
    wide = LargeTable.open(
        file, system=system or "system", input=input or "input", human=o.listed(human), metric=o.listed(metric),
        keep_people=keep_people,
    )  # fmt: skip
    found_lower = sorted(lower_of(wide.metrics, o.listed(lower) or (), o.listed(higher) or (), str(file)))
    if found_lower:
        o.tell([f"less is better: {', '.join(found_lower)} (--higher NAME where more is)"])
    keep = None if out is None else out.with_name(out.name + ".parts")
    table = large_intervals(
        wide, aspect=aspect, measures=o.listed(measure), over=over,  # type: ignore[arg-type]
        draws=draws, level=level, seed=seed, lower=found_lower, keep=keep, progress=partial(o.bar, "intervals"),
    )  # fmt: skip
    if wide.infinite:
        o.tell([f"{sum(wide.infinite.values())} values are inf: left out (in {', '.join(wide.infinite)})"])
    o.show([table], format, out)
    if keep is not None:
        PartsFolder(keep, {}).remove()
