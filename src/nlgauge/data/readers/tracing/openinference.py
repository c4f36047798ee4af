"""OpenInference: spans with annotations, as JSON lines of OpenTelemetry's `span.to_json()`, or as OTLP JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, UNKNOWN, Log, LogReader
from nlgauge.data.readers.tracing._otlp import read_items
from nlgauge.registry import register

KINDS = {"HUMAN": HUMAN, "LLM": MODEL, "CODE": CODE}
ANNOTATION = re.compile(r"annotations\.(\d+)\.annotation\.(\w+)")
OURS = ("openinference.span.kind", "input.value", "output.value")
OTLP = "resourceSpans"


@register("reader", "openinference", only="json")
class OpenInference(LogReader):
    """OpenInference spans (JSON lines or OTLP JSON): HUMAN annotations are ratings, LLM and CODE ones scores."""

    takes = Takes(
        "one span per line (`span.to_json(indent=None)`), or OTLP JSON with `resourceSpans`",
        human="annotations whose `annotator_kind` is HUMAN",
        scores="annotations whose `annotator_kind` is LLM, CODE or missing (declare the latter as human if they are)",
        tested="openinference-instrumentation 0.1.72",
    )
    tool = "OpenInference"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        inside = peek.record.get("attributes")
        if "gen_ai.evaluation." in peek.text:  # events, read by the reader for OpenTelemetry
            return False
        return OTLP in peek.keys or (
            isinstance(inside, dict) and "context" in peek.keys and any(k in inside for k in OURS)
        )

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        spans = list(read_items(path, encoding))
        annotated = [span for span in spans if _annotations(span["attributes"])]
        chosen = annotated or [s for s in spans if not (s.get("parent_id") or s.get("parentSpanId"))]
        if others := len(spans) - len(chosen):
            log.not_read["spans without annotations" if annotated else "child spans"] += others
        log.match_inputs_by_text(
            map(_system, chosen), "several systems; spans with the same input text are the same input"
        )
        for i, span in enumerate(chosen):
            inside, name = span["attributes"], str(span.get("span_id") or i + 1)
            if inside.get("output.value") is None:
                log.not_read["spans without an output"] += 1
                continue
            row = log.output(
                _system(span),
                name,
                repeat=i,
                output=inside["output.value"],
                source=inside.get("input.value"),
                extra={"span": name} if log.by_text else None,
            )
            for annotation in _annotations(inside).values():
                by = KINDS.get(str(annotation.get("annotator_kind")), UNKNOWN)
                value = annotation.get("score", annotation.get("label"))
                log.judged(row, annotation.get("name", "annotation"), value, by, annotation.get("identifier"))


def _system(span: Mapping[str, Any]) -> str:
    return str(span["attributes"].get("llm.model_name") or "system")


def _annotations(attributes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the annotations by their number: `annotations.0.annotation.score` is the score of the first."""
    annotations: dict[str, dict[str, Any]] = {}
    for key, value in attributes.items():
        if match := ANNOTATION.fullmatch(key):
            annotations.setdefault(match[1], {})[match[2]] = value
    return annotations
