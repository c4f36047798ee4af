"""doccano JSON lines: texts with labels; one file of a project, or a folder with one file per annotator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import CollectedAnswers, dataset_of, numbered
from nlgauge.data.records import Record, read_records
from nlgauge.errors import DataError
from nlgauge.registry import register

LABELS = ("label", "labels", "cats")
NAMED = re.compile(r"^\s*(?P<question>[^:=]*[^\W\d_][^:=]*?)\s*[:=]\s*(?P<value>.+?)\s*$", re.S)


@register("reader", "doccano", only="json folder")
class Doccano(Reader):
    """doccano JSONL: labels such as '4' or 'quality:4'; a folder of files has one annotator per file."""

    takes = Takes(
        "JSON lines of doccano, or a folder with one file per annotator",
        human="labels that are, or begin with, numbers",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        if peek.is_folder:
            files = sorted(peek.path.glob("*.jsonl"))
            return bool(files) and all(_is_doccano(Peek(file).record) for file in files)
        return _is_doccano(peek.record)

    @staticmethod
    def read(
        path: Path,
        *,
        values: Mapping[str, Any] | str | None = None,
        ignore: str = "",
        task: str = "labels",
        annotator: str | None = None,
        encoding: str | None = None,
    ) -> Dataset:
        """Read labels as ratings, or with `task='seq2seq'` as outputs written by annotators."""
        if task not in ("labels", "seq2seq"):
            raise DataError(f"option task: found '{task}', expected labels or seq2seq.")
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not files:
            raise DataError(f"{path}: no .jsonl file in this folder.")
        entries = [
            (r, file.stem if path.is_dir() else annotator) for file in files for r in read_records(file, encoding)
        ]
        return _written(path, entries) if task == "seq2seq" else _rated(path, entries, CollectedAnswers(values, ignore))


def _is_doccano(record: dict[str, Any]) -> bool:
    labels = next((record[k] for k in LABELS if k in record), None)
    has_labels = isinstance(labels, list) and all(isinstance(label, str | list) for label in labels)
    return has_labels and "id" in record and isinstance(record.get("text", record.get("data")), str)


def _labels(record: Record) -> list[Any]:
    key = next((k for k in LABELS if k in record.values), None)
    if key is None:
        raise DataError(f"{record.where}: no key 'label', 'labels' or 'cats'. Keys: {', '.join(record.values)}.")
    labels: list[Any] = record.maybe(key, list) or []
    if any(isinstance(label, list) for label in labels):
        raise DataError(
            f"{record.where}, key '{key}': has marked spans, which are not ratings; export a classification project."
        )
    return labels


def _rated(path: Path, entries: list[tuple[Record, str | None]], answers: CollectedAnswers) -> Dataset:
    rows, empty = [], 0
    for row, (record, who) in enumerate(entries):
        record.want("id", int, str)
        rows.append(
            {("text" if k == "data" else k): v for k, v in record.values.items() if k not in (*LABELS, "Comments")}
        )
        labels = _labels(record)
        empty += not labels
        for label in labels:
            named = NAMED.match(str(label))
            question, value = (named["question"], named["value"]) if named else ("label", label)
            answers.add(row, record.where, question, who, value)
    ratings, notes = answers.ratings(path.name)
    if not ratings:
        raise DataError(f"{path}: none of the {len(rows)} texts has a label.")
    if empty:
        notes.append(f"{empty} texts without a label")
    where = numbered(path, [record for record, _ in entries], "line")
    return dataset_of(where, rows, ratings=ratings, persons=True, notes=notes)


def _written(path: Path, entries: list[tuple[Record, str | None]]) -> Dataset:
    rows, places = [], []
    for record, who in entries:
        others = {k: v for k, v in record.values.items() if k not in (*LABELS, "Comments", "text", "data", "id")}
        source = record.values.get("text", record.values.get("data"))
        for label in _labels(record):
            rows.append(
                {
                    **others,
                    "system": who or "annotator",
                    "input": str(record.want("id", int, str)),
                    "source": source,
                    "output": str(label),
                }
            )
            places.append(record.number)
    if not rows:
        raise DataError(f"{path}: none of the {len(entries)} texts has an output.")
    columns = {"system": "system", "input": "input", "source": "source", "output": "output"}
    notes = ["outputs written by annotators; there are no ratings"]
    return dataset_of(numbered(path, places, "line"), rows, columns=columns, notes=notes)
