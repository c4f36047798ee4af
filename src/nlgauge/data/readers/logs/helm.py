"""HELM: a run's folder (`scenario_state.json`, `per_instance_stats.json`), or a folder of runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.provenance import HUMAN_WORDS, is_model
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, Log, LogReader
from nlgauge.data.records import Record, parse_json, read_object, read_records
from nlgauge.registry import register

STATS, STATE, SPEC = "per_instance_stats.json", "scenario_state.json", "run_spec.json"
# Resources that a run used; these are not scores of its outputs.
TELEMETRY = re.compile(r"^(num_|inference_|training_|prompt_|batch_size|finish_reason|max_prob|logprob|estimated_)")


@register("reader", "helm", only="json folder")
class Helm(LogReader):
    """HELM runs: the statistics of every instance are metrics, those of annotators are a model's."""

    takes = Takes(
        "the folder of a run or of several, or its `per_instance_stats.json`; texts come from `scenario_state.json` "
        "next to it",
        human="statistics whose name says so (`human_…`)",
        scores="every other statistic of an unperturbed instance",
        tested="the documented layout of crfm-helm 0.5 (the package was not run)",
    )
    tool = "HELM"
    pattern = STATS

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        if peek.is_folder:
            return peek.holds(STATS)
        return {"instance_id", "stats"} <= peek.keys or {"adapter_spec", "request_states"} <= peek.keys

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        stats, state = path.parent / STATS, path.parent / STATE
        stats = path if "stats" in Peek(path).keys else stats
        model, task, rows = _outputs(log, path if stats != path else state, path.parent, encoding)
        for record in read_records(stats, encoding) if stats.exists() else ():
            trial = record.values.get("train_trial_index")
            shift = record.maybe("perturbation", dict, str)
            if shift:
                log.not_read["statistics of perturbed instances"] += 1
                continue
            key = str(record.want("instance_id", str, int)), str(trial)
            row = rows.get(key)
            row = log.output(model, key[0], task=task, repeat=key[1]) if row is None else row
            _judge(log, row, record)


def _outputs(
    log: Log, state: Path, folder: Path, encoding: str | None
) -> tuple[str, str | None, dict[tuple[str, str], int]]:
    """Add the outputs of a run; return its model, its scenario, and the row of every instance and trial."""
    name = folder.name if ":" in folder.name or "model=" in folder.name else None
    if (folder / SPEC).exists():
        spec = parse_json(str(folder / SPEC), decode(folder / SPEC, read_bytes(folder / SPEC), encoding))
        name = str(spec.get("name") or name) if isinstance(spec, dict) else name
    named = re.search(r"model=([^,]+)", name or "")
    model, task = named[1] if named else "system", name.partition(":")[0] if name else None
    if not state.exists():
        log.notes.append(f"{STATE} is not next to the statistics: outputs have no texts")
        return model, task, {}
    run = Record(str(state), 0, read_object(state, encoding))
    adapter = run.maybe("adapter_spec", dict) or {}
    model, rows = str(adapter.get("model_deployment") or adapter.get("model") or model), {}
    for request in run.children("request_states"):
        instance = request.want("instance", dict)
        if instance.get("perturbation"):
            continue
        trial, answers = str(request.values.get("train_trial_index")), request.maybe("result", dict) or {}
        first: dict[str, Any] = next(iter(answers.get("completions") or ()), {})
        correct = [r.get("output") for r in instance.get("references") or () if "correct" in (r.get("tags") or ())]
        key = str(instance.get("id")), trial
        extra = {"epoch": trial} if trial not in ("0", "None") else None
        texts = {"output": first.get("text"), "source": instance.get("input"), "references": correct}
        rows[key] = log.output(model, key[0], task=task, repeat=trial, extra=extra, **texts)
    return model, task, rows


def _judge(log: Log, row: int, record: Record) -> None:
    for stat in record.children("stats"):
        about = stat.want("name", dict, str)
        name = str(about.get("name") if isinstance(about, Mapping) else about)
        if isinstance(about, Mapping) and about.get("perturbation"):
            log.not_read["statistics of perturbed instances"] += 1
        elif TELEMETRY.match(name):
            log.not_read["statistics of what the run took"] += 1
        else:
            by = MODEL if is_model(name) or name.startswith("annotation_") else CODE
            log.judged(row, name, _mean(stat.values), HUMAN if HUMAN_WORDS.search(name) else by)


def _mean(stat: Mapping[str, Any]) -> float | None:
    if stat.get("mean") is not None:
        return float(stat["mean"])
    count, total = stat.get("count"), stat.get("sum")
    return float(total) / float(count) if count and total is not None else None
