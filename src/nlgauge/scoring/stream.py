"""Scoring a table that is larger than the memory: batch by batch, each kept as soon as it is done.

Beside the file that is asked for stands a folder `NAME.parts` while the work lasts: the scores of every finished batch, and
what its means and corpus values need. A run that was interrupted goes on with the first batch that is not there, on
whatever engine. Texts, tokens and their numbers live as long as their batch, so the memory does not grow with the file.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nlgauge import registry
from nlgauge.data.peek import Peek
from nlgauge.engines import Engine, Local
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.metrics import Metric
from nlgauge.scoring.batch_columns import Layout
from nlgauge.scoring.batch_sums import Sums, groups_table, run_table
from nlgauge.scoring.network_folder import own_store
from nlgauge.scoring.plan import plan_for, suggested_for
from nlgauge.scoring.score_batch import Column, Outcome, empty_outputs, score_batch, sees_all, signature_of
from nlgauge.scoring.table_batches import KINDS, Source
from nlgauge.scoring.table_rows import Place, Rows
from nlgauge.scoring.unfinished import Unfinished
from nlgauge.table import Table

if TYPE_CHECKING:
    from nlgauge.scoring.shards import Shard

BATCH = 20_000
LARGE = 256 << 20  # bytes of a file from which on it is scored in batches unasked
GROUPS = 10_000
# read, of: bytes, or rows of a Parquet file; and how many rows are scored
StreamProgress = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Streamed:
    """What was run, and the means and corpus values; the scores themselves stand in the file."""

    rows: int
    metrics: list[Metric]
    table: Table
    groups: Table
    resumed: int  # batches that an earlier run had done
    scored: int = 0  # batches of this run, or of its shard
    batches: int = 0  # batches of the file


def streams(path: str | Path) -> bool:
    """Whether a file is a plain table that can be scored in batches."""
    path = Path(path)
    if not path.is_file() or Source(path).kind not in KINDS:
        return False
    peek = Peek(path)
    return not any(registry.get("reader", name).recognises(peek) for name in registry.names("reader"))


def stream(
    path: str | Path, metrics: Sequence[str | Metric] | str | Metric | None, out: str | Path | None = None, *,
    batch: int = BATCH, by: str = "system", columns: Mapping[str, str] | None = None, encoding: str | None = None,
    progress: StreamProgress | None = None, workers: int | None = None, engine: Engine | None = None,
    shard: Shard | None = None,
) -> Streamed:  # fmt: skip
    """Score the rows of a file batch by batch, each by itself, with the values that `score` gives.

    `out` is a .jsonl file (every line of the table with its scores), or a .csv or .parquet file (row, system, input and
    the scores). `columns` says which column is the output, the references, …, where their names do not. Metrics that look
    at all samples at once, as CIDEr and NIST do for the frequencies of n-grams, are refused; None: all quick ones that
    do not. With a `shard` only its batches are scored and left in the folder, for `merge`.

    >>> stream("big.jsonl", ["bleu", "chrf"], "scores.parquet").rows    # doctest: +SKIP
    10000000
    """
    engine = engine or Local()
    path = Path(path)
    if engine.far:  # workers on other machines stand in another folder
        path, out = path.absolute(), None if out is None else Path(out).absolute()
    source = Source(path, encoding)
    source.check()
    if batch < 1:
        raise NlgaugeError(f"batch must be at least 1. Got {batch} instead.")
    if shard is not None and out is None:
        raise NlgaugeError("--shard: say with -o which file the shards are for.")
    if shard is not None:
        own_store()
    layout = Layout.of(source, dict(columns or {}), by)
    planned = _planned(layout, path.name, metrics)
    kept = Unfinished.open(out, _facts(source, batch, by, layout, planned))
    work = _Scoring(source, batch, layout, planned, kept, 1 if engine.far else workers)
    through = _Through(source.batches(batch, work.only), shard, engine.far)
    earlier = set() if kept is None else kept.finished()
    total = Sums(outcomes={str(m): Outcome() for m in planned})  # a shard may have no batch
    for text in engine.run(work, through, alone=True, gpu=any(m.facts.weights for m in planned)):
        total.add(Sums.from_text(text))
        if len(total.groups) > GROUPS:
            raise NlgaugeError(f"--by {by}: more than {GROUPS:,} values; a table of them has no use.")
        if progress is not None:
            progress(through.reached.popleft(), source.total, total.rows)
    if not through.batches:
        raise DataError(f"{path}: the file has no rows.")
    if kept is not None and shard is not None:
        kept.end_shard(shard.at, shard.of, through.batches)
    elif kept is not None:
        kept.join(through.batches)
    tables = run_table(path.name, planned, total, batch), groups_table(path.name, by, planned, total)
    return Streamed(
        total.rows, planned, *tables, len(earlier & through.mine), len(through.mine), through.batches
    )


def _planned(
    layout: Layout, name: str, metrics: Sequence[str | Metric] | str | Metric | None
) -> list[Metric]:
    if metrics is None:
        quick = suggested_for(layout.has, layout.names, name)
        return plan_for(layout.has, layout.names, name, [m for m in quick if not sees_all(m)])
    planned = plan_for(layout.has, layout.names, name, metrics)
    if whole := [str(m) for m in planned if sees_all(m)]:
        raise NlgaugeError(
            f"{', '.join(map(repr, whole))}: looks at all outputs at once, so it cannot be scored in batches; "
            "score it without --batch, or leave it out."
        )
    return planned


# --- one batch ---


class _Through:
    """The batches of a file, or those of a shard, as jobs: as rows, or for another machine as the place to read them from."""

    def __init__(self, batches: Iterator[Rows], shard: Shard | None, far: bool) -> None:
        self.all, self.shard, self.far = batches, shard, far
        self.batches, self.mine, self.reached = 0, set[int](), deque[int]()

    def __iter__(self) -> Iterator[Rows | Place]:
        for rows in self.all:
            self.batches += 1
            number = rows.place.number
            if self.shard is None or self.shard.has(number):
                self.mine.add(number)
                self.reached.append(rows.done)
                yield rows.place if self.far else rows


@dataclass(frozen=True)
class _Scoring:
    """The work of an engine: score one batch, keep its scores, give its sums as text. What is done is not done again."""

    source: Source
    size: int
    layout: Layout
    metrics: list[Metric]
    kept: Unfinished | None
    workers: int | None

    @property
    def only(self) -> list[str] | None:
        """The columns that are looked at; a line that is written with its scores needs all."""
        return None if self.kept is not None and self.kept.kind == "jsonl" else self.layout.columns

    def __call__(self, job: Rows | Place) -> str:
        number = job.number if isinstance(job, Place) else job.place.number
        if self.kept is not None and (known := self.kept.done(number)) is not None:
            return known
        rows = self._read(job) if isinstance(job, Place) else job
        sums, found = _score(rows, self.layout, self.metrics, self.workers)
        text = sums.to_text()
        if self.kept is not None:
            self.kept.write(number, rows, self.layout.keys(rows), found, text)
        return text

    def _read(self, place: Place) -> Rows:
        """On another machine, which may not have the file."""
        own_store()
        needed = [self.source.path, *([] if self.kept is None else [self.kept.folder])]
        for path in needed:
            if not path.exists():
                raise DataError(
                    f"{path}: machine {socket.gethostname()} of the cluster does not see it; the file and the place for the "
                    "scores must be in a folder that all machines share."
                )
        return next(self.source.batches(self.size, self.only, place))


def _score(
    rows: Rows, layout: Layout, metrics: Sequence[Metric], workers: int | None
) -> tuple[Sums, dict[str, Column]]:
    batch = layout.batch(rows)
    columns = score_batch(batch, metrics, workers=workers, stats=True)
    sums = Sums(len(rows), empty_outputs(batch), {name: Outcome.of(c) for name, c in columns.items()})
    numbers: dict[str, int] = {}
    group = np.array([numbers.setdefault(g, len(numbers)) for g in layout.groups(rows)], np.int64)
    for name, column in columns.items():
        there = ~np.isnan(column.values)
        scored = np.bincount(group[there], minlength=len(numbers))
        unscored = np.bincount(group[~there], minlength=len(numbers))
        total = np.bincount(group[there], column.values[there], len(numbers))
        for label, g in numbers.items():
            found = Outcome(int(scored[g]), float(total[g]), int(unscored[g]))
            sums.groups.setdefault(label, {})[name] = found
        if column.stats is not None:
            rowsums = np.zeros((len(numbers), column.stats.shape[1]))
            np.add.at(rowsums, group, column.stats)
            for label, g in numbers.items():
                sums.stats.setdefault(label, {})[name] = rowsums[g].tolist()
    return sums, columns


def _facts(source: Source, batch: int, by: str, layout: Layout, planned: Sequence[Metric]) -> dict[str, Any]:
    """What a finished batch depends on; another answer means another run."""
    state = source.path.stat()
    return {
        "file": source.path.name, "bytes": state.st_size, "changed": state.st_mtime_ns, "encoding": source.encoding,
        "batch": batch, "columns": layout.columns, "by": by, "group": layout.group,
        "metrics": {str(m): signature_of(m) for m in planned}, "lower": [str(m) for m in planned if m.facts.lower],
    }  # fmt: skip
