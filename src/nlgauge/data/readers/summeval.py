"""SummEval (Fabbri et al. 2021): model outputs with the ratings of three experts and five crowd workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import Rating, dataset_of, numbered
from nlgauge.data.records import number, read_records
from nlgauge.registry import register

GROUPS = {"expert_annotations": ("expert", "{}"), "turker_annotations": ("turker", "{} (turker)")}


@register("reader", "summeval", only="json")
class SummEval(Reader):
    """SummEval jsonl: every expert and crowd rating; crowd ratings are separate aspects."""

    takes = Takes(
        "JSON lines with `model_id` and `expert_annotations` or `turker_annotations`",
        human="experts and crowd, as separate aspects",
        scores="metric scores in the lines",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        record = peek.record
        return any(isinstance(record.get(group), list) for group in GROUPS) and "model_id" in record

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        records = read_records(path, encoding)
        rows: list[dict[str, Any]] = []
        ratings = []
        for row, record in enumerate(records):
            for key in ("model_id", "id"):
                record.want(key, str, int)
            record.maybe("decoded", str)
            record.maybe("references", list)
            rows.append({k: v for k, v in record.values.items() if k not in GROUPS})
            for group, (who, aspect) in GROUPS.items():
                for slot in record.children(group):
                    for name, value in slot.values.items():
                        rating = number(f"{slot.where}, key '{name}'", value)
                        if rating is not None:
                            ratings.append(Rating(row, aspect.format(name), f"{who} {slot.number}", rating))
        columns = {
            "system": "model_id",
            "input": "id",
            "output": "decoded",
            "source": "text",
            "references": "references",
        }
        return dataset_of(
            numbered(path, records, "line"),
            rows,
            ratings=ratings,
            columns=columns,
            human={},
            notes=["'coherence' is by experts, 'coherence (turker)' by the crowd; they are not averaged"],
        )
