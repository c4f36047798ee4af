"""Baselines that a metric must beat: a random score, length, a copy of the source, the edit distance to it."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from typing import Literal

import numpy as np

from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores, usable
from nlgauge.stats.ranking.preference import levenshtein
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import per_output

TOKEN = re.compile(r"\w+|[^\w\s]")


@metric("random", family="control", needs=(), year=2017, cite="novikova-etal-2017-need", corpus=True)
class Random(Metric):
    """A uniform random score, which gives chance level."""

    seed: int = 0

    @property
    def signature(self) -> str:
        return signature(seed=self.seed, rng="numpy-PCG64")

    def score(self, batch: Batch) -> Scores:
        return Scores(np.random.default_rng(self.seed).random(len(batch)))


@metric("length", family="control", needs=(), bounds=(0.0, math.inf), year=2021, cite="deng-etal-2021-compression")
class Length(Metric):
    """Length of the output in words (split at white space) or characters, with which many ratings correlate."""

    unit: Literal["words", "characters"] = "words"

    def score(self, batch: Batch) -> Scores:
        return Scores(per_output(batch, ("length", self.unit), self._of))

    def _of(self, text: str) -> int:
        return len(text.split()) if self.unit == "words" else len(text)


@metric("copy-source", family="control", needs=("source",), year=2016, cite="rajpurkar-etal-2016-squad")
class CopySource(Metric):
    """Token F1 of output and source: 1 for a copy of the source."""

    lowercase: bool = True

    def score(self, batch: Batch) -> Scores:
        texts = batch.texts.list()

        @functools.cache
        def bag(number: int) -> Counter[str]:
            return Counter(TOKEN.findall(texts[number].lower() if self.lowercase else texts[number]))

        filled = np.zeros(len(texts), np.bool_)
        for number in set(batch.source[batch.source >= 0].tolist()):
            filled[number] = bool(bag(number))
        result = usable(batch, self.facts.needs, filled=filled, may_be_empty=("output",))
        return result.scattered([_f1(bag(int(batch.output[i])), bag(int(batch.source[i]))) for i in result.places])


def _f1(output: Counter[str], source: Counter[str]) -> float:
    total = output.total() + source.total()
    return 2 * (output & source).total() / total if total else math.nan


@metric(
    "lev-source",
    family="control",
    needs=("source",),
    lower=True,
    bounds=(0.0, math.inf),
    year=2017,
    cite="novikova-etal-2017-need",
    longest=100_000,
)
class LevSource(Metric):
    """Levenshtein distance in characters between output and source (lev.dist of novikova2017's data)."""

    normalize: bool = False

    def score(self, batch: Batch) -> Scores:
        texts = batch.texts.list()
        result = usable(batch, self.facts.needs, may_be_empty=("output", "source"))
        of = functools.cache(lambda output, source: self._of(texts[output], texts[source]))
        pairs = zip(batch.output[result.places].tolist(), batch.source[result.places].tolist(), strict=True)
        return result.scattered([of(*pair) for pair in pairs])

    def _of(self, output: str, source: str) -> float:
        distance = levenshtein(output, source)
        return distance / max(len(output), len(source), 1) if self.normalize else distance
