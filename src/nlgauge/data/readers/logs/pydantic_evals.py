"""pydantic-evals: evaluation reports as `EvaluationReportAdapter.dump_json` writes them."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader, text_of, texts_of
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
        system = str(report.values.get("experiment_name") or report.values.get("name") or "system")
        for case in report.children("cases"):
            values = case.values
            row = log.output(
                system,
                str(values.get("source_case_name") or values.get("name") or case.number),
                repeat=values.get("name"),
                output=text_of(values.get("output")),
                source=text_of(values.get("inputs")),
                references=texts_of(values.get("expected_output")),
            )
            for kind in ("scores", "assertions", "labels"):
                for name, result in (case.maybe(kind, dict) or {}).items():
                    inside = result if isinstance(result, dict) else {"value": result}
                    source = inside.get("source")
                    source = source if isinstance(source, dict) else {}
                    options = source.get("arguments")
                    model = options.get("model") if isinstance(options, dict) else None
                    by = MODEL if source.get("name") == "LLMJudge" else CODE
                    who = str(model) if model and by == MODEL else None
                    log.judged(row, name, inside.get("value"), by, who, str(inside.get("reason") or ""))
            for failure in case.children("evaluator_failures"):
                why = str(failure.values.get("error_message"))
                log.judged(row, str(failure.values.get("name")), None, CODE, None, why)
        if failures := report.children("failures"):
            log.not_read["cases that ended in an error"] += len(failures)
