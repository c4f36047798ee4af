"""Published human-judgement sets: which there are, what they hold, and how to get them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o
from nlgauge.errors import NeedsMissing, NlgaugeError

if TYPE_CHECKING:
    from nlgauge.papers.catalogue import Entry, File

app = typer.Typer(no_args_is_help=True, help=__doc__, rich_markup_mode="rich")


class Format(StrEnum):
    table = "table"
    json = "json"
    csv = "csv"


Mirror = Annotated[
    Path | None, typer.Option("--mirror", help="Folder with the files (else NLGAUGE_DATA, else the cache).")
]
Shown = Annotated[Format, typer.Option("--format", "-f", help="How to print it.")]
Name = Annotated[str, typer.Argument(help="A set of `nlgauge data list`.", show_default=False)]


@app.command("list")
def list_sets(
    task: Annotated[str | None, typer.Option(help="Only sets of this task, e.g. summarisation.")] = None,
    paper: Annotated[
        str | None, typer.Option(help="Only sets that this paper uses: nimah2023, deng2021, ….")
    ] = None,
    mirror: Mirror = None,
    form: Shown = Format.table,
) -> None:
    """All published sets, and whether they are here."""
    from nlgauge.papers.catalogue import entries, mirror_folder
    from nlgauge.table import Table

    folder = mirror_folder(mirror)
    rows = [
        {
            "set": e.name,
            "task": e.task,
            "shape": e.shape,
            "aspects": len(e.aspects),
            "papers": " ".join(e.papers),
            "licence": e.licence,
            "here": e.here(folder) if e.files else "–",
        }
        for e in entries()
        if (task is None or task.lower() in e.task) and (paper is None or paper in e.papers)
    ]
    if not rows:
        raise NlgaugeError("no published set fits; `nlgauge data list` without options shows all.")
    table = Table(
        "Published human-judgement sets",
        rows,
        notes=[f"here: in {folder}", "–: no loader; nlgauge data show NAME says where it is published"],
    )
    if form is Format.table:
        _print_list(table)
    else:
        typer.echo(table.to_json() if form is Format.json else table.to_csv(), nl=form is Format.json)


def _print_list(table: Any) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title, title_justify="left", caption_justify="left", box=box.SIMPLE)
    shown.padding = (0, 1, 0, 0)
    shown.caption = "\n".join(table.remarks())
    for column in ("set", "task", "size", "papers", "here"):
        shown.add_column(column, no_wrap=column not in ("task", "papers"))
    for row in table:
        size = re.match(r"([\d,]+) [^×;:]*× ([\d,]+)", row["shape"])  # systems × inputs; the rest in `show`
        short = f"{size[1]} × {size[2]}" if size else " ".join(row["shape"].split()[:2]).strip(":,")
        shown.add_row(row["set"], row["task"], short, row["papers"], row["here"])
    Console().print(shown)


@app.command()
def show(name: Name, mirror: Mirror = None, form: Shown = Format.table) -> None:
    """What one set holds, where it comes from, what is missing."""
    from nlgauge.papers.catalogue import entry, mirror_folder

    found, folder = entry(name), mirror_folder(mirror)
    facts = {k: v for k, v in asdict(found).items() if k != "loader"}
    if form is Format.json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    lines = _described(found)
    lines += [("file", _file_line(f, f.here(folder))) for f in found.files] or [("file", "none")]
    if form is Format.csv:
        from nlgauge.table import Table

        typer.echo(Table(found.title, [{"fact": k, "value": v} for k, v in lines]).to_csv(), nl=False)
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


def _described(e: Entry) -> list[tuple[str, str]]:
    return [
        ("set", f"{e.name}: {e.title}"),
        ("task", e.task),
        ("shape", e.shape),
        *(("aspect", f"{aspect} ({scale})") for aspect, scale in e.aspects.items()),
        ("raters", e.raters),
        ("people", ", ".join(e.people) or "none among the systems"),
        ("licence", e.licence),
        ("cite", f"{e.cite}: {e.reference}"),
        ("papers", ", ".join(e.papers) or "none of the five"),
        *(("origin", str(origin)) for origin in e.origins),
        ("missing", e.missing or "nothing"),
        *(("note", note) for note in e.notes),
    ]


def _file_line(f: File, there: bool) -> str:
    how = (
        f"the bytes of {f.origin}, `nlgauge data get` downloads it"
        if f.untouched
        else "not redistributed here; repackaged from the origin above"
    )
    needed = "only adds to the set" if f.extra else "needed"
    state = f"{f.size:,} bytes; {needed}; {'here' if there else 'not here'}"
    return f"{f.path} ({state}): {how}. Layout: {f.layout}."


@app.command()
def get(
    name: Name,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder to put it in (else NLGAUGE_DATA, else the cache).")
    ] = None,
    mirror: Annotated[
        Path | None, typer.Option("--mirror", help="Copy from this folder where it has the file.")
    ] = None,
) -> None:
    """Download a set from its origin, checked by size and SHA-256."""
    from nlgauge.papers.catalogue import entry, mirror_folder

    found, folder = entry(name), mirror_folder(to)
    if not found.files:
        raise NeedsMissing(f"{name} cannot be had: {found.missing}")
    done = {f: _get_file(f, folder, mirror) for f in found.files}
    for f, how in done.items():
        typer.echo(f"{how or 'not downloadable'}: {folder / f.path}")
    lost = [f for f in found.needed if done[f] is None]
    if lost:
        raise NeedsMissing(
            f"{name}: {lost[0].path} was repackaged and has no download; the original is {found.origins[0]}. "
            f"`nlgauge data show {name}` says which layout is read."
        )


def _get_file(f: File, folder: Path, mirror: Path | None) -> str | None:
    """How the file came: already there, copied, downloaded, or None when it cannot."""
    from nlgauge.papers.catalogue.download import inside, is_whole

    target = inside(folder, f.path)
    if is_whole(target, f.size, f.sha256):
        return "already there"
    if mirror is not None and (source := inside(mirror, f.path)).is_file():
        if not is_whole(source, f.size, f.sha256):
            raise NlgaugeError(f"{source}: is not the file of the catalogue (size or SHA-256 differ).")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        except OSError as error:
            raise NlgaugeError(f"{target}: cannot be written ({error.strerror}).") from None
        return "copied"
    if f.origin is None:
        return None
    _download(f, target)
    return "downloaded"


def _download(f: File, target: Path) -> None:
    from nlgauge.papers.catalogue.download import download, url_of

    if f.origin is None:
        raise NlgaugeError(f"{f.path}: has no download.")
    download(url_of(f.origin), target, f.size, f.sha256, tell=lambda n: o.bar(target.name, n, f.size))
