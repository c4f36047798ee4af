"""Published sets for people: all of them in a table, one in words, and how to get one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nlgauge.datasets.catalog import Entry, File, entries, entry, mirror_folder
from nlgauge.datasets.download import download, inside, is_whole, url_of
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.table import CommandOutput, Row, Table

Tell = Callable[[str, int, int], None]  # file, bytes there, of how many


def published_sets(*, task: str | None = None, paper: str | None = None, mirror: str | Path | None = None) -> Table:
    """List the published sets of human judgments, and whether they are here.

    Parameters
    ----------
    task : str, optional
        Only sets of this task, such as 'summarisation'.
    paper : str, optional
        Only sets that this paper uses, such as 'novikova2017'.
    mirror : path, optional
        Folder with the files (else NLGAUGE_DATA, else the cache).

    Returns
    -------
    Table

    Examples
    --------
    >>> "summeval" in [row["set"] for row in published_sets(task="summarisation")]
    True

    $ nlgauge data list --task summarisation
    """
    folder = mirror_folder(mirror)
    rows: list[Row] = [
        {
            "set": e.name,
            "task": e.task,
            "shape": e.shape,
            "size": e.size,
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
    return Table(
        "Published human-judgement sets",
        rows,
        kind="data-list",
        shown=["set", "task", "size", "papers", "here"],
        notes=[f"here: in {folder}", "–: no loader; nlgauge data show NAME says where it is published"],
    )


def describe(name: str, *, mirror: str | Path | None = None) -> CommandOutput:
    """Show what one set holds, where it comes from, and what is missing.

    Parameters
    ----------
    name : str
        A set of `nlgauge data list`.
    mirror : path, optional
        Folder with the files (else NLGAUGE_DATA, else the cache).

    Returns
    -------
    CommandOutput
        The facts, as a table and as lines.

    Examples
    --------
    >>> describe("summeval").lines[0].split()[:2]
    ['set', 'summeval:']

    $ nlgauge data show summeval
    """
    one = entry(name)
    lines = described(one, mirror_folder(mirror))
    facts = {k: v for k, v in asdict(one).items() if k != "loader"}
    rows: list[Row] = [{"fact": k, "text": v} for k, v in lines]
    side = max(len(fact) for fact, _ in lines) + 2
    return CommandOutput(
        [Table(one.title, rows, facts=facts, kind="data-show")], [f"{fact:{side}}{text}" for fact, text in lines]
    )


def described(e: Entry, folder: Path) -> list[tuple[str, str]]:
    """What one set holds, where it comes from, what is missing: facts and their values, in words."""
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
        *([("file", _file_line(f, f.here(folder))) for f in e.files] or [("file", "none")]),
        *([("folder", str(folder))] if e.files else []),
    ]


def _file_line(f: File, there: bool) -> str:
    if f.where:
        how = (
            f"NLGauge does not redistribute it; {f.where}. Put it into the folder under this name, as it is or gzipped"
        )
    elif f.untouched:
        how = f"the bytes of {f.origin}, `nlgauge data get` downloads it"
    else:
        how = "NLGauge does not redistribute it; repackaged from the origin above"
    needed = "only adds to the set" if f.extra else "needed"
    size = "size not known" if f.where else f"{f.size:,} bytes"
    state = f"{size}; {needed}; {'there' if there else 'not there'}"
    return f"{f.path} ({state}): {how}. Layout: {f.layout}."


def get_set(
    name: str, *, to: str | Path | None = None, mirror: str | Path | None = None, progress: Tell | None = None
) -> dict[Path, str]:
    """Download a published set from its origin, checked by size and SHA-256.

    Parameters
    ----------
    name : str
        A set of `nlgauge data list`.
    to : path, optional
        Folder to put it in (else NLGAUGE_DATA, else the cache).
    mirror : path, optional
        Copy from this folder where it has the file.
    progress : callable, optional
        Called with the file, the number of bytes there, and of how many.

    Returns
    -------
    dict
        Each file of the set: 'already there', 'copied', 'downloaded' or 'not downloadable'.

    Examples
    --------
    >>> get_set("summeval", to="data")    # doctest: +SKIP

    $ nlgauge data get summeval --to data
    """
    found, folder = entry(name), mirror_folder(to)
    if not found.files:
        raise NeedsMissing(f"{name} cannot be had: {found.missing}")
    return {
        folder / f.path: _get_file(f, folder, None if mirror is None else Path(mirror), progress) for f in found.files
    }


def _answer_get(name: str, *, to: str | Path | None = None, **options: Any) -> CommandOutput:
    """What the command shows of the files of a set; a set that is not whole is an error."""
    done = get_set(name, to=to, **options)
    rows: list[Row] = [{"file": str(path), "state": how} for path, how in done.items()]
    table = Table("nlgauge data-get", rows, kind="data-get")
    lost = not_downloadable(name, done, mirror_folder(to))
    return CommandOutput([table], [f"{how}: {path}" for path, how in done.items()], error=lost)


get_set.answer = _answer_get  # type: ignore[attr-defined]  # what the command line shows


def not_downloadable(name: str, done: dict[Path, str], folder: Path) -> str:
    """Why a set that was asked for is not whole; empty where it is."""
    found = entry(name)
    lost = [f for f in found.needed if done[folder / f.path] == NOT_DOWNLOADABLE]
    if not lost:
        return ""
    why = "is to be fetched by you" if lost[0].where else "was repackaged and has no download"
    return (
        f"{name}: {lost[0].path} {why}; the original is {found.origins[0]}. "
        f"`nlgauge data show {name}` says which layout is read."
    )


NOT_DOWNLOADABLE = "not downloadable"


def _get_file(f: File, folder: Path, mirror: Path | None, progress: Tell | None) -> str:
    target = inside(folder, f.path)
    if is_whole(target, f.size, f.sha256):
        return "already there"
    if mirror is not None and (source := inside(mirror, f.path)).is_file():
        if not is_whole(source, f.size, f.sha256):
            raise NlgaugeError(f"{source}: is not the file of the catalog (size or SHA-256 differ).")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        except OSError as error:
            raise NlgaugeError(f"{target}: cannot be written ({error.strerror}).") from None
        return "copied"
    if f.origin is None:
        return NOT_DOWNLOADABLE
    tell = progress or (lambda *_: None)
    download(url_of(f.origin), target, f.size, f.sha256, tell=lambda n: tell(target.name, n, f.size))
    return "downloaded"
