"""CIDEr and CIDEr-D (Vedantam et al. 2015): similarity of tf-idf weighted n-gram counts."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from nlgauge.kernels.recurring import similarities
from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.overlap._documents import documents
from nlgauge.metrics.overlap._recurring import recurring
from nlgauge.metrics.overlap.matches import tokenized_pairs
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.types import Array

CITE = "vedantam-etal-2015-cider"
ORDER = 4


@metric("cider", family="cider", bounds=(0.0, 10.0), year=2015, cite=CITE, corpus=True)
class Cider(Metric):
    """Cosine of the tf-idf vectors of output and reference, mean over n-grams of one to four words, times ten.

    The idf is counted over the references of all samples of the batch, each input's references being one document; with
    one document alone it is zero and there is no value (pycocoevalcap gives 0). Tokens are PTB-like, lower-cased,
    without punctuation; `tokenize='none'` for text that is tokenized already. The mean over references is the
    definition. An empty output scores 0.
    """

    tokenize: str = "coco"
    lowercase: bool = True
    stem: bool = False
    references: MultiRef = "mean"
    clipped: ClassVar[bool] = False

    @property
    def signature(self) -> str:
        stem = "porter" if self.stem else "none"
        return signature(
            refs=self.references, case="lc" if self.lowercase else "mixed", tok=self.tokenize, stem=stem, idf="batch"
        )

    def score(self, batch: Batch) -> Scores:
        stem = "porter" if self.stem else None
        tokens, pairs = tokenized_pairs(batch, self.tokenize, lowercase=self.lowercase, stem=stem)
        texts, start = documents(batch, pairs)
        if len(start) < 3:
            alone = "CIDEr needs the references of two inputs or more: its idf is zero for one"
            reasons = {s: pairs.reasons.get(s, alone) for s in range(len(pairs))}
            return Scores(np.full(len(pairs), np.nan), reasons)
        grams = recurring(batch, (self.tokenize, self.lowercase, stem), tokens, pairs, ORDER)
        highest = math.log(len(start) - 1)
        idf = highest - np.log(np.maximum(grams.frequencies(texts, start)[0], 1.0))
        values = 10 * similarities(
            grams.numbers,
            grams.first,
            idf,
            highest,
            grams.place[pairs.output],
            grams.place[pairs.reference],
            self.clipped,
        )
        bigrams = np.maximum(tokens.length - 1, 0)
        values *= self._gaussian(bigrams[pairs.output] - bigrams[pairs.reference])
        return pairs.scores(over_references(pairs, values, self.references, tokens=tokens))

    def _gaussian(self, longer: Array) -> Array:
        return np.ones(len(longer))


@metric("cider-d", family="cider", bounds=(0.0, 10.0), year=2015, cite=CITE, corpus=True)
class CiderD(Cider):
    """CIDEr with counts clipped to the reference's and a length penalty: "CIDEr" of pycocoevalcap."""

    sigma: float = 6.0
    clipped: ClassVar[bool] = True

    @property
    def signature(self) -> str:
        return f"sigma:{self.sigma:g}|{super().signature}"

    def _gaussian(self, longer: Array) -> Array:
        return np.exp(-(longer.astype(np.float64) ** 2) / (2 * self.sigma**2))
