"""NLGauge's own tidy format; its writer is data/tidy.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import polars as pl

from nlgauge.data.dataset import KEY, Dataset, check_metrics
from nlgauge.data.peek import Peek
from nlgauge.data.provenance import Kind, Provenance
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._spans import Side, Span, frame_of, place_of
from nlgauge.data.records import Record, read_records, shown
from nlgauge.data.tables.directions import lower_by_name
from nlgauge.data.tidy import RESERVED, VERSION, parse_type
from nlgauge.errors import DataError
from nlgauge.registry import register
from nlgauge.types import SCALE_KINDS, AspectScale

ODD = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
PREFERRED = ("first", "second", "tie")


@register("reader", "tidy", only="json")
class Tidy(Reader):
    """NLGauge's own JSON lines: a header, one line per output with ratings, scores, spans, one per comparison."""

    takes = Takes(
        'one `.jsonl` file (or `.jsonl.gz`) whose first line says `"nlgauge": 1`',
        human="`ratings`, `spans` and `comparison` lines",
        scores="`scores` and `failures`",
    )

    whole = True  # the file names the metrics for which lower is better

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        return isinstance(peek.record.get("nlgauge"), int)

    @staticmethod
    def read(path: Path) -> Dataset:
        header, *lines = read_records(path)
        _check_header(path, header, len(lines))
        comparisons = [line for line in lines if "comparison" in line.values]
        outputs = [line for line in lines if "comparison" not in line.values]
        if not outputs:
            raise DataError(f"{path}: has a header but no outputs.")
        keys = _keys(outputs)
        samples = _samples(header, outputs)
        data = Dataset.of(
            path.name,
            samples,
            ratings=_ratings(header, outputs, keys),
            scores=_scores(header, outputs, samples),
            failures=_failures(outputs, keys),
            spans=frame_of(span for line, key in zip(outputs, keys, strict=True) for span in _spans(line, key)),
            comparisons=pl.DataFrame(
                [_comparison(line) for line in comparisons], schema=Dataset.COMPARISONS, orient="row"
            ),
        )
        return _with_facts(data, header)


def _with_facts(data: Dataset, header: Record) -> Dataset:
    """Apply the fields of the header that are not tables; others stay as inferred."""
    facts: dict[str, Any] = {}
    for field in fields(Dataset):
        now = getattr(data, field.name)
        if isinstance(now, pl.DataFrame) or header.values.get(field.name) is None:
            continue
        if isinstance(now, dict):
            stored = header.maybe(field.name, dict) or {}
            if field.name == "sources":
                facts[field.name] = {str(aspect): _source(header, value) for aspect, value in stored.items()}
                continue
            if field.name in ("scales", "metric_scales"):
                facts[field.name] = {str(of): _scale(header, value) for of, value in stored.items()}
                continue
            facts[field.name] = {str(name): str(value) for name, value in stored.items()}
            continue
        listed = isinstance(now, frozenset | tuple)
        facts[field.name] = type(now)(_names(header, field.name)) if listed else header.maybe(field.name, type(now))
    facts.setdefault("lower", frozenset(filter(lower_by_name, data.metrics)))  # a header written by hand
    return replace(data, **facts)


def _source(header: Record, value: Any) -> Provenance:
    """Return the source of the judgments of an aspect; an unrecognized kind is unknown."""
    if not isinstance(value, dict) or value.get("kind") not in get_args(Kind):
        return Provenance("unknown", f"{header.where} does not name a source")
    return Provenance(value["kind"], str(value.get("how", "")))


def _scale(header: Record, value: Any) -> AspectScale:
    """Return the scale of an aspect, or the classes of a judge."""
    names = value.get("names", []) if isinstance(value, dict) else None
    if not isinstance(names, list) or value.get("kind") not in SCALE_KINDS:
        raise DataError(
            f"{header.where}: found {shown(value)} as a scale, expected kind ({', '.join(SCALE_KINDS)}) and names."
        )
    return AspectScale(value["kind"], tuple(map(str, names)), bool(value.get("declared", True)))


def _check_header(path: Path, header: Record, lines: int) -> None:
    version = header.want("nlgauge", int)
    if version > VERSION:
        raise DataError(
            f"{header.where}: format {version} is newer than the supported one ({VERSION}); update nlgauge."
        )
    promised = header.maybe("lines", int)
    if promised is not None and promised != lines:
        raise DataError(
            f"{path}: the header states {promised} lines, but {lines} follow; the file is truncated or was edited."
        )


def _names(header: Record, key: str) -> list[str]:
    return [str(name) for name in header.maybe(key, list) or []]


def _keys(outputs: Sequence[Record]) -> list[tuple[str, str]]:
    seen: dict[tuple[str, str], str] = {}
    for line in outputs:
        key = str(line.want("system", str, int)), str(line.want("input", str, int))
        if key in seen:
            raise DataError(f"{line.where}: repeats system '{key[0]}', input '{key[1]}' of {seen[key]}.")
        seen[key] = line.place
    return list(seen)


def _samples(header: Record, outputs: Sequence[Record]) -> pl.DataFrame:
    types = {"system": "String", "input": "String"} | (header.maybe("columns", dict) or {})
    rows = []
    for line in outputs:
        row = {name: value for name, value in line.values.items() if name not in RESERVED}
        rows.append(row | (line.maybe("columns", dict) or {}))
    names = dict.fromkeys([*types, *(name for row in rows for name in row)])
    return pl.DataFrame(
        [_column(header, outputs, name, [row.get(name) for row in rows], types.get(name)) for name in names]
    )


def _column(
    header: Record, outputs: Sequence[Record], name: str, values: list[Any], type_name: str | None
) -> pl.Series:
    if type_name is None:  # written by hand: the type in JSON
        return pl.Series(name, values, strict=False)
    dtype = parse_type(type_name)
    if dtype is None:
        raise DataError(f"{header.where}: column '{name}' has the unknown type '{type_name}'.")
    if name in KEY:
        return pl.Series(name, [str(v) for v in values], pl.String)
    if "Float" in type_name:
        values = [_number_like(v) for v in values]
    try:
        return pl.Series(name, values, dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        for line, value in zip(outputs, values, strict=True):
            try:
                pl.Series([value], dtype=dtype)
            except Exception:
                raise DataError(f"{line.where}, key '{name}': found {shown(value)}, expected {type_name}.") from None
        raise


def _number_like(value: Any) -> Any:
    if isinstance(value, list):
        return [_number_like(v) for v in value]
    if isinstance(value, str):
        return ODD.get(value, value)
    try:
        return float(value) if isinstance(value, int) else value
    except OverflowError:  # a whole number that no float can hold
        return value


def _float(where: str, value: Any) -> float:
    parsed = _number_like(value)
    if not isinstance(parsed, float) or isinstance(value, bool):
        raise DataError(f"{where}: found {shown(value)}, expected a number.")
    return parsed


def _ratings(header: Record, outputs: Sequence[Record], keys: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Return the ratings in the order of the header's aspects and annotators, then of the outputs."""
    rows = []
    for line, key in zip(outputs, keys, strict=True):
        for rating in line.children("ratings"):
            rater = rating.maybe("rater", str)
            rows.append(
                (*key, rating.want("aspect", str), rater, _float(f"{rating.where}, key 'value'", rating.want("value")))
            )
    aspects = {name: i for i, name in enumerate(_names(header, "aspects"))}
    raters = {name: i for i, name in enumerate(_names(header, "raters"))}
    rows.sort(key=lambda row: (aspects.get(row[2], len(aspects)), raters.get(row[3], len(raters))))
    return pl.DataFrame(rows, schema=Dataset.RATINGS, orient="row")


def _scores(header: Record, outputs: Sequence[Record], samples: pl.DataFrame) -> pl.DataFrame:
    by_output = [line.maybe("scores", dict) or {} for line in outputs]
    names = list(dict.fromkeys([*_names(header, "metrics"), *(name for scores in by_output for name in scores)]))
    check_metrics(header.where, names)
    columns = []
    for name in names:
        values = [scores.get(name) for scores in by_output]
        if not set(map(type, values)) <= {float, int, type(None)}:  # check each only if needed
            values = [
                None if value is None else _float(f"{line.where}, score '{name}'", value)
                for line, value in zip(outputs, values, strict=True)
            ]
        columns.append(pl.Series(name, values, pl.Float64, strict=False))
    return samples.select(KEY).with_columns(columns)


def _failures(outputs: Sequence[Record], keys: Sequence[tuple[str, str]]) -> pl.DataFrame:
    rows = [
        (*key, metric, str(reason))
        for line, key in zip(outputs, keys, strict=True)
        for metric, reason in (line.maybe("failures", dict) or {}).items()
    ]
    return pl.DataFrame(rows, schema=Dataset.FAILURES, orient="row")


def _spans(line: Record, key: tuple[str, str]) -> Iterator[Span]:
    for span in line.children("spans"):
        side: Side = span.maybe("side", str) or "output"
        if side not in ("output", "source"):
            raise DataError(f"{span.where}, key 'side': found '{side}', expected output or source.")
        place = place_of(span, line.values.get(side))
        words = span.maybe("severity", str), span.maybe("category", str)
        yield Span(*key, span.want("rater", str), side, *place, *words)


def _comparison(line: Record) -> tuple[str | None, ...]:
    inner = Record(f"{line.where}, key 'comparison'", line.number, line.want("comparison", dict))
    names = {name: inner.want(name, str) for name in ("input", "first", "second", "preferred")}
    if names["preferred"] not in PREFERRED:
        raise DataError(
            f"{inner.where}, key 'preferred': found '{names['preferred']}', expected {', '.join(PREFERRED)}."
        )
    aspect, rater = inner.maybe("aspect", str), inner.maybe("rater", str)
    return names["input"], names["first"], names["second"], aspect, rater, names["preferred"]
