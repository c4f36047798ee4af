"""MLflow: traces with assessments, as `Trace.to_json` or the frame of `mlflow.search_traces` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, Log, LogReader, text_of
from nlgauge.data.records import Record, parse_json, read_records, shown
from nlgauge.errors import DataError
from nlgauge.number import either
from nlgauge.registry import register

SOURCES = {"HUMAN": HUMAN, "LLM_JUDGE": MODEL, "AI_JUDGE": MODEL, "CODE": CODE}


@register("reader", "mlflow", only="json")
class Mlflow(LogReader):
    """MLflow traces with assessments (JSON lines or a JSON list): HUMAN gives ratings, LLM_JUDGE and CODE scores."""

    takes = Takes(
        "one `trace.to_json()` per line, or `search_traces().to_json(…, orient='records', lines=True)`",
        human="feedback with source HUMAN; the source ID is the annotator",
        scores="feedback with source LLM_JUDGE or CODE; expectations are references",
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
        log.match_inputs_by_text(
            map(_system, traces), "several systems; traces with the same request are the same input"
        )
        for i, trace in enumerate(traces):
            info = Record(f"{trace.where}, key 'info'", trace.number, trace.want("info", dict))
            name = str(info.values.get("trace_id") or info.want("request_id", str))
            request, response = _texts(trace, info)
            if response is None:
                log.not_read["traces without a response"] += 1
                continue
            assessments = info.children("assessments")
            row = log.output(
                _system(trace),
                name,
                repeat=i,
                extra={"trace": name} if log.by_text else None,
                output=response,
                source=request,
                references=[v for a in assessments for v in _expected(a)],
            )
            _judge(log, row, assessments)


def _trace(record: Record) -> Record:
    """Return the trace itself, which a frame of traces contains as JSON text in the column 'trace'."""
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
    """Request and response of the root span; without one the previews of the header, which may be truncated."""
    data = Record(f"{trace.where}, key 'data'", trace.number, trace.maybe("data", dict) or {})
    roots = [span for span in data.children("spans") if not span.values.get("parent_span_id")]
    inside = (roots[0].maybe("attributes", dict) or {}) if roots else {}
    request, response = (
        text_of(_unpacked(inside.get(key, info.values.get(preview))))
        for key, preview in (("mlflow.spanInputs", "request_preview"), ("mlflow.spanOutputs", "response_preview"))
    )
    return request, response


def _unpacked(value: Any) -> Any:
    """Return the value of a span's attribute, which is stored as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _expected(assessment: Record) -> list[str]:
    value = (assessment.maybe("expectation", dict) or {}).get("value")
    return [str(v) for v in (value if isinstance(value, list) else [value]) if isinstance(v, str)]


def _judge(log: Log, row: int, assessments: list[Record]) -> None:
    """Add feedback.

    Feedback is skipped if the same kind of source replaced it. Judge feedback is kept if an annotator overruled it."""
    replaced = {str(a.values.get("overrides")): a for a in assessments if a.values.get("overrides")}
    for assessment in assessments:
        feedback = assessment.maybe("feedback", dict)
        if feedback is None:
            continue
        by, who = _source(assessment)
        if assessment.values.get("valid") is False:
            later = replaced.get(str(assessment.values.get("assessment_id")))
            if later is None or _source(later)[0] == by:
                log.not_read["assessments that were replaced"] += 1
                continue
            log.overruled += 1
        error = feedback.get("error")
        reason = error.get("error_message") if isinstance(error, dict) else error
        log.judged(row, assessment.want("assessment_name", str), feedback.get("value"), by, who, reason)


def _source(assessment: Record) -> tuple[str, str | None]:
    source = assessment.want("source", dict)
    kind, who = str(source.get("source_type")), source.get("source_id")
    if kind not in SOURCES:
        raise DataError(
            f"{assessment.where}, key 'source': expected the type {either(list(SOURCES))}, got {shown(kind)}."
        )
    return SOURCES[kind], None if who == "default" else who
