"""DeepEval: the test run that `evaluate` and `deepeval test run` save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader, text_of, texts_of
from nlgauge.data.records import Record, read_object
from nlgauge.registry import register


@register("reader", "deepeval", only="json")
class DeepEval(LogReader):
    """DeepEval test runs (.latest_test_run.json, or DEEPEVAL_RESULTS_FOLDER): every metric of every test case."""

    takes = Takes(
        "`.deepeval/.latest_test_run.json`, or a file of DEEPEVAL_RESULTS_FOLDER",
        scores="the score of every metric, with its evaluation model",
        tested="deepeval 4.3.1",
    )
    tool = "DeepEval"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        ours = {"testCases", "testRunData"} & peek.keys
        return bool(ours) and '"metricsData"' in peek.text

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        whole = read_object(path, encoding)
        inner = whole.get("testRunData", whole)
        run = Record(str(path), 0, inner if isinstance(inner, dict) else {})
        settings = run.maybe("hyperparameters", dict) or {}
        system = str(settings.get("model") or "system")
        if not settings.get("model"):
            log.notes.append("no hyperparameter 'model' in the run; the system is named 'system'")
        for case in run.children("testCases"):
            _judge(
                log,
                case,
                log.output(
                    system,
                    str(case.values.get("name") or case.number),
                    repeat=case.number,
                    output=text_of(case.values.get("actualOutput")),
                    source=text_of(case.values.get("input")),
                    context=_joined(case.values.get("context") or case.values.get("retrievalContext")),
                    references=texts_of(case.values.get("expectedOutput")),
                ),
            )
        for case in run.children("conversationalTestCases"):
            _judge(
                log,
                case,
                log.output(
                    system,
                    str(case.values.get("name") or case.number),
                    repeat=case.number,
                    output=text_of(case.maybe("turns", list)),
                    source=text_of(case.values.get("scenario")),
                    references=texts_of(case.values.get("expectedOutcome")),
                ),
            )


def _joined(passages: Any) -> str | None:
    return "\n".join(str(p) for p in passages) if isinstance(passages, list) and passages else None


def _judge(log: Log, case: Record, row: int) -> None:
    for metric in case.children("metricsData"):
        name = str(metric.want("name", str)).removesuffix(" [GEval]")
        judge = metric.values.get("evaluationModel")
        log.judged(
            row,
            name,
            metric.values.get("score"),
            MODEL if judge else CODE,
            str(judge) if judge else None,
            str(metric.values.get("error") or ""),
        )
