"""Braintrust: rows of experiments and logs (BTQL, `fetch`, CSV), and the results of `Eval`."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.provenance import HUMAN_WORDS
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, UNKNOWN, Log, LogReader
from nlgauge.data.readers.logs._rows import below, dig, first_of, pick, read_rows
from nlgauge.data.records import Record
from nlgauge.registry import register


@register("reader", "braintrust", only="json text")
class Braintrust(LogReader):
    """Braintrust experiments and logs: scores of scorer spans are a program's, the source of others is unknown."""

    takes = Takes(
        "rows of an experiment or of logs (`fetch`, BTQL, the CSV and JSON exports), or the results of `Eval` as JSON "
        "lines",
        human="scores whose names say so (`human_review`)",
        scores="every other score; a program's where its scorer span is in the file, otherwise from an unknown source "
        "(Braintrust keeps scores of human review in the same field: declare those as human)",
        tested="braintrust 0.47.0 with autoevals 0.4.1",
    )
    tool = "Braintrust"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        first = first_of(peek)
        names = {name.partition(".")[0] for name in first}
        spans = {"root_span_id", "span_attributes"} & names or "metrics.start" in first
        return {"input", "output", "scores"} <= names and bool(spans or {"expected", "metadata"} <= names)

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        records = read_rows(path, encoding)
        scorers = {str(dig(r.values, "span_attributes.name")) for r in records if _kind(r) == "score"}
        outputs = [r for r in records if _is_output(r)]
        if inside := len(records) - len(outputs):
            log.not_read["spans inside others"] += inside
        log.match_inputs_by_text(_system(r) for r in outputs)
        for record in outputs:
            values, name = record.values, record.values.get("id") or record.number
            row = log.output(
                _system(record),
                name,
                repeat=str(name),
                output=values.get("output"),
                source=values.get("input"),
                references=values.get("expected"),
            )
            for scorer, value in below(values, "scores").items():
                by = CODE if scorer in scorers else HUMAN if HUMAN_WORDS.search(scorer) else UNKNOWN
                log.judged(row, scorer, value, by)


def _kind(record: Record) -> str:
    return str(dig(record.values, "span_attributes.type") or "")


def _is_output(record: Record) -> bool:
    """Return whether a row is the output itself, that is, a root span and not one of the spans below it."""
    root = record.values.get("root_span_id")
    return root is None or record.values.get("is_root") is True or record.values.get("span_id") in (None, root)


def _system(record: Record) -> str:
    return str(pick(record.values, "experiment_name", "metadata.model", "experiment_id") or "system")
