"""Has a judge drifted, or the data? Two runs of one judge, with outputs that both judged as anchors.

Anchors are outputs that stand in both files, by system and input or by their text. Exit code 0: no shift of the
judge found; 1: it has shifted; 3: not concluded, as there are too few anchors or they were selected by their score;
2: usage or data error.

[bold]Examples[/bold]

  nlgauge drift march.csv april.csv

  nlgauge drift march.csv april.csv --anchors march_judged_again.csv

  nlgauge drift baseline.jsonl today.jsonl --looks looks.jsonl
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from nlgauge.cli import _options as o

CODES = {"not found": 0, "found": 1, "cannot tell": 3}


def command(
    old: Annotated[str, typer.Argument(help="Scores of the earlier run (a table, or results.json).", metavar="OLD")],
    new: Annotated[str, typer.Argument(help="Scores of the later run.", metavar="NEW")],
    anchors: Annotated[str | None, o.choice("--anchors", "Outputs of OLD judged anew, where they stand in a file of "
                                            "their own.", metavar="FILE")] = None,
    looks: Annotated[Path | None, o.choice("--looks", "File that keeps every look, so that daily looks hold the error "
                                           "rate.", metavar="FILE")] = None,
    metrics: o.Metrics = None,
    aspect: o.Aspects = None,
    metric: o.MetricColumns = None,
    human: o.Human = None,
    level: Annotated[float, o.choice("--level", "Share of unchanged judges without any alarm.", min=0.5,
                                     max=0.9999)] = 0.95,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:  # fmt: skip
    import nlgauge as ng
    from nlgauge.data.card import card

    words: dict[str, Any] = {"human": o.listed(human), "metrics": o.listed(metric)}
    given = {name: value for name, value in words.items() if value}
    # Results and cards are .json that only `ng.drift` knows; of tables the user sees how they were read.
    runs = [ng.load(f, **given) if f and (given or not f.endswith(".json")) else f for f in (old, new, anchors)]
    for run in runs:
        if isinstance(run, ng.Dataset):
            o.tell(card(run, keep_people=True))
    table = ng.drift(*runs, aspect=o.listed(aspect), metrics=o.listed(metrics), looks=looks, level=level)
    o.show([table], format, out)
    if code := CODES[table.facts["verdict"]]:
        raise typer.Exit(code)
