"""Label Studio, JSON export: tasks with data{} and annotations[]; ratings per annotator, pairwise comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.comparisons import FIRST, SECOND, Choices, add_pair
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import CollectedAnswers, dataset_of, numbered
from nlgauge.data.records import Record, read_records, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

# Type of a result -> key of its value.
VALUES = {"rating": "rating", "number": "number", "choices": "choices"}
SELECTED = {"left": FIRST, "right": SECOND}


@register("reader", "label-studio", only="json")
class LabelStudio(Reader):
    """Label Studio JSON: ratings, numbers and choices per annotator; pairwise results are comparisons."""

    takes = Takes(
        "the full JSON export of Label Studio",
        human="ratings, numbers and choices; pairwise results are comparisons of outputs",
        scores="predictions of a named model",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        return isinstance(peek.record.get("data"), dict) and isinstance(peek.record.get("annotations"), list)

    @staticmethod
    def read(
        path: Path, values: Mapping[str, Any] | str | None = None, ignore: str = "", encoding: str | None = None
    ) -> Dataset:
        tasks = read_records(path, encoding)
        answers, choices = CollectedAnswers(values, ignore), Choices(path.name)
        aside: Counter[str] = Counter()
        rows: list[dict[str, Any]] = []
        for row, task in enumerate(tasks):
            rows.append(dict(task.want("data", dict)))
            for annotation in task.children("annotations"):
                if annotation.values.get("was_cancelled"):
                    aside["cancelled annotations"] += 1
                    continue
                rater = _annotator(annotation.values.get("completed_by"))
                for result in annotation.children("result"):
                    if result.values.get("type") == "pairwise":
                        question = str(result.want("from_name", str))
                        add_pair(choices, task, rows[-1], aspect=question, rater=rater, preferred=_selected(result))
                    else:
                        _answer(answers, aside, row, result, rater)
            rows[-1] |= _predictions(task)
        notes = [f"not read: {', '.join(f'{n} {what}' for what, n in aside.items())}"] if aside else []
        if choices.choices:
            if answers.found:
                notes.append("ratings in pairwise tasks are not read, as they do not say which output is rated")
            return choices.dataset(notes)
        ratings, more = answers.ratings(path.name)
        if not ratings:
            raise DataError(f"{path}: none of the {len(tasks)} tasks has a rating, a number or a choice.")
        # The number of a task distinguishes outputs if nothing else does.
        rows = [row if "id" in row else {"id": task.number, **row} for row, task in zip(rows, tasks, strict=True)]
        where = numbered(path, tasks, "task")
        return dataset_of(where, rows, ratings=ratings, persons=True, notes=[*notes, *more])


def _annotator(who: Any) -> str | None:
    """Return the annotator's name from a number or, in newer exports, from an object with ID and e-mail address."""
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return None if who is None else str(who)


def _selected(result: Record) -> str:
    selected = (result.maybe("value", dict) or {}).get("selected")
    if not isinstance(selected, str) or selected not in SELECTED:
        raise DataError(f"{result.where}, key 'value': expected left or right as selected, got {shown(selected)}.")
    return SELECTED[selected]


def _answer(answers: CollectedAnswers, aside: Counter[str], row: int, result: Record, rater: str | None) -> None:
    kind = str(result.values.get("type"))
    if kind not in VALUES:
        aside[f"results of type '{kind}'"] += 1
        return
    value = result.want("value", dict).get(VALUES[kind])
    if isinstance(value, list) and len(value) > 1:
        aside["choices of several answers"] += 1
        return
    answers.add(row, result.where, str(result.want("from_name", str)), rater, value or (value if value == 0 else None))


def _predictions(task: Record) -> dict[str, Any]:
    """Return the predictions of a named model as metric columns `model:question`."""
    predictions: dict[str, Any] = {}
    for prediction in task.children("predictions"):
        model = prediction.values.get("model_version")
        for result in prediction.children("result") if model else ():
            grade = CollectedAnswers().grade(
                (result.maybe("value", dict) or {}).get(VALUES.get(str(result.values.get("type")), ""))
            )
            if grade is not None:
                predictions[f"{model}:{result.values.get('from_name')}"] = grade
    return predictions
