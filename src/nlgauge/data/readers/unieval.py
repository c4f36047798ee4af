"""UniEval (Zhong et al. 2022): outputs with human scores, and predicted scores in result files."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import dataset_of, numbered
from nlgauge.data.records import read_records
from nlgauge.registry import register


@register("reader", "unieval", only="json")
class UniEvalReader(Reader):
    """UniEval json: system_output with scores{} (human) and predict_scores{} (the metric)."""

    takes = Takes(
        "JSON objects with `scores` and `system_output` or `predict_scores`",
        human="`scores`",
        scores="`predict_scores`",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        record = peek.record
        return isinstance(record.get("scores"), dict) and ("system_output" in record or "predict_scores" in record)

    @staticmethod
    def read(path: Path, metric: str = "unieval", encoding: str | None = None) -> Dataset:
        """Read the file; `metric` names the predictor: predict_scores.coherence becomes 'unieval-coherence'."""
        records = read_records(path, encoding)
        aspects = dict.fromkeys(name for r in records for name in r.want("scores", dict))
        predicted = dict.fromkeys(name for r in records for name in r.maybe("predict_scores", dict) or {})
        columns = {
            "system": "system_id",
            "input": "doc_id",
            "output": "system_output",
            "source": "source",
            "context": "context",
            "references": "reference",
        }
        return dataset_of(
            numbered(path, records),
            [r.values for r in records],
            columns=columns,
            human={name: f"scores.{name}" for name in aspects},
            metrics={f"{metric}-{name}": f"predict_scores.{name}" for name in predicted},
        )
