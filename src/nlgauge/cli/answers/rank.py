"""Which system is best by choices between two outputs (votes, A/B tests), and does a judge rank them as people do?

Bradley-Terry strengths with intervals, tiers that the choices tell apart, the advantage of the first place, the
matrix of wins; people and judges side by side.

[bold]Examples[/bold]

  nlgauge rank votes.jsonl

  nlgauge rank arena.jsonl --adjust style

  nlgauge rank votes.csv --ties rao-kupper --interval bootstrap -f json
"""

from __future__ import annotations

from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NeedsMissing
from nlgauge.session import Ask, Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    ties: Annotated[str, o.choice("--ties", "Model of ties: davidson, rao-kupper, half (a tie is half a win for "
                                            "each) or drop.")] = "davidson",
    adjust: Annotated[str, o.choice("--adjust", "Adjust for first (the place), style (the place, length, lists, "
                                                  "headers, bold words) or none.")] = "first",
    interval: Annotated[str, o.choice("--interval", "sandwich or bootstrap; both by input.")] = "sandwich",
    cluster: Annotated[str | None, o.choice("--cluster", "Column whose value several choices share that are not "
                                                         "independent; the input by default.")] = None,
) -> list[Table]:  # fmt: skip
    pick = pick.clustered(cluster)
    model = {"ties": ties, "adjust": adjust}
    matrix = {"source": "comparisons", "merge": True}
    asked: list[Ask] = [("rank-effects", model), ("rank-sides", model), ("wins", matrix)]
    tables = pick.each("rank", **model, interval=interval)
    for name, options in asked:
        try:
            tables = [*tables, *pick.each(name, **options)]
        except NeedsMissing:  # one side only, one order only: the first table says so
            continue
    return tables
