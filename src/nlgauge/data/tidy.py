"""The tidy format: a complete Dataset as one JSON-lines file, described in docs/formats.md.

First line: a header. Then one line per output, with its ratings, scores, failures and spans; then one per comparison.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import DataError
from nlgauge.writing import write_whole

VERSION = 1
# Reserved keys of a line; a column of that name goes into the line's "columns".
RESERVED = frozenset({"nlgauge", "ratings", "scores", "failures", "spans", "comparison", "columns"})
INTEGERS = [getattr(pl, f"{kind}{bits}") for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)]
PLAIN = {str(t): t for t in (pl.String, pl.Boolean, *INTEGERS, pl.Float32, pl.Float64, pl.Null)}


def write_tidy(data: Dataset, path: str | Path) -> Path:
    """Write a Dataset to a .jsonl (or .jsonl.gz) file; `nlgauge.load` reads it back the same.

    >>> import nlgauge as ng
    >>> write_tidy(ng.example(), "example.jsonl.gz")                 # doctest: +SKIP
    """
    path = Path(path)
    samples, notes = _writable(data.samples)
    _check_keys(data)
    lines = [*_sample_lines(data, samples), *({"comparison": row} for row in data.comparisons.iter_rows(named=True))]
    header = {
        "nlgauge": VERSION,
        **_facts(replace(data, notes=(*data.notes, *notes))),
        "aspects": data.aspects,
        "raters": data.raters,
        "metrics": data.metrics,
        "columns": {name: str(dtype) for name, dtype in samples.schema.items()},
        "lines": len(lines),
    }
    raw = "".join(_json(line) + "\n" for line in (header, *lines)).encode(errors="replace")  # of a path
    write_whole(path, gzip.compress(raw, compresslevel=5, mtime=0) if path.suffix == ".gz" else raw)
    return path


def _facts(data: Dataset) -> dict[str, Any]:
    """Return the fields of a Dataset that are not tables: name, persons, human_systems, lower, notes, …"""
    facts = {f.name: getattr(data, f.name) for f in fields(Dataset)}
    for name in ("sources", "scales", "metric_scales"):
        facts[name] = {of: asdict(value) for of, value in facts[name].items()}
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in facts.items()
        if not isinstance(value, pl.DataFrame)
    }


def parse_type(name: str) -> Any:
    """Return the type that a header gives a column; None if it is unknown.

    >>> parse_type("List(String)")
    List(String)
    """
    if name.startswith("List(") and name.endswith(")"):
        inner = parse_type(name[5:-1])
        return None if inner is None else pl.List(inner)
    dtype: Any = PLAIN.get(name)
    return dtype() if dtype is not None else None


def _writable(samples: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Convert columns that JSON cannot represent (dates, structs, categories …) to text, with a note."""
    notes = []
    for name, dtype in samples.schema.items():
        if parse_type(str(dtype)) is None:
            texts = [None if value is None else str(value) for value in samples[name].to_list()]
            samples = samples.with_columns(pl.Series(name, texts, pl.String))
            notes.append(f"column '{name}' ({dtype}) is written as text")
    return samples, notes


def _check_keys(data: Dataset) -> None:
    """Refuse ratings, scores, failures and spans of outputs that are not among the samples."""
    samples = data.samples.select(KEY)
    frames = {"a rating": data.ratings, "a score": data.scores, "a failure": data.failures, "a span": data.spans}
    for what, frame in frames.items():
        unmatched = frame.join(samples, on=KEY, how="anti")
        if unmatched.height:
            row = unmatched.row(0, named=True)
            raise DataError(f"{data.name}: {what} of system '{row['system']}', input '{row['input']}', not in samples.")


def _sample_lines(data: Dataset, samples: pl.DataFrame) -> Iterator[dict[str, Any]]:
    ratings: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for system, given, aspect, rater, value in data.ratings.select(list(Dataset.RATINGS)).iter_rows():
        rating = {"aspect": aspect, "rater": rater, "value": value}
        ratings.setdefault((system, given), []).append(_filled(rating))
    failures: dict[tuple[str, str], dict[str, str]] = {}
    for system, given, metric, reason in data.failures.select(list(Dataset.FAILURES)).iter_rows():
        failures.setdefault((system, given), {})[metric] = reason
    spans: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for span in data.spans.select(list(Dataset.SPANS)).iter_rows(named=True):
        spans.setdefault((span.pop("system"), span.pop("input")), []).append(_filled(span))
    # By index: a metric may have a name that polars reads as a pattern.
    key_places = [data.scores.columns.index(name) for name in KEY]
    scores = {
        (row[key_places[0]], row[key_places[1]]): dict(zip(data.scores.columns, row, strict=True))
        for row in data.scores.iter_rows()
    }
    for row in samples.iter_rows(named=True):
        key = row["system"], row["input"]
        line = _filled({name: value for name, value in row.items() if name not in RESERVED})
        if inner := _filled({name: value for name, value in row.items() if name in RESERVED}):
            line["columns"] = inner
        if key in ratings:
            line["ratings"] = ratings[key]
        of_output = scores.get(key, {})
        if present := _filled({metric: of_output.get(metric) for metric in data.metrics}):
            line["scores"] = present
        if key in failures:
            line["failures"] = failures[key]
        if key in spans:
            line["spans"] = spans[key]
        yield line


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _json(line: dict[str, Any]) -> str:
    try:
        return json.dumps(line, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_safe(line), ensure_ascii=False, allow_nan=False)


def _safe(value: Any) -> Any:
    """Replace NaN and infinity by texts, because JSON has no numbers for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124
    if isinstance(value, dict):
        return {k: _safe(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(v) for v in value]
    return value
