"""A judge through the durable store: what is known is not asked again."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.judges.client import Asking, Failure, Progress, ask
from nlgauge.judges.replies import Reply
from nlgauge.judges.secret import find_key
from nlgauge.metrics._base import Batch, Scores
from nlgauge.scoring.replies import Replies

if TYPE_CHECKING:
    from nlgauge.judges.judge import Judge
    from nlgauge.metrics.judge import Judge as JudgeMetric


@dataclass(frozen=True)
class Judged:
    """The scores and the replies they were read from."""

    judge: Judge
    scores: Scores
    found: dict[bytes, Reply | Failure]

    @property
    def failures(self) -> int:
        return sum(isinstance(r, Failure) for r in self.found.values())

    def reasons(self) -> list[str]:
        """Why outputs are unscored, most frequent first."""
        return [f"{n:,} unscored ({why})" for why, n in Counter(self.scores.reasons.values()).most_common()]

    def remarks(self) -> list[str]:
        return [f"{n:,} × {note}" for note, n in Counter(self.scores.notes.values()).most_common()]


def judged(
    metric: JudgeMetric,
    batch: Batch,
    replies: Replies,
    how: Asking | None = None,
    progress: Progress | None = None,
) -> Judged:
    judge = metric.decided()
    found = ask(judge.requests(batch), replies, how or Asking(key=find_key()), progress, judge.count(batch))
    return Judged(judge, judge.scores(batch, found), found)


def add_judged(
    data: Dataset, metric: JudgeMetric, batch: Batch, result: Judged, keep_draws: bool = False
) -> Dataset:
    """The Dataset with the judge's column; with `keep_draws` also one column a draw, `spec#1`, `spec#2` …."""
    columns = {str(metric): result.scores.values}
    if keep_draws and result.judge.mode != "pairwise" and result.judge.n > 1:
        single = result.judge.draws(batch, result.found)
        columns |= {f"{metric}#{k + 1}": single[:, k] for k in range(single.shape[1])}
    values = {name: [None if math.isnan(v) else float(v) for v in column] for name, column in columns.items()}
    rows = data.samples.select(KEY).rows()
    failures = pl.DataFrame(
        [(*rows[i], str(metric), why) for i, why in result.scores.reasons.items()],
        schema=Dataset.FAILURES,
        orient="row",
    )
    with_column = data.with_scores(values)
    return replace(with_column, failures=pl.concat([with_column.failures, failures]))


def add_comparisons(data: Dataset, metric: JudgeMetric, batch: Batch, result: Judged) -> Dataset:
    """The Dataset with the judge's choices, in the order in which the two were shown."""
    systems, inputs = data.samples["system"].to_list(), data.samples["input"].to_list()
    rows = []
    for pair, share, _ in result.judge.comparisons(batch, result.found):
        if share is not None:
            first, second = systems[pair.first], systems[pair.second]
            preferred = "tie" if share == 0.5 else "first" if share > 0.5 else "second"
            rows.append((inputs[pair.first], first, second, result.judge.aspect, str(metric), preferred))
    new = pl.DataFrame(rows, schema=Dataset.COMPARISONS, orient="row")
    return replace(data, comparisons=pl.concat([data.comparisons, new]))
