"""Scoring a table that is larger than the memory: batch by batch, each kept as soon as it is done.

Beside the file that is asked for stands a folder `NAME.parts` while the work lasts: the scores of every finished batch, and
what its means and corpus values need. A run that was interrupted goes on with the first batch that is not there. Texts,
tokens and their numbers live as long as their batch, so the memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge import registry
from nlgauge.data.peek import Peek
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.metrics import Metric
from nlgauge.scoring.aggregate import from_sums, group_rows, group_table
from nlgauge.scoring.columns import (
    Column,
    Outcome,
    empty_outputs,
    outcome_table,
    score_batch,
    sees_all,
    signature_of,
)
from nlgauge.scoring.layout import Layout
from nlgauge.scoring.plan import plan_for, suggested_for
from nlgauge.scoring.rows import KINDS, Rows, Source
from nlgauge.scoring.unfinished import Unfinished
from nlgauge.table import Row, Table

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
    progress: StreamProgress | None = None, workers: int | None = None,
) -> Streamed:  # fmt: skip
    """Score the rows of a file batch by batch, each by itself, with the values that `score` gives.

    `out` is a .jsonl file (every line of the table with its scores), or a .csv or .parquet file (row, system, input and
    the scores). `columns` says which column is the output, the references, …, where their names do not. Metrics that look
    at all samples at once, as CIDEr and NIST do for the frequencies of n-grams, are refused; None: all quick ones that
    do not.

    >>> stream("big.jsonl", ["bleu", "chrf"], "scores.parquet").rows    # doctest: +SKIP
    10000000
    """
    path = Path(path)
    source = Source(path, encoding)
    source.check()
    if batch < 1:
        raise NlgaugeError(f"batch must be at least 1. Got {batch} instead.")
    layout = Layout.of(source, dict(columns or {}), by)
    planned = _planned(layout, path.name, metrics)
    work = Unfinished.open(out, _facts(source, batch, layout, planned))
    total, resumed = Sums(), 0
    only = None if work is not None and work.kind == "jsonl" else layout.columns
    for number, rows in enumerate(source.batches(batch, only)):
        if work is not None and (kept := work.done(number)) is not None:
            total.add(Sums.from_json(kept))
            resumed += 1
        else:
            sums, found = _score(rows, layout, planned, workers)
            if work is not None:
                work.write(number, rows, layout.keys(rows), found, sums.to_json())
            total.add(sums)
        if len(total.groups) > GROUPS:
            raise NlgaugeError(f"--by {by}: more than {GROUPS:,} values; a table of them has no use.")
        if progress is not None:
            progress(rows.done, source.total, total.rows)
    if not total.rows:
        raise DataError(f"{path}: the file has no rows.")
    if work is not None:
        work.join()
    tables = _table(path, planned, total, batch), _groups(path, by, planned, total)
    return Streamed(total.rows, planned, *tables, resumed)


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


# --- one batch, and sums over batches ---


@dataclass
class Sums:
    """What means and corpus values need of the rows so far: by metric, and by group and metric."""

    rows: int = 0
    empty: int = 0
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    groups: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    stats: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, other: Sums) -> None:
        self.rows += other.rows
        self.empty += other.empty
        for name, outcome in other.outcomes.items():
            self.outcomes[name] = self.outcomes.get(name, Outcome()) + outcome
        for group, outcomes in other.groups.items():
            mine = self.groups.setdefault(group, {})
            for name, outcome in outcomes.items():
                mine[name] = mine.get(name, Outcome()) + outcome
        for group, stats in other.stats.items():
            sums = self.stats.setdefault(group, {})
            for name, row in stats.items():
                sums[name] = np.add(sums[name], row).tolist() if name in sums else row

    def to_json(self) -> dict[str, Any]:
        groups = {
            group: {name: vars(o) for name, o in outcomes.items()} for group, outcomes in self.groups.items()
        }
        return {
            **vars(self),
            "outcomes": {name: vars(o) for name, o in self.outcomes.items()},
            "groups": groups,
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Sums:
        def outcomes(found: dict[str, Any]) -> dict[str, Outcome]:
            return {name: Outcome.from_json(said) for name, said in found.items()}

        groups = {group: outcomes(found) for group, found in kept["groups"].items()}
        return cls(kept["rows"], kept["empty"], outcomes(kept["outcomes"]), groups, kept["stats"])


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


# --- the answer ---


def _facts(source: Source, batch: int, layout: Layout, metrics: Sequence[Metric]) -> dict[str, Any]:
    """What a finished batch depends on; another answer means another run."""
    state = source.path.stat()
    return {
        "file": source.path.name, "bytes": state.st_size, "changed": state.st_mtime_ns, "encoding": source.encoding,
        "batch": batch, "columns": layout.columns, "group": layout.group,
        "metrics": {str(m): signature_of(m) for m in metrics},
    }  # fmt: skip


def _table(path: Path, metrics: Sequence[Metric], total: Sums, batch: int) -> Table:
    table = outcome_table(path.name, metrics, total.outcomes, total.empty)
    table.notes = [*table.notes, f"{total.rows:,} rows in batches of {batch:,}, each row a sample of its own"]
    return table


def _groups(path: Path, by: str, metrics: Sequence[Metric], total: Sums) -> Table:
    rows: list[Row] = []
    for metric in metrics:
        name = str(metric)
        for group, outcomes in total.groups.items():
            found = outcomes[name]
            sums = total.stats.get(group, {}).get(name)
            corpus = None
            if hasattr(metric, "from_stats"):
                corpus = from_sums(metric, np.array(sums)) if sums and found.scored else np.nan
            counts = {"n": found.scored, "unscored": found.unscored, "lower": metric.facts.lower}
            rows += group_rows({by: group}, name, found.mean, corpus, counts)
    table = group_table(path.name, by, rows)
    if pooled := [str(m) for m in metrics if hasattr(m, "pooled") and not hasattr(m, "from_stats")]:
        said = f"no corpus value in batches, as it pools the outputs themselves: {', '.join(pooled)}"
        table.notes = [*table.notes, said]
    return table
