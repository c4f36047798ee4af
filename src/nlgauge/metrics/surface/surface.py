"""Surface counts of novikova2017 (Novikova et al. 2017, section 4.2): the more, the more complex the utterance.

An empty output counts 0; averages over its words are not defined. `preset='novikova2017'` counts as the
published columns were counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from nlgauge.metrics.base import Scores, metric
from nlgauge.metrics.surface.counting import Counting, ratio
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import Preset
from nlgauge.text.syllables import How
from nlgauge.types import Array

surface = partial(
    metric,
    family="surface",
    needs=(),
    lower=True,
    bounds=(0.0, math.inf),
    year=2017,
    cite="novikova-etal-2017-need",
)


@surface("len")
@dataclass(frozen=True)
class Len(Counting):
    """Characters of the output, without spaces and punctuation."""

    counts_sentences = counts_syllables = False

    def score(self, batch: Batch) -> Scores:
        return Scores(self.counts(batch).characters)


@surface("cpw")
@dataclass(frozen=True)
class Cpw(Counting):
    """Characters per word."""

    counts_sentences = counts_syllables = False

    def score(self, batch: Batch) -> Scores:
        found = self.counts(batch)
        return ratio(found.characters, found.words)


@surface("wps")
@dataclass(frozen=True)
class Wps(Counting):
    """Words per sentence."""

    preset: Preset = ""
    counts_syllables = False

    def score(self, batch: Batch) -> Scores:
        found = self.counts(batch)
        return Scores(_or_none(found.words, found.sentences))


@surface("sps")
@dataclass(frozen=True)
class Sps(Counting):
    """Syllables per sentence."""

    syllables: How = "auto"
    preset: Preset = ""

    def score(self, batch: Batch) -> Scores:
        found = self.counts(batch)
        return Scores(_or_none(found.syllables, found.sentences))


@surface("spw")
@dataclass(frozen=True)
class Spw(Counting):
    """Syllables per word."""

    syllables: How = "auto"
    preset: Preset = ""
    counts_sentences = False

    def score(self, batch: Batch) -> Scores:
        found = self.counts(batch)
        return ratio(found.syllables, found.words)


@surface("pol")
@dataclass(frozen=True)
class Pol(Counting):
    """Polysyllabic words, of three syllables or more, per output."""

    syllables: How = "auto"
    preset: Preset = ""
    counts_sentences = False

    def score(self, batch: Batch) -> Scores:
        return Scores(self.counts(batch).polysyllables)


@surface("ppw", bounds=(0.0, 1.0))
@dataclass(frozen=True)
class Ppw(Counting):
    """Polysyllabic words per word."""

    syllables: How = "auto"
    preset: Preset = ""
    counts_sentences = False

    def score(self, batch: Batch) -> Scores:
        found = self.counts(batch)
        return ratio(found.polysyllables, found.words)


def _or_none(amount: Array, sentences: Array) -> Array:
    """Per sentence; an empty output has 0 in its sentence, a missing one stays NaN."""
    per: Array = amount / np.maximum(sentences, 1)
    return per
