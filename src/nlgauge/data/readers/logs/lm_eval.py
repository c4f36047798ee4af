"""lm-evaluation-harness: the samples that `--log_samples` writes, one JSON line per document and filter."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import Log, LogReader, text_of
from nlgauge.data.records import Record, read_object, read_records
from nlgauge.registry import register

KEYS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"}
OTHERS = {"filter", "metrics", "doc_hash", "prompt_hash", "target_hash"}
NAME = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)$")


@register("reader", "lm-eval", only="json folder")
class LmEval(LogReader):
    """lm-evaluation-harness samples (samples_TASK_DATE.jsonl, or the folder): every metric of every document."""

    takes = Takes(
        "`samples_TASK_DATE.jsonl`, or the output folder; `results_DATE.json` next to it names the model",
        scores="the metrics of a document; `metric:filter` if there are several filters",
        tested="lm_eval 0.4.13",
    )
    tool = "lm-evaluation-harness"
    keys = (KEYS,)
    pattern = "samples_*.jsonl"

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        records = read_records(path, encoding)
        named = NAME.match(path.stem)
        about = _results(path, named["date"] if named else None, encoding)
        task = named["task"] if named else None
        system = about.get("model_name") or about.get("model_source")
        if not system:
            log.notes.append(f"{path.name}: no results file next to it names the model; the system is named 'system'")
        directions = about.get("higher_is_better")
        better = directions.get(task) if isinstance(directions, dict) else None
        filters = len({str(r.values.get("filter")) for r in records})
        seen: Counter[str] = Counter()
        for record in records:
            answers = record.want("resps", list)
            row = log.output(
                system,
                record.want("doc_id", int, str),
                task=task,
                repeat=path,
                extra=record.maybe("doc", dict),
                output=_answer(record, answers),
                source=_argument(record, 0, 0),
                references=_target(record, len(answers)),
            )
            if answers and isinstance(answers[0], list) and len(answers[0]) > 1:
                log.not_read["further responses to the same document (the first is shown)"] += len(answers[0]) - 1
            # Files of older versions name neither filters nor metrics: a document has one record per filter, and
            # every other key is a metric.
            named, metrics = record.values.get("filter"), record.maybe("metrics", list)
            document = f"{record.values['doc_id']} {named}"
            seen[document] += 1
            nth = f" #{seen[document]}" if named is None and seen[document] > 1 else ""
            for metric in metrics or [k for k in record.values if k not in KEYS | OTHERS]:
                name = f"{metric}:{named}" if filters > 1 else f"{metric}{nth}"
                value = record.values.get(str(metric))
                if isinstance(value, list):  # what a metric of the whole set is computed from
                    log.not_read[f"lists of values of '{name}'"] += 1
                else:
                    log.judged(row, name, value)
                if isinstance(better, dict) and better.get(str(metric)) is False:
                    log.lower.add(name)


def _results(path: Path, date: str | None, encoding: str | None) -> dict[str, Any]:
    """Read the results file of the same run; {} if there is none."""
    results = path.with_name(f"results_{date}.json")
    return read_object(results, encoding) if date is not None and results.is_file() else {}


def _argument(record: Record, request: int, place: int) -> Any:
    """Return an argument of a request to the model: {"gen_args_0": {"arg_0": …}}, in older files [[…, …], …]."""
    given = record.maybe("arguments", dict, list)
    if isinstance(given, dict):
        given = given.get(f"gen_args_{request}")
        return given.get(f"arg_{place}") if isinstance(given, dict) else None
    given = given[request] if given and len(given) > request else None
    return given[place] if isinstance(given, list) and len(given) > place else None


def _answer(record: Record, answers: list[Any]) -> str | None:
    """Return the output of the model; for multiple choice, the option with the highest log-likelihood."""
    first = [a[0] if isinstance(a, list) and a else a for a in answers]
    if len(first) == 1:
        return None if isinstance(first[0], list) else text_of(first[0])
    try:
        likely = [float(pair[0]) for pair in first]
    except (TypeError, ValueError, IndexError, KeyError):
        return None
    choice = text_of(_argument(record, likely.index(max(likely)), 1)) if likely else None
    return choice and choice.strip()


def _target(record: Record, choices: int) -> Any:
    """Return the correct answer; for multiple choice, the text of the option."""
    target = record.values.get("target")
    if choices > 1 and str(target).isdecimal() and int(str(target)) < choices:
        choice = text_of(_argument(record, int(str(target)), 1))
        return choice and choice.strip()
    return target
