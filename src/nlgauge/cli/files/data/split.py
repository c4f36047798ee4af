"""A part of my file to tune a judge on, and a part to test it on once.

An input goes to one of them by its name alone: more rows never move those that are there. Every later look at the
test part is written into a log beside it, and said.

[bold]Examples[/bold]

  nlgauge data split answers.csv

  nlgauge data split answers.csv --test .3 --by conversation -o parts/answers.jsonl
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import Columns, with_columns


@with_columns
def command(
    columns: Columns,
    test: Annotated[float, o.choice("--test", "About this share of the inputs is kept for the test.")] = 0.45,
    by: Annotated[str | None, o.choice("--by", "Column whose value several inputs share (a conversation): they stay "
                                               "together.")] = None,
    format: o.Format = "table",
    out: Annotated[Path | None, o.output("-o", "--out", "NAME.csv writes NAME.tune.csv and NAME.test.csv; by default "
                                                        ".jsonl beside the file, which loses nothing.")] = None,
) -> None:  # fmt: skip
    from nlgauge.api.tuning import part_paths, split
    from nlgauge.looks import log_of

    out = out or Path(columns.file).with_suffix(".jsonl")  # which loses nothing
    data = columns.load_and_tell()
    tune, held = split(data, test, by=by, out=out)
    paths = part_paths(out)
    rows = [
        {"file": path, "outputs": len(part), "labels": part.ratings.select("system", "input").unique().height}
        for path, part in zip(paths, (tune, held), strict=True)
    ]
    lines = ["{file}: {outputs:,} outputs, {labels:,} of them labelled".format_map(r) for r in rows]
    o.done("split", rows, format, lines)
    o.tell([f"every look at {paths[1].name} is written into {log_of(paths[1]).name}"])
