"""Metrics whose work grows faster than the text have a longest text; beyond it an output has no value, and a reason."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from nlgauge.metrics._base import Array, Batch, Ints, Scores, take


def bounded(cls: Any, longest: int) -> None:
    """Give the class a `score` (and `stats`) that never sees a text of more than `longest` characters."""
    why = f"longer than {longest:,} characters: the work of this metric grows faster than the text"
    score: Any = cls.score
    stats: Any = getattr(cls, "stats", None)

    @functools.wraps(score)
    def scored(self: Any, batch: Batch) -> Scores:
        kept, long = _split(batch, self.facts.needs, longest)
        if not len(long):
            found: Scores = score(self, batch)
            return found
        values = np.full(len(batch), np.nan)
        reasons, notes = dict.fromkeys(long.tolist(), why), {}
        if len(kept):
            found = score(self, take(batch, kept))
            values[kept] = found.values
            reasons |= {int(kept[i]): reason for i, reason in found.reasons.items()}
            notes = {int(kept[i]): note for i, note in found.notes.items()}
        return Scores(values, reasons, notes)

    @functools.wraps(score if stats is None else stats)
    def summed(self: Any, batch: Batch) -> Array:
        kept, long = _split(batch, self.facts.needs, longest)
        if not len(long):
            found: Array = stats(self, batch)
            return found
        some = np.asarray(stats(self, take(batch, kept)), np.float64)
        rows = np.zeros((len(batch), some.shape[1]))
        rows[kept] = some
        return rows

    cls.score = scored
    if stats is not None:
        cls.stats = summed


def _split(batch: Batch, needs: frozenset[str], longest: int) -> tuple[Ints, Ints]:
    """The samples whose texts the metric may see, and the others."""
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
    return np.flatnonzero(most <= longest), np.flatnonzero(most > longest)
