"""The folder of a run that is not finished: one file of scores per batch, and one that marks it as done.

Everything is written under another name first, brought to the disk and then renamed, so a run may be killed at any moment,
and several processes and machines may work on one run: on shards of it, or on the batches that an engine gives them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.batch_files import lines, table
from nlgauge.scoring.batch_sums import Sums
from nlgauge.scoring.score_batch import Column
from nlgauge.scoring.table_rows import Rows
from nlgauge.writing import os_error, unwritable, whole

SUFFIXES = {".jsonl": "jsonl", ".jsonl.gz": "jsonl", ".csv": "csv", ".parquet": "parquet"}
PLAN = "run.json"
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Unfinished:
    """Batches that are done, on their way to the file `out`."""

    out: Path
    kind: str
    facts: dict[str, Any]

    @classmethod
    def open(cls, out: str | Path | None, facts: dict[str, Any]) -> Unfinished | None:
        """A new folder, or that of an earlier run if it was the same one."""
        if out is None:
            return None
        new = cls(Path(out), kind_of(Path(out)), json.loads(json.dumps(facts)))
        try:
            new.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NlgaugeError(f"{new.folder}: cannot be made ({error.strerror}).") from None
        if not (new.folder / PLAN).exists():
            new._keep(new.folder / PLAN, json.dumps(new.facts).encode())
        if other := difference(cls.known(new.out).facts, new.facts):
            raise NlgaugeError(
                f"{new.folder}: is left from another run (other {other}); remove it, or write to another file."
            )
        return new

    @classmethod
    def known(cls, out: Path) -> Unfinished:
        """The one that stands beside `out`."""
        folder = out.with_name(out.name + ".parts")
        try:
            facts = json.loads((folder / PLAN).read_bytes())
            if not isinstance(facts, dict):
                raise ValueError(f"found {type(facts).__name__}")
            return cls(out, kind_of(out), facts)
        except FileNotFoundError:
            raise NlgaugeError(f"{folder}: no such folder; nothing was scored for {out.name}.") from None
        except (OSError, ValueError) as error:
            raise NlgaugeError(f"{folder / PLAN}: cannot be read ({error}).") from None

    @property
    def folder(self) -> Path:
        return self.out.with_name(self.out.name + ".parts")

    @property
    def run(self) -> str:
        """Which run a batch was scored in: no batch of another one is ever taken for it."""
        return hashlib.blake2b(json.dumps(self.facts, sort_keys=True).encode(), digest_size=8).hexdigest()

    def part(self, number: int) -> Path:
        return self.folder / f"{number:06d}.{self.kind}"

    def done(self, number: int) -> str | None:
        """What was kept beside the scores of a batch; None: it is to be scored."""
        try:
            kept = json.loads(self._mark(number).read_bytes())
            if kept["run"] != self.run or not self.part(number).exists():
                return None
            Sums.from_text(kept["sums"])
            return str(kept["sums"])
        except (OSError, *DAMAGED):  # not there, or a machine went down while it was written
            return None

    def finished(self) -> set[int]:
        """The batches that are done."""
        marks = (p.stem for p in self.folder.glob("[0-9]*.json"))
        return {number for number in map(int, marks) if self.done(number) is not None}

    def write(
        self, number: int, rows: Rows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column], sums: str
    ) -> None:  # fmt: skip
        """The scores of a batch, then the mark that it is done."""
        if self.kind == "jsonl":
            content = lines(rows, columns)
        else:
            target, scores = io.BytesIO(), table(rows, keys, columns)
            if self.kind == "parquet":
                scores.write_parquet(target)
            else:
                scores.write_csv(target, include_header=number == 0)
            content = target.getvalue()
        self._keep(self.part(number), content)
        self._keep(self._mark(number), json.dumps({"run": self.run, "sums": sums}).encode())

    def join(self, batches: int, others: Sequence[Unfinished] = ()) -> None:
        """All batches as one file; then the folder goes. `others`: further folders of the same run."""
        everywhere = [self, *others]
        parts = [
            next((each.part(n) for each in everywhere if each.done(n) is not None), self.part(n))
            for n in range(batches)
        ]
        with whole(self.out) as new:
            self._join(parts, new)
        for each in everywhere:
            each.remove(batches)

    def _join(self, parts: list[Path], new: Path) -> None:
        if self.kind == "parquet":
            try:
                pl.scan_parquet(parts).sink_parquet(new)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                if isinstance(error, Exception) and os_error(error) is not None:
                    raise
                said = next(iter(str(error).splitlines()), type(error).__name__)
                raise NlgaugeError(f"{self.folder}: a file is damaged ({said}); remove the folder.") from None
            return
        opened: Any = gzip.open if self.out.suffix.lower() == ".gz" else open
        with opened(new, "wb") as target:
            for part in parts:
                with part.open("rb") as stream:
                    shutil.copyfileobj(stream, target, 1 << 20)

    def remove(self, batches: int) -> None:
        """What this run has put into the folder, and the folder if nothing else is in it."""
        if not self.folder.is_dir():
            return
        for number in range(batches):
            self.part(number).unlink(missing_ok=True)
            self._mark(number).unlink(missing_ok=True)
        for left in (self.folder / PLAN, *self.folder.glob("shard-*.json"), *self.folder.glob("*.new")):
            left.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    # --- shards ---

    def end_shard(self, shard: int, shards: int, batches: int) -> None:
        """Mark that one of the shards is through, and of how many batches the run consists."""
        said = {"run": self.run, "shard": shard, "shards": shards, "batches": batches}
        self._keep(self.folder / f"shard-{shard}-of-{shards}.json", json.dumps(said).encode())

    def ended_shards(self) -> list[dict[str, int]]:
        """What `end_shard` has said, of this run."""
        found = []
        for path in sorted(self.folder.glob("shard-*.json")):
            try:
                said = json.loads(path.read_bytes())
                if said["run"] == self.run and said["shards"] >= said["shard"] >= 1 and said["batches"] >= 0:
                    found.append({key: int(said[key]) for key in ("shard", "shards", "batches")})
            except (OSError, *DAMAGED):
                continue
        return found

    # --- files ---

    def _mark(self, number: int) -> Path:
        return self.folder / f"{number:06d}.json"

    def _keep(self, path: Path, content: bytes) -> None:
        """All of it or nothing, whatever happens; another process may be writing the same file."""
        new = path.with_name(f"{path.name}.{socket.gethostname()}-{os.getpid()}.new")
        try:
            with new.open("wb") as target:
                target.write(content)
                target.flush()
                os.fsync(target.fileno())
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            said = str(unwritable(path, error))
            raise NlgaugeError(
                f"{said} What is done is kept; the same command goes on with the rest."
            ) from None


def kind_of(out: Path) -> str:
    kind = next((k for suffix, k in SUFFIXES.items() if out.name.lower().endswith(suffix)), "")
    if not kind:
        raise NlgaugeError(f"{out}: cannot write '{out.suffix}'; use {', '.join(SUFFIXES)}.")
    return kind


def difference(known: dict[str, Any], facts: dict[str, Any]) -> str:
    """The first fact in which two runs differ; nothing: they are one."""
    return next((key for key in {**known, **facts} if known.get(key) != facts.get(key)), "")
