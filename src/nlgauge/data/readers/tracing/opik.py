"""Opik: traces with feedback scores, experiment items, and the results of `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, UNKNOWN, Log, LogReader
from nlgauge.data.readers.logs._rows import first_of, pick, read_rows
from nlgauge.data.records import Record
from nlgauge.registry import register

SOURCES = {"ui": HUMAN, "online_scoring": MODEL, "sdk": UNKNOWN}  # "sdk" is feedback sent by a program
INPUTS, EXPECTED = ("input", "question", "user_input", "prompt", "query"), ("expected_output", "reference", "expected")


@register("reader", "opik", only="json text")
class Opik(LogReader):
    """Opik traces, experiment items and evaluation results: the source of a feedback score says who gave it."""

    takes = Takes(
        "traces (`search_traces`) or experiment items with `feedback_scores`, one per line or as a page, and the JSON "
        "of an `EvaluationResult`",
        human="feedback scores whose source is `ui`, with their author as the rater",
        scores="feedback scores of `online_scoring` (a model) and `sdk` (an unknown source); `score_results` of "
        "`evaluate`",
        tested="opik 2.2.122",
    )
    tool = "Opik"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        if {"experiment_id", "test_results"} <= peek.keys:
            return True
        first = first_of(peek)
        scores = first.get("feedback_scores")
        return isinstance(scores, list) and bool({"trace_id", "start_time", "dataset_item_id"} & set(first))

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        for record in read_rows(path, encoding):
            if "test_results" in record.values:
                _results(log, record)
            elif isinstance(record.values.get("feedback_scores"), list):
                _trace(log, record)
            else:
                log.not_read["traces without feedback scores"] += 1


def _results(log: Log, record: Record) -> None:
    for result in record.children("test_results"):
        case = result.want("test_case", dict)
        content = case.get("dataset_item_content") or {}
        row = log.output(
            record.values.get("experiment_name"),
            pick(case, "dataset_item_id", "trace_id") or result.number,
            repeat=result.values.get("trial_id"),
            output=case.get("task_output"),
            source=next((content[name] for name in INPUTS if name in content), None),
            references=next((content[name] for name in EXPECTED if name in content), None),
        )
        for score in result.children("score_results"):
            value = None if score.values.get("scoring_failed") else score.values.get("value")
            log.judged(row, score.want("name", str), value, reason=score.values.get("reason"))


def _trace(log: Log, record: Record) -> None:
    values = record.values
    row = log.output(
        pick(values, "experiment_name", "experiment_id", "metadata.model"),
        pick(values, "dataset_item_id", "id", "trace_id"),
        repeat=values.get("id") or record.number,
        output=values.get("output", values.get("evaluation_task_output")),
        source=values.get("input"),
        references=values.get("expected_output"),
    )
    for score in record.children("feedback_scores"):
        name, authors = str(score.want("name", str)), score.values.get("value_by_author")
        if isinstance(authors, dict) and authors:
            for author, entry in authors.items():
                _judged(log, row, name, {**score.values, **(entry if isinstance(entry, dict) else {})}, author)
        else:
            _judged(log, row, name, score.values, pick(score.values, "last_updated_by", "created_by"))


def _judged(log: Log, row: int, name: str, values: Mapping[str, Any], who: Any) -> None:
    by = SOURCES.get(str(values.get("source")), UNKNOWN)
    log.judged(row, name, values.get("value"), by, who if by == HUMAN else None, values.get("reason"))
