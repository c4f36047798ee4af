"""Langfuse: scores as its API and SDK give them (`scores.get_many`, v2 and v3), and as its page exports them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import MODEL, PERSON, UNKNOWN, Log, LogReader
from nlgauge.data.records import Record, first_row, parse_json, read_records, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

SOURCES = {"ANNOTATION": PERSON, "EVAL": MODEL, "API": UNKNOWN}
WORDS = {"TEXT", "CORRECTION"}  # no judgements
SCORE = {"name", "source", "value", "dataType"}


@register("reader", "langfuse")
class Langfuse(LogReader):
    """Langfuse scores (JSON of the API or SDK): ANNOTATION is people, EVAL is a model's judgement, API is a metric."""

    takes = Takes(
        "scores: a page of the API (v2 or v3), or the export as CSV, JSON or JSON lines; texts are not in it",
        people="scores whose source is ANNOTATION, with their author as the rater",
        scores="scores whose source is EVAL (a model) or API (whatever was sent: declare it as human if people "
        "sent it)",
        tested="scores serialised by langfuse 5.0.4 (its server was not run)",
    )
    tool = "Langfuse"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        page = peek.record.get("data")
        first = page[0] if isinstance(page, list) and page else first_row(peek)
        return isinstance(first, dict) and set(first) >= SCORE and str(first.get("source")) in SOURCES

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        log.notes.append("scores are not with their texts here: one system, and the trace is the input")
        for score in _scores(path, encoding):
            subject = _subject(score)
            if subject is None:
                log.aside["scores of a session or an experiment, which are no outputs"] += 1
                continue
            kind, source = str(score.values.get("dataType")), score.want("source", str)
            if source not in SOURCES:
                raise DataError(f"{score.where}, key 'source': found {shown(source)}, expected {', '.join(SOURCES)}.")
            if kind in WORDS:
                log.aside["texts and corrections"] += 1
                continue
            value = score.values.get("value")
            if kind == "CATEGORICAL":  # version 2 numbers the categories; what they are called says more
                value = score.values.get("stringValue", value)
            who, by = score.values.get("authorUserId") or score.values.get("authorUserName"), SOURCES[source]
            row = log.output("system", subject, extra={"traceName": score.values.get("traceName")})
            log.judged(row, str(score.want("name", str)), value, by, str(who) if who and by == PERSON else None)


def _scores(path: Path, encoding: str | None) -> list[Record]:
    text = decode(path, read_bytes(path), encoding)
    if text.lstrip()[:1] not in "{[":
        try:
            rows = list(csv.DictReader(io.StringIO(text), strict=True))
        except csv.Error as error:
            raise DataError(f"{path}: cannot be read as CSV ({error}).") from None
        return [
            Record(f"{path}, row {i}", i, {k: v or None for k, v in row.items() if k}) for i, row in enumerate(rows, 1)
        ]
    if text.lstrip().startswith("{") and path.suffix != ".jsonl":
        page: Any = parse_json(str(path), text)
        return Record(str(path), 0, page).children("data") if isinstance(page, dict) else []
    return read_records(path, encoding)


def _subject(score: Record) -> str | None:
    """The trace, with the observation in it where the score is of one."""
    given = score.maybe("subject", dict)
    if given is not None:
        if given.get("kind") not in ("trace", "observation"):
            return None
        parts = [given.get("traceId"), given.get("id")]
    else:
        parts = [score.values.get("traceId"), score.values.get("observationId")]
    return "/".join(str(part) for part in parts if part) or None
