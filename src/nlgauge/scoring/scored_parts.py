"""The scored batches of a run on their way to one file: a table, or each input line with its scores.

They are kept in a folder next to the output file. `run.json` holds what the batches depend on, and every batch names
that run. Files are written completely or not at all (`write_whole`), so a run may be killed at any moment, and several
processes and machines may work on one run.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError, first_line
from nlgauge.scoring.outcomes import Sums
from nlgauge.scoring.score_batch import Column
from nlgauge.scoring.table_batches import TableRows
from nlgauge.writing import os_error, whole, write_whole

SUFFIXES = {".jsonl": "jsonl", ".jsonl.gz": "jsonl", ".csv": "csv", ".parquet": "parquet"}
PLAN = "run.json"
OWN_FILES = re.compile(r"\d{6,}\.\w+|run\.json|.+\.part")
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class ScoredParts:
    """The folder of a run: for each batch a file of scores, and a file that marks it as done and holds its sums."""

    out: Path
    facts: dict[str, Any]

    @classmethod
    def open(cls, out: str | Path, facts: dict[str, Any]) -> ScoredParts:
        """Open a new folder, or that of an earlier run if it was the same one."""
        run = cls(Path(out), json.loads(json.dumps(facts)))
        kind_of(run.out)  # refuses a file that cannot be written
        try:
            run.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NlgaugeError(f"{run.path}: cannot be created ({error.strerror}).") from None
        if not (run.path / PLAN).exists():
            run._write(PLAN, json.dumps(run.facts))
        if other := run._difference():
            raise NlgaugeError(
                f"{run.path}: belongs to another run (different {other}); remove it, or write to another file."
            )
        return run

    def _difference(self) -> str:
        """Return the first fact in which the run in the folder differs from this one; empty: they are the same."""
        try:
            stored = json.loads((self.path / PLAN).read_bytes())
            if not isinstance(stored, dict):
                raise ValueError(f"found {type(stored).__name__}")
        except (OSError, ValueError) as error:
            raise NlgaugeError(f"{self.path / PLAN}: cannot be read ({error}).") from None
        return next((key for key in {**stored, **self.facts} if stored.get(key) != self.facts.get(key)), "")

    @property
    def path(self) -> Path:
        """The folder of the batches."""
        return Path(f"{self.out}.parts")

    @property
    def kind(self) -> str:
        """How scores are written: jsonl, csv or parquet."""
        return kind_of(self.out)

    @cached_property
    def run(self) -> str:
        """Identify the run, so that no batch of another one is taken for a batch of this one."""
        return digest(self.facts, 8).hex()

    def part(self, number: int) -> Path:
        """Return the file with the scores of a batch."""
        return self.path / f"{number:06d}.{self.kind}"

    def done(self, number: int) -> Sums | None:
        """Return the sums of a batch; None: the batch is missing, damaged or of another run, and must be scored."""
        try:
            mark = json.loads((self.path / f"{number:06d}.json").read_bytes())
            whole_part = mark["run"] == self.run and self.part(number).exists()
            return Sums.from_json(mark["sums"]) if whole_part else None
        except DAMAGED:
            return None

    def finished(self) -> set[int]:
        """Return the numbers of the batches that are done."""
        marks = (int(p.stem) for p in self.path.glob("*.json") if OWN_FILES.fullmatch(p.name) and p.name != PLAN)
        return {number for number in marks if self.done(number) is not None}

    def keep(
        self, rows: TableRows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column], sums: Sums
    ) -> None:
        """Write the scores of a batch, then the mark that it is done."""
        number = rows.place.number
        if self.kind == "jsonl":
            content = _lines(rows, columns)
        else:
            target, scores = io.BytesIO(), _table(rows, keys, columns)
            if self.kind == "parquet":
                scores.write_parquet(target)
            else:
                scores.write_csv(target, include_header=number == 0)
            content = target.getvalue()
        self._write(self.part(number).name, content)
        self._write(f"{number:06d}.json", json.dumps({"run": self.run, "sums": sums}, default=vars))

    def _write(self, name: str, content: str | bytes) -> None:
        try:
            write_whole(self.path / name, content)
        except NlgaugeError as error:
            raise NlgaugeError(f"{error} Finished batches are kept; repeat the command to continue.") from None

    def join(self, batches: int) -> None:
        """Write all batches as one file, then remove the folder."""
        parts = [self.part(number) for number in range(batches)]
        with whole(self.out) as new:
            if self.kind == "parquet":
                try:
                    pl.scan_parquet(parts).sink_parquet(new)
                except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                    if isinstance(error, Exception) and os_error(error) is not None:
                        raise
                    raise NlgaugeError(
                        f"{self.path}: a file is damaged ({first_line(error)}); remove the folder."
                    ) from None
            else:
                opened: Any = gzip.open if self.out.suffix.lower() == ".gz" else open
                with opened(new, "wb") as target:
                    for part in parts:
                        with part.open("rb") as stream:
                            shutil.copyfileobj(stream, target, 1 << 20)
        self._remove()

    def _remove(self) -> None:
        """Remove the files of the run, and the folder if nothing else is in it."""
        for path in self.path.iterdir():
            if OWN_FILES.fullmatch(path.name):
                path.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()


def kind_of(out: Path) -> str:
    """Return how a file of scores is written, by its suffix."""
    kind = next((k for suffix, k in SUFFIXES.items() if out.name.lower().endswith(suffix)), "")
    if not kind:
        raise NlgaugeError(f"{out}: cannot write '{out.suffix}'; use {', '.join(SUFFIXES)}.")
    return kind


def _table(rows: TableRows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column]) -> pl.DataFrame:
    """Return a table with row number, system, input and the scores."""
    first = rows.place.first
    scores = {f"metric.{name}": pl.Series(c.values).fill_nan(None) for name, c in columns.items()}
    names = {name: pl.Series(values, dtype=pl.String) for name, values in keys.items()}
    return pl.DataFrame({"row": pl.Series(np.arange(first, first + len(rows), dtype=np.int64)), **names, **scores})


def _lines(rows: TableRows, columns: dict[str, Column]) -> bytes:
    """Return every line unchanged with its scores appended under `metric`, and the reasons of missing scores under
    `failures`.
    """
    scores = [(name, column.values.tolist(), column.reasons) for name, column in columns.items()]
    lines = []
    for i, line in enumerate(rows.json_lines()):
        new: dict[str, dict[str, Any]] = {
            "metric": {name: values[i] for name, values, _ in scores if values[i] == values[i]},
            "failures": {name: reasons[i] for name, _, reasons in scores if i in reasons},
        }
        if '"metric"' in line or '"failures"' in line:  # maybe a key of its own
            lines.append(_merged(line, new))
            continue
        before = line[:-1].rstrip()
        more = json.dumps({k: v for k, v in new.items() if v or k == "metric"}, ensure_ascii=False)
        lines.append(f"{before}{'' if before.endswith('{') else ', '}{more[1:]}")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def _merged(line: str, new: dict[str, dict[str, Any]]) -> str:
    """Append the scores to a line that may already have scores, which are kept."""
    record = json.loads(line)
    for (key, values), other in zip(new.items(), ("metrics", "failed"), strict=True):
        old = record.get(key)
        if old is not None and not isinstance(old, dict):  # a column of that name, which means something else
            record[other] = values
        elif values:
            record[key] = {**(old or {}), **values}
    return json.dumps(record, ensure_ascii=False)
