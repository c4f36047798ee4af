"""Every Eval Ever: instance-level results, `UUID_samples.jsonl`, with `UUID.json` in the same folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader
from nlgauge.data.readers.logs._rows import dig, pick
from nlgauge.data.records import Record, read_object, read_records
from nlgauge.registry import register


@register("reader", "every-eval-ever", only="json folder")
class EveryEvalEver(LogReader):
    """Every Eval Ever samples (UUID_samples.jsonl, or a folder of them): every result of every model's sample."""

    takes = Takes(
        "`UUID_samples.jsonl`, or a folder of them; `UUID.json` next to it names judges and metric directions",
        scores="the score of every evaluation result",
        tested="every_eval_ever 0.3.0",
    )
    tool = "Every Eval Ever"
    keys = ({"schema_version", "evaluation_id", "model_id", "sample_id", "evaluation"},)
    pattern = "*_samples.jsonl"

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        results = _results(path, encoding)
        for record in read_records(path, encoding):
            prompt, answer = record.maybe("input", dict) or {}, record.maybe("output", dict) or {}
            name = str(record.values.get("evaluation_result_id") or record.want("evaluation_name", str))
            output = answer.get("raw")
            output = output[0] if isinstance(output, list) and output else output
            row = log.output(
                record.want("model_id", str),
                record.want("sample_id", str, int),
                task=str(record.want("evaluation_id", str)).partition("/")[0],
                repeat=path,
                output=output if output is not None else record.maybe("messages", list),
                source=prompt.get("raw"),
                references=prompt.get("reference"),
            )
            config = results.get(name) or {}
            judges = dig(config, "llm_scoring.judges")
            names = ", ".join(map(_judge, judges)) if isinstance(judges, list) else ""
            evaluation = record.want("evaluation", dict)
            value = evaluation.get("score", evaluation.get("is_correct"))
            by = MODEL if config.get("llm_scoring") else CODE
            log.judged(row, name, value, by, names, record.values.get("error"))
            if config.get("lower_is_better") is True:
                log.lower.add(name)


def _results(path: Path, encoding: str | None) -> dict[str, dict[str, Any]]:
    """Read the configuration of each result's metric from the file of aggregate results."""
    aggregates = path.with_name(path.name.replace("_samples.jsonl", ".json"))
    if aggregates == path or not aggregates.is_file():
        return {}
    results = Record(str(aggregates), 0, read_object(aggregates, encoding)).children("evaluation_results")
    return {
        str(r.values.get("evaluation_result_id") or r.values.get("evaluation_name")): r.maybe("metric_config", dict)
        or {}
        for r in results
    }


def _judge(judge: Any) -> str:
    named = isinstance(judge, dict) and isinstance(judge.get("model_info"), dict)
    return str(pick(judge, "model_info.id", "model_info.name") if named else judge)
