"""score(): run metrics on a Dataset. The plan is checked first, each distinct text is encoded once, on all cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from nlgauge.data.dataset import KEY, Dataset, check_metrics
from nlgauge.metrics import Batch, Metric
from nlgauge.metrics.base import MetricLike
from nlgauge.scoring.outcomes import Sums
from nlgauge.scoring.plan import plan
from nlgauge.scoring.score_batch import Column, RunMetric, ScoreProgress, score_batch
from nlgauge.scoring.text_lists import TextLists
from nlgauge.table import Table
from nlgauge.types import Array

__all__ = ["RunMetric", "ScoreProgress", "Scored", "run", "score"]


@dataclass(frozen=True)
class Scored:
    """What metrics gave on some data. The Dataset with the new columns and the table are made when they are asked for,
    as both take longer than scoring a few outputs.
    """

    source: Dataset | TextLists
    batch: Batch
    metrics: list[Metric]
    columns: dict[str, Column]

    @cached_property
    def data(self) -> Dataset:
        """The Dataset with its new columns."""
        return _add(self.source.dataset if isinstance(self.source, TextLists) else self.source, self)

    @cached_property
    def table(self) -> Table:
        """Table of the metrics: mean, unscored, seconds, signature."""
        return Sums.of(self.batch, self.columns).table(self.source.name, self.metrics)

    @property
    def lower(self) -> set[str]:
        """Return the metrics for which lower is better."""
        return {str(m) for m in self.metrics if m.facts.lower}

    @property
    def notes(self) -> list[str]:
        """Return notes on the new columns."""
        earlier_metrics = [] if isinstance(self.source, TextLists) else self.source.metrics
        replaced = [name for name in self.columns if name in earlier_metrics]
        return [f"scores in the file were replaced: {', '.join(replaced)}"] if replaced else []

    @property
    def without_values(self) -> bool:
        """Whether a metric has no value for any output."""
        return any(np.count_nonzero(np.isnan(column.values)) == column.n for column in self.columns.values())


def score(
    data: Dataset,
    metrics: Sequence[MetricLike] | MetricLike,
    *,
    progress: ScoreProgress | None = None,
    workers: int | None = None,
) -> Dataset:
    """Return the Dataset with one more column per metric, named by its spec.

    A sample without a value is null and its reason stands in `failures`. The values do not depend on `workers`.

    >>> import nlgauge as ng
    >>> scored = score(ng.example(), ["len", "wps"])
    >>> scored.metrics[-2:], "len" in scored.lower
    (['len', 'wps'], True)
    """
    return run(data, metrics, progress=progress, workers=workers).data


def run(
    data: Dataset | TextLists,
    metrics: Sequence[MetricLike] | MetricLike,
    *,
    progress: ScoreProgress | None = None,
    workers: int | None = None,
    engine: RunMetric | None = None,
) -> Scored:
    """Score like `score`, but also return the batch, the planned metrics and their columns.

    `engine` can reuse known scores. Metrics with weights use the score store unless another engine is given, so that an
    interrupted run continues where it stopped and a repeated run costs nothing. They run one after the other on all
    samples, so that one pass over the texts serves all requested layers.
    """
    planned = plan(data, metrics)
    check_metrics(data.name, map(str, planned))
    batch = data.batch if isinstance(data, TextLists) else Batch.of(data)
    columns = score_batch(batch, planned, progress=progress, workers=workers, engine=engine)
    return Scored(data, batch, planned, columns)


def _add(data: Dataset, scored: Scored) -> Dataset:
    values = {name: column.values for name, column in scored.columns.items()}
    reasons = {name: column.reasons for name, column in scored.columns.items()}
    return replace(
        add_columns(data, values, reasons, {str(m): m.signature for m in scored.metrics}),
        notes=(*data.notes, *scored.notes),
        lower=(data.lower - set(values)) | scored.lower,
    )


def add_columns(
    data: Dataset, values: Mapping[str, Array], reasons: Mapping[str, Mapping[int, str]], signatures: Mapping[str, str]
) -> Dataset:
    """Return the Dataset with these metrics, and the reasons why samples have no value."""
    frames = [data.failures.filter(~pl.col("metric").is_in(list(reasons)))]
    for name, of_samples in reasons.items():
        places = sorted(of_samples)
        frames.append(
            data.samples.select(KEY)[places].with_columns(
                pl.lit(name, pl.String).alias("metric"), pl.Series("reason", [of_samples[i] for i in places], pl.String)
            )
        )
    return replace(
        data.with_scores(values),  # type: ignore[arg-type]
        failures=pl.concat(frames),
        signatures={**data.signatures, **signatures},
    )
