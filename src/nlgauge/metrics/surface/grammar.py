"""Grammaticality: a parser's score (prs of novikova2017) and the errors that a grammar checker finds."""

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
from nlgauge.text.link_parser import LONGEST, PIECE, costs, version
from nlgauge.text.readability_counts import counts, per_output
from nlgauge.text.sentences import sentences

NO_SENTENCE = "no sentence in the output"


@metric(
    "prs", family="grammar", needs=(), bounds=(-math.inf, 0.0), year=1993,
    cite="sleator-temperley-1993-parsing", extra="apt install link-grammar",
)  # fmt: skip
class Prs(Metric):
    """Parser score: minus the cost of the best linkage (words left out, rare uses), mean over sentences."""

    def ready(self) -> None:
        version()

    @property
    def signature(self) -> str:
        return signature(parser=f"link-grammar-{version()}", spell=0, whole=LONGEST, piece=PIECE)

    def score(self, batch: Batch) -> Scores:
        texts = batch.texts.list()
        rows, place = np.unique(batch.output, return_inverse=True)
        parts = [sentences(texts[i]) if i >= 0 else [] for i in rows.tolist()]
        cost = costs(sorted({s for sents in parts for s in sents}))
        scored = [_mean(sents, cost) for sents in parts]
        values = np.array([value for value, _ in scored], np.float64)[place]
        return Scores(values, {i: scored[p][1] for i, p in enumerate(place.tolist()) if scored[p][1]})


def _mean(sents: list[str], cost: dict[str, float]) -> tuple[float, str]:
    if not sents:
        return math.nan, NO_SENTENCE
    found = [cost[s] for s in sents]
    if any(math.isnan(c) for c in found):
        return math.nan, "a sentence that the parser refused"
    return 0.0 - math.fsum(found) / len(found), ""


@metric(
    "grammar-errors", family="grammar", needs=(), lower=True, bounds=(0.0, math.inf), year=2024,
    cite="harper", extra="grammar", longest=100_000,
)  # fmt: skip
class GrammarErrors(Metric):
    """Errors that the grammar checker Harper finds, without spelling and capital letters unless asked.

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
        found = (
            defined(words := counts(batch).words, partial(np.divide, errors, words))
            if self.per_word
            else Scores(errors)
        )
        texts = batch.texts.list()
        for i in np.flatnonzero(np.isnan(errors)).tolist():
            if batch.output[i] >= 0 and _long_word(texts[batch.output[i]]):
                found.reasons[i] = f"a word longer than {LONGEST_WORD:,} characters, for which spelling is not checked"
        return found


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
# One linter may not be asked by two threads ("Already borrowed"), and two of them are no quicker than one.
ONE_AT_A_TIME = threading.Lock()


# Its search for similar words takes memory with the square of the length: gigabytes for 10,000 characters.
LONGEST_WORD = 1_000


def _long_word(text: str) -> bool:
    return len(text) > LONGEST_WORD and any(len(word) > LONGEST_WORD for word in text.split())


def _errors(text: str, spelling: bool) -> float:
    from harper import Language

    if spelling and _long_word(text):
        return math.nan
    with ONE_AT_A_TIME:
        found = _linter(spelling).lint(text, language=Language.PLAINTEXT)
    return sum(spelling or str(lint.lint_kind) not in SPELLING for lint in found)
