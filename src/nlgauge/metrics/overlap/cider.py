"""CIDEr and CIDEr-D (Vedantam et al. 2015): similarity of tf-idf weighted n-gram counts."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.overlap._documents import documents
from nlgauge.metrics.overlap.matches import tokenized_pairs
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.text.ngrams import Ngrams, ngrams
from nlgauge.types import Array, Ints

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
        key = (self.tokenize, self.lowercase, stem, "output+references")
        grams = ngrams(batch, key, tokens, ORDER, pairs.of_sample, pairs.reference)
        idf = math.log(len(start) - 1) - np.log(np.maximum(grams.documents(texts, start), 1.0))
        values = 10 * self._cosines(grams, idf**2, pairs.output, pairs.reference)
        bigrams = np.maximum(tokens.length - 1, 0)
        values *= self._gaussian(bigrams[pairs.output] - bigrams[pairs.reference])
        return pairs.scores(over_references(pairs, values, self.references, tokens=tokens))

    def _cosines(self, grams: Ngrams, weight: Array, output: Ints, reference: Ints) -> Array:
        """Return the mean over orders of the cosine of weighted counts, for each pair."""
        owner, level, entry = grams.span(output)
        own, own_weight = grams.counts[entry], weight[grams.grams[entry]]
        other = grams.found_in(output, reference, np.arange(len(output) + 1), highest=True)
        shared = np.minimum(own, other) if self.clipped else own
        products = grams.sums(output, owner, level, shared * other * own_weight)
        lengths = grams.sums(output, owner, level, own**2 * own_weight)
        owner, level, entry = grams.span(reference)
        lengths = lengths * grams.sums(reference, owner, level, grams.counts[entry] ** 2 * weight[grams.grams[entry]])
        cosines = np.divide(products, np.sqrt(lengths), out=np.zeros(products.shape), where=lengths > 0)
        return np.asarray(cosines.mean(axis=1))

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
