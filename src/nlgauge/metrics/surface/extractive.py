"""Extractiveness of an output: novel n-grams, extractive fragments (Grusky et al. 2018), compression.

Values are descriptive: neither higher nor lower is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.kernels.lepor import fragments
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import Scores, usable
from nlgauge.metrics.overlap.matches import vocabulary_size
from nlgauge.metrics.surface.diversity import MAX_ORDER, Order, Tokenized
from nlgauge.text.batch import Batch
from nlgauge.text.ngrams import ngrams
from nlgauge.text.tokens import Tokens, tokens
from nlgauge.types import Array, Ints

GRUSKY = "grusky-etal-2018-newsroom"


class FromSource(Tokenized):
    """Comparison of output and source; undefined if either has no words."""

    def score(self, batch: Batch) -> Scores:
        result = tokens(batch, self.tokenize, batch.output, batch.source, lowercase=self.lowercase)
        there = usable(batch, self.facts.needs, filled=result.length > 0)
        output, source = batch.output[there.places], batch.source[there.places]
        return there.scattered(self._values(batch, result, output, source))

    def _values(self, batch: Batch, found: Tokens, output: Ints, source: Ints) -> Array:
        raise NotImplementedError


@metric("novelty", family="extractive", needs=("source",), year=2017, cite="see-etal-2017-get")
class Novelty(FromSource):
    """Share of the output's n-grams (of two words) that are not in the source."""

    order: Order = 2

    @property
    def signature(self) -> str:
        return f"order:{self.order}|{super().signature}"

    def _values(self, batch: Batch, found: Tokens, output: Ints, source: Ints) -> Array:
        grams = ngrams(
            batch, (self.tokenize, self.lowercase, None, "output+source"), found, MAX_ORDER, batch.output, batch.source
        )
        owner, level, entry = grams.span(output)
        there = grams.found_in(output, source, np.arange(len(output) + 1), highest=True) > 0
        copied = grams.sums(output, owner, level, np.where(there, grams.counts[entry], 0))[:, self.order - 1]
        many = found.length[output] - self.order + 1
        return np.where(many > 0, 1 - copied / np.maximum(many, 1), np.nan)


@dataclass(frozen=True)
class Fragments(FromSource):
    """A share from the fragments that the output copies from its source (Grusky et al. 2018)."""

    squared: ClassVar[bool] = False

    def _values(self, batch: Batch, found: Tokens, output: Ints, source: Ints) -> Array:
        key = ("fragments", self.tokenize, self.lowercase)
        words, squares = batch.keep(
            key, lambda: fragments(found.ids, found.start, found.length, output, source, vocabulary_size(found))
        )
        share: Array = (squares if self.squared else words) / found.length[output]
        return share


@metric("coverage", family="extractive", needs=("source",), year=2018, cite=GRUSKY)
class Coverage(Fragments):
    """Share of the output's words in fragments copied from the source.

    Newsroom's own numbers come from spaCy's tokens; here 13a, lower-cased.
    """


@metric("density", family="extractive", needs=("source",), bounds=(0.0, math.inf), year=2018, cite=GRUSKY)
class Density(Fragments):
    """Mean length of the copied fragment that a word of the output belongs to."""

    squared: ClassVar[bool] = True


@metric("compression", family="extractive", needs=("source",), bounds=(0.0, math.inf), year=2018, cite=GRUSKY)
class Compression(FromSource):
    """Compression: length of the source divided by that of the output, in words."""

    def _values(self, batch: Batch, found: Tokens, output: Ints, source: Ints) -> Array:
        ratio: Array = found.length[source] / found.length[output]
        return ratio
