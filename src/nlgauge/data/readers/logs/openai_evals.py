"""OpenAI evals: output items of the API, and the logs of the `evals` package (`oaieval --record_path`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader
from nlgauge.data.readers.logs._rows import dig, first_of, read_rows
from nlgauge.data.records import Record
from nlgauge.registry import register

ITEM = "eval.run.output_item"
EXPECTED = ("reference", "ideal", "expected", "expected_output", "correct_label", "ground_truth", "reference_answer")


@register("reader", "openai-evals", only="json")
class OpenAiEvals(LogReader):
    """OpenAI evals: output items of the API (one score per grader), and logs of the `evals` package."""

    takes = Takes(
        "a page or lines of `evals.runs.output_items.list`, or the JSON lines that `oaieval` records",
        scores="the score of every grader (a model's where its type or its sample says so), `match` and `metrics` "
        "events of `oaieval`",
        tested="openai 2.54.0 (its types; the API was not called), and the layout of evals 3.0.1",
    )
    tool = "OpenAI evals"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        first = first_of(peek)
        return first.get("object") == ITEM or _is_event(first) or "eval_name" in (first.get("spec") or {})

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        records = read_rows(path, encoding)
        items = [r for r in records if r.values.get("object") == ITEM]
        for item in items:
            _item(log, item)
        if not items:
            spec: dict[str, Any] = next(
                (r.values["spec"] for r in records if isinstance(r.values.get("spec"), dict)), {}
            )
            named = spec.get("completion_fns")
            system = named[0] if isinstance(named, list) and named else spec.get("model_name")
            _events(log, system, [r for r in records if _is_event(r.values)])


def _is_event(values: dict[str, Any]) -> bool:
    return {"run_id", "event_id", "sample_id", "type", "data"} <= set(values)


def _item(log: Log, item: Record) -> None:
    values = item.values
    sample, given = item.maybe("sample", dict) or {}, item.maybe("datasource_item", dict) or {}
    if sample.get("output") is None and "response" not in given and "output" not in given:
        log.not_read["items without an output"] += 1
        return
    row = log.output(
        sample.get("model") or given.get("model"),
        values.get("datasource_item_id", values.get("id")),
        repeat=values.get("id"),
        output=sample.get("output", given.get("response", given.get("output"))),
        source=sample.get("input"),
        references=next((given[name] for name in EXPECTED if name in given), None),
    )
    for result in item.children("results"):
        judge, value = dig(result.values, "sample.model"), result.values.get("score")
        by = MODEL if "model" in str(result.values.get("type") or "") or judge else CODE
        log.judged(row, result.want("name", str), result.values.get("passed") if value is None else value, by, judge)


def _events(log: Log, system: Any, events: Sequence[Record]) -> None:
    """Record the events of one run: sampling events give the outputs, match and metrics events judge the sample with
    the same ID.
    """
    sampled: dict[str, list[Any]] = {}
    for event in events:
        if event.values["type"] == "sampling":
            sampled.setdefault(str(event.values["sample_id"]), []).append(event.want("data", dict))
    for event in events:
        kind, name = str(event.values["type"]), str(event.values["sample_id"])
        if kind not in ("match", "metrics"):
            continue
        data, first = event.want("data", dict), (sampled.get(name) or [{}])[0]
        output = first.get("sampled", data.get("sampled"))
        output = output[0] if isinstance(output, list) and output else output
        row = log.output(system, name, output=output, source=first.get("prompt"), references=data.get("expected"))
        if kind == "match":
            log.judged(row, "match", dig(data, "correct"), CODE)
            continue
        # The second completion of a sample is the grader's.
        by = MODEL if len(sampled.get(name) or ()) > 1 else CODE
        for key, value in data.items():
            if isinstance(value, bool | int | float):
                log.judged(row, key, value, by)
