"""From a file of scores and ratings to a report: the answers on screen, one HTML page, results for machines.

[bold]Examples[/bold]

  nlgauge run                      (the built-in example)

  nlgauge run scores.csv           (writes scores.report.html and scores.report.results.json)

  nlgauge run scores.csv --aspect coherence --quick -o coherence.html

  nlgauge run judged.csv --against judged_last_month.csv     (and whether the judge has drifted)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection

COLOURS = {"reliable": "green", "inconclusive": "yellow", "not reliable": "red"}


@with_data
def command(
    pick: Selection,
    file: Annotated[
        str, typer.Argument(help="As for meta; without it the built-in example.", metavar="[FILE]")
    ] = "example",
    measure: o.Measures = None,
    gate: Annotated[str, o.choice("--gate", "Measure that ranks the metrics and that `nlgauge diff` "
                                            "compares.")] = "input/pairwise-accuracy",
    out: Annotated[Path | None, o.output("-o", "--out", "The report, an .html file.")] = None,
    format: o.Format = "table",
    cluster: o.Cluster = None,
    family: o.Family = None,
    quick: Annotated[bool, o.choice("--quick", "Fewer draws (200 instead of 1000) and no extras.")] = False,
    prices: Annotated[Path | None, o.choice("--prices", "JSON with prices of a million tokens, as for judge: "
                                                        "what judges cost.")] = None,
    against: Annotated[str | None, o.choice("--against", "An earlier run of the same judge, its data or results.json: "
                                                         "has it drifted?", metavar="FILE")] = None,
) -> None:  # fmt: skip
    from nlgauge.report import report

    pick = pick.clustered(cluster).with_family(family)
    path = out or Path(f"{Path(file).name.split('.')[0]}.report.html")
    made = report(pick, path, measures=o.listed(measure), gate=gate, quick=quick, prices=prices, against=against,
                  command=sys.argv[1:])  # fmt: skip
    if format == "table":
        o.say(made.lines, COLOURS)
    else:
        o.show(made.tables, format)
    o.tell([f"report: {made.path}"])
