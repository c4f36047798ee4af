"""Langfuse: scores from its API and SDK (`scores.get_many`, v2 and v3), and exports from its web page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, UNKNOWN, Log, LogReader
from nlgauge.data.readers.logs._rows import read_rows
from nlgauge.data.records import Record, first_row, parse_json, read_records, shown
from nlgauge.errors import DataError
from nlgauge.number import either
from nlgauge.registry import register

SOURCES = {"ANNOTATION": HUMAN, "EVAL": MODEL, "API": UNKNOWN}
TEXTS = {"TEXT", "CORRECTION"}  # types that are not judgments
SCORE = {"name", "source", "value", "dataType"}


@register("reader", "langfuse")
class Langfuse(LogReader):
    """Langfuse scores (JSON of the API or SDK): ANNOTATION is human, EVAL is a model judgment, API is unknown."""

    takes = Takes(
        "scores: a page of the API (v2 or v3), or the export as CSV, JSON or JSON lines; texts are not included",
        human="scores with source ANNOTATION; the author is the annotator",
        scores="scores with source EVAL (a model) or API (unknown; declare them as human if annotators sent them)",
        tested="scores serialized by langfuse 5.0.4 (its server was not run)",
    )
    tool = "Langfuse"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        page = peek.record.get("data")
        first = page[0] if isinstance(page, list) and page else first_row(peek)
        return isinstance(first, dict) and set(first) >= SCORE and str(first.get("source")) in SOURCES

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        scores, traces = _scores(path, encoding), _traces(path, encoding)
        if not traces:
            log.notes.append(
                "the export has no texts and no system names; the system is named 'system', inputs are traces"
            )
        for score in scores:
            subject = _subject(score)
            if subject is None:
                log.not_read["scores of sessions or experiments, which are not outputs"] += 1
                continue
            kind, source = str(score.values.get("dataType")), score.want("source", str)
            if source not in SOURCES:
                raise DataError(f"{score.where}, key 'source': expected {either(list(SOURCES))}, got {shown(source)}.")
            if kind in TEXTS:
                log.not_read["texts and corrections"] += 1
                continue
            value = score.values.get("value")
            if kind == "CATEGORICAL":  # version 2 numbers the categories; their names are more informative
                value = score.values.get("stringValue", value)
            who, by = score.values.get("authorUserId") or score.values.get("authorUserName"), SOURCES[source]
            trace = traces.get(subject, {})
            row = log.output(
                "system",
                subject,
                extra={"traceName": score.values.get("traceName", trace.get("name"))},
                output=trace.get("output"),
                source=trace.get("input"),
            )
            log.judged(row, score.want("name", str), value, by, who if by == HUMAN else None)


def _scores(path: Path, encoding: str | None) -> list[Record]:
    text = decode(path, read_bytes(path), encoding)
    if text.lstrip()[:1] not in "{[":
        return read_rows(path, encoding)
    if text.lstrip().startswith("{") and path.suffix != ".jsonl":
        page: Any = parse_json(str(path), text)
        return Record(str(path), 0, page).children("data") if isinstance(page, dict) else []
    return read_records(path, encoding)


def _traces(path: Path, encoding: str | None) -> dict[str, dict[str, Any]]:
    """Return the traces of a page by id; `langfuse://` adds them to the scores."""
    if path.suffix != ".json":
        return {}
    page = parse_json(str(path), decode(path, read_bytes(path), encoding))
    traces = page.get("traces") if isinstance(page, dict) else None
    return {str(t["id"]): t for t in traces or () if isinstance(t, dict) and "id" in t}


def _subject(score: Record) -> str | None:
    """Return the ID of the trace, with the observation in it if the score belongs to one."""
    given = score.maybe("subject", dict)
    if given is not None:
        if given.get("kind") not in ("trace", "observation"):
            return None
        parts = [given.get("traceId"), given.get("id")]
    else:
        parts = [score.values.get("traceId"), score.values.get("observationId")]
    return "/".join(str(part) for part in parts if part) or None
