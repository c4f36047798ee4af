"""RAGChecker's meta-evaluation: pairs of RAG answers with graded preferences, and the scores of metrics on both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.comparisons import FIRST, SECOND, TIE, Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.records import Record, number, read_records
from nlgauge.errors import DataError, Note
from nlgauge.registry import register

PAIR = ("model1", "model2")
LABEL = "_label"


@register("reader", "ragchecker", only="json")
class RagChecker(Reader):
    """RAGChecker JSON: graded preferences (-2 to 2; above 0 the second answer is better), or metric scores of both."""

    takes = Takes(
        "a JSON list of `model1`, `model2` and `correctness_label`, `completeness_label`, `overall_label`",
        human="the sign of each label, as a choice between the two answers",
        scores="labels inside `model1` and `model2` under the name of a metric",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        text = peek.text
        return all(f'"{side}"' in text for side in PAIR) and LABEL in text and '"model_name"' in text

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        records = read_records(path, encoding)
        choices = Choices(path.name)
        scores: dict[tuple[str, str], dict[str, float]] = {}
        annotated: dict[tuple[str, str], int] = {}
        for record in records:
            given, sides = _place(choices, record)
            for side, system in zip(PAIR, sides, strict=True):
                scores.setdefault((system, given), {}).update(_scores(record, side))
            pair = given, str(record.values.get("instance_id"))
            annotated[pair] = annotated.get(pair, 0) + 1
            for key, value in record.values.items():
                grade = number(f"{record.where}, key '{key}'", value) if key.endswith(LABEL) else None
                if grade is not None:
                    choices.choose(
                        given,
                        *sides,
                        aspect=key.removesuffix(LABEL),
                        rater=f"annotator {annotated[pair]}",
                        preferred=SECOND if grade > 0 else FIRST if grade < 0 else TIE,
                    )
        if not choices.choices:
            return _scored(choices, scores, path)
        notes = [Note("labels from -2 to 2 are read as choices: above 0 the second answer is better", "choices")]
        data = choices.dataset(notes, persons=False)
        return _with_scores(data, scores)


def _place(choices: Choices, record: Record) -> tuple[str, tuple[str, str]]:
    """Return the name of the input and the two systems."""
    both = [record.want(side, dict) for side in PAIR]
    names = tuple(str(answer.get("model_name", side)) for answer, side in zip(both, PAIR, strict=True))
    if names[0] == names[1]:
        raise DataError(f"{record.where}: both answers are from system '{names[0]}'; expected two different systems.")
    source = record.values.get("query")
    known = {"source": source, "dataset": record.values.get("dataset")}
    outputs = {n: {"output": a.get("response"), **known} for n, a in zip(names, both, strict=True)}
    task = ": ".join(str(record.values[k]) for k in ("dataset", "query_id") if record.values.get(k) is not None)
    return choices.place(task or str(record.number), outputs), (names[0], names[1])


def _scores(record: Record, side: str) -> dict[str, float]:
    """Return the scores inside an answer: {"ragchecker": {"overall_label": .3}} is `ragchecker:overall`."""
    found: dict[str, float] = {}
    for metric, inner in record.want(side, dict).items():
        for key, value in inner.items() if isinstance(inner, dict) else ():
            if key.endswith(LABEL) and isinstance(value, int | float):
                found[f"{metric}:{key.removesuffix(LABEL)}"] = float(value)
    return found


def _with_scores(data: Dataset, scores: dict[tuple[str, str], dict[str, float]]) -> Dataset:
    names = dict.fromkeys(name for of in scores.values() for name in of)
    keys = list(data.samples.select("system", "input").iter_rows())
    columns: dict[str, Any] = {name: [scores.get(key, {}).get(name) for key in keys] for name in names}
    return data.with_scores(columns) if columns else data


def _scored(choices: Choices, scores: dict[tuple[str, str], dict[str, float]], path: Path) -> Dataset:
    """Build the data from a file that contains only scores."""
    import polars as pl

    if not any(scores.values()):
        raise DataError(f"{path}: no label in any record.")
    rows = [{"system": s, "input": i, **choices.samples[s, i]} for s, i in choices.samples]
    return _with_scores(Dataset.of(path.name, pl.DataFrame(rows, strict=False)), scores)
