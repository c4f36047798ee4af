"""score(): run metrics on a Dataset. The plan is checked first, each distinct text is encoded once, all cores work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.metrics import Batch, Metric
from nlgauge.metrics.base import MetricLike
from nlgauge.scoring.outcomes import Sums
from nlgauge.scoring.plan import plan
from nlgauge.scoring.score_batch import Column, RunMetric, ScoreProgress, score_batch
from nlgauge.table import Table

__all__ = ["RunMetric", "ScoreProgress", "Scored", "run", "score"]


@dataclass(frozen=True)
class Scored:
    """The Dataset with its new columns, and what was run: metric, mean, unscored, seconds, signature."""

    data: Dataset
    table: Table
    batch: Batch
    metrics: list[Metric]


def score(
    data: Dataset,
    metrics: Sequence[MetricLike] | MetricLike,
    *,
    progress: ScoreProgress | None = None,
    workers: int | None = None,
) -> Dataset:
    """The Dataset with one more column per metric, named by its spec.

    A sample without a value is null and its reason stands in `failures`. The values do not depend on `workers`.

    >>> import nlgauge as ng
    >>> scored = score(ng.example(), ["len", "wps"])
    >>> scored.metrics[-2:], "len" in scored.lower
    (['len', 'wps'], True)
    """
    return run(data, metrics, progress=progress, workers=workers).data


def run(
    data: Dataset,
    metrics: Sequence[MetricLike] | MetricLike,
    *,
    progress: ScoreProgress | None = None,
    workers: int | None = None,
    engine: RunMetric | None = None,
) -> Scored:
    """As `score`, with the table of what was run. `engine` may look up what is already known.

    Metrics with weights go through the durable store unless another engine is given: an interrupted run goes on where
    it was, and a repeated one costs nothing. They run one after the other on all samples, so that one pass over the
    texts serves every layer that is asked for.
    """
    planned = plan(data, metrics)
    batch = Batch.of(data)
    columns = score_batch(batch, planned, progress=progress, workers=workers, engine=engine)
    table = Sums.of(batch, columns).table(data.name, planned)
    return Scored(_add(data, planned, columns), table, batch, planned)


def _add(data: Dataset, metrics: list[Metric], columns: dict[str, Column]) -> Dataset:
    names = [str(m) for m in metrics]
    frames = [data.failures.filter(~pl.col("metric").is_in(names))]
    for name, column in columns.items():
        places = sorted(column.reasons)
        frames.append(
            data.samples.select(KEY)[places].with_columns(
                pl.lit(name, pl.String).alias("metric"),
                pl.Series("reason", [column.reasons[i] for i in places], pl.String),
            )
        )
    replaced = [name for name in names if name in data.metrics]
    notes = [f"scored anew, the file's values are replaced: {', '.join(replaced)}"] if replaced else []
    data = data.with_scores({name: column.values for name, column in columns.items()})  # type: ignore[misc]
    return replace(
        data,
        failures=pl.concat(frames),
        notes=(*data.notes, *notes),
        signatures={**data.signatures, **{str(m): m.signature for m in metrics}},
        lower=(data.lower - set(names)) | {str(m) for m in metrics if m.facts.lower},
    )
