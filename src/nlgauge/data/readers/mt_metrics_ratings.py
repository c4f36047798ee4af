"""Ratings JSONL of mt-metrics-eval (`standalone_ratings`): one line per output and annotator, with error spans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._spans import Span, error_spans, frame_of
from nlgauge.data.records import read_records
from nlgauge.errors import DataError
from nlgauge.registry import register

RATER = "rater"  # the tool's name for an unnamed annotator


@register("reader", "mt-metrics-ratings", only="json")
class MtMetricsRatings(Reader):
    """mt-metrics-eval ratings JSONL: error spans (MQM, ESA, or of a metric), one line per output and annotator."""

    takes = Takes(
        "JSON lines with `hypothesis`, `errors` and `system_id` (the converters of mt-metrics-eval write them)",
        human="error spans of every annotator",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        return isinstance(peek.record.get("errors"), list) and {"hypothesis", "system_id"} <= set(peek.record)

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        samples: dict[tuple[str, str], dict[str, Any]] = {}
        seen: dict[tuple[str, str, str], str] = {}
        spans: list[Span] = []
        for record in read_records(path, encoding):
            # 0-based there; from 1 as the folder's segments are here
            key = str(record.want("system_id", str)), str(record.want("segment_id", int) + 1)
            output, source = record.want("hypothesis", str), record.maybe("source", str) or ""
            rater = record.maybe("rater_id", str) or RATER
            sample = {"system": key[0], "input": key[1], "output": output, "source": source}
            if document := record.maybe("document_id", str):
                sample["doc"] = document
            first = samples.setdefault(key, sample)
            if first["output"] != output:
                raise DataError(f"{record.where}: system '{key[0]}', segment {key[1]} has another output than before.")
            if (*key, rater) in seen:
                raise DataError(f"{record.where}: repeats rater '{rater}' of {seen[*key, rater]} on the same output.")
            seen[*key, rater] = record.place
            spans += error_spans(key, rater, record.children("errors"), {"output": output, "source": source})
        return Dataset.of(path.name, _frame(list(samples.values())), spans=frame_of(spans))


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    names = [*KEY, "output", "source", *(["doc"] if any("doc" in row for row in rows) else [])]
    return pl.DataFrame({name: pl.Series([row.get(name) for row in rows], dtype=pl.String) for name in names})
