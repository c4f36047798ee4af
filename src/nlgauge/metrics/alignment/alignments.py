"""Alignments and their estimators (Deng et al. 2021, Definition 3.1).

align(a → b) is one score in [0, 1] per token of a: the confidence that its information is grounded in b.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from nlgauge.text.stopwords import STOP, WORD
from nlgauge.types import Array, Ids, Ints, Mask

LOW, HALF = 0.2, 0.5
FLOOR = 1e-3  # lower limit, so that one token with score 0 does not make the geometric mean 0


class ToAlign(NamedTuple):
    """A pair to align: text a with the texts of b. `whole`: b is an output or reference, never read in windows."""

    a: str
    b: tuple[str, ...]
    whole: bool = False


@dataclass(frozen=True)
class Alignment:
    """Scores of the tokens of a text; `spans` are the character positions of each token."""

    text: str
    spans: Ids
    scores: Array
    whole: bool = False  # a single score for the whole text, without words

    @property
    def tokens(self) -> list[str]:
        """Return the tokens as they are in the text."""
        return [self.text[a:b] for a, b in self.spans.tolist()]

    def __len__(self) -> int:
        return len(self.scores)

    def content(self) -> Alignment:
        """Return the alignment without stop words and punctuation."""
        return self._part(_content(self.text, self.spans))

    def words(self) -> Alignment:
        """Return one score per word, the mean over its pieces. Punctuation marks stay separate."""
        if not len(self):
            return self
        starts, ends, _ = _words(self.text)
        word = np.searchsorted(starts, self.spans[:, 0], side="right") - 1
        inside = (word >= 0) & (self.spans[:, 1] <= np.append(ends, 0)[word])
        label = np.where(inside, word, len(starts) + np.arange(len(self)))
        first = np.flatnonzero(np.append(True, label[1:] != label[:-1]))
        counts = np.diff(np.append(first, len(self)))
        spans = np.stack([self.spans[first, 0], self.spans[first + counts - 1, 1]], axis=1)
        return Alignment(self.text, spans, np.add.reduceat(self.scores, first) / counts)

    def _part(self, kept: Mask) -> Alignment:
        return Alignment(self.text, self.spans[kept], self.scores[kept])

    # --- aggregation to one number ---

    def mean(self) -> float:
        """Return the mean score; NaN without tokens."""
        return float(self.scores.mean()) if len(self) else float("nan")

    def sum(self) -> float:
        """Return the sum of the scores: how much of the text is grounded, in tokens."""
        return float(self.scores.sum())

    def geo(self) -> float:
        """Return the geometric mean: the mean log-probability of a token classifier, as a probability."""
        return float(np.exp(np.log(np.maximum(self.scores, FLOOR)).mean())) if len(self) else float("nan")

    def low(self, share: float = LOW) -> float:
        """Return the mean over the least aligned fifth of the tokens, so that one wrong name outweighs many right
        words.
        """
        if not len(self):
            return float("nan")
        n = max(1, round(share * len(self)))
        return float(np.partition(self.scores, n - 1)[:n].mean())

    def half(self) -> float:
        """Return the mean over the least aligned half of the tokens."""
        return self.low(HALF)

    def distinct(self) -> float:
        """Return the sum over distinct tokens, each at its highest score, so that repetition adds no information."""
        best: dict[str, float] = {}
        for token, score in zip(self.tokens, self.scores.tolist(), strict=True):
            best[token.lower()] = max(best.get(token.lower(), 0.0), score)
        return sum(best.values())


class Estimator(Protocol):
    """An estimator of alignments: pairs (a, texts of b) in, one Alignment of a per pair out."""

    def align(self, pairs: Sequence[ToAlign]) -> list[Alignment]:
        """Return one Alignment of a for each pair, in the order of the pairs."""

    def expect(self, pairs: Collection[ToAlign]) -> None:
        """Announce pairs that will be aligned, so that a model can read their texts once for several estimators."""


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[Ints, Ints, Mask]:
    """Return where each word begins and ends, and whether it is a content word; cached per text."""
    result = list(WORD.finditer(text))
    selected = [w[0].lower().replace("’", "'") not in STOP for w in result]
    return (
        np.array([w.start() for w in result], np.int64),
        np.array([w.end() for w in result], np.int64),
        np.array(selected, np.bool_),
    )


def _content(text: str, spans: Ids) -> Mask:
    starts, ends, selected = _words(text)
    if not len(starts):
        return np.zeros(len(spans), np.bool_)
    word = np.searchsorted(starts, spans[:, 0], side="right") - 1
    result: Mask = (word >= 0) & (spans[:, 1] <= ends[word]) & selected[word]
    return result
