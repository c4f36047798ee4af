"""What is kept on this machine: scores that cost time and replies that cost money."""

from __future__ import annotations

import time
from pathlib import Path

from nlgauge.errors import NlgaugeError
from nlgauge.options import option
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store
from nlgauge.table import CommandOutput, Table, command_output

DAY = 86400.0  # seconds


def info(*, store: Path | None = None) -> CommandOutput:
    """Show how much is kept: scores by metric, replies by model with their tokens.

    Parameters
    ----------
    store : path, optional
        The file; NLGAUGE_STORE or the cache folder by default.

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


def export(out: Path, *, store: Path | None = None) -> CommandOutput:
    """Write every kept reply with its request, tokens and time as JSONL. There is no key in it.

    Parameters
    ----------
    out : path
        JSONL file to write, one reply per line with its request.
    store : path, optional
        The file; NLGAUGE_STORE or the cache folder by default.

    Examples
    --------
    $ nlgauge cache export replies.jsonl
    """
    n = Replies(Store(store)).export(out)
    return command_output("store-export", [{"file": out, "replies": n}], [f"written: {out}, {n:,} replies"])


def prune(
    *, model: str | None = None, older: float | None = None, metric: str | None = None, store: Path | None = None
) -> CommandOutput:
    """Forget replies of a model or older than some days, or the scores of a metric.

    Parameters
    ----------
    model : str, optional
        Replies of this model.
    older : float, optional
        Replies older than so many days.
    metric : str, optional
        Scores of this metric, as `nlgauge cache info` names it.
    store : path, optional
        The file; NLGAUGE_STORE or the cache folder by default.

    Examples
    --------
    $ nlgauge cache prune --model gpt-3.5-turbo --older 365
    """
    if model is None and older is None and metric is None:
        names = ", ".join(option(name) for name in ("model", "older", "metric"))
        raise NlgaugeError(f"cache prune: say what to forget: {names}.")
    kept, gone = Store(store), {}
    if metric is not None:
        gone["scores"] = kept.forget(metric)
    if model is not None or older is not None:
        before = None if older is None else time.time() - older * DAY
        gone["replies"] = Replies(kept).prune(model=model, before=before)
    return command_output("store-prune", [dict(gone)], [f"{n:,} {what} forgotten" for what, n in gone.items()])
