"""Small metrics for the tests of scoring, and a small set that they can be worked out on by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.metrics import Batch, Metric, Scores, metric


@metric("test-words", family="test", needs=(), lower=True, bounds=(0.0, 1e9), year=2026, cite="none")
class Words(Metric):
    """Words of the output."""

    times: int = 1
    seen = 0  # texts that were encoded, over all instances

    def score(self, batch: Batch) -> Scores:
        lengths = batch.view("test words", self._encode)
        return Scores(lengths[batch.output] * self.times)

    @staticmethod
    def _encode(texts: list[str]) -> np.ndarray:
        Words.seen += len(texts)
        return np.array([float(len(text.split())) for text in texts])


@metric("test-share", family="test", year=2026, cite="none")
class Share(Metric):
    """Share of the output's words that stand in the references; the corpus value pools the counts."""

    signature = "tok:space|version:test"

    def stats(self, batch: Batch) -> np.ndarray:
        texts = batch.texts.list()
        rows = []
        for i in range(len(batch)):
            refs = {w for r in batch.reference[batch.start[i] : batch.start[i + 1]] for w in texts[r].split()}
            words = texts[batch.output[i]].split()
            rows.append([sum(w in refs for w in words), len(words)])
        return np.array(rows, np.float64).reshape(-1, 2)

    def from_stats(self, stats: np.ndarray) -> np.ndarray:
        rows = np.atleast_2d(stats)
        with np.errstate(invalid="ignore"):
            return rows[:, 0] / rows[:, 1]

    def score(self, batch: Batch) -> Scores:
        rows = self.stats(batch)
        empty = np.flatnonzero(rows[:, 1] == 0)
        values = np.where(rows[:, 1] > 0, rows[:, 0] / np.maximum(rows[:, 1], 1), 0.0)
        return Scores(values, notes={int(i): "empty output" for i in empty})


@metric("test-source", family="test", needs=("source",), year=2026, cite="none")
class Source(Metric):
    """1 where output and source are the same."""

    def score(self, batch: Batch) -> Scores:
        return Scores((batch.output == batch.source).astype(np.float64))


@metric("test-rank", family="test", needs=(), bounds=(0.0, 1e9), year=2026, cite="none", corpus=True)
class Rank(Metric):
    """How many samples were seen: a value that depends on the whole run."""

    def score(self, batch: Batch) -> Scores:
        return Scores(np.full(len(batch), float(len(batch))))


# Known only while a test of this folder runs: other tests look at all metrics there are.
MINE = {cls.facts.name: registry._found["metric"].pop(cls.facts.name) for cls in (Words, Share, Source, Rank)}


@pytest.fixture(autouse=True)
def test_metrics() -> Iterator[dict[str, Any]]:
    registry._found["metric"].update(MINE)
    yield MINE
    for name in MINE:
        registry._found["metric"].pop(name, None)


@pytest.fixture
def small() -> Dataset:
    """Two systems, three inputs; one output is missing, one is empty, one has no references."""
    return Dataset.of(
        "small.csv",
        pl.DataFrame(
            {
                "system": ["A", "A", "A", "B", "B", "B"],
                "input": ["1", "2", "3", "1", "2", "3"],
                "output": ["a b c d", "a", "a b", None, "", "q r"],
                "references": [["a b"], ["a"], [], ["a"], ["a"], ["q"]],
                "kind": ["x", "x", "y", "x", "x", "y"],
            }
        ),
    )
