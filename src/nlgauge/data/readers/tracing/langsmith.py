"""LangSmith: runs, feedback, and the frames of experiments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, UNKNOWN, Log, LogReader, text_of
from nlgauge.data.readers.logs._rows import below, dig, first_of, pick, read_rows
from nlgauge.data.records import Record
from nlgauge.registry import register

# "app" is the annotation page of LangSmith; "api" is feedback sent by a program.
SOURCES = {"app": HUMAN, "model": MODEL, "auto_eval": CODE, "api": UNKNOWN}


@register("reader", "langsmith", only="json text")
class LangSmith(LogReader):
    """LangSmith runs and feedback (JSON, JSON lines), frames of experiments: the source of feedback says who judged."""

    takes = Takes(
        "runs (`list_runs`) and feedback (`list_feedback`) as JSON or JSON lines, together or alone; rows of "
        "`ExperimentResults.to_pandas()` or `get_test_results` as CSV or JSON lines",
        human="feedback whose source is `app` (given in LangSmith's pages), with its user as the rater",
        scores="feedback whose source is `model` or `auto_eval`; from an unknown source where it is `api`, and in "
        "frames and statistics, which do not name it",
        tested="langsmith 0.14.17",
    )
    tool = "LangSmith"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        first = first_of(peek)
        names = {name.partition(".")[0] for name in first}
        return (
            {"run_type", "inputs"} <= names
            or {"feedback_source", "key", "run_id"} <= names
            or ({"inputs", "outputs"} <= names and bool(names & {"feedback", "reference", "reference_outputs"}))
        )

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        records = read_rows(path, encoding)
        runs = [r for r in records if "run_type" in r.values and not r.values.get("parent_run_id")]
        given = [r for r in records if "run_id" in r.values and "key" in r.values]
        frames = [r for r in records if "run_type" not in r.values and "key" not in r.values]
        log.not_read["runs inside others"] += sum(bool(r.values.get("parent_run_id")) for r in records)
        several = len({_system(r.values) for r in runs}) > 1
        rows = {str(run.values.get("id")): _run(log, run, several) for run in runs}
        told = {str(f.values.get("run_id")) for f in given}
        for run in runs:
            inner = [f for f in run.values.get("feedback") or () if isinstance(f, dict)]
            for feedback in inner:
                _feedback(log, rows[str(run.values.get("id"))], feedback)
            if not inner and str(run.values.get("id")) not in told:
                _statistics(log, rows[str(run.values.get("id"))], run.values.get("feedback_stats"))
        for item in given:
            subject = str(item.values.get("trace_id") or item.values.get("run_id"))
            subject = subject if subject in rows else str(item.values.get("run_id"))
            if subject not in rows:
                rows[subject] = log.output("system", subject)
                log.notes = log.notes or ["feedback is not with its run here: one system, and the run is the input"]
            _feedback(log, rows[subject], item.values)
        for record in frames:
            _frame(log, record)
        log.not_read = +log.not_read


def _system(values: Mapping[str, Any]) -> str:
    """Return the experiment (session) of a run, because the evaluated system has no name."""
    return str(pick(values, "session_name", "session_id") or "system")


def _run(log: Log, run: Record, several: bool) -> int:
    values = run.values
    example, name = values.get("reference_example_id"), str(values.get("id"))
    model = dig(values, "extra.metadata.ls_model_name")
    return log.output(
        _system(values) if several else model,
        example or (text_of(values.get("inputs")) if several else None) or name,
        repeat=name,
        output=values.get("outputs"),
        source=values.get("inputs"),
        references=values.get("reference_outputs"),
        extra={"run": name},
    )


def _feedback(log: Log, row: int, values: Mapping[str, Any]) -> None:
    by = SOURCES.get(str(dig(values, "feedback_source.type")), UNKNOWN)
    who = pick(values, "feedback_source.user_name", "feedback_source.user_id") if by == HUMAN else None
    value = values.get("score")
    value = values.get("value") if value is None else value
    if value is None:
        log.not_read["comments and corrections, which are no scores"] += 1
        return
    log.judged(row, values.get("key"), value, by, who, values.get("comment"))


def _statistics(log: Log, row: int, stats: Any) -> None:
    """Record the averages of all feedback under each key; the file does not say who gave it."""
    for key, each in (stats if isinstance(stats, dict) else {}).items():
        value = each.get("avg") if isinstance(each, dict) else each
        if value is not None:
            log.judged(row, key, value, UNKNOWN)


def _frame(log: Log, record: Record) -> None:
    """Record one row of an experiment's frame: inputs.*, outputs.*, reference.*, feedback.*."""
    values = record.values
    row = log.output(
        pick(values, "experiment", "experiment_name"),
        pick(values, "example_id", "id") or record.number,
        repeat=values.get("id") or record.number,
        output=below(values, "outputs") or values.get("outputs"),
        source=below(values, "inputs") or values.get("inputs"),
        references=below(values, "reference") or below(values, "reference_outputs") or None,
    )
    for key, value in below(values, "feedback").items():
        if not isinstance(value, dict | list):
            log.judged(row, key, value, UNKNOWN)
