"""QAGS (Wang et al. 2020): is a sentence of a summary consistent with the article, yes or no?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers._annotations import Rating, dataset_of, numbered
from nlgauge.data.records import Record, read_records, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

YES = {"yes": 1.0, "no": 0.0}


@register("reader", "qags", only="json")
class QagsReader:
    """QAGS jsonl: 'consistency' is the published score; single workers are 'consistency (worker)'."""

    takes = Takes("JSON lines with `article` and `summary_sentences`", people="the workers' votes on every sentence")

    @staticmethod
    def recognises(peek: Peek) -> bool:
        return isinstance(peek.record.get("summary_sentences"), list) and "article" in peek.record

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        records = read_records(path, encoding)
        rows: list[dict[str, Any]] = []
        ratings: list[Rating] = []
        for row, record in enumerate(records):
            sentences = record.children("summary_sentences")
            if not sentences:
                raise DataError(f"{record.where}, key 'summary_sentences': is empty, expected at least one sentence.")
            texts = [str(s.want("sentence", str)) for s in sentences]
            votes = [_votes(s) for s in sentences]
            majorities = [float(2 * sum(v for _, v in some) > len(some)) for some in votes if some]
            rows.append(
                {
                    "input": str(row),
                    "source": record.want("article", str),
                    "output": " ".join(texts),
                    "sentences": texts,
                    "votes": ["; ".join(f"{who} {'yes' if vote else 'no'}" for who, vote in some) for some in votes],
                }
            )
            if majorities:
                ratings.append(Rating(row, "consistency", None, sum(majorities) / len(majorities)))
            of_worker: dict[str, list[float]] = {}
            for who, vote in (vote for some in votes for vote in some):
                of_worker.setdefault(who, []).append(vote)
            ratings += [Rating(row, "consistency (worker)", who, sum(v) / len(v)) for who, v in of_worker.items()]
        return dataset_of(
            numbered(path, records, "line"),
            rows,
            ratings=ratings,
            human={},
            metrics={},
            persons=True,
            said={"input": "input", "output": "output", "source": "source"},
            notes=[
                "'consistency' is the published score (majority of the workers for each sentence, mean over "
                "sentences); 'consistency (worker)' the share of sentences to which a worker said yes; "
                "the column 'votes' has each vote"
            ],
        )


def _votes(sentence: Record) -> list[tuple[str, float]]:
    votes = []
    for response in sentence.children("responses"):
        said = response.want("response", str)
        if said.strip().lower() not in YES:
            raise DataError(f"{response.where}, key 'response': found {shown(said)}, expected yes or no.")
        votes.append((str(response.want("worker_id", int, str)), YES[said.strip().lower()]))
    return votes
