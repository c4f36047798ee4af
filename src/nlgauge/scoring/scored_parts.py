"""The batches of a run that are scored, on their way to one file: a table, or each input line with its scores."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nlgauge.errors import NlgaugeError, first_line
from nlgauge.scoring.outcomes import Sums
from nlgauge.scoring.parts_folder import DAMAGED, PartsFolder
from nlgauge.scoring.score_batch import Column
from nlgauge.scoring.table_batches import TableRows
from nlgauge.writing import os_error, whole

SUFFIXES = {".jsonl": "jsonl", ".jsonl.gz": "jsonl", ".csv": "csv", ".parquet": "parquet"}


@dataclass(frozen=True)
class ScoredParts(PartsFolder):
    """Per batch one file of scores, and one that marks it as done and holds its sums."""

    @staticmethod
    def beside(out: str | Path) -> Path:
        """The folder of a file, which must be one that can be written."""
        kind_of(Path(out))
        return Path(f"{out}.parts")

    @property
    def out(self) -> Path:
        return self.path.with_name(self.path.name.removesuffix(".parts"))

    @property
    def kind(self) -> str:
        return kind_of(self.out)

    def part(self, number: int) -> Path:
        return self.path / f"{number:06d}.{self.kind}"

    def done(self, number: int) -> Sums | None:
        """The sums of a batch; None: it is to be scored."""
        said = self.marked(f"{number:06d}")
        try:
            return Sums.from_json(said["sums"]) if said and self.part(number).exists() else None
        except DAMAGED:
            return None

    def finished(self) -> set[int]:
        """The batches that are done."""
        marks = (p.stem for p in self.path.glob("[0-9]*.json"))
        return {number for number in map(int, marks) if self.done(number) is not None}

    def keep(
        self, rows: TableRows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column], sums: Sums
    ) -> None:
        """The scores of a batch, then the mark that it is done."""
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
        self.write(self.part(number).name, content)
        self.mark(f"{number:06d}", sums=sums)


def join(folders: Sequence[ScoredParts], batches: int, out: Path) -> None:
    """All batches of a run as one file; then its folders go."""
    parts = [
        next((each.part(n) for each in folders if each.done(n) is not None), folders[0].part(n)) for n in range(batches)
    ]
    with whole(out) as new:
        if folders[0].kind == "parquet":
            try:
                pl.scan_parquet(parts).sink_parquet(new)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                if isinstance(error, Exception) and os_error(error) is not None:
                    raise
                where = folders[0].path
                raise NlgaugeError(f"{where}: a file is damaged ({first_line(error)}); remove the folder.") from None
        else:
            opened: Any = gzip.open if out.suffix.lower() == ".gz" else open
            with opened(new, "wb") as target:
                for part in parts:
                    with part.open("rb") as stream:
                        shutil.copyfileobj(stream, target, 1 << 20)
    for each in folders:
        each.remove()


def kind_of(out: Path) -> str:
    kind = next((k for suffix, k in SUFFIXES.items() if out.name.lower().endswith(suffix)), "")
    if not kind:
        raise NlgaugeError(f"{out}: cannot write '{out.suffix}'; use {', '.join(SUFFIXES)}.")
    return kind


def _table(rows: TableRows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column]) -> pl.DataFrame:
    """Row, system, input and the scores."""
    first = rows.place.first
    scores = {f"metric.{name}": pl.Series(c.values).fill_nan(None) for name, c in columns.items()}
    names = {name: pl.Series(values, dtype=pl.String) for name, values in keys.items()}
    return pl.DataFrame({"row": pl.Series(np.arange(first, first + len(rows), dtype=np.int64)), **names, **scores})


def _lines(rows: TableRows, columns: dict[str, Column]) -> bytes:
    """Every line as it was, with its scores behind: under `metric`, the reasons of missing ones under `failures`."""
    scores = [(name, column.values.tolist(), column.reasons) for name, column in columns.items()]
    found = []
    for i, line in enumerate(rows.json_lines()):
        new: dict[str, dict[str, Any]] = {
            "metric": {name: values[i] for name, values, _ in scores if values[i] == values[i]},
            "failures": {name: reasons[i] for name, _, reasons in scores if i in reasons},
        }
        if '"metric"' in line or '"failures"' in line:  # maybe a key of its own
            found.append(_merged(line, new))
            continue
        before = line[:-1].rstrip()
        more = json.dumps({k: v for k, v in new.items() if v or k == "metric"}, ensure_ascii=False)
        found.append(f"{before}{'' if before.endswith('{') else ', '}{more[1:]}")
    return "".join(f"{line}\n" for line in found).encode("utf-8", "surrogatepass")


def _merged(line: str, new: dict[str, dict[str, Any]]) -> str:
    """The same for a line that may have scores already, which are kept."""
    record = json.loads(line)
    for (key, values), other in zip(new.items(), ("metrics", "failed"), strict=True):
        old = record.get(key)
        if old is not None and not isinstance(old, dict):  # a column of that name, which means something else
            record[other] = values
        elif values:
            record[key] = {**(old or {}), **values}
    return json.dumps(record, ensure_ascii=False)
