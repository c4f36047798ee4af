"""Which outputs should people label next? A draw with known probabilities, as a file to fill in.

The file holds texts and no scores. Each output carries the probability with which it was drawn; filled in and given
back with --labels, `nlgauge estimate` weighs by it. A next draw takes what has no label yet.

[bold]Examples[/bold]

  nlgauge label answers.csv --budget 60 -o to_label.csv

  nlgauge label answers.csv --budget 60 --for ranking -o tasks.json --tool label-studio

  nlgauge label answers.csv --labels to_label.csv --budget 40 -o second.csv

  nlgauge estimate answers.csv --labels to_label.csv --labels second.csv
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection

if TYPE_CHECKING:
    from nlgauge.analyses.design.next_labels import Goal, How
    from nlgauge.api.label_tasks import Tool

draw = o.panel("The draw")
SHOWN = 5  # rows of the table on the screen, where a file holds them all


@with_data
def command(
    pick: Selection,
    budget: Annotated[int, draw("--budget", "-n", "How many outputs to draw.")],
    goal: Annotated[str, draw("--for", "What the labels are for: estimate, agreement, ranking or "
                                       "threshold.")] = "estimate",
    how: Annotated[str | None, draw("--how", "random, stratified, disagreement, optimal or diverse; the one that "
                                             "measured best by default.")] = None,
    cut: Annotated[float | None, draw("--cut", "Of the judge, with --for threshold; by default where "
                                               "earlier labels of pass and fail put it.")] = None,
    tool: Annotated[str | None, o.output("--tool", "Layout of the file: csv, label-studio or argilla.")] = None,
    format: o.Format = "table",
    out: Annotated[Path | None, o.output("-o", "--out", "File for those who label: .csv, or .json (Label Studio, or "
                                                        "Argilla with --tool argilla).")] = None,
) -> None:  # fmt: skip
    from nlgauge.api.labelling import next_to_label

    table = next_to_label(
        pick, budget, goal=cast("Goal", goal), how=cast("How | None", how), cut=cut, out=out,
        tool=cast("Tool | None", tool),
    )  # fmt: skip
    if out is not None and format == "table" and len(table) > SHOWN:  # all of them are in the file
        more = f"… and {len(table) - SHOWN:,} more in {out}"
        table = replace(table, rows=table.rows[:SHOWN], notes=[more, *table.notes])
    o.show([table], format)
