"""msp of novikova2017: the number of misspelled words."""

from __future__ import annotations

import functools
import importlib.util
import math
import unicodedata
from collections.abc import Container
from importlib import metadata

from nlgauge.errors import NeedsMissing
from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import per_output
from nlgauge.text.sentences import words

LANGUAGES = ("en", "es", "fr", "pt", "de", "it", "ru", "ar", "lv", "eu", "nl")


@metric(
    "msp",
    family="grammar",
    needs=(),
    lower=True,
    bounds=(0.0, math.inf),
    year=2017,
    cite="novikova-etal-2017-need",
    extra="readability",
)
class Msp(Metric):
    """Number of misspelled words: those not in pyspellchecker's dictionary; numbers are ignored."""

    language: str = "en"

    def ready(self) -> None:
        dictionary(self.language)

    @property
    def signature(self) -> str:
        return signature(dict=f"pyspellchecker-{metadata.version('pyspellchecker')}-{self.language}", case="lower")

    def score(self, batch: Batch) -> Scores:
        available = dictionary(self.language)
        key = ("misspelled", self.language)
        return Scores(per_output(batch, key, lambda text: _unknown(text, available)))


@functools.cache
def dictionary(language: str) -> Container[str]:
    """Return the known words of a language; they are loaded once, because loading takes a moment."""
    if importlib.util.find_spec("spellchecker") is None:
        raise NeedsMissing("'msp' needs the extra 'readability': pip install \"nlgauge[readability]\"")
    if language not in LANGUAGES:
        raise NeedsMissing(f"msp: no dictionary for '{language}'; there are {', '.join(LANGUAGES)}.")
    from spellchecker import SpellChecker

    return frozenset(SpellChecker(language=language).word_frequency.words())


def _unknown(text: str, known: Container[str]) -> int:
    return sum(not _is_known(word.lower().strip("'"), known) for word in words(text))


def _is_known(word: str, known: Container[str]) -> bool:
    """Return whether a word is spelled correctly.

    Single letters and words with digits always are; house's counts as house, and café as cafe.
    """
    if len(word) < 2 or any(sign.isdigit() for sign in word):
        return True
    if word in known or word.partition("'")[0] in known:
        return True
    bare = "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
    return bare != word and bare in known
