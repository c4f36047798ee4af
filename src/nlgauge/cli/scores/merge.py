"""Join the shards of a run of `nlgauge score --shard` into the file and the tables of a run in one piece.

[bold]Examples[/bold]

  nlgauge merge scores.parquet

  nlgauge merge node1/scores.parquet node2/scores.parquet -o scores.parquet    (each wrote to its own disk)

A folder that someone hands you is data: nothing in it is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o


def command(
    files: Annotated[list[Path], typer.Argument(help="What the shards were given with -o: mostly one file, the "
                                                     "same for all.", metavar="FILE...")],
    metrics: Annotated[list[str] | None, o.choice("--metrics", "-m", "Metrics of your own Python files, as in "
        "my.py@wit; that file is run. Needed only for values of a corpus.")] = None,
    format: o.Format = "table",
    out: Annotated[Path | None, o.output("-o", "--out", "File to write; without it the FILE itself.")] = None,
) -> None:  # fmt: skip
    from nlgauge.cli.scores.score import written
    from nlgauge.scoring.shards import merge

    done = merge(files, out, o.listed(metrics) or ())
    o.tell([f"{', '.join(map(str, files))}: {done.rows:,} rows of {done.batches} batches"])
    o.show([done.table, done.groups], format)
    o.tell([written(out or files[0])])
