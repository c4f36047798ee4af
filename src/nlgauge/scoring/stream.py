"""Score a table that is larger than memory in batches; each batch is written when it is done.

While the work lasts, a folder `NAME.parts` stands next to the output file. It holds the scores of every finished batch
and the sums that means and corpus values need. An interrupted run continues with the first missing batch, on either
engine. Texts and tokens are released with their batch, so memory use does not grow with the file.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.engines import current
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.metrics import Batch, Metric, metric_from_spec
from nlgauge.options import option
from nlgauge.scoring.outcomes import Sums
from nlgauge.scoring.plan import Fields, plan, suggested
from nlgauge.scoring.recommended import is_recommended
from nlgauge.scoring.score_batch import score_batch
from nlgauge.scoring.scored_parts import ScoredParts
from nlgauge.scoring.table_batches import FORMATS, BatchPlace, TableFile, TableRows
from nlgauge.scoring.text_columns import INFERENCE_ROWS, TextColumns
from nlgauge.table import Table

BATCH = 20_000
LARGE = 256 << 20  # bytes; larger files are scored in batches by default
GROUPS = 10_000
# read, of: bytes, or rows of a Parquet file; and how many rows are scored
StreamProgress = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Streamed:
    """The metrics of a run with means and corpus values; the scores are in the file."""

    rows: int
    metrics: list[Metric]
    table: Table
    groups: Table
    resumed: int  # batches done by an earlier run


def streams(path: str | Path) -> bool:
    """Return whether a file is a plain table that can be scored in batches."""
    path = Path(path)
    if not path.is_file() or TableFile(path).kind not in FORMATS:
        return False
    peek = Peek(path)
    return not any(reader.recognizes(peek) for _, reader in peek.readers())


def is_large(path: Path) -> bool:
    """Return whether a file is scored in batches by default: a plain table of more than 256 MiB."""
    return path.is_file() and path.stat().st_size >= LARGE and streams(path)


def look_at_all(metrics: Sequence[str]) -> list[str]:
    """Return the metrics that need all outputs at once, so that they cannot be scored in batches."""
    named = [name for name in metrics if not is_recommended(name)]  # none of those needs all outputs
    return [name for name in named if metric_from_spec(name, allow_code=True).facts.corpus]


def first_rows(file: TableFile, columns: Mapping[str, str]) -> Batch:
    """Return the first rows of a file as samples."""
    file.check()
    texts = TextColumns.of(file, dict(columns), "system")
    return texts.batch(next(iter(file.batches(INFERENCE_ROWS))))


def stream(
    path: str | Path | TableFile,
    metrics: Sequence[str | Metric] | str | Metric | None,
    out: str | Path | None = None,
    *,
    batch: int = BATCH,
    by: str = "system",
    columns: Mapping[str, str] | None = None,
    progress: StreamProgress | None = None,
) -> Streamed:
    """Score the rows of a file batch by batch, each by itself, with the values that `score` gives.

    `out` is a .jsonl file (every line of the table with its scores), or a .csv or .parquet file (row, system, input and
    the scores). `columns` says which column is the output, the references, …, where their names do not. Metrics that
    look at all samples at once, as CIDEr and NIST do for the frequencies of n-grams, are refused; None: all quick ones
    that do not. `TableFile(path, encoding)` is a file that is not UTF-8. Inside `with nlgauge.engines.using("ray"):`
    the cluster scores.

    >>> stream("big.jsonl", ["bleu", "chrf"], "scores.parquet").rows    # doctest: +SKIP
    10000000
    """
    engine, file = current(), path if isinstance(path, TableFile) else TableFile(Path(path))
    if engine.far:  # workers on other machines have another working directory
        file, out = TableFile(file.path.absolute(), file.encoding), None if out is None else Path(out).absolute()
    file.check()
    name = file.path.name
    if batch < 1:
        raise NlgaugeError(f"batch must be at least 1; got {batch}.")
    texts = TextColumns.of(file, dict(columns or {}), by)
    planned = _planned(texts, name, metrics)
    facts = _facts(file, batch, by, texts, planned)
    parts = None if out is None else ScoredParts.open(out, facts)
    earlier = set() if parts is None else parts.finished()
    work = _ScoreRows(file, batch, texts, planned, parts, 1 if engine.far else None)
    batches, reached = 0, deque[int]()

    def jobs() -> Iterator[TableRows | BatchPlace]:
        """Yield the batches of the file: their rows, or for another machine the place to read them from."""
        nonlocal batches
        for rows in file.batches(batch, work.only):
            batches += 1
            reached.append(rows.done)
            yield rows.place if engine.far else rows

    total = Sums()
    for sums in engine.run(work, jobs(), alone=True, gpu=any(m.facts.weights for m in planned)):
        total += sums
        if len(total.groups) > GROUPS:
            raise NlgaugeError(f"{option('by', by)}: more than {GROUPS:,} values, too many for a table.")
        if progress is not None:
            progress(reached.popleft(), file.total, total.rows)
    if not batches:
        raise DataError(f"{file.path}: the file has no rows.")
    if parts is not None:
        parts.join(batches)
    tables = total.tables(name, by, planned, batch)
    return Streamed(total.rows, planned, *tables, len(earlier.intersection(range(batches))))


def _planned(texts: TextColumns, name: str, metrics: Sequence[str | Metric] | str | Metric | None) -> list[Metric]:
    fields = Fields(name, texts.has, texts.names)
    if metrics is None:
        return plan(fields, [m for m in suggested(fields) if not m.facts.corpus])
    planned = plan(fields, metrics)
    if whole := [str(m) for m in planned if m.facts.corpus]:
        raise NlgaugeError(
            f"{', '.join(map(repr, whole))}: needs all outputs at once and cannot be scored in batches; "
            f"score it without {option('batch')}, or leave it out."
        )
    return planned


@dataclass(frozen=True)
class _ScoreRows:
    """The work of an engine: score one batch, write its scores, return its sums. Finished batches are skipped."""

    file: TableFile
    size: int
    texts: TextColumns
    metrics: list[Metric]
    parts: ScoredParts | None
    workers: int | None  # None: all cores

    @property
    def only(self) -> list[str] | None:
        """The columns that are read; lines that are written with their scores need all."""
        return None if self.parts is not None and self.parts.kind == "jsonl" else self.texts.columns

    def __call__(self, job: TableRows | BatchPlace) -> Sums:
        place = job if isinstance(job, BatchPlace) else job.place
        if self.parts is not None and (stored := self.parts.done(place.number)) is not None:
            return stored
        rows = self._read(job) if isinstance(job, BatchPlace) else job
        batch = self.texts.batch(rows)
        columns = score_batch(batch, self.metrics, workers=self.workers, stats=True)
        sums = Sums.of(batch, columns, self.texts.groups(rows))
        if self.parts is not None:
            self.parts.keep(rows, self.texts.keys(rows), columns, sums)
        return sums

    def _read(self, place: BatchPlace) -> TableRows:
        """Read a batch on another machine, which may not have the file."""
        for path in [self.file.path, *([] if self.parts is None else [self.parts.path])]:
            if not path.exists():
                raise DataError(
                    f"{path}: not visible on machine {socket.gethostname()} of the cluster; the file and the folder "
                    "for the scores must be in a folder that all machines share."
                )
        return next(self.file.batches(self.size, self.only, place))


def _facts(file: TableFile, batch: int, by: str, texts: TextColumns, planned: Sequence[Metric]) -> dict[str, Any]:
    """Return all inputs of a finished batch; any difference means another run."""
    state = file.path.stat()
    return {
        "file": file.path.name,
        "bytes": state.st_size,
        "changed": state.st_mtime_ns,
        "encoding": file.encoding,
        "batch": batch,
        "columns": texts.columns,
        "by": by,
        "group": texts.group,
        "metrics": {str(m): m.signature for m in planned},
    }
