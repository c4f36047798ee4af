"""How far can I rely on a judge's pass and fail, or on its numbers, beside people's pass and fail on some rows?

A judge with two values: shares in words, agreement, kappa, the lead over always saying pass. A judge with numbers:
ROC, the threshold of least cost, whether the numbers are probabilities.

[bold]Examples[/bold]

  nlgauge verdicts answers.csv

  nlgauge verdicts answers.csv --by topic --cluster conversation_id

  nlgauge verdicts answers.csv --miss 5 --map map.csv

  nlgauge verdicts answers.csv --slices topic,language
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NeedsMissing
from nlgauge.session import Ask, Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    people_pass_from: o.PeoplePassFrom = None,
    judge_pass_from: Annotated[float | None, o.choice("--judge-pass-from", "The lowest number of the judge that "
        "passes; without it the threshold is searched.")] = None,
    miss: Annotated[float, o.choice("--miss", "Cost of passing a row that people fail.")] = 1.0,
    alarm: Annotated[float, o.choice("--alarm", "Cost of failing a row that people pass.")] = 1.0,
    cluster: o.Cluster = None,
    slices: Annotated[list[str] | None, o.choice("--slices", "Columns: where the judge is worst; 'all' for every "
        "column.")] = None,
    level: Annotated[float, o.choice("--level", "Share inside the intervals.")] = 0.95,
    interval: Annotated[str, o.choice("--interval", "Of a share: lean, midp, wilson or exact.")] = "lean",
    map: Annotated[Path | None, o.output("--map", "Write the map from the judge's numbers to probabilities (.csv "
                                                  "or .json).")] = None,
) -> list[Table]:  # fmt: skip
    pick = pick.clustered(cluster).declared()
    people = {"people_pass_from": people_pass_from, "level": level}
    judge = {"judge_pass_from": judge_pass_from}
    asked: list[Ask] = [("verdicts", {**people, **judge, "interval": interval})]
    if judge_pass_from is None:
        asked += [("threshold", {**people, "miss": miss, "alarm": alarm}), ("calibration", people)]
    tables: list[Table] = []
    refused: list[NeedsMissing] = []
    for name, options in asked:
        try:
            tables += pick.each(name, **options)
        except NeedsMissing as error:
            refused.append(error)
    if not tables:
        raise refused[0]
    if columns := o.listed(slices):
        chosen = None if columns == ["all"] else columns
        tables += pick.each("slices", **people, **judge, columns=chosen)
    if map is not None:
        path = pick.analyse("calibration", part="map", **people).write(map)
        o.tell([f"map written: {path}"])
    return tables
