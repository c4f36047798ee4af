"""What metrics of pairs share: each distinct (output, other) pair once, one value per sample, one reason per gap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Scores
from nlgauge.text.batch import Batch

Side = Literal["references", "source"]
MultiRef = Literal["max", "mean"]
Pair = tuple[str, str]


def check_multiref(name: str, how: str) -> None:
    if how not in ("max", "mean"):
        raise NlgaugeError(f"{name}: references='{how}'; use max or mean.")


def over_pairs(
    batch: Batch,
    side: Side,
    score: Callable[[list[Pair]], Sequence[float]],
    how: MultiRef = "max",
    lower: bool = False,
    why: str | Callable[[Pair], str] = "no words to compare",
) -> Scores:
    """Score every distinct pair of output and reference (or source); the best or the mean over references.

    `score` gives NaN where a pair has no value, and `why` the reason. Empty texts are never scored: they are the reason instead.
    """
    texts = batch.texts.list()
    out, source = batch.output.tolist(), batch.source.tolist()
    refs, start = batch.reference.tolist(), batch.start.tolist()
    numbers: dict[tuple[int, int], int] = {}
    mine: list[list[int]] = []
    reasons: dict[int, str] = {}
    notes: dict[int, str] = {}
    for i, o in enumerate(out):
        others = [source[i]] if side == "source" else refs[start[i] : start[i + 1]]
        others = [r for r in others if r >= 0]
        full = [r for r in others if texts[r].strip()]
        mine.append([])
        if o < 0 or not texts[o].strip():
            reasons[i] = "no output" if o < 0 else "empty output"
        elif not full:
            reasons[i] = f"empty {side.removesuffix('s')}" if others else f"no {side}"
        else:
            mine[i] = [numbers.setdefault((o, r), len(numbers)) for r in full]
            if len(full) < len(others):
                notes[i] = f"{len(others) - len(full)} empty references left out"
    pairs = [(texts[o], texts[r]) for o, r in numbers]
    values = np.asarray(score(pairs), np.float64)
    found = np.full(len(batch), np.nan)
    for i, places in enumerate(mine):
        given = [v for v in values[places].tolist() if not math.isnan(v)]
        if given:
            found[i] = np.mean(given) if how == "mean" else min(given) if lower else max(given)
        elif places:
            reasons[i] = why if isinstance(why, str) else why(pairs[places[0]])
    return Scores(found, reasons, notes)
