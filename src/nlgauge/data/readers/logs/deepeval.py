"""DeepEval: the test run that `evaluate` and `deepeval test run` save."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader
from nlgauge.data.readers.logs._rows import pick
from nlgauge.data.records import Record, read_object
from nlgauge.registry import register

# Kind of test case -> its output, input, and expected output.
CASES = {
    "testCases": ("actualOutput", "input", "expectedOutput"),
    "conversationalTestCases": ("turns", "scenario", "expectedOutcome"),
}


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
        system = (run.maybe("hyperparameters", dict) or {}).get("model")
        if not system:
            log.notes.append("no hyperparameter 'model' in the run; the system is named 'system'")
        for key, names in CASES.items():
            for case in run.children(key):
                output, source, references = map(case.values.get, names)
                passages = pick(case.values, "context", "retrievalContext")
                row = log.output(
                    system,
                    case.values.get("name") or case.number,
                    repeat=case.number,
                    output=output,
                    source=source,
                    context="\n".join(map(str, passages)) if isinstance(passages, list) else None,
                    references=references,
                )
                for metric in case.children("metricsData"):
                    name = str(metric.want("name", str)).removesuffix(" [GEval]")
                    judge, value = metric.values.get("evaluationModel"), metric.values.get("score")
                    log.judged(row, name, value, MODEL if judge else CODE, judge, metric.values.get("error"))
