"""Prodigy: annotated tasks, as `prodigy db-out` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import CollectedAnswers, dataset_of, numbered
from nlgauge.data.records import Record, read_records
from nlgauge.errors import DataError
from nlgauge.registry import register

# Fields about the annotation process, or about a model that proposed the task, but not about the output.
OWN = (
    "answer", "accept", "options", "spans", "tokens", "relations", "config", "versions", "priority", "style", "html",
    "label", "score", "question", "field_id", "field_rows", "field_label", "user_input",
)  # fmt: skip
OUTPUTS = ("output", "response", "completion", "generation", "summary", "answer_text", "text")


@register("reader", "prodigy", only="json")
class Prodigy(Reader):
    """Prodigy JSON lines: chosen options that are numbers, and accept or reject, are ratings of the annotator."""

    takes = Takes(
        "JSON lines of `prodigy db-out`",
        human="the chosen option (its id or text is or begins with a number, or is mapped), accept and reject (1 and "
        "0) under the task's label, and text fields with numbers",
        tested="the documented format of Prodigy 1.18 (no public package)",
    )

    keys = ({"_input_hash", "_task_hash"},)

    @staticmethod
    def read(
        path: Path, *, values: Mapping[str, Any] | str | None = None, ignore: str = "", encoding: str | None = None
    ) -> Dataset:
        answers, ignored = CollectedAnswers(values, ignore), 0
        rows: list[dict[str, Any]] = []
        row_of: dict[str, int] = {}
        records: list[Record] = []
        for record in read_records(path, encoding):
            hashed = record.values.get("_input_hash")
            given = _row(record.values)
            key = repr((hashed if hashed is not None else record.number, given.get("system")))
            if key not in row_of:
                row_of[key] = len(rows)
                rows.append({**given, "input": str(given.get("id", hashed if hashed is not None else record.number))})
                records.append(record)
            if (answer := str(record.maybe("answer", str) or "accept")) not in ("accept", "reject"):
                ignored += 1
                continue
            who = record.values.get("_annotator_id") or record.values.get("_session_id")
            for question, value in _answered(record, answer):
                answers.add(row_of[key], record.where, question, None if who is None else str(who), value)
        ratings, notes = answers.ratings(path.name)
        if not ratings:
            raise DataError(
                f"{path}: no task has a rating: no chosen option, and only marked spans or ignored tasks ({ignored})."
            )
        notes += [f"{ignored} ignored tasks"] if ignored else []
        outputs = [name for name in OUTPUTS if any(isinstance(row.get(name), str) for row in rows)]
        said = {"input": "input", "output": outputs[0] if outputs else None}
        said |= {"source": "text"} if outputs and outputs[0] != "text" and "text" in outputs else {}
        where = numbered(path, records, "line")
        return dataset_of(where, rows, ratings=ratings, columns=said, persons=True, notes=notes)


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a task that do not concern the annotation process; the entries of `meta` are included."""
    plain = {k: v for k, v in values.items() if k not in OWN and not k.startswith("_")}
    meta = plain.pop("meta", None)
    return {**(meta if isinstance(meta, dict) else {}), **plain}


def _answered(record: Record, answer: str) -> list[tuple[str, Any]]:
    """Return the questions of a task with their answers: the selected options, or accept and reject."""
    options = {str(o.values.get("id")): o.values.get("text") for o in record.children("options")}
    label = str(record.values.get("label") or "accept")
    if options:
        question = str(record.values.get("question") or record.values.get("label") or "choice")
        if answer == "reject":
            return []
        chosen = record.maybe("accept", list) or []
        if len(chosen) > 1:
            return [(f"{question}: {option}", int(option in map(str, chosen))) for option in options]
        return [(question, _grade(each, options.get(str(each)))) for each in chosen]
    fields = record.values.get("field_id") or "user_input"
    typed = record.values.get(str(fields))
    marked = bool(record.values.get("spans")) and "label" not in record.values
    found: list[tuple[str, Any]] = [] if marked else [(label, int(answer == "accept"))]
    return [(str(fields), typed), *found] if typed not in (None, "") else found


def _grade(option: Any, text: Any) -> Any:
    """Return the ID of an option if it is a number, otherwise its text."""
    return option if isinstance(option, int | float) or str(option).lstrip("-").isdecimal() else text or option
