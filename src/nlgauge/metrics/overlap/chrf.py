"""chrF (Popović 2015) and chrF++ (Popović 2017): F over character n-grams, and word n-grams for chrF++."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Metric, metric, sacrebleu_signature, signature
from nlgauge.metrics.batch import Scores, Usable
from nlgauge.metrics.overlap.matches import ngram_matches, tokenized_pairs
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens, tokens
from nlgauge.types import Array, Ids

EPSILON = 1e-16
Preset = Literal["sacrebleu", "torchmetrics"]


@metric("chrf", family="chrf", bounds=(0.0, 100.0), year=2015, cite="popovic-2015-chrf")
class Chrf(Metric):
    """F-score of character n-grams up to order six, with recall weighted twice (0 to 100).

    Values are sacrebleu's: precision and recall are averaged over the orders that both texts have. `eps=True` averages
    F over all orders instead, as chrF++.py, nltk and torchmetrics do; so does `preset='torchmetrics'` (its default is
    two word orders: `chrf++(preset='torchmetrics')`; it prints 0 to 1). An empty output scores 0.
    """

    chars: int = 6
    words: int = 0
    beta: float = 2.0
    lowercase: bool = False
    spaces: bool = False
    eps: bool | None = None
    references: MultiRef = "max"
    preset: Preset = "sacrebleu"

    def check(self) -> None:
        if self.chars < 1 or self.words < 0:
            raise NlgaugeError("chrf: chars must be at least 1 and words at least 0.")

    @property
    def smoothed(self) -> bool:
        """Whether F is averaged over all orders: the option, else the preset's."""
        return self.preset == "torchmetrics" if self.eps is None else self.eps

    @property
    def signature(self) -> str:
        return signature(
            refs=self.references,
            case="lc" if self.lowercase else "mixed",
            eff=not self.smoothed,
            nc=self.chars,
            nw=self.words,
            beta=self.beta,
            space=self.spaces,
        )

    def corpus_signature(self, references: str) -> str:
        if (self.preset, self.references, self.beta) != ("sacrebleu", "max", 2.0):
            return self.signature
        return sacrebleu_signature(
            nrefs=references,
            case="lc" if self.lowercase else "mixed",
            eff=not self.smoothed,
            nc=self.chars,
            nw=self.words,
            space=self.spaces,
        )

    def score(self, batch: Batch) -> Scores:
        letters, pairs, rows = self._rows(batch)
        return pairs.scores(over_references(pairs, self._values(rows), self.references, tokens=letters))

    def stats(self, batch: Batch) -> Array:
        """Return for each order the numbers of n-grams of the output, of the reference, and of matches."""
        letters, pairs, rows = self._rows(batch)
        best = over_references(pairs, rows, self.references, rank=self._values(rows), tokens=letters)
        return pairs.zeroed(best)

    def from_stats(self, stats: Array) -> Array:
        return self._values(np.atleast_2d(np.asarray(stats, np.float64)))

    def _rows(self, batch: Batch) -> tuple[Tokens, Usable, Array]:
        letters, pairs = tokenized_pairs(batch, "char", lowercase=self.lowercase, spaces=self.spaces)
        matches = ngram_matches(batch, "char", self.chars, lowercase=self.lowercase, spaces=self.spaces)[0]
        rows = self._triples(letters, pairs, matches)
        if self.words:
            split = tokens(batch, "chrf", batch.output, batch.reference, lowercase=self.lowercase)
            matches = ngram_matches(batch, "chrf", self.words, lowercase=self.lowercase)[0]
            rows = np.column_stack([rows, self._triples(split, pairs, matches)])
        return letters, pairs, rows

    @staticmethod
    def _triples(found: Tokens, pairs: Usable, matches: Ids) -> Array:
        order = np.arange(matches.shape[1])
        output = np.maximum(found.length[pairs.output][:, None] - order, 0)
        reference = np.maximum(found.length[pairs.reference][:, None] - order, 0)
        output = np.where(reference > 0, output, 0)  # orders that no reference could match do not count
        rows = np.stack([output, reference, matches], axis=2).astype(np.float64)
        return rows.reshape(len(matches), 3 * matches.shape[1])

    def _values(self, rows: Array) -> Array:
        output, reference, matches = rows[:, 0::3], rows[:, 1::3], rows[:, 2::3]
        precision = np.where(output > 0, matches / np.maximum(output, 1e-300), EPSILON)
        recall = np.where(reference > 0, matches / np.maximum(reference, 1e-300), EPSILON)
        if self.smoothed:
            means: Array = 100 * self._f(precision, recall, EPSILON).mean(axis=1)
            return means
        both = (output > 0) & (reference > 0)
        orders = np.maximum(both.sum(axis=1), 1)
        return 100 * self._f((precision * both).sum(axis=1) / orders, (recall * both).sum(axis=1) / orders, 0.0)

    def _f(self, precision: Array, recall: Array, nothing: float) -> Array:
        below = self.beta**2 * precision + recall
        return np.where(below > 0, (1 + self.beta**2) * precision * recall / np.where(below > 0, below, 1.0), nothing)


@metric("chrf++", family="chrf", bounds=(0.0, 100.0), year=2017, cite="popovic-2017-chrf")
class ChrfPlusPlus(Chrf):
    """chrF with word unigrams and bigrams among the n-grams."""

    words: int = 2
