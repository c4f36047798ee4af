"""A judge through the reply store: stored replies are not requested again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.judge.client import Asking, ask
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.protocol import JudgeProtocol
from nlgauge.metrics.judge.replies import Failure, Reply
from nlgauge.metrics.judge.secret import find_key, origin
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.score import add_columns
from nlgauge.text.batch import Batch
from nlgauge.types import Steps


@dataclass(frozen=True)
class Judged:
    """The scores and the replies they were read from."""

    judge: JudgeProtocol
    scores: Scores
    found: dict[bytes, Reply | Failure]

    @property
    def failures(self) -> int:
        """Number of requests without a reply."""
        return sum(isinstance(r, Failure) for r in self.found.values())

    @property
    def stopped(self) -> str:
        """Why the run ended early; empty if it did not."""
        return next((r.reason for r in self.found.values() if isinstance(r, Failure) and r.stopped), "")

    def unread(self, batch: Batch) -> dict[bytes, tuple[str, str]]:
        """Return the replies that could not be parsed, by key: the reason and the text."""
        return self.judge.unread(batch, self.found)

    def reasons(self) -> list[str]:
        """Return why outputs are unscored, most frequent reason first."""
        return [f"{n:,} unscored ({why})" for why, n in Counter(self.scores.reasons.values()).most_common()]

    def remarks(self) -> list[str]:
        """Return notes on parsed scores, most frequent first."""
        return [f"{n:,} × {note}" for note, n in Counter(self.scores.notes.values()).most_common()]


def judged(
    metric: Judge,
    batch: Batch,
    replies: Replies,
    how: Asking | None = None,
    progress: Steps | None = None,
    *,
    reask: bool = False,
) -> Judged:
    """Request the replies that are not stored, and parse all. `reask` repeats those that could not be parsed.

    An endpoint that gives no reply at all is an error; a run that ended early says so in `stopped`.
    """
    metric.ready()
    judge = metric.decided()
    how = how or Asking(key=find_key(judge.url))
    replies.remember(metric.signature, metric.spec)
    replies.again = set()
    if reask:
        replies.again = set(reread(metric, batch, replies).unread(batch))
    result = _read(judge, batch, ask(judge.requests(batch), replies, how, progress, judge.count(batch)))
    if result.stopped and not any(isinstance(r, Reply) for r in result.found.values()):
        raise NlgaugeError(f"{origin(judge.url)}: {result.stopped}. Nothing was judged.")
    return result


def reread(metric: Judge, batch: Batch, replies: Replies) -> Judged:
    """Parse the stored replies again, without sending requests."""
    judge = metric.decided()
    replies.remember(metric.signature, metric.spec)
    keys = [request.key for request in judge.requests(batch)]
    missing = Failure("no stored reply", asked=False)
    return _read(judge, batch, {**dict.fromkeys(keys, missing), **replies.known(keys)})


def _read(judge: JudgeProtocol, batch: Batch, replies: dict[bytes, Reply | Failure]) -> Judged:
    return Judged(judge, judge.scores(batch, replies), replies)


def add_judged(data: Dataset, metric: Judge, batch: Batch, result: Judged, keep_draws: bool = False) -> Dataset:
    """Return the Dataset with the judge's column; with `keep_draws` also one column per draw, `spec#1`, `spec#2` …."""
    columns = {str(metric): result.scores.values}
    if keep_draws and result.judge.mode != "pairwise" and result.judge.n > 1:
        single = result.judge.draws(batch, result.found)
        columns |= {f"{metric}#{k + 1}": single[:, k] for k in range(single.shape[1])}
    signatures = dict.fromkeys(columns, metric.signature)
    return add_columns(data, columns, {str(metric): result.scores.reasons}, signatures)


def add_comparisons(data: Dataset, metric: Judge, batch: Batch, result: Judged) -> Dataset:
    """Return the Dataset with the judge's comparisons, in presentation order."""
    systems, inputs = data.samples["system"].to_list(), data.samples["input"].to_list()
    rows = []
    for pair, share, _ in result.judge.comparisons(batch, result.found):
        if share is not None:
            first, second = systems[pair.first], systems[pair.second]
            preferred = "tie" if share == 0.5 else "first" if share > 0.5 else "second"
            rows.append((inputs[pair.first], first, second, result.judge.aspect, str(metric), preferred))
    new = pl.DataFrame(rows, schema=Dataset.COMPARISONS, orient="row")
    return replace(data, comparisons=pl.concat([data.comparisons, new]), models=data.models | {str(metric)})
