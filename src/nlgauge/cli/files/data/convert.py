"""From any file that nlgauge reads to its own tidy format, or to a wide CSV or Parquet table.

[bold]Examples[/bold]

  nlgauge data convert export.json -o ratings.jsonl.gz     (loses nothing)

  nlgauge data convert wmt23 --set lp=en-de -o wmt23.parquet

A table has one row per output and rater, with columns human.ASPECT and metric.NAME.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import Columns, settings, with_columns


@with_columns
def command(
    columns: Columns,
    out: Annotated[Path, o.output("-o", "--out", "To write: .jsonl, .jsonl.gz, .csv or .parquet.")],
    format: o.Format = "table",
    set: Annotated[list[str] | None, o.column("--set", "Option of the reader: NAME=VALUE, e.g. lp=en-de.")] = None,
) -> None:  # fmt: skip
    from nlgauge.data.export import check_suffix, differences, export

    check_suffix(out)
    options = settings(set)  # of a reader, which knows the columns itself
    data = columns.load_and_tell(**options)
    o.tell([*export(data, out), *differences(data, out)])
    if format != "table":
        row = {"file": out, "systems": len(data.systems), "inputs": len(data.inputs), "outputs": len(data),
               "aspects": len(data.aspects), "metrics": len(data.metrics)}  # fmt: skip
        o.done("convert", [row], format, [])
