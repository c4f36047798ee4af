"""Phoenix: annotations of spans (API, client, evals), frames of evaluated outputs, and exported experiments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, SAME_INPUT, UNKNOWN, Log, LogReader
from nlgauge.data.readers.logs._rows import below, dig, first_of, object_in, pick, read_rows
from nlgauge.data.records import Record
from nlgauge.registry import register

KINDS = {"HUMAN": HUMAN, "LLM": MODEL, "CODE": CODE}
SUBJECTS = ("span_id", "context.span_id", "trace_id", "session_id", "document_position")
DETAILS = "_execution_details"


@register("reader", "phoenix", only="json text")
class Phoenix(LogReader):
    """Phoenix annotations, evaluated frames and experiments: `annotator_kind` says who judged."""

    takes = Takes(
        "annotations of the API or of `get_span_annotations_dataframe` (CSV, Parquet, JSON), frames of "
        "`evaluate_dataframe`, experiments as JSON, or one page with `spans` and `annotations`",
        human="annotations whose `annotator_kind` is HUMAN, with their user as the rater",
        scores="annotations of LLM and CODE; those without a kind come from an unknown source",
        tested="arize-phoenix-client 3.5.0, arize-phoenix-evals 3.9.4",
    )
    tool = "Phoenix"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        first = first_of(peek)
        return (
            ("annotator_kind" in first and any(name in first for name in SUBJECTS))
            or _is_experiment(first)
            or any(name.endswith(DETAILS) for name in first)
            or {"spans", "annotations"} <= peek.keys
        )

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        records = read_rows(path, encoding)
        spans = {str(dig(r.values, "context.span_id")): r for r in records if "annotator_kind" not in r.values}
        models = [dig(below(r.values, "attributes"), "llm.model_name") or "system" for r in spans.values()]
        log.match_inputs_by_text(models, SAME_INPUT)
        alone = False
        for record in records:
            values = record.values
            if "annotator_kind" in values:
                alone |= _annotation(log, record, spans)
            elif _is_experiment(values):
                _run(log, record)
            elif any(name.endswith(DETAILS) for name in values):
                _evaluated(log, record)
        if alone:
            log.notes.append("annotations are not with their texts here: one system, and the span is the input")


def _is_experiment(values: Mapping[str, Any]) -> bool:
    return isinstance(values.get("annotations"), list) and {"example_id", "output"} <= set(values)


def _annotation(log: Log, record: Record, spans: Mapping[str, Record]) -> bool:
    """Record one annotation, and return whether its span is missing from the file."""
    values = record.values
    subject = next((str(dig(values, name)) for name in SUBJECTS if dig(values, name) is not None), None)
    if subject is None:
        log.not_read["annotations without a span"] += 1
        return False
    span = spans.get(subject)
    inside = below(span.values, "attributes") if span else {}
    row = log.output(
        dig(inside, "llm.model_name"),
        subject,
        repeat=subject,
        output=dig(inside, "output.value"),
        source=dig(inside, "input.value"),
    )
    _judged(log, row, values, str(values.get("annotation_name") or record.want("name", str)))
    return span is None


def _judged(log: Log, row: int, values: Mapping[str, Any], name: str) -> None:
    by = KINDS.get(str(values.get("annotator_kind", values.get("kind"))).upper(), UNKNOWN)
    result = below(values, "result") or values
    value = result.get("score")
    value = result.get("label") if value is None else value
    who = pick(values, "user_id", "identifier", "metadata.model")
    log.judged(row, name, value, by, who, values.get("error") or result.get("explanation"))


def _run(log: Log, record: Record) -> None:
    """Record one run of an experiment with its annotations."""
    values = record.values
    row = log.output(
        pick(values, "experiment_name", "experiment_id"),
        values["example_id"],
        repeat=values.get("repetition_number"),
        output=values.get("output"),
        source=values.get("input"),
        references=values.get("reference_output"),
    )
    for annotation in record.children("annotations"):
        _judged(log, row, annotation.values, str(annotation.want("name", str)))


def _evaluated(log: Log, record: Record) -> None:
    """Record one row of `evaluate_dataframe`, in which NAME_score holds the score with its kind."""
    values = record.values
    names = [name.removesuffix(DETAILS) for name in values if name.endswith(DETAILS)]
    given = next((values[name] for name in SUBJECTS if values.get(name) is not None), record.number)
    row = log.output(
        values.get("model"),
        given,
        output=values.get("output", values.get("attributes.output.value")),
        source=values.get("input", values.get("attributes.input.value")),
        references=values.get("reference", values.get("expected")),
    )
    for name in names:
        score = object_in(values.get(f"{name}_score"))
        _judged(log, row, score if isinstance(score, dict) else {"score": score}, name)
