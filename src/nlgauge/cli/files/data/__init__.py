"""Files and published sets: check, convert and split a file; list, show and get published human judgments."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.errors import NeedsMissing

app = typer.Typer(no_args_is_help=True, help=__doc__, rich_markup_mode="rich")


Mirror = Annotated[
    Path | None, typer.Option("--mirror", help="Folder with the files (else NLGAUGE_DATA, else the cache).")
]
Name = Annotated[str, typer.Argument(help="A set of `nlgauge data list`.", show_default=False)]


@app.command("list")
def list_sets(
    task: Annotated[str | None, typer.Option(help="Only sets of this task, e.g. summarisation.")] = None,
    paper: Annotated[str | None, typer.Option(help="Only sets that this paper uses: nimah2023, deng2021, ….")] = None,
    mirror: Mirror = None,
    format: o.Format = "table",
) -> None:
    """All published sets, and whether they are here."""
    from nlgauge.datasets.published_sets import sets_table

    o.show([sets_table(task, paper, mirror)], format)


@app.command()
def show(name: Name, mirror: Mirror = None, format: o.Format = "table") -> None:
    """What one set holds, where it comes from, what is missing."""
    from nlgauge.datasets import entry, mirror_folder
    from nlgauge.datasets.published_sets import described
    from nlgauge.table import Table

    found = entry(name)
    lines = described(found, mirror_folder(mirror))
    if format != "table":
        facts = {k: v for k, v in asdict(found).items() if k != "loader"}
        o.show([Table(found.title, [{"fact": k, "text": v} for k, v in lines], facts=facts, kind="data-show")], format)
        return
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable.grid(padding=(0, 2))
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column(overflow="fold")
    for key, value in lines:
        shown.add_row(key, Text(value))
    Console().print(shown)


@app.command()
def get(
    name: Name,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder to put it in (else NLGAUGE_DATA, else the cache).")
    ] = None,
    mirror: Annotated[
        Path | None, typer.Option("--mirror", help="Copy from this folder where it has the file.")
    ] = None,
    format: o.Format = "table",
) -> None:
    """Download a set from its origin, checked by size and SHA-256."""
    from nlgauge.datasets import mirror_folder
    from nlgauge.datasets.published_sets import get_set, not_downloadable

    done = get_set(name, to, mirror=mirror, progress=o.bar)
    rows = [{"file": path, "state": how} for path, how in done.items()]
    o.done("data-get", rows, format, [f"{how}: {path}" for path, how in done.items()])
    if lost := not_downloadable(name, done, mirror_folder(to)):
        raise NeedsMissing(lost)
