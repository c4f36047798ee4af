"""What is kept on this machine: scores that cost time and replies that cost money."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o

app = typer.Typer(
    no_args_is_help=True, help="What is kept on this machine: scores that cost time and replies that cost money."
)
Which = Annotated[Path | None, typer.Option("--store", help="The file; NLGAUGE_STORE or the cache folder by default.")]
DAY = 86400.0


@app.command()
def info(store: Which = None, format: o.Format = "table") -> None:
    """Show how much is kept: scores by metric, replies by model with their tokens.

    [bold]Example[/bold]

      nlgauge cache info
    """
    from nlgauge.scoring.replies import Replies
    from nlgauge.scoring.store import Store
    from nlgauge.table import Table

    kept = Store(store)
    scores = [{"metric": name, "scores": n} for name, n in kept.counts().items()]
    replies = Replies(kept).summary()
    for row in replies:
        for end in ("first", "last"):
            row[end] = time.strftime("%Y-%m-%d %H:%M", time.localtime(row[end]))
    o.tell([f"{kept.path}: {kept.path.stat().st_size / 1e6:.1f} MB"])
    o.show([Table("Scores", scores, kind="store-scores"), Table("Replies", replies, kind="store-replies")], format)


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="JSONL file to write, one reply a line with its request.")],
    store: Which = None,
    format: o.Format = "table",
) -> None:
    """Write every kept reply with its request, tokens and time as JSONL. There is no key in it.

    [bold]Example[/bold]

      nlgauge cache export replies.jsonl
    """
    from nlgauge.scoring.replies import Replies
    from nlgauge.scoring.store import Store

    n = Replies(Store(store)).export(out)
    o.done("store-export", [{"file": out, "replies": n}], format, [f"written: {out}, {n:,} replies"])


@app.command()
def prune(
    model: Annotated[str | None, typer.Option("--model", help="Replies of this model.")] = None,
    older: Annotated[float | None, typer.Option("--older", help="Replies older than so many days.")] = None,
    metric: Annotated[str | None, typer.Option("--metric", help="Scores of this metric, as `info` names it.")] = None,
    store: Which = None,
    format: o.Format = "table",
) -> None:
    """Forget replies of a model or older than some days, or the scores of a metric.

    [bold]Example[/bold]

      nlgauge cache prune --model gpt-3.5-turbo --older 365
    """
    from nlgauge.errors import NlgaugeError
    from nlgauge.scoring.replies import Replies
    from nlgauge.scoring.store import Store

    if model is None and older is None and metric is None:
        raise NlgaugeError("store prune: say what to forget: --model, --older or --metric.")
    kept, gone = Store(store), {}
    if metric is not None:
        gone["scores"] = kept.forget(metric)
    if model is not None or older is not None:
        before = None if older is None else time.time() - older * DAY
        gone["replies"] = Replies(kept).prune(model=model, before=before)
    o.done("store-prune", [gone], format, [f"{n:,} {what} forgotten" for what, n in gone.items()])
