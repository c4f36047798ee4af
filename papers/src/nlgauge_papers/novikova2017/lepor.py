"""LEPOR (Han et al. 2012) and hLEPOR (Han et al. 2013): length, word order, precision and recall."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.metrics import (
    Batch,
    Metric,
    Scores,
    aligned_positions,
    metric,
    over_references,
    signature,
    tokenized_pairs,
)
from nlgauge_papers.common import Array


@metric("lepor", family="lepor", year=2012, cite="han-etal-2012-lepor", longest=50_000)
class Lepor(Metric):
    """Length penalty × position penalty × weighted harmonic mean of recall (alpha) and precision (beta).

    As in the paper: a shorter output is penalized by exp(1 − r/c), a longer one by exp(1 − c/r); words are aligned one
    to one, those with an equal neighbor within `window` words first, then the nearest; positions are divided by the
    lengths (nltk's version inverts the length penalty and aligns the farthest word, so its values differ). An output
    that is empty or shares no word scores 0.
    """

    alpha: float = 9.0
    beta: float = 1.0
    window: int = 2
    tokenize: str = "13a"
    lowercase: bool = True
    references: Literal["max", "mean", "jackknife", "closest"] = "max"

    @property
    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return signature(
            refs=self.references, case=case, tok=self.tokenize, alpha=self.alpha, beta=self.beta, n=self.window
        )

    def score(self, batch: Batch) -> Scores:
        tokens, pairs = tokenized_pairs(batch, self.tokenize, lowercase=self.lowercase)
        result, apart = aligned_positions(tokens, pairs, self.window)
        output, reference = (
            np.maximum(tokens.length[pairs.output], 1.0),
            tokens.length[pairs.reference].astype(np.float64),
        )
        length = np.exp(1 - np.maximum(output, reference) / np.minimum(output, reference))
        with np.errstate(divide="ignore"):
            harmonic = (self.alpha + self.beta) / (self.alpha * reference / result + self.beta * output / result)
        values = np.where(result > 0, self._together(length, np.exp(-apart / output), harmonic), 0.0)
        return pairs.scores(over_references(pairs, values, self.references, tokens=tokens))

    def _together(self, length: Array, position: Array, harmonic: Array) -> Array:
        return length * position * harmonic


@metric("hlepor", family="lepor", year=2013, cite="han-etal-2013-language", longest=50_000)
class HLepor(Lepor):
    """LEPOR with the three factors combined by a weighted harmonic mean instead of a product (weights 2, 1, 7)."""

    length_weight: float = 2.0
    position_weight: float = 1.0
    harmonic_weight: float = 7.0

    @property
    def signature(self) -> str:
        return f"weights:{self.length_weight:g},{self.position_weight:g},{self.harmonic_weight:g}|{super().signature}"

    def _together(self, length: Array, position: Array, harmonic: Array) -> Array:
        weights = (self.length_weight, self.position_weight, self.harmonic_weight)
        with np.errstate(divide="ignore"):
            below = weights[0] / length + weights[1] / position + weights[2] / harmonic
        return sum(weights) / below
