"""The scores of a batch as they are written: a table, or every line of the file with its scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from nlgauge.scoring.score_batch import Column
from nlgauge.scoring.table_rows import Rows


def table(rows: Rows, keys: Mapping[str, Sequence[str | None]], columns: dict[str, Column]) -> pl.DataFrame:
    """Row, system, input and the scores."""
    said: dict[str, pl.Series] = {
        "row": pl.Series(np.arange(rows.first, rows.first + len(rows), dtype=np.int64))
    }
    said |= {name: pl.Series(values, dtype=pl.String) for name, values in keys.items()}
    for name, column in columns.items():
        said[f"metric.{name}"] = pl.Series(column.values).fill_nan(None)
    return pl.DataFrame(said)


def lines(rows: Rows, columns: dict[str, Column]) -> bytes:
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
