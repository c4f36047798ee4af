"""Published sets for people: all of them in a table, one in words, and how to get one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from nlgauge.datasets import Entry, File, entries, entry, mirror_folder
from nlgauge.datasets.download import download, inside, is_whole, url_of
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.table import Row, Table

Tell = Callable[[str, int, int], None]  # file, bytes there, of how many


def sets_table(task: str | None = None, paper: str | None = None, mirror: str | Path | None = None) -> Table:
    """All published sets of a task or a paper, and whether they are here.

    Parameters
    ----------
    task : str, optional
        Such as 'summarisation'.
    paper : str, optional
        Such as 'novikova2017': only sets that it uses.
    mirror : path, optional
        Folder with the files (else NLGAUGE_DATA, else the cache).

    Examples
    --------
    >>> import nlgauge as ng
    >>> "summeval" in [row["set"] for row in ng.published_sets("summarisation")]
    True
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
        "Published human-judgement sets", rows, kind="data-list", shown=["set", "task", "size", "papers", "here"],
        notes=[f"here: in {folder}", "–: no loader; nlgauge data show NAME says where it is published"],
    )  # fmt: skip


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
    name: str, to: str | Path | None = None, *, mirror: str | Path | None = None, progress: Tell | None = None
) -> dict[Path, str]:  # fmt: skip
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
    >>> import nlgauge as ng
    >>> ng.get_set("summeval", "data")    # doctest: +SKIP
    """
    found, folder = entry(name), mirror_folder(to)
    if not found.files:
        raise NeedsMissing(f"{name} cannot be had: {found.missing}")
    return {
        folder / f.path: _get_file(f, folder, None if mirror is None else Path(mirror), progress) for f in found.files
    }  # fmt: skip


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
            raise NlgaugeError(f"{source}: is not the file of the catalogue (size or SHA-256 differ).")
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
