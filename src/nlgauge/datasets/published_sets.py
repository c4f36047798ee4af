"""List, describe and download published sets."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nlgauge.datasets.catalog import Entry, File, entries, entry, mirror_folder, stored
from nlgauge.datasets.converted import content_of, converted, digest
from nlgauge.datasets.download import download, inside, is_whole, url_of
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.table import CommandOutput, Row, Table

Tell = Callable[[str, int, int], None]  # file, bytes received, total


def published_sets(*, task: str | None = None, paper: str | None = None, mirror: str | Path | None = None) -> Table:
    """List the published data sets with human ratings, and whether they are on this machine.

    Parameters
    ----------
    task : str, optional
        Only sets of this task, such as 'summarization'.
    paper : str, optional
        Only sets that this paper uses, such as 'novikova2017'.
    mirror : path, optional
        Folder with the files. Default: NLGAUGE_DATA, or the cache.

    Returns
    -------
    Table

    Examples
    --------
    >>> "summeval" in [row["set"] for row in published_sets(task="summarization")]
    True

    $ nlgauge data list --task summarization
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
            "license": e.license,
            "here": e.here(folder) if e.files else "–",
        }
        for e in entries()
        if (task is None or task.lower() in e.task) and (paper is None or paper in e.papers)
    ]
    if not rows:
        raise NlgaugeError("no matching published set; `nlgauge data list` without options shows all.")
    return Table(
        "Published sets of human judgments",
        rows,
        kind="data-list",
        shown=["set", "task", "size", "papers", "here"],
        notes=[f"here: in {folder}", "–: no loader; nlgauge data show NAME shows where it is published"],
    )


def describe(name: str, *, mirror: str | Path | None = None) -> CommandOutput:
    """Describe one published data set: contents, source, and missing parts.

    Parameters
    ----------
    name : str
        A set of `nlgauge data list`.
    mirror : path, optional
        Folder with the files. Default: NLGAUGE_DATA, or the cache.

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
    """Return facts about one data set: content, source, and missing parts."""
    return [
        ("set", f"{e.name}: {e.title}"),
        ("task", e.task),
        ("shape", e.shape),
        *(("aspect", f"{aspect} ({scale})") for aspect, scale in e.aspects.items()),
        ("raters", e.raters),
        ("human-written", ", ".join(e.human_systems) or "none of the systems"),
        ("license", e.license),
        ("cite", f"{e.cite}: {e.reference}"),
        ("papers", ", ".join(e.papers) or "none of the five"),
        *(("origin", str(origin)) for origin in e.origins),
        ("missing", e.missing or "nothing"),
        *(("note", note) for note in e.notes),
        *([("file", _file_line(f, f.here(folder))) for f in e.files] or [("file", "none")]),
        *([("folder", str(folder))] if e.files else []),
    ]


def _file_line(f: File, present: bool) -> str:
    if f.origin is not None:
        how = f"`nlgauge data get` downloads it from {f.origin}"
    elif f.parts:
        how = f"`nlgauge data get` makes it from {', '.join(f.parts)}"
    else:
        how = f"{f'open {f.page} in a browser; ' if f.page else ''}{f.where}. Put it into the folder under this name"
    needed = "optional" if f.extra else "needed"
    size = f"{f.size:,} bytes" if f.size else "size unknown"
    state = f"{size}; {needed}; {'present' if present else 'absent'}"
    return f"{f.path} ({state}): {how}. Layout: {f.layout}."


def get_set(
    name: str, *, to: str | Path | None = None, mirror: str | Path | None = None, progress: Tell | None = None
) -> dict[Path, str]:
    """Download a published data set from its original source, verify it and convert it.

    The files come from a public repository at a pinned commit, and their SHA-256 hashes are verified. An interrupted
    download is resumed. NLGauge does not redistribute the data: the license of the original source applies.

    Parameters
    ----------
    name : str
        A set of `nlgauge data list`, or `all` for every set that a program can download.
    to : path, optional
        Target folder. Default: NLGAUGE_DATA, or the cache.
    mirror : path, optional
        Copy files from this folder if it has them, instead of downloading.
    progress : callable, optional
        Called with the file, the number of bytes there, and of how many.

    Returns
    -------
    dict
        Each file of the set: 'already there', 'copied', 'downloaded', 'converted' or 'not downloadable'.

    Examples
    --------
    >>> get_set("summeval", to="data")    # doctest: +SKIP

    $ nlgauge data get summeval --to data
    """
    folder, copy = mirror_folder(to), None if mirror is None else Path(mirror)
    if name == ALL:
        files = {f.path: f for e in entries() for f in e.files}
        return {folder / path: _state(f, folder, copy, progress) for path, f in files.items()}
    chosen = entry(name)
    if not chosen.files:
        raise NeedsMissing(f"{name} has no file to download: {chosen.missing}")
    return {folder / f.path: _get_file(f, folder, copy, progress) for f in chosen.files}


def _answer_get(name: str, *, to: str | Path | None = None, **options: Any) -> CommandOutput:
    """Return the files of a set, its license and citation for the command; an incomplete set is an error."""
    done = get_set(name, to=to, **options)
    rows: list[Row] = [{"file": str(path), "state": how} for path, how in done.items()]
    table = Table("nlgauge data-get", rows, kind="data-get")
    lines = [f"{how}: {path}" for path, how in done.items()]
    if name == ALL:
        return CommandOutput([table], lines)
    chosen = entry(name)
    lines += [f"license: {chosen.license}", f"cite: {chosen.reference}"]
    return CommandOutput([table], lines, error=not_downloadable(name, done, mirror_folder(to)))


get_set.answer = _answer_get  # type: ignore[attr-defined]  # shown by the command line


def not_downloadable(name: str, done: dict[Path, str], folder: Path) -> str:
    """Explain why a requested set is incomplete; empty if it is complete."""
    chosen = entry(name)
    refused = [f for f in chosen.needed if done[folder / f.path] == NOT_DOWNLOADABLE]
    if not refused:
        return ""
    if refused[0].page:
        return f"{name}: needs a browser: open {refused[0].page} and save the file as {folder / refused[0].path}"
    return (
        f"{name}: {refused[0].path} needs a manual download ({refused[0].where or chosen.origins[0]}). Save it "
        f"as {folder / refused[0].path}; `nlgauge data show {name}` describes the expected layout."
    )


ALL = "all"
NOT_DOWNLOADABLE = "not downloadable"


def _there(target: Path, f: File) -> bool:
    """Return whether the file is present with the expected content."""
    path = stored(target)
    if f.sha256 and is_whole(path, f.size, f.sha256):
        return True
    if f.result:
        return path.is_file() and digest(content_of(path)) == f.result
    return path.is_file() and not f.sha256


def _state(f: File, folder: Path, mirror: Path | None, progress: Tell | None) -> str:
    """Return how a file was obtained; a failure is also a state, so that the other files are still downloaded."""
    try:
        return _get_file(f, folder, mirror, progress)
    except NlgaugeError as error:
        return f"failed ({error})"


def _get_file(f: File, folder: Path, mirror: Path | None, progress: Tell | None) -> str:
    target = inside(folder, f.path)
    if _there(target, f):
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
    tell = progress or (lambda *_: None)
    if f.parts:
        converted(f, folder, tell)
        return "converted"
    if f.origin is None:
        return NOT_DOWNLOADABLE
    download(url_of(f.origin), target, f.size, f.sha256, tell=lambda n: tell(target.name, n, f.size))
    return "downloaded"
