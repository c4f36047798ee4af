"""What readability counts in an output: characters, words, sentences, syllables; once per distinct text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences, words
from nlgauge.text.syllables import GROUPS, How, by_rule, dictionary
from nlgauge.types import Array

# novikova2017: as the columns of novikova2017 were counted (R package qdap): the utterance is one sentence,
# words without a vowel and numbers have no syllables, and numbers are no words of the reading ease.
Preset = Literal["", "novikova2017"]


@dataclass(frozen=True)
class Counts:
    """One value per sample; NaN where there is no output."""

    characters: Array
    letters: Array
    words: Array
    plain_words: Array  # without numbers
    sentences: Array
    syllables: Array
    polysyllables: Array
    looked_up: Array


FIELDS = list(Counts.__dataclass_fields__)
DIGITS = re.compile(r"\d")


def per_output(batch: Batch, key: object, value: Callable[[str], float]) -> Array:
    """Return one value per sample, computed once per distinct output; NaN if there is no output."""

    def make() -> Array:
        texts = batch.texts.list()
        rows, place = np.unique(batch.output, return_inverse=True)
        result = np.array([value(texts[i]) if i >= 0 else np.nan for i in rows.tolist()], np.float64)
        return result[place]

    return batch.keep(("per output", key), make)


def counts(batch: Batch, how: How = "auto", preset: Preset = "") -> Counts:
    """Count characters, words, sentences and syllables of each output, once per distinct output."""

    def make() -> Counts:
        texts = batch.texts.list()
        rows, place = np.unique(batch.output, return_inverse=True)
        available = dictionary(how)
        speak: dict[str, tuple[int, bool, bool]] = {}
        nothing = [np.nan] * len(FIELDS)
        table = [_count(texts[i], available, preset, speak) if i >= 0 else nothing for i in rows.tolist()]
        return Counts(*np.array(table, np.float64).reshape(-1, len(FIELDS))[place].T)

    return batch.keep(("counts", how, preset), make)


def _count(
    text: str, known: Mapping[str, int], preset: Preset, speak: dict[str, tuple[int, bool, bool]]
) -> list[float]:
    result = words(text)
    syllables = poly = plain = looked_up = 0
    for word in result:
        spoken = speak.get(word)
        if spoken is None:
            spoken = speak[word] = _speak(word.lower(), known, preset)
        syllables += spoken[0]
        poly += spoken[0] > 2
        plain += spoken[1]
        looked_up += spoken[2]
    together = "".join(result)
    characters, letters = len(together), len(together) - together.count("'")
    spans = 0 if not result else 1 if preset else len(sentences(text))
    return [characters, letters, len(result), plain, spans, syllables, poly, looked_up]


def _speak(word: str, known: Mapping[str, int], preset: Preset) -> tuple[int, bool, bool]:
    """Return the syllables of a word, whether it has letters, and whether the dictionary contains it."""
    plain = any(sign.isalpha() for sign in word)
    if preset:
        word = DIGITS.sub("", word)
        if not GROUPS.search(word):
            return 0, plain, False
    text = known.get(word) or known.get(word.strip("'").removesuffix("'s"), 0)
    if text:
        return text, plain, True
    return max(by_rule(word), 1), plain, False
