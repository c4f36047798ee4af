"""Metrics through the score store: stored scores are not computed again; concurrent runs share the work."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.digests import digest
from nlgauge.errors import PartlyDone
from nlgauge.metrics import take
from nlgauge.metrics.base import Metric
from nlgauge.metrics.batch import Scores
from nlgauge.scoring.store import Store, StoredScore
from nlgauge.scoring.work_claims import Claims
from nlgauge.text.batch import Batch

CHUNK = 256  # samples computed and stored together
POLL_SECONDS = 0.2  # between checks of the progress of another run


def full_signature(metric: Metric) -> str:
    """Return the key of a metric: its name with options, and its signature."""
    return f"{metric}|{metric.signature}"


def sample_keys(metric: Metric, batch: Batch) -> list[bytes]:
    """Return one key per sample: a hash of the texts that the metric reads, and of no others."""
    texts = batch.texts.list()
    needs = metric.facts.needs
    columns = [getattr(batch, field).tolist() for field in ("output", "source", "context") if field in needs]
    references, start = batch.reference.tolist(), batch.start.tolist()
    keys = []
    for i in range(len(batch)):
        parts: list[str | None] = [None if column[i] < 0 else texts[column[i]] for column in columns]
        if "control" in needs:
            parts.append(batch.control[i])
        if "references" in needs:
            parts += [texts[r] for r in references[start[i] : start[i + 1]]]
        keys.append(digest(parts, 16))
    return keys


def _in_order(rows: Sequence[StoredScore]) -> Scores:
    """Return the stored scores with one score per sample."""
    return Scores(
        np.array([row.value for row in rows], np.float64),
        {i: row.reason for i, row in enumerate(rows) if row.reason},
        {i: row.note for i, row in enumerate(rows) if row.note},
    )


@dataclass(frozen=True)
class CachedRunner:
    """Run metrics through a store.

    Attributes
    ----------
    store : Store
    chunk : int, default 256
        Samples that are computed and then stored together.

    As an engine of `scoring.run` it looks up metrics with weights and the replies of judges; other metrics are faster
    than the store. Every finished chunk of samples is stored at once, so an interrupted run loses little.
    """

    store: Store
    chunk: int = CHUNK

    def __call__(self, metric: Metric, batch: Batch) -> Scores:
        if metric.facts.family == "judge":
            return self._judged(metric, batch)
        slow = bool(metric.facts.weights or metric.facts.extra)
        return self.score(metric, batch) if slow else metric.score(batch)

    def _judged(self, metric: Metric, batch: Batch) -> Scores:
        """Run a judge, which stores each reply, not only its score."""
        # Imported late: the client of judges loads asyncio and ssl, which no other metric needs.
        from nlgauge.scoring.judging import judged
        from nlgauge.scoring.replies import Replies

        result = judged(metric, batch, Replies(self.store))  # type: ignore[arg-type]
        if result.stopped:  # an incomplete batch is not stored as done
            came = len(result.found) - result.failures
            raise PartlyDone(
                f"{metric}: {result.stopped}. {came:,} replies are stored; repeat the command to continue."
            )
        return result.scores

    def stored(self, metric: Metric, batch: Batch) -> Scores:
        """Return the stored scores of these samples, NaN for the others; nothing is computed."""
        keys = sample_keys(metric, batch)
        scores = self.store.get(full_signature(metric), keys)
        return _in_order([scores.get(key, StoredScore(math.nan, "not in the store")) for key in keys])

    def lacks(self, metric: Metric, batch: Batch) -> bool:
        """Return whether `score` would have anything to compute."""
        keys = sample_keys(metric, batch)
        return len(self.store.get(full_signature(metric), keys)) < len(set(keys))

    def score(self, metric: Metric, batch: Batch) -> Scores:
        """Return the metric's scores; compute only those that are not stored.

        A score that depends on the other samples (`corpus`) is computed anew, as its texts alone do not determine it.
        """
        if metric.facts.corpus:
            return metric.score(batch)
        signature, keys = full_signature(metric), sample_keys(metric, batch)
        scores = self.store.get(signature, keys)
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in scores:
                first.setdefault(key, i)

        def compute(some: list[bytes]) -> None:
            result = metric.score(take(batch, np.array([first[key] for key in some], np.int64)))
            new = {
                key: StoredScore(float(result.values[k]), result.reasons.get(k), result.notes.get(k))
                for k, key in enumerate(some)
            }
            self.store.put(signature, new)
            scores.update(new)

        # Samples of one source are consecutive, so that its encoding is reused.
        todo = sorted(first, key=lambda key: (batch.source[first[key]], batch.context[first[key]], first[key]))
        if todo:
            chunks = [todo[i : i + self.chunk] for i in range(0, len(todo), self.chunk)]
            self._share(signature, chunks, scores, compute)
        return _in_order([scores[key] for key in keys])

    def _share(
        self,
        signature: str,
        chunks: list[list[bytes]],
        scores: dict[bytes, StoredScore],
        compute: Callable[[list[bytes]], None],
    ) -> None:
        """Compute the chunks that no other run computes; then wait for the other run, or take over its rest."""
        claims, mark = Claims(self.store), digest([signature], 16)
        try:
            while chunks:
                later, before = [], len(scores)
                for some in chunks:
                    claimed = {key[len(mark) :] for key in claims.take(mark + key for key in some)}
                    scores |= self.store.get(signature, some)  # another run may have finished before the claim
                    if claimed_here := [key for key in some if key in claimed and key not in scores]:
                        compute(claimed_here)
                    claims.drop(mark + key for key in some)  # before waiting
                    if left := [key for key in some if key not in scores]:
                        later.append(left)
                chunks = later
                if chunks and len(scores) == before:
                    time.sleep(POLL_SECONDS)
        finally:
            claims.drop()
