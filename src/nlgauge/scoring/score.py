"""score(): run metrics on a Dataset. The plan is checked first, each distinct text is encoded once, all cores work."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np
import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, Metric, Scores
from nlgauge.metrics._base import Array, Ints
from nlgauge.scoring.parts import lacking, pieces, take
from nlgauge.scoring.plan import plan
from nlgauge.table import Table

# done, of, and the metric that was just finished on a part
Progress = Callable[[int, int, str], None]
# How a metric is run on a part of the samples: by itself, or through something that remembers.
Engine = Callable[[Metric, Batch], Scores]


CRASH = "the metric failed: "


def plainly(metric: Metric, batch: Batch) -> Scores:
    return metric.score(batch)


def _always(metric: Metric, batch: Batch) -> bool:
    return True


def _remembering() -> Engine:
    from nlgauge.scoring.store import Store, Storing

    return Storing(Store())


@dataclass(frozen=True)
class Scored:
    """The Dataset with its new columns, and what was run: metric, mean, unscored, seconds, signature."""

    data: Dataset
    table: Table
    batch: Batch
    metrics: list[Metric]


def score(
    data: Dataset, metrics: Sequence[str | Metric] | str | Metric, *, progress: Progress | None = None,
    workers: int | None = None,
) -> Dataset:  # fmt: skip
    """The Dataset with one more column per metric, named by its spec.

    A sample without a value is null and its reason stands in `failures`. The values do not depend on `workers`.

    >>> import nlgauge as ng
    >>> scored = score(ng.example(), ["len", "wps"])
    >>> scored.metrics[-2:], "len" in scored.lower
    (['len', 'wps'], True)
    """
    return run(data, metrics, progress=progress, workers=workers).data


def run(
    data: Dataset, metrics: Sequence[str | Metric] | str | Metric, *, progress: Progress | None = None,
    workers: int | None = None, engine: Engine | None = None,
) -> Scored:  # fmt: skip
    """As `score`, with the table of what was run. `engine` may look up what is already known.

    Metrics with weights go through the durable store unless another engine is given: an interrupted run goes on where it
    was, and a repeated one costs nothing. They run one after the other on all samples, so that one pass over the texts
    serves every layer that is asked for.
    """
    planned = plan(data, metrics)
    heavy = [m for m in planned if m.facts.weights]
    engine = engine or (_remembering() if heavy else plainly)
    batch = Batch.of(data)
    columns = {str(m): Column(len(batch)) for m in planned}
    workers = workers or os.cpu_count() or 1
    together = [m for m in planned if not sees_all(m) and m not in heavy]
    alone = [m for m in planned if sees_all(m) and m not in heavy]
    parts = [(rows, together) for rows in pieces(len(batch), workers)] if together else []
    everything = np.arange(len(batch), dtype=np.int64)
    jobs = [*parts, *((everything, [metric]) for metric in alone)]
    tick = _Ticker(progress, sum(len(todo) for _, todo in jobs) + len(heavy))
    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(_part, batch, rows, todo, columns, tick, engine) for rows, todo in jobs]
        try:
            for done in as_completed(running):
                done.result()
        except BaseException:
            for each in running:
                each.cancel()
            raise
    unknown = [m for m in heavy if getattr(engine, "lacks", _always)(m, batch)]
    for metric in unknown:
        if hasattr(metric, "prepare"):
            metric.prepare(batch)
    for metric in heavy:
        _part(batch, everything, [metric], columns, tick, engine)
        if metric in unknown and hasattr(metric, "remarks"):
            columns[str(metric)].notes.update(metric.remarks(batch))
    _check_crashes(columns)
    return Scored(_add(data, planned, columns), _table(data, planned, columns, batch), batch, planned)


def _check_crashes(columns: dict[str, Column]) -> None:
    """Nothing but crashes is an error; otherwise a crash is the reason of its missing values."""
    crashes = {}
    for name, column in columns.items():
        reasons = [column.reasons.get(int(i), "") for i in np.flatnonzero(np.isnan(column.values))]
        if len(reasons) < column.n or not any(why.startswith(CRASH) for why in reasons):
            return
        crashes[name] = next(why for why in reasons if why.startswith(CRASH))
    raise NlgaugeError("; ".join(f"'{name}': {why}" for name, why in crashes.items()))


def sees_all(metric: Metric) -> bool:
    """Whether the value of a sample depends on the others; an option may decide it."""
    return bool(getattr(metric, "corpus", metric.facts.corpus))


@dataclass
class Column:
    """What becomes of one metric; parts of it are filled by several threads, each its own rows."""

    n: int
    values: Array = field(init=False)
    reasons: dict[int, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    tally: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.values = np.full(self.n, np.nan)


class _Ticker:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done, self.lock = progress, total, 0, Lock()

    def __call__(self, metric: str) -> None:
        with self.lock:
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total, metric)


def _part(
    batch: Batch, rows: Ints, metrics: list[Metric], columns: dict[str, Column], tick: _Ticker, engine: Engine
) -> None:
    """All these metrics on one part: what they share is computed once and then let go."""
    part = take(batch, rows)
    ready: dict[frozenset[str], tuple[Ints, Batch]] = {}
    for metric in metrics:
        needs, column = metric.facts.needs, columns[str(metric)]
        refused = lacking(part, needs)
        if needs not in ready:
            keep = np.flatnonzero(~np.any(list(refused.values()), axis=0))
            ready[needs] = keep, take(part, keep)
        kept, able = ready[needs]
        began = time.perf_counter()
        values, reasons, notes = _values(metric, able, engine)
        spent = time.perf_counter() - began
        tally = metric.tally(able) if hasattr(metric, "tally") else {}
        with column.lock:
            column.seconds += spent
            column.values[rows[kept]] = values
            for reason, where in refused.items():
                for place in rows[np.flatnonzero(where)].tolist():
                    column.reasons.setdefault(place, reason)
            column.reasons.update({int(rows[kept[i]]): why for i, why in reasons.items()})
            column.notes.update(notes.values())
            column.tally.update(tally)
        tick(str(metric))


def _values(metric: Metric, batch: Batch, engine: Engine) -> tuple[Array, dict[int, str], dict[int, str]]:
    if not len(batch):
        return np.empty(0), {}, {}
    try:
        scores = engine(metric, batch)
    except NlgaugeError:
        raise
    except Exception as error:  # one broken metric must not cost the others their work
        why = f"{CRASH}{type(error).__name__}: {error}"
        return np.full(len(batch), np.nan), dict.fromkeys(range(len(batch)), why), {}
    if len(scores.values) != len(batch):
        raise NlgaugeError(f"'{metric}' gave {len(scores.values)} values for {len(batch)} outputs.")
    reasons = {i: why for i, why in scores.reasons.items() if np.isnan(scores.values[i])}
    return np.asarray(scores.values, np.float64), reasons, scores.notes


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
        data, failures=pl.concat(frames), notes=(*data.notes, *notes),
        lower=(data.lower - set(names)) | {str(m) for m in metrics if m.facts.lower},
    )  # fmt: skip


def signature_of(metric: Metric) -> str:
    """The line that lets another group repeat the number."""
    from nlgauge import __version__

    said = getattr(metric, "signature", "")
    return str(said() if callable(said) else said) or f"version:nlgauge-{__version__}"


def _table(data: Dataset, metrics: list[Metric], columns: dict[str, Column], batch: Batch) -> Table:
    rows, remarks, warnings = [], [], Counter[str]()
    for metric in metrics:
        column = columns[str(metric)]
        valid = column.values[~np.isnan(column.values)]
        rows.append({
            "metric": str(metric), "mean": float(valid.mean()) if len(valid) else float("nan"),
            "scored": len(valid), "unscored": column.n - len(valid), "seconds": column.seconds,
            "better": "lower" if metric.facts.lower else "higher", "signature": signature_of(metric),
        })  # fmt: skip
        for reason, times in Counter(column.reasons.values()).most_common():
            remarks.append(f"{metric}: {times} unscored ({reason})")
        for note, times in column.notes.items():
            warnings[note] = max(warnings[note], times)
        if column.tally:
            remarks.append(", ".join(f"{n:,} {what}" for what, n in column.tally.items()))
    notes = [f"warning: {times} × {note}" for note, times in warnings.items()]
    empty = _empty(batch)
    if empty and "empty output" not in warnings:
        notes.append(f"warning: {empty} × empty output")
    method = "seconds: work that metrics share, as encoding the texts, counts for the first of them."
    return Table(f"Scores of {data.name}", rows, method=method, notes=[*notes, *dict.fromkeys(remarks)])


def _empty(batch: Batch) -> int:
    texts = batch.texts.list()
    return sum(1 for i in batch.output.tolist() if i >= 0 and not texts[i].strip())
