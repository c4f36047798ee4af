"""Metrics whose work grows faster than the text have a longest text; beyond it an output has no value, and a reason."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from nlgauge.metrics.base import Scores
from nlgauge.text.batch import Batch, take
from nlgauge.types import Array, Ints

WHY = "the work of this metric grows faster than the text"


def bounded(cls: Any, longest: int) -> None:
    """Give the class a `score` (and `stats`) that never sees a text of more than `longest` characters."""
    why = f"longer than {longest:,} characters: {WHY}"
    score: Any = cls.score
    stats: Any = getattr(cls, "stats", None)

    @functools.wraps(score)
    def scored(self: Any, batch: Batch) -> Scores:
        return scores_without(
            batch, _longer(batch, self.facts.needs, longest), why, functools.partial(score, self)
        )

    cls.score = scored
    if stats is None:
        return

    @functools.wraps(stats)
    def summed(self: Any, batch: Batch) -> Array:
        return stats_without(batch, _longer(batch, self.facts.needs, longest), functools.partial(stats, self))

    cls.stats = summed


def scores_without(batch: Batch, left: Ints, why: str, score: Callable[[Batch], Scores]) -> Scores:
    """Scores of the batch without the samples `left`, which have no value for that reason."""
    if not len(left):
        return score(batch)
    kept = np.setdiff1d(np.arange(len(batch)), left)
    found = score(take(batch, kept)) if len(kept) else Scores(np.empty(0))
    values = np.full(len(batch), np.nan)
    values[kept] = found.values
    reasons = {int(kept[i]): reason for i, reason in found.reasons.items()}
    notes = {int(kept[i]): note for i, note in found.notes.items()}
    return Scores(values, reasons | dict.fromkeys(left.tolist(), why), notes)


def stats_without(batch: Batch, left: Ints, stats: Callable[[Batch], Array]) -> Array:
    """Statistics of the batch; those of the samples `left` are zeros, which add nothing to a corpus."""
    if not len(left):
        return stats(batch)
    kept = np.setdiff1d(np.arange(len(batch)), left)
    found = np.asarray(stats(take(batch, kept)), np.float64)
    rows = np.zeros((len(batch), found.shape[1]))
    rows[kept] = found
    return rows


def _longer(batch: Batch, needs: frozenset[str], longest: int) -> Ints:
    """The samples with a text that is too long, among those that the metric looks at."""
    size = batch.view(
        "characters", lambda texts: np.array([*map(len, texts), 0], np.int64)
    )  # the last: no text
    most = np.zeros(len(batch), np.int64)
    for need in ("output", "source", "context"):
        if need in needs:
            most = np.maximum(most, size[getattr(batch, need)])
    if "references" in needs and len(batch.reference):
        owner = np.repeat(np.arange(len(batch)), np.diff(batch.start))
        np.maximum.at(most, owner, size[batch.reference])
    return np.flatnonzero(most > longest)
