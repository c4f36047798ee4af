"""OpenTelemetry: `gen_ai.evaluation.result` events, in OTLP JSON or as the SDK writes log records."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, SAME_INPUT, UNKNOWN, Log, LogReader, text_of
from nlgauge.data.readers.tracing._otlp import attributes_of, read_items
from nlgauge.errors import DataError
from nlgauge.registry import register

EVENT = "gen_ai.evaluation.result"
KINDS = {
    "human": HUMAN, "llm_judge": MODEL, "llm": MODEL, "model": MODEL, "deterministic": CODE, "code": CODE,
    "heuristic": CODE,
}  # fmt: skip


@register("reader", "opentelemetry", only="json text")
class OpenTelemetry(LogReader):
    """OpenTelemetry evaluation events (OTLP JSON, JSON lines, Parquet): the evaluator's type says who judged."""

    takes = Takes(
        "OTLP JSON with log records or spans, one document or one per line (the collector's file exporter), and "
        "`LogRecord.to_json()` lines, with events `gen_ai.evaluation.result`",
        human="events whose `gen_ai.evaluation.evaluator.type` is human",
        scores="events whose evaluator type is llm_judge or deterministic; without a type, from an unknown source",
        tested="opentelemetry-sdk 1.45.2, opentelemetry-exporter-otlp-proto-common 1.45.1",
    )
    tool = "OpenTelemetry"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return "resourceLogs" in peek.keys or "gen_ai.evaluation." in peek.text

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        events, spans = [], {}
        for item in read_items(path, encoding):
            inside = item["attributes"]
            if (item.get("event_name") or item.get("name") or inside.get("event.name")) == EVENT:
                events.append(item)
            elif item.get("span_id") and "events" in item:
                spans[_id(item)] = inside
                for event in item["events"] if isinstance(item["events"], list) else ():
                    if isinstance(event, dict) and event.get("name") == EVENT:
                        events.append({**event, "attributes": attributes_of(event), "span_id": item["span_id"]})
        if not events:
            raise DataError(f"{path}: holds no events called {EVENT}; other telemetry has no judgments.")
        alone = 0
        log.match_inputs_by_text(map(_model, spans.values()), SAME_INPUT)
        for event in events:
            inside, subject = event["attributes"], _id(event)
            given = subject or inside.get("gen_ai.response.id") or event.get("trace_id")
            name = inside.get("gen_ai.evaluation.name")
            if not given or not name:
                log.not_read["evaluation events without a name or a span"] += 1
                continue
            span = spans.get(subject, {})
            alone += not span
            output, source = _texts(span)
            row = log.output(_model(span), given, repeat=str(given), output=output, source=source)
            by = KINDS.get(str(inside.get("gen_ai.evaluation.evaluator.type")).lower(), UNKNOWN)
            value = inside.get("gen_ai.evaluation.score.value")
            value = inside.get("gen_ai.evaluation.score.label") if value is None else value
            why = inside.get("error.type") or inside.get("gen_ai.evaluation.explanation")
            log.judged(row, name, value, by, inside.get("gen_ai.evaluation.evaluator.id"), why)
        if alone:
            log.notes.append(f"{alone} evaluations whose texts are not in the file: the span is the input")


def _id(item: Mapping[str, Any]) -> str:
    """Return the ID of a span, which the SDK writes with 0x; empty if it consists of zeros."""
    found = str(item.get("span_id") or "").removeprefix("0x")
    return found if found.strip("0") else ""


def _model(span: Mapping[str, Any]) -> str:
    return str(span.get("gen_ai.request.model") or span.get("llm.model_name") or "system")


def _texts(span: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return output and input of a span: messages of the GenAI conventions, or those of OpenInference."""
    found = []
    for names in (("gen_ai.output.messages", "output.value"), ("gen_ai.input.messages", "input.value")):
        value = next((span[name] for name in names if span.get(name) is not None), None)
        if isinstance(value, str) and value[:1] == "[":
            with contextlib.suppress(ValueError, RecursionError):
                value = [_message(turn) for turn in json.loads(value)]
        found.append(text_of(value))
    return found[0], found[1]


def _message(turn: Any) -> Any:
    """Return {"role", "content"} of a message whose text is in its `parts`."""
    parts = turn.get("parts") if isinstance(turn, dict) else None
    texts = [str(part["content"]) for part in parts or () if isinstance(part, dict) and part.get("content")]
    return {"role": turn.get("role"), "content": "\n".join(texts)} if texts else turn
