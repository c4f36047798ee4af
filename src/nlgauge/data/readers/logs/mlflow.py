"""MLflow: traces with assessments, as `Trace.to_json` or the frame of `mlflow.search_traces` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, PERSON, Log, LogReader, text_of, texts_of
from nlgauge.data.records import Record, parse_json, read_records, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

# Who is a person stands in every assessment.
SOURCES = {"HUMAN": PERSON, "LLM_JUDGE": MODEL, "AI_JUDGE": MODEL, "CODE": CODE}


@register("reader", "mlflow", only="json")
class Mlflow(LogReader):
    """MLflow traces with assessments (JSON lines or a JSON list): HUMAN is people, LLM_JUDGE and CODE are metrics."""

    takes = Takes(
        "one `trace.to_json()` a line, or `search_traces().to_json(…, orient='records', lines=True)`",
        people="feedback whose source is HUMAN, with its source id as the rater",
        scores="feedback whose source is LLM_JUDGE or CODE; expectations are references",
        tested="mlflow 3.17.2",
    )
    tool = "MLflow"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        keys = peek.keys
        return ({"info", "data"} <= keys and '"trace_id"' in peek.text) or {"trace_id", "trace", "assessments"} <= keys

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        traces = [_trace(record) for record in read_records(path, encoding)]
        several = len({_system(t) for t in traces}) > 1
        if several:
            log.notes.append("several systems: traces with the same request belong to one input")
        for i, trace in enumerate(traces):
            info = Record(f"{trace.where}, key 'info'", trace.number, trace.want("info", dict))
            name = str(info.values.get("trace_id") or info.want("request_id", str))
            request, response = _texts(trace, info)
            if response is None:
                log.aside["traces without a response"] += 1
                continue
            found = info.children("assessments")
            row = log.output(
                _system(trace),
                (request or name) if several else name,
                repeat=i,
                extra={"trace": name} if several else None,
                output=response,
                source=request,
                references=texts_of([v for a in found for v in _expected(a)]),
            )
            _judge(log, row, found)


def _trace(record: Record) -> Record:
    """The trace itself; a frame of traces holds each as a JSON text beside its columns."""
    if "info" in record.values:
        return record
    inner = record.want("trace", str, dict)
    values = parse_json(f"{record.where}, key 'trace'", inner) if isinstance(inner, str) else inner
    return Record(f"{record.where}, key 'trace'", record.number, values if isinstance(values, dict) else {})


def _system(trace: Record) -> str:
    info = trace.maybe("info", dict) or {}
    tags, about = info.get("tags"), info.get("trace_metadata")
    named = about.get("mlflow.modelId") if isinstance(about, dict) else None
    return str(named or (tags.get("mlflow.traceName") if isinstance(tags, dict) else None) or "system")


def _texts(trace: Record, info: Record) -> tuple[str | None, str | None]:
    """Request and response of the root span; the previews of the header are cut off, and only a way out."""
    data = Record(f"{trace.where}, key 'data'", trace.number, trace.maybe("data", dict) or {})
    roots = [span for span in data.children("spans") if not span.values.get("parent_span_id")]
    inside = (roots[0].maybe("attributes", dict) or {}) if roots else {}
    found = []
    for key, preview in (("mlflow.spanInputs", "request_preview"), ("mlflow.spanOutputs", "response_preview")):
        found.append(text_of(_unpacked(inside.get(key, info.values.get(preview)))))
    return found[0], found[1]


def _unpacked(value: Any) -> Any:
    """Attributes of a span are JSON in a text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _expected(assessment: Record) -> list[str]:
    value = (assessment.maybe("expectation", dict) or {}).get("value")
    return [str(v) for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)]


def _judge(log: Log, row: int, found: list[Record]) -> None:
    """Feedback that its kind of source replaced is left aside; what a person overruled is still what the judge said."""
    replaced = {str(a.values.get("overrides")): a for a in found if a.values.get("overrides")}
    for assessment in found:
        feedback = assessment.maybe("feedback", dict)
        if feedback is None:
            continue
        by, who = _source(assessment)
        if assessment.values.get("valid") is False:
            later = replaced.get(str(assessment.values.get("assessment_id")))
            if later is None or _source(later)[0] == by:
                log.aside["assessments that were replaced"] += 1
                continue
            log.overruled += 1
        error = feedback.get("error")
        why = error.get("error_message") if isinstance(error, dict) else error
        name = str(assessment.want("assessment_name", str))
        log.judged(row, name, feedback.get("value"), by, None if by == CODE else who, str(why or ""))


def _source(assessment: Record) -> tuple[str, str | None]:
    source = assessment.want("source", dict)
    kind, who = str(source.get("source_type")), source.get("source_id")
    if kind not in SOURCES:
        raise DataError(
            f"{assessment.where}, key 'source': found {shown(kind)} as its type, expected {', '.join(SOURCES)}."
        )
    return SOURCES[kind], None if who is None or who == "default" else str(who)
