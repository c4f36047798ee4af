"""Weave (Weights & Biases): calls of evaluations, and feedback on calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, Log, LogReader
from nlgauge.data.readers.logs._rows import below, dig, first_of, pick, read_rows
from nlgauge.data.records import Record
from nlgauge.registry import register

REF = re.compile(r"(?:weave:///.*/(?:object|op)/)?([^:/]+)(?::.*)?$", re.S)
ANNOTATION, RUNNABLE, REACTION = "wandb.annotation.", "wandb.runnable.", "wandb.reaction.1"
THUMBS = {"👍": 1, "👎": 0}
EXPECTED = ("expected", "reference", "target", "answer", "ground_truth")
TEXTS = {"reason", "explanation", "reasoning", "rationale"}


@register("reader", "weave", only="json text")
class Weave(LogReader):
    """Weave calls and feedback: annotations and reactions are of humans, scorers are programs."""

    takes = Takes(
        "calls of evaluations (`get_calls`, with feedback where it was asked for), or feedback (`get_feedback`), as "
        "JSON or JSON lines",
        human="feedback `wandb.annotation.NAME`, 👍 and 👎 (`wandb.reaction.1`), with their creator as the rater",
        scores="scores of `Evaluation.predict_and_score`, and feedback `wandb.runnable.NAME`",
        tested="weave 0.54.0",
    )
    tool = "Weave"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        first = first_of(peek)
        return {"op_name", "inputs", "trace_id"} <= set(first) or {"feedback_type", "payload"} <= set(first)

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        records = read_rows(path, encoding)
        calls = [r for r in records if "op_name" in r.values]
        evaluated = [c for c in calls if "predict_and_score" in str(c.values["op_name"])]
        if (others := len(calls) - len(evaluated)) and evaluated:
            log.not_read["calls inside evaluations"] += others
        log.match_inputs_by_text(map(_system, evaluated))
        rows = {str(c.values.get("id")): _call(log, c) for c in evaluated or calls}
        for call in evaluated or calls:
            found = dig(call.values, "summary.weave.feedback") or call.values.get("feedback")
            for feedback in found if isinstance(found, list) else ():
                if isinstance(feedback, dict):
                    _feedback(log, rows[str(call.values.get("id"))], feedback)
        for record in records:
            if "feedback_type" in record.values:
                ref = str(record.values.get("weave_ref") or record.number)
                subject = ref.rpartition("/")[2]
                if subject not in rows:
                    rows[subject] = log.output("system", subject)
                    log.notes = log.notes or ["feedback is not with its call here: one system, the call is the input"]
                _feedback(log, rows[subject], record.values)


def _system(call: Record) -> str:
    model = dig(call.values, "inputs.model")
    named = dig(model, "name") if isinstance(model, Mapping) else model
    found = REF.match(str(named)) if named else None
    return found[1] if found else str(named or "system")


def _call(log: Log, call: Record) -> int:
    values = call.values
    example = below(values, "inputs.example") or dig(values, "inputs.example")
    given = example if isinstance(example, dict) and example else below(values, "inputs")
    source = {k: v for k, v in given.items() if k not in (*EXPECTED, "self", "model")}
    output = values.get("output", below(values, "output"))
    inside = output if isinstance(output, dict) else {}
    name = str(values.get("id") or call.number)
    row = log.output(
        _system(call),
        name,
        repeat=name,
        output=inside.get("output", inside.get("model_output", output)),
        source=source or None,
        references=next((given[k] for k in EXPECTED if k in given), None),
    )
    for scorer, score in below(inside, "scores").items():
        parts = score if isinstance(score, dict) else {"": score}
        for part, value in parts.items():
            if part not in TEXTS:
                log.judged(row, f"{scorer}.{part}" if part and len(parts) > 1 else scorer, value, CODE)
    return row


def _feedback(log: Log, row: int, values: Mapping[str, Any]) -> None:
    kind, payload = str(values.get("feedback_type")), values.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    who = pick(values, "creator", "wb_user_id")
    if kind.startswith(ANNOTATION):
        log.judged(row, kind.removeprefix(ANNOTATION), payload.get("value"), HUMAN, who)
    elif kind == REACTION and (thumb := str(payload.get("emoji"))[:1]) in THUMBS:
        log.judged(row, "reaction", THUMBS[thumb], HUMAN, who)
    elif kind.startswith(RUNNABLE):
        log.judged(row, kind.removeprefix(RUNNABLE), payload.get("output"), CODE)
    else:
        log.not_read[f"feedback of the type {kind}"] += 1
