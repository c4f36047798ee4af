"""Every Eval Ever: instance-level results, `UUID_samples.jsonl`, with `UUID.json` in the same folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, MODEL, Log, LogReader, text_of, texts_of
from nlgauge.data.records import Record, read_object, read_records
from nlgauge.registry import register

KEYS = {"schema_version", "evaluation_id", "model_id", "sample_id", "evaluation"}


@register("reader", "every-eval-ever", only="json folder")
class EveryEvalEver(LogReader):
    """Every Eval Ever samples (UUID_samples.jsonl, or a folder of them): every result of every model's sample."""

    takes = Takes(
        "`UUID_samples.jsonl`, or a folder of them; `UUID.json` next to it names judges and metric directions",
        scores="the score of every evaluation result",
        tested="every_eval_ever 0.3.0",
    )
    tool = "Every Eval Ever"
    pattern = "*_samples.jsonl"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return peek.keys >= KEYS or peek.holds(cls.pattern)

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        results = _results(path, encoding)
        for record in read_records(path, encoding):
            prompt, answer = record.maybe("input", dict) or {}, record.maybe("output", dict) or {}
            name = str(record.values.get("evaluation_result_id") or record.want("evaluation_name", str))
            output = answer.get("raw")
            output = output[0] if isinstance(output, list) and output else output
            row = log.output(
                str(record.want("model_id", str)),
                str(record.want("sample_id", str, int)),
                task=str(record.want("evaluation_id", str)).partition("/")[0],
                repeat=path,
                output=text_of(output if output is not None else record.maybe("messages", list)),
                source=text_of(prompt.get("raw")),
                references=texts_of(prompt.get("reference")),
            )
            config = results.get(name) or {}
            judges = config.get("llm_scoring")
            who = judges.get("judges") if isinstance(judges, dict) else None
            names = [_judge(j) for j in who] if isinstance(who, list) else []
            evaluation = record.want("evaluation", dict)
            log.judged(
                row,
                name,
                evaluation.get("score", evaluation.get("is_correct")),
                MODEL if judges else CODE,
                ", ".join(names) or None,
                str(record.values.get("error") or ""),
            )
            if config.get("lower_is_better") is True:
                log.lower.add(name)


def _results(path: Path, encoding: str | None) -> dict[str, dict[str, Any]]:
    """The configuration of each result's metric, from the file of aggregate results."""
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
    about = judge.get("model_info") if isinstance(judge, dict) else None
    return str((about.get("id") or about.get("name")) if isinstance(about, dict) else judge)
