"""Translation edit rate (Snover et al. 2006)."""

from __future__ import annotations

import math

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.kernels import ter
from nlgauge.metrics.base import Metric, metric, sacrebleu_signature, signature
from nlgauge.metrics.batch import Scores, Usable
from nlgauge.metrics.overlap.matches import tokenized_pairs, vocabulary_size
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array, Ints


@metric("ter", family="ter", lower=True, bounds=(0.0, math.inf), year=2006, cite="snover-etal-2006-study")
class Ter(Metric):
    """Translation edit rate: edits including phrase shifts per hundred reference words.

    Values are sacrebleu's, which are Tercom's: lower-cased words, shifts of up to ten words over up to fifty, a beam of
    25. With several references the fewest edits over the mean length (`references='max'`, the convention); `'mean'`,
    `'closest'` and `'jackknife'` score each reference by its own length. `normalize=True` sets punctuation apart first
    (sacrebleu's own code). An empty output scores 100.
    """

    lowercase: bool = True
    normalize: bool = False
    references: MultiRef = "max"

    @property
    def tokenizer(self) -> str:
        """The tokenizer: Tercom's, or a split at white space."""
        return "tercom" if self.normalize else "none"

    @property
    def signature(self) -> str:
        case = "lc" if self.lowercase else "mixed"
        return signature(refs=self.references, case=case, tok="tercom", norm=self.normalize, punct=True, asian=False)

    def corpus_signature(self, references: str) -> str:
        if self.references != "max":
            return self.signature
        case = "lc" if self.lowercase else "mixed"
        return sacrebleu_signature(
            nrefs=references, case=case, tok="tercom", norm=self.normalize, punct=True, asian=False
        )

    def score(self, batch: Batch) -> Scores:
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=self.lowercase)
        if self.references == "max":
            return pairs.scores(self.from_stats(self.stats(batch)))
        values = 100.0 * self._edits(batch) / tokens.length[pairs.reference]
        return pairs.scores(over_references(pairs, values, self.references, rank=-values, tokens=tokens))

    def stats(self, batch: Batch) -> Array:
        """Return the columns edits and reference length."""
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=self.lowercase)
        edits, size = self._edits(batch).astype(np.float64), tokens.length[pairs.reference].astype(np.float64)
        if self.references == "max":
            fewest = over_references(pairs, edits, "max", rank=-edits)
            return pairs.zeroed(np.column_stack([fewest, over_references(pairs, size, "mean")]))
        rows = np.column_stack([edits, size])
        rank = -edits / np.maximum(size, 1)
        return pairs.zeroed(over_references(pairs, rows, self.references, rank=rank, tokens=tokens))

    def from_stats(self, stats: Array) -> Array:
        edits, size = np.atleast_2d(np.asarray(stats, np.float64)).T
        rate: Array = 100 * np.where(size > 0, edits / np.where(size > 0, size, 1.0), (edits > 0).astype(np.float64))
        return rate

    def _edits(self, batch: Batch) -> Ints:
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=self.lowercase)
        return batch.keep(("ter", self.tokenizer, self.lowercase), lambda: shift_edits(tokens, pairs))


def shift_edits(tokens: Tokens, pairs: Usable) -> Ints:
    """Return the edits of each pair, with the shift of a phrase as one edit (Snover et al. 2006)."""
    if len(pairs.reference) and int(tokens.length.max()) > 1_000_000:
        raise NlgaugeError("ter: texts of more than 1,000,000 words are too long for the shift search.")
    edits: Ints = ter.shift_edits(
        tokens.ids, tokens.start, tokens.length, pairs.output, pairs.reference, vocabulary_size(tokens)
    )
    return edits
