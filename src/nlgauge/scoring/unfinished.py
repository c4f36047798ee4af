"""The folder of a run that is not finished: one file of scores per batch, and one that marks it as done.

Everything is written under another name first and then renamed, so a run may be killed at any moment.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.columns import Column
from nlgauge.scoring.rows import Rows

SUFFIXES = {".jsonl": "jsonl", ".jsonl.gz": "jsonl", ".csv": "csv", ".parquet": "parquet"}
PLAN = "run.json"


@dataclass
class Unfinished:
    """Batches that are done, on their way to the file `out`."""

    out: Path
    kind: str
    folder: Path
    written: int = 0  # batches of the whole run

    @classmethod
    def open(cls, out: str | Path | None, facts: dict[str, Any]) -> Unfinished | None:
        """A new folder, or that of an earlier run if it was the same one."""
        if out is None:
            return None
        out = Path(out)
        kind = next((k for suffix, k in SUFFIXES.items() if out.name.lower().endswith(suffix)), "")
        if not kind:
            raise NlgaugeError(f"{out}: cannot write '{out.suffix}'; use {', '.join(SUFFIXES)}.")
        folder = out.with_name(out.name + ".parts")
        folder.mkdir(parents=True, exist_ok=True)
        facts = json.loads(json.dumps(facts))
        plan = folder / PLAN
        if plan.exists() and (known := json.loads(plan.read_text())) != facts:
            other = next(key for key in {**known, **facts} if known.get(key) != facts.get(key))
            raise NlgaugeError(
                f"{folder}: is left from another run (other {other}); remove it, or write to another file."
            )
        _write(plan, json.dumps(facts).encode())
        return cls(out, kind, folder)

    def done(self, number: int) -> dict[str, Any] | None:
        """What was kept beside the scores of a batch; None: it is to be scored."""
        self.written = number + 1
        mark = self.folder / f"{number:06d}.json"
        if not mark.exists() or not self._part(number).exists():
            return None
        kept: dict[str, Any] = json.loads(mark.read_text())
        return kept

    def write(
        self, number: int, rows: Rows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column],
        sums: dict[str, Any],
    ) -> None:  # fmt: skip
        """The scores of a batch, then the mark that it is done."""
        path = self._part(number)
        part = path.with_name(path.name + ".new")
        if self.kind == "jsonl":
            part.write_bytes(_lines(rows, columns))
        else:
            table = _table(rows, keys, columns)
            if self.kind == "parquet":
                table.write_parquet(part)
            else:
                table.write_csv(part, include_header=number == 0)
        part.replace(path)
        _write(self.folder / f"{number:06d}.json", json.dumps(sums).encode())

    def join(self) -> None:
        """All batches as one file; then the folder goes."""
        parts = [self._part(number) for number in range(self.written)]
        whole = self.out.with_name(self.out.name + ".part")
        if self.kind == "parquet":
            pl.scan_parquet(parts).sink_parquet(whole)
        else:
            opened: Any = gzip.open if self.out.suffix.lower() == ".gz" else open
            with opened(whole, "wb") as target:
                for part in parts:
                    with part.open("rb") as stream:
                        shutil.copyfileobj(stream, target, 1 << 20)
        whole.replace(self.out)
        for number, part in enumerate(parts):
            part.unlink()
            (self.folder / f"{number:06d}.json").unlink()
        (self.folder / PLAN).unlink()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _part(self, number: int) -> Path:
        return self.folder / f"{number:06d}.{self.kind}"


def _write(path: Path, content: bytes) -> None:
    new = path.with_name(path.name + ".new")
    new.write_bytes(content)
    new.replace(path)


def _table(rows: Rows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column]) -> pl.DataFrame:
    said: dict[str, pl.Series] = {
        "row": pl.Series(np.arange(rows.first, rows.first + len(rows), dtype=np.int64))
    }
    said |= {name: pl.Series(values, dtype=pl.String) for name, values in keys.items()}
    for name, column in columns.items():
        said[f"metric.{name}"] = pl.Series(column.values).fill_nan(None)
    return pl.DataFrame(said)


def _lines(rows: Rows, columns: dict[str, Column]) -> bytes:
    """Every line as it was, with its scores behind: under `metric`, and the reasons of missing ones under `failures`."""
    scores = [column.values.tolist() for column in columns.values()]
    names = [json.dumps(name, ensure_ascii=False) for name in columns]
    found = []
    for i, line in enumerate(rows.json_lines()):
        values = [values[i] for values in scores]
        if '"metric"' in line or '"failures"' in line:  # maybe a key of its own
            found.append(_merged(line, columns, i))
            continue
        if any(value != value for value in values):  # noqa: PLR0124 (NaN)
            missing = {name: column.reasons[i] for name, column in columns.items() if i in column.reasons}
            behind = f', "failures": {json.dumps(missing, ensure_ascii=False)}' if missing else ""
        else:
            behind = ""
        pairs = (f"{name}: {value!r}" for name, value in zip(names, values, strict=True) if value == value)  # noqa: PLR0124
        before = line[:-1].rstrip()
        comma = "" if before.endswith("{") else ", "
        found.append(f'{before}{comma}"metric": {{{", ".join(pairs)}}}{behind}}}')
    return "".join(f"{line}\n" for line in found).encode("utf-8", "surrogatepass")


def _merged(line: str, columns: dict[str, Column], i: int) -> str:
    """The same for a line that may have scores already, which are kept."""
    record = json.loads(line)
    values = {name: float(c.values[i]) for name, c in columns.items() if not np.isnan(c.values[i])}
    missing = {name: c.reasons[i] for name, c in columns.items() if i in c.reasons}
    for key, other, new in (("metric", "metrics", values), ("failures", "failed", missing)):
        old = record.get(key)
        if old is not None and not isinstance(old, dict):  # a column of that name, which means something else
            record[other] = new
        elif new:
            record[key] = {**(old or {}), **new}
    return json.dumps(record, ensure_ascii=False)
