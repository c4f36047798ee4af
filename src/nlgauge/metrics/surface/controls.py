"""Controls: what a metric must beat. A random score, the length, a copy of the source."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Scores, metric, signature
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import per_output

TOKEN = re.compile(r"\w+|[^\w\s]")


@metric("random", family="control", needs=(), year=2017, cite="novikova-etal-2017-need", corpus=True)
@dataclass(frozen=True)
class Random:
    """A uniform random score: what chance gives."""

    seed: int = 0

    @property
    def signature(self) -> str:
        return signature(seed=self.seed, rng="numpy-PCG64")

    def score(self, batch: Batch) -> Scores:
        return Scores(np.random.default_rng(self.seed).random(len(batch)))


@metric(
    "length", family="control", needs=(), bounds=(0.0, math.inf), year=2021, cite="deng-etal-2021-compression"
)
@dataclass(frozen=True)
class Length:
    """Length of the output in words (by white space) or characters: many ratings follow it."""

    unit: Literal["words", "characters"] = "words"

    def ready(self) -> None:
        if self.unit not in ("words", "characters"):
            raise NlgaugeError(f"length: unit='{self.unit}'; use words or characters.")

    def score(self, batch: Batch) -> Scores:
        return Scores(per_output(batch, ("length", self.unit), self._of))

    def _of(self, text: str) -> int:
        return len(text.split()) if self.unit == "words" else len(text)


@metric("copy-source", family="control", needs=("source",), year=2016, cite="rajpurkar-etal-2016-squad")
@dataclass(frozen=True)
class CopySource:
    """Token F1 of output and source: 1 for a copy of the source."""

    lowercase: bool = True

    def score(self, batch: Batch) -> Scores:
        bags: dict[int, Counter[str]] = {}
        texts = batch.texts.list()

        def bag(number: int) -> Counter[str]:
            if number not in bags:
                text = texts[number].lower() if self.lowercase else texts[number]
                bags[number] = Counter(TOKEN.findall(text))
            return bags[number]

        pairs = zip(batch.output.tolist(), batch.source.tolist(), strict=True)
        values = [_f1(bag(out), bag(source)) if min(out, source) >= 0 else math.nan for out, source in pairs]
        empty = {i: "empty source" for i, s in enumerate(batch.source.tolist()) if s >= 0 and not bag(s)}
        found = np.array(values, np.float64)
        found[list(empty)] = np.nan
        return Scores(found, empty)


def _f1(output: Counter[str], source: Counter[str]) -> float:
    total = output.total() + source.total()
    return 2 * (output & source).total() / total if total else math.nan
