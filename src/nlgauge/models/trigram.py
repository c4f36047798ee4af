"""The word trigram model inside the package pocketsphinx: perplexity of tens of thousands of sentences per second."""

from __future__ import annotations

import functools
import importlib.util
import math
from pathlib import Path
from typing import Any

from nlgauge.errors import NeedsMissing
from nlgauge.text.sentences import sentences, words

BASE = math.log(1.0001)  # the package counts in powers of 1.0001
UNKNOWN = math.log(1e-6)  # a word that the model does not know; the package would say 0
NAME = "pocketsphinx-en-us-trigram"


def ready(metric: str) -> None:
    """Refuse to begin without the package that holds the model."""
    if importlib.util.find_spec("pocketsphinx") is None:
        raise NeedsMissing(
            f"'{metric}' with lm='trigram' needs the extra 'readability' (pocketsphinx): pip install "
            '"nlgauge[readability]"'
        )


@functools.cache
def _model() -> Any:
    ready("perplexity")
    from pocketsphinx import NGramModel

    result = importlib.util.find_spec("pocketsphinx")
    if result is None or result.origin is None:
        raise NeedsMissing("pocketsphinx is not installed.")
    return NGramModel.readfile(str(Path(result.origin).parent / "model" / "en-us" / "en-us.lm.bin"))


def log_probabilities(text: str) -> tuple[list[float], int]:
    """Compute the natural log-probability of each word and each sentence end, and the number of unknown words.

    Words are lower-case without punctuation, as in the training data of the model.
    """
    model = _model()
    results: list[float] = []
    unknown = 0
    for sentence in sentences(text):
        before = ["<s>"]
        for word in [*(w.lower() for w in words(sentence)), "</s>"]:
            if not _known(word):
                unknown += 1
                results.append(UNKNOWN)
            else:
                results.append(max(UNKNOWN, model.prob([word, *before[:-3:-1]]) * BASE))
            before.append(word)
    return results, unknown


@functools.lru_cache(100_000)
def _known(word: str) -> bool:
    return bool(_model().prob([word]) * BASE > -1000)
