"""Readability indices of English text, from counts of words, sentences, syllables and letters.

They were designed for longer texts: on single sentences they order texts, but the school grades are not meaningful.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from functools import partial
from pathlib import Path

import numpy as np

from nlgauge.errors import NeedsMissing
from nlgauge.metrics.base import metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.surface.counts import Counting, defined
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import Counts, Preset, per_output
from nlgauge.text.sentences import words as split_words
from nlgauge.text.syllables import How
from nlgauge.types import Array

grade = partial(metric, family="readability", needs=(), lower=True, bounds=(-math.inf, math.inf))


@grade("flesch", lower=False, bounds=(-math.inf, 206.835), year=1948, cite="flesch-1948-readability")
class Flesch(Counting):
    """Flesch reading ease (RE of novikova2017): higher is easier to read."""

    syllables: How = "auto"
    preset: Preset = ""

    def words(self, found: Counts) -> Array:
        return found.plain_words if self.preset else found.words

    def value(self, found: Counts) -> Array:
        words = self.words(found)
        return 206.835 - 1.015 * words / found.sentences - 84.6 * found.syllables / words


@grade("flesch-kincaid", year=1975, cite="kincaid-etal-1975-derivation")
class FleschKincaid(Counting):
    """Flesch-Kincaid school grade."""

    syllables: How = "auto"

    def value(self, found: Counts) -> Array:
        return 0.39 * found.words / found.sentences + 11.8 * found.syllables / found.words - 15.59


@grade("smog", bounds=(3.1291, math.inf), year=1969, cite="mclaughlin-1969-smog")
class Smog(Counting):
    """SMOG grade from polysyllabic words per sentence; meant for thirty sentences or more."""

    syllables: How = "auto"

    def value(self, found: Counts) -> Array:
        return 1.043 * np.sqrt(30 * found.polysyllables / found.sentences) + 3.1291


@grade("ari", year=1967, cite="smith-senter-1967-automated")
class Ari(Counting):
    """Automated readability index: a school grade from letters and words, without syllables."""

    counts_syllables = False

    def value(self, found: Counts) -> Array:
        return 4.71 * found.letters / found.words + 0.5 * found.words / found.sentences - 21.43


@grade("coleman-liau", year=1975, cite="coleman-liau-1975-computer")
class ColemanLiau(Counting):
    """Coleman-Liau index: a school grade from letters and sentences per word."""

    counts_syllables = False

    def value(self, found: Counts) -> Array:
        return 5.88 * found.letters / found.words - 29.6 * found.sentences / found.words - 15.8


@grade("dale-chall", bounds=(0.0, math.inf), year=1995, cite="chall-dale-1995-readability", extra="readability")
class DaleChall(Counting):
    """New Dale-Chall score: words that are neither listed as familiar nor regular forms of listed ones."""

    counts_syllables = False

    def ready(self) -> None:
        familiar_words()

    @property
    def signature(self) -> str:
        return signature(sent="rules", list="textstat")

    def score(self, batch: Batch) -> Scores:
        result = self.counts(batch)
        difficult = per_output(batch, "difficult words", _difficult)
        return defined(result.words, partial(dale_chall_score, difficult, result.words, result.sentences))


def dale_chall_score(difficult: Array, words: Array, sentences: Array) -> Array:
    """Return the new Dale-Chall score (Chall and Dale 1995)."""
    share = 100 * difficult / words
    return 0.1579 * share + 0.0496 * words / sentences + 3.6365 * (share > 5)


@functools.cache
def familiar_words() -> frozenset[str]:
    """Read the list of familiar words from the package `textstat` (MIT), because it is not distributed with NLGauge."""
    result = importlib.util.find_spec("textstat")
    path = Path(result.origin).parent / "resources" / "en" / "easy_words.txt" if result and result.origin else None
    if path is None or not path.is_file():
        raise NeedsMissing("'dale-chall' needs the extra 'readability': pip install \"nlgauge[readability]\"")
    return frozenset(path.read_text(encoding="utf-8").lower().split())


def _difficult(text: str) -> int:
    return sum(not is_familiar(word.lower()) for word in split_words(text))


@functools.lru_cache(maxsize=100_000)
def is_familiar(word: str) -> bool:
    """Return whether a word is in the list, a number, or a listed word with a regular ending (Chall and Dale 1995)."""
    valid, word = familiar_words(), word.strip("'")
    if word in valid or any(sign.isdigit() for sign in word):
        return True
    for ending in ("'s", "s", "es", "d", "ed", "ing", "er", "r", "est", "st"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 2:
            continue
        if stem in valid or stem + "e" in valid or (stem[-1] == "i" and stem[:-1] + "y" in valid):
            return True
        if len(stem) > 2 and stem[-1] == stem[-2] and stem[:-1] in valid:  # stopped
            return True
    return False
