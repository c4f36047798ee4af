"""pydantic-evals: evaluation reports as `EvaluationReportAdapter.dump_json` writes them."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader
from nlgauge.data.readers.logs._rows import dig, pick
from nlgauge.data.records import Record, read_object
from nlgauge.registry import register


@register("reader", "pydantic-evals", only="json")
class PydanticEvals(LogReader):
    """pydantic-evals reports: scores and assertions of evaluators; those of LLMJudge are a model's."""

    takes = Takes(
        "the JSON of an evaluation report (`EvaluationReportAdapter.dump_json`)",
        scores="scores, assertions and labels of every evaluator; those of `LLMJudge` are a model's",
        tested="pydantic-evals 2.62.0",
    )
    tool = "pydantic-evals"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return "cases" in peek.keys and '"evaluator_failures"' in peek.text

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        report = Record(str(path), 0, read_object(path, encoding))
        system = pick(report.values, "experiment_name", "name")
        for case in report.children("cases"):
            values = case.values
            row = log.output(
                system,
                pick(values, "source_case_name", "name") or case.number,
                repeat=values.get("name"),
                output=values.get("output"),
                source=values.get("inputs"),
                references=values.get("expected_output"),
            )
            for kind in ("scores", "assertions", "labels"):
                for name, result in (case.maybe(kind, dict) or {}).items():
                    inside = result if isinstance(result, dict) else {"value": result}
                    by = MODEL if dig(inside, "source.name") == "LLMJudge" else CODE
                    judge = dig(inside, "source.arguments.model")
                    log.judged(row, name, inside.get("value"), by, judge, inside.get("reason"))
            for failure in case.children("evaluator_failures"):
                why = str(failure.values.get("error_message"))
                log.judged(row, failure.values.get("name"), None, reason=why)
        if failures := report.children("failures"):
            log.not_read["cases that ended in an error"] += len(failures)
