"""Grammaticality: the errors that a grammar checker finds."""

from __future__ import annotations

import functools
import importlib.util
import math
import threading
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

from nlgauge.errors import NeedsMissing
from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.surface.counts import defined
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import counts, per_output


@metric(
    "grammar-errors",
    family="grammar",
    needs=(),
    lower=True,
    bounds=(0.0, math.inf),
    year=2024,
    cite="harper",
    extra="grammar",
    longest=100_000,
)
class GrammarErrors(Metric):
    """Number of errors found by the grammar checker Harper, by default without spelling and capitalization.

    Without spelling its spelling rule is off: it takes most of the time, and may hide another error in the same word.
    """

    spelling: bool = False
    per_word: bool = False

    def ready(self) -> None:
        _linter(self.spelling)

    @property
    def signature(self) -> str:
        return signature(
            checker=f"harper-py-{metadata.version('harper-py')}", spelling=self.spelling, rules=_rules(self.spelling)
        )

    def score(self, batch: Batch) -> Scores:
        key = ("grammar errors", self.spelling)
        errors = per_output(batch, key, lambda text: _errors(text, self.spelling))
        result = (
            defined(words := counts(batch).words, partial(np.divide, errors, words))
            if self.per_word
            else Scores(errors)
        )
        texts = batch.texts.list()
        for i in np.flatnonzero(np.isnan(errors)).tolist():
            if batch.output[i] >= 0 and _long_word(texts[batch.output[i]]):
                result.reasons[i] = f"a word longer than {LONGEST_WORD:,} characters, for which spelling is not checked"
        return result


def _rules(spelling: bool) -> str:
    return "all" if spelling else "all-but-SpellCheck"


@functools.cache
def _linter(spelling: bool) -> Any:
    if importlib.util.find_spec("harper") is None:
        raise NeedsMissing("'grammar-errors' needs the extra 'grammar': pip install \"nlgauge[grammar]\"")
    from harper import Linter

    linter = Linter()
    if not spelling:
        linter.set_lint_config({**linter.get_lint_config(), "SpellCheck": False})
    return linter


SPELLING = frozenset({"Spelling", "Capitalization", "Typo"})
# A linter cannot be used by two threads ("Already borrowed"), and two linters are not faster than one.
ONE_AT_A_TIME = threading.Lock()


# Memory of its search for similar words is quadratic in the length: gigabytes for 10,000 characters.
LONGEST_WORD = 1_000


def _long_word(text: str) -> bool:
    return len(text) > LONGEST_WORD and any(len(word) > LONGEST_WORD for word in text.split())


def _errors(text: str, spelling: bool) -> float:
    from harper import Language

    if spelling and _long_word(text):
        return math.nan
    with ONE_AT_A_TIME:
        result = _linter(spelling).lint(text, language=Language.PLAINTEXT)
    return sum(spelling or str(lint.lint_kind) not in SPELLING for lint in result)
