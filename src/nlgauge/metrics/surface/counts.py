"""Counts of words, sentences and syllables of the output (Novikova et al. 2017, section 4.2), a measure of complexity.

An empty output counts 0; averages over its words are undefined. `preset='novikova2017'` counts as the published columns
do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import Counts, Preset, counts
from nlgauge.text.syllables import How, dictionary, source_of
from nlgauge.types import Array

NO_WORDS = "no words in the output"
surface = partial(
    metric, family="surface", needs=(), lower=True, bounds=(0.0, math.inf), year=2017, cite="novikova-etal-2017-need"
)


class Counting(Metric):
    """A formula on counts of the output."""

    syllables: How = "auto"
    preset: Preset = ""
    counts_sentences = True
    counts_syllables = True
    per_word = True  # undefined without words

    def value(self, found: Counts) -> Array:
        """Return the formula's value for each output."""
        raise NotImplementedError

    def words(self, found: Counts) -> Array:
        """Return the number of words of each output."""
        return found.words

    def ready(self) -> None:
        dictionary(self.syllables)

    def counts(self, batch: Batch) -> Counts:
        """Return the counts of each output; metrics of a run share them."""
        return counts(batch, self.syllables, self.preset)

    def score(self, batch: Batch) -> Scores:
        result = self.counts(batch)
        return defined(self.words(result), partial(self.value, result)) if self.per_word else Scores(self.value(result))

    @property
    def signature(self) -> str:
        return signature(
            sent=("utterance" if self.preset else "rules") if self.counts_sentences else None,
            syl=source_of(self.syllables) if self.counts_syllables else None,
            preset=self.preset or None,
        )

    def tally(self, batch: Batch) -> dict[str, int]:
        """Return how many syllable counts are from the dictionary and from rules."""
        if not self.counts_syllables:
            return {}
        result = self.counts(batch)
        words, looked_up = (int(np.nansum(x)) for x in (result.words, result.looked_up))
        return {"words by the CMU dictionary": looked_up, "words by syllable rules": words - looked_up}


def defined(words: Array, formula: partial[Array]) -> Scores:
    """Return the formula's values; NaN with a reason for outputs without words."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(words > 0, formula(), np.nan)
    return Scores(values, {int(i): NO_WORDS for i in np.flatnonzero(words == 0)})


def per_sentence(amount: Array, found: Counts) -> Array:
    """Count 0 for the single sentence of an empty output; a missing one stays NaN."""
    per: Array = amount / np.maximum(found.sentences, 1)
    return per


@surface("len")
class Len(Counting):
    """Characters of the output, without spaces and punctuation."""

    counts_sentences = counts_syllables = per_word = False

    def value(self, found: Counts) -> Array:
        return found.characters


@surface("cpw")
class Cpw(Counting):
    """Characters per word."""

    counts_sentences = counts_syllables = False

    def value(self, found: Counts) -> Array:
        return found.characters / found.words


@surface("wps")
class Wps(Counting):
    """Words per sentence."""

    preset: Preset = ""
    counts_syllables = per_word = False

    def value(self, found: Counts) -> Array:
        return per_sentence(found.words, found)


@dataclass(frozen=True)
class OnSyllables(Counting):
    """A formula on counts that include syllables."""

    syllables: How = "auto"
    preset: Preset = ""


@surface("sps")
class Sps(OnSyllables):
    """Syllables per sentence."""

    per_word = False

    def value(self, found: Counts) -> Array:
        return per_sentence(found.syllables, found)


@surface("spw")
class Spw(OnSyllables):
    """Syllables per word."""

    counts_sentences = False

    def value(self, found: Counts) -> Array:
        return found.syllables / found.words


@surface("pol")
class Pol(OnSyllables):
    """Polysyllabic words, of three syllables or more, per output."""

    counts_sentences = per_word = False

    def value(self, found: Counts) -> Array:
        return found.polysyllables


@surface("ppw", bounds=(0.0, 1.0))
class Ppw(OnSyllables):
    """Polysyllabic words per word."""

    counts_sentences = False

    def value(self, found: Counts) -> Array:
        return found.polysyllables / found.words
