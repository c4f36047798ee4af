"""Rubrics with points in the layout of HealthBench: a prompt, a completion, and items that are met or not.

Items stand under `rubrics` (or `rubric_items`) with `criterion`, `points` and perhaps verdicts; files of the
meta-evaluation have one item per line, with the labels of physicians under `binary_labels`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, Log, LogReader, text_of
from nlgauge.data.readers.logs._rows import pick
from nlgauge.data.records import Record, parse_json, read_records
from nlgauge.data.tables.vocabulary import words_of
from nlgauge.digests import digest
from nlgauge.errors import DataError
from nlgauge.registry import register

ITEMS = ("rubrics", "rubric_items", "rubric", "items")
CRITERION = ("criterion", "criteria", "description", "text", "title", "name")
POINTS = ("points", "weight", "max_points", "score_weight")
VERDICTS = ("criteria_met", "met", "satisfied", "verdict", "passed", "label", "grade")
COMPLETION = ("completion", "response", "output", "answer", "ideal_completion")
SYSTEM = ("model", "system", "model_name")
ASPECT = "criteria_met"
HUMAN_ROLES = frozenset("human humans annotator expert gold physician doctor".split())


@register("reader", "rubrics", only="json")
class RubricReader(LogReader):
    """Rubric JSON in HealthBench's layout: each item of an output's rubric is a part with points."""

    takes = Takes(
        "JSON or JSON lines with `rubrics` (`criterion`, `points`), or a `rubric` with `binary_labels` per line",
        human="`binary_labels`, and verdicts under names such as `human_label` or `physician_labels`",
        scores="`criteria_met` and other verdicts on items",
        tested="files in the layout of simple-evals (HealthBench; it is not a package)",
    )
    tool = "rubric"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        text = peek.text
        items = any(f'"{name}"' in text for name in ITEMS)
        return items and (('"criterion"' in text and '"points"' in text) or '"binary_labels"' in text)

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        counted: dict[tuple[str, str], int] = {}
        for record in _records(path, encoding):
            prompt = text_of(record.values.get("prompt", record.values.get("input", record.values.get("question"))))
            given = record.values.get("prompt_id", record.values.get("id"))
            name = str(given) if given is not None else f"p{digest(prompt or str(record.number)).hex()[:8]}"
            completion, system = text_of(pick(record.values, *COMPLETION)), pick(record.values, *SYSTEM)
            which = record.values.get("completion_id", digest(completion or "").hex())
            items = _items(record)
            for item in items:
                text = str(pick(item.values, *CRITERION) or "")
                number = counted[name, str(which)] = counted.get((name, str(which)), 0) + 1
                points = next((item.values[k] for k in POINTS if item.values.get(k) is not None), None)
                extra = {"criterion": text, "points": points, "category": record.values.get("category")}
                part = f"item {number}"
                row = log.output(system, name, repeat=which, part=part, extra=extra, source=prompt, output=completion)
                _judged(log, row, item)


def _judged(log: Log, row: int, item: Record) -> None:
    """Record the verdicts on one item: those under names of humans as human, and all others as verdicts of a judge."""
    raters = item.values.get("anonymized_physician_ids")
    for key, value in item.values.items():
        if key.endswith("_ids") or key in (*CRITERION, *POINTS, *ITEMS):
            continue
        human = key == "binary_labels" or bool(HUMAN_ROLES.intersection(words_of(key)))
        if key == "binary_labels" or (isinstance(value, list) and human and all(_is_verdict(v) for v in value)):
            for slot, label in enumerate(value or ()):
                who = raters[slot] if isinstance(raters, list) and slot < len(raters) else slot + 1
                log.judged(row, ASPECT, label, HUMAN, who)
        elif isinstance(value, dict) and key in ("labels", "verdicts", "grades", "judgments"):
            for who, label in value.items():
                by = HUMAN if HUMAN_ROLES.intersection(words_of(str(who))) else MODEL
                log.judged(row, ASPECT, label, by, who)
        elif _is_verdict(value) and (key in VERDICTS or human or set(VERDICTS) & set(words_of(key))):
            log.judged(row, ASPECT, value, HUMAN if human else MODEL, key)


def _is_verdict(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 20)


def _records(path: Path, encoding: str | None) -> list[Record]:
    """Read the records of the outputs: lines, a list, or the examples inside the results of simple-evals."""
    text = decode(path, read_bytes(path), encoding)
    if text.lstrip()[:1] == "{" and "\n{" not in text.strip():
        whole = parse_json(str(path), text)
        for keys in (("metadata", "example_level_metadata"), ("example_level_metadata",), ("examples",), ("results",)):
            inner: Any = whole
            for key in keys:
                inner = inner.get(key) if isinstance(inner, dict) else None
            if isinstance(inner, list) and inner and all(isinstance(each, dict) for each in inner):
                return [Record(f"{path}, record {i}", i, each) for i, each in enumerate(inner, 1)]
        return [Record(str(path), 1, whole)]
    return read_records(path, encoding)


def _items(record: Record) -> list[Record]:
    """Return the items of an output; a line of the meta-evaluation is itself one item."""
    if "binary_labels" in record.values:
        text = record.values.get("rubric", record.values.get("criterion"))
        return [Record(record.where, 1, {**record.values, "criterion": text_of(text)})]
    for key in ITEMS:
        if isinstance(record.values.get(key), list):
            return record.children(key)
    raise DataError(f"{record.where}: no items of a rubric. Keys found: {', '.join(record.values)}.")
