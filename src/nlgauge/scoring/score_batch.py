"""Score one batch of samples by a plan of metrics, on all cores: values, reasons and statistics."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np

from nlgauge.engines import Local
from nlgauge.errors import NlgaugeError, Note, code_of
from nlgauge.metrics import Batch, Metric, Scores, take
from nlgauge.metrics.batch import NEEDS, Usable, usable
from nlgauge.registry import own_file
from nlgauge.scoring.cached_runner import CachedRunner
from nlgauge.scoring.store import Store
from nlgauge.types import Array, Ints

# done, of, and the metric that was just finished on a part
ScoreProgress = Callable[[int, int, str], None]
# How a metric is run on a part of the samples: by itself, or through something that remembers.
RunMetric = Callable[[Metric, Batch], Scores]

# Samples per block: enough that the overhead of a block is small, and few enough that its memory stays small.
SMALLEST, LARGEST = 500, 20_000
SMALL_TEXT = 1 << 18  # characters of distinct texts; up to here starting threads takes longer than they save
MAX_TEXT = 200_000  # characters of distinct texts whose token vectors, at several layers, fit their budget of memory


def pieces(n: int, workers: int) -> list[Ints]:
    """Split consecutive samples into pieces of equal size, which several cores share."""
    size = min(max(-(-n // max(workers, 1)), SMALLEST), LARGEST)
    return [np.arange(i, min(i + size, n), dtype=np.int64) for i in range(0, n, size)]


def by_source(batch: Batch, most: int) -> list[Ints]:
    """Split samples into parts of bounded text; those with the same source, context or reference stay together."""
    first = np.append(batch.reference, -1)[np.where(np.diff(batch.start) > 0, batch.start[:-1], -1)]
    texts, seen, parts, size = batch.texts.list(), {-1}, [[]], 0  # type: ignore[var-annotated]
    for i in np.lexsort((first, batch.context, batch.source)).tolist():
        own = {int(c[i]) for c in (batch.output, batch.source, batch.context)}
        new = own.union(batch.reference[batch.start[i] : batch.start[i + 1]].tolist()) - seen
        if size > most:
            parts.append([])
            seen, size = {-1}, 0
        parts[-1].append(i)
        seen |= new
        size += sum(len(texts[t]) for t in new)
    return [np.array(sorted(part), np.int64) for part in parts]


@dataclass
class Column:
    """The outcome of one metric; several threads fill it, each its own rows."""

    n: int
    values: Array = field(init=False)
    reasons: dict[int, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    tally: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    stats: Array | None = None  # one row per sample, of metrics whose value of a corpus comes from sums of them
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.values = np.full(self.n, np.nan)


def score_batch(
    batch: Batch,
    metrics: Sequence[Metric],
    *,
    progress: ScoreProgress | None = None,
    workers: int | None = None,
    engine: RunMetric | None = None,
    stats: bool = False,
) -> dict[str, Column]:
    """Score every sample by every metric; `stats` keeps the statistics that corpus values come from."""
    heavy = [m for m in metrics if m.facts.weights]
    engine = engine or (CachedRunner(Store()) if heavy else lambda metric, part: metric.score(part))
    columns = {str(m): Column(len(batch)) for m in metrics}
    if workers is None:
        workers = 1 if sum(map(len, batch.texts.list())) <= SMALL_TEXT else os.cpu_count() or 1
    together = [m for m in metrics if not m.facts.corpus and m not in heavy]
    alone = [m for m in metrics if m.facts.corpus and m not in heavy]
    parts = [(rows, together) for rows in pieces(len(batch), workers)] if together else []
    everything = np.arange(len(batch), dtype=np.int64)
    # Metrics on token vectors see a part of the samples one after the other, so that each text is encoded once.
    encoding = [m for m in heavy if "encoder" in m.models() and not m.facts.corpus]
    passes = [(rows, encoding) for rows in by_source(batch, MAX_TEXT)] if encoding else []
    passes += [(everything, [m]) for m in heavy if m not in encoding]
    jobs = [*parts, *((everything, [metric]) for metric in alone)]
    tick = _Ticker(progress, sum(len(todo) for _, todo in [*jobs, *passes]))
    for _ in Local(min(workers, max(len(jobs), 1))).run(
        lambda job: _part(batch, *job, columns, tick, engine, stats), jobs
    ):
        pass
    unknown = [m for m in heavy if not isinstance(engine, CachedRunner) or engine.lacks(m, batch)]
    for metric in unknown:
        metric.prepare(batch)
    for rows, some in passes:
        _part(batch, rows, some, columns, tick, engine, stats)
    for metric in unknown:
        columns[str(metric)].notes.update(metric.remarks(batch))
    _check_crashes(columns)
    return columns


def _check_crashes(columns: dict[str, Column]) -> None:
    """Raise an error if all metrics only crashed; otherwise a crash is the reason for its missing values."""
    crashes = {}
    for name, column in columns.items():
        if np.count_nonzero(np.isnan(column.values)) < column.n:
            return
        reasons = (column.reasons.get(i, "") for i in range(column.n))
        crash = next((why for why in reasons if code_of(why) == "crash"), None)
        if crash is None:
            return
        crashes[name] = crash
    raise NlgaugeError("; ".join(f"'{name}': {why}" for name, why in crashes.items()))


class _Ticker:
    def __init__(self, progress: ScoreProgress | None, total: int) -> None:
        self.progress, self.total, self.done, self.lock = progress, total, 0, Lock()

    def __call__(self, metric: str) -> None:
        with self.lock:
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total, metric)


def _part(
    batch: Batch,
    rows: Ints,
    metrics: list[Metric],
    columns: dict[str, Column],
    tick: _Ticker,
    engine: RunMetric,
    stats: bool,
) -> None:
    """Run these metrics on one part; shared results are computed once and then released."""
    part = batch if len(rows) == len(batch) else take(batch, rows)
    ready: dict[frozenset[str], tuple[Usable, Batch]] = {}
    for metric in metrics:
        needs, column = metric.facts.needs, columns[str(metric)]
        if needs not in ready:
            usable_part = usable(part, needs, may_be_empty=NEEDS)
            ready[needs] = usable_part, take(part, usable_part.places) if usable_part.reasons else part
        usable_part, able = ready[needs]
        places = usable_part.places
        began = time.perf_counter()
        values, reasons, notes = _values(metric, able, engine)
        spent = time.perf_counter() - began
        tally = metric.tally(able)
        sums = _stats(metric, able) if stats else None
        with column.lock:
            if sums is not None:
                if column.stats is None:
                    column.stats = np.zeros((column.n, sums.shape[1]))
                column.stats[rows[places]] = sums
            column.seconds += spent
            column.values[rows[places]] = values
            column.reasons.update({int(rows[i]): why for i, why in usable_part.reasons.items()})
            column.reasons.update({int(rows[places[i]]): why for i, why in reasons.items()})
            if notes:
                column.notes.update(notes.values())
            if tally:
                column.tally.update(tally)
        tick(str(metric))


def _stats(metric: Metric, batch: Batch) -> Array | None:
    """Return the statistics to be summed, if the metric has them; intermediate results of the scores are still in
    memory.
    """
    if not len(batch) or not metric.has_stats:
        return None
    try:
        return np.asarray(metric.stats(batch), np.float64)
    except NlgaugeError:
        raise
    except Exception:  # the scores say why
        return None


def _values(metric: Metric, batch: Batch, engine: RunMetric) -> tuple[Array, dict[int, str], dict[int, str]]:
    if not len(batch):
        return np.empty(0), {}, {}
    try:
        scores = engine(metric, batch)
    except NlgaugeError:
        raise
    except Exception as error:  # one failing metric must not stop the others
        where = own_file(error)  # only the name of the file, since reasons are written to results
        why = f"the metric failed: {type(error).__name__}: {error}" + (f" ({Path(where).name})" if where else "")
        return np.full(len(batch), np.nan), dict.fromkeys(range(len(batch)), Note(why, "crash")), {}
    if len(scores.values) != len(batch):
        raise NlgaugeError(f"'{metric}' gave {len(scores.values)} values for {len(batch)} outputs.")
    reasons = {i: why for i, why in scores.reasons.items() if np.isnan(scores.values[i])}
    return np.asarray(scores.values, np.float64), reasons, scores.notes


def against(metric: Metric) -> str:
    """Return the texts with which the output is compared: source, context, references, control, or – for none."""
    others = ("source", "context", "references", "control")
    return ", ".join(field for field in others if field in metric.facts.needs) or "–"
