"""QAGS (Wang et al. 2020): whether each sentence of a summary is consistent with the article."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import Rating, dataset_of, numbered
from nlgauge.data.readers._spans import NO_SEVERITY, Span, frame_of
from nlgauge.data.records import Record, read_records, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

YES = {"yes": 1.0, "no": 0.0}


@register("reader", "qags", only="json")
class QagsReader(Reader):
    """QAGS jsonl: 'consistency' is the published score, 'consistency (worker)' that of individual workers.

    A sentence to which a worker said no is an error span of that worker.
    """

    takes = Takes(
        "JSON lines with `article` and `summary_sentences`",
        human="the workers' votes on every sentence, inconsistent sentences as error spans",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        return isinstance(peek.record.get("summary_sentences"), list) and "article" in peek.record

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        records = read_records(path, encoding)
        rows: list[dict[str, Any]] = []
        ratings: list[Rating] = []
        marks: list[Span] = []
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
            marks += _marked(str(row), texts, votes)
        data = dataset_of(
            numbered(path, records, "line"),
            rows,
            ratings=ratings,
            human={},
            metrics={},
            persons=True,
            columns={"input": "input", "output": "output", "source": "source"},
            notes=[
                "'consistency' is the published score (majority of the workers for each sentence, mean over "
                "sentences); 'consistency (worker)' the share of sentences that a worker called consistent; "
                "the column 'votes' has each vote; an inconsistent sentence is an error span of the worker"
            ],
        )
        return replace(data, spans=frame_of(span._replace(system=data.systems[0]) for span in marks))


def _marked(given: str, sentences: list[str], votes: list[list[tuple[str, float]]]) -> list[Span]:
    """Return the sentences that each worker marked as inconsistent; a worker without marks gets a row without a
    position.
    """
    marked, seen, position = [], dict.fromkeys(who for some in votes for who, _ in some), 0
    for text, some in zip(sentences, votes, strict=True):
        for who in (who for who, vote in some if not vote):
            marked.append(Span("", given, who, "output", position, position + len(text), NO_SEVERITY, "inconsistent"))
        position += len(text) + 1
    return marked + [Span("", given, who) for who in seen if who not in {span.rater for span in marked}]


def _votes(sentence: Record) -> list[tuple[str, float]]:
    votes = []
    for response in sentence.children("responses"):
        answer = response.want("response", str)
        if answer.strip().lower() not in YES:
            raise DataError(f"{response.where}, key 'response': found {shown(answer)}, expected yes or no.")
        votes.append((str(response.want("worker_id", int, str)), YES[answer.strip().lower()]))
    return votes
