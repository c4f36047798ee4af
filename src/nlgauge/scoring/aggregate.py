"""System and corpus scores: the mean over samples, and the corpus value of metrics that have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.engines import Local
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.metrics import Batch, Metric, take
from nlgauge.metrics.batch import NEEDS, usable
from nlgauge.registry import did_you_mean
from nlgauge.scoring.outcomes import from_sums, group_rows, group_table
from nlgauge.scoring.plan import known_metric, plan
from nlgauge.scoring.score import run
from nlgauge.scoring.score_batch import pieces
from nlgauge.table import Row, Table
from nlgauge.types import Array, Ints

ALL = "all outputs"


def aggregate(
    data: Dataset,
    metrics: Sequence[str | Metric] | None = None,
    by: str | None = "system",
    *,
    batch: Batch | None = None,
) -> Table:
    """Return one row per value of column `by` (None: all outputs together), one column per metric.

    `bleu (corpus)` is the score of the pooled counts, `bleu (mean)` the mean of the sentence scores: they differ.
    Metrics that the Dataset has no scores of are run first; without `metrics` all that have scores.

    >>> import nlgauge as ng
    >>> table = aggregate(ng.example(), ["wps"])
    >>> table.rows[0]["of"], table.rows[0]["n"]
    ('mean', 24)
    """
    data, scored = _scored(data, metrics)
    if by is not None:
        check_column(data.name, by, data.samples.columns)
    groups = _groups(data, by)
    line = by or "outputs"
    rows: list[Row] = []
    for name, metric in scored.items():
        values = data.samples.select(KEY).join(data.scores, on=KEY, how="left", maintain_order="left")[name]
        lower = name in data.lower
        whole = _corpus(metric, batch or Batch.of(data), groups) if metric is not None and metric.has_corpus else {}
        for group, places in groups.items():
            of_metric = values.cast(pl.Float64).to_numpy()[places]
            valid = of_metric[~np.isnan(of_metric)]
            mean = float(valid.mean()) if len(valid) else np.nan
            counts = {"n": len(valid), "unscored": len(of_metric) - len(valid), "lower": lower}
            rows += group_rows({line: group}, name, mean, whole.get(group), counts)
    return group_table(data.name, by, rows)


def check_column(data: str, by: str, columns: Sequence[str]) -> None:
    """Raise NameUnknown if the data have no such column."""
    if by not in columns:
        raise NameUnknown(f"{data}: no column '{by}'.{did_you_mean(by, columns)}")


def _scored(data: Dataset, metrics: Sequence[str | Metric] | None) -> tuple[Dataset, dict[str, Metric | None]]:
    """Return the data with all these scores; columns of the file that are not NLGauge metrics only have a mean."""
    if metrics is None:
        if not data.metrics:
            raise NlgaugeError(f"{data.name}: no scores to aggregate; run `nlgauge score` or name metrics.")
        return data, {name: known_metric(name) for name in data.metrics}
    metric_plan = plan(data, metrics)
    lacking_scores = [m for m in metric_plan if str(m) not in data.metrics]
    if lacking_scores:
        data = run(data, lacking_scores).data
    return data, {str(m): m for m in metric_plan}


def _groups(data: Dataset, by: str | None) -> dict[Any, Ints]:
    if by is None:
        return {ALL: np.arange(len(data), dtype=np.int64)}
    groups: dict[Any, list[int]] = {}
    for place, value in enumerate(data.samples[by].to_list()):
        groups.setdefault(value, []).append(place)
    return {value: np.array(places, np.int64) for value, places in groups.items()}


def _corpus(metric: Metric, batch: Batch, groups: dict[Any, Ints]) -> dict[Any, float]:
    """Compute the value of each group from summed statistics of its samples, or from its pooled
    outputs; NaN if empty.
    """
    able = usable(batch, metric.facts.needs, may_be_empty=NEEDS).places
    usable_groups = {group: places[np.isin(places, able)] for group, places in groups.items()}
    if not metric.has_stats:
        return {
            g: float(metric.pooled(take(batch, rows))) if len(rows) else np.nan for g, rows in usable_groups.items()
        }
    number = np.full(len(batch), -1, np.int64)
    for i, rows in enumerate(usable_groups.values()):
        number[rows] = i
    sums = _sums(metric, batch, number, len(usable_groups))
    return {
        g: from_sums(metric, row) if len(rows) else np.nan
        for (g, rows), row in zip(usable_groups.items(), sums, strict=True)
    }


def _sums(metric: Metric, batch: Batch, number: Ints, many: int) -> list[Array]:
    """Sum the statistics of each group in blocks of one size, so that the sums are identical on every machine."""

    def of(rows: Ints) -> Array:
        rows = rows[number[rows] >= 0]
        stats = np.asarray(metric.stats(take(batch, rows)), np.float64) if len(rows) else np.zeros((0, 0))
        total = np.zeros((many, stats.shape[1]))
        np.add.at(total, number[rows], stats)
        return total

    whole = [np.arange(len(batch), dtype=np.int64)]
    cuts = whole if metric.facts.corpus else pieces(len(batch), 1)
    parts = [part for part in Local().run(of, cuts) if part.shape[1]]
    return list(np.sum(parts, axis=0)) if parts else [np.zeros(0)] * many
