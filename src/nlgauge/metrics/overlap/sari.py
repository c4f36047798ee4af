"""SARI (Xu et al. 2016): what a simplification adds, keeps and deletes, against source and references."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.references import usable_pairs
from nlgauge.text.batch import Batch
from nlgauge.text.ngrams import Ngrams, ngrams
from nlgauge.text.tokens import tokens
from nlgauge.types import Array, Ints

ORDER = 4
Preset = Literal["fixed", "original"]


@metric(
    "sari",
    family="sari",
    needs=("references", "source"),
    bounds=(0.0, 100.0),
    year=2016,
    cite="xu-etal-2016-optimizing",
)
class Sari(Metric):
    """SARI: mean of F of added, F of kept and precision of deleted n-grams of one to four words (0 to 100).

    `preset='fixed'`: as tensor2tensor and Hugging Face compute it: 0/0 is 1, and recall of kept n-grams counts
    occurrences. `'original'`: as the authors' SARI.py, where 0/0 is 0 (a perfect copy of a reference that keeps the
    source does not reach 100). Tokens: 13a, lower-cased.
    """

    preset: Preset = "fixed"
    tokenize: str = "13a"
    lowercase: bool = True

    @property
    def signature(self) -> str:
        return signature(rules=self.preset, refs="pooled", case="lc" if self.lowercase else "mixed", tok=self.tokenize)

    def score(self, batch: Batch) -> Scores:
        result = tokens(batch, self.tokenize, batch.output, batch.reference, batch.source, lowercase=self.lowercase)
        pairs = usable_pairs(batch, result, "source")
        if not len(pairs.places):
            return pairs.scattered([])
        key = (self.tokenize, self.lowercase, None, "output+references+source")
        grams = ngrams(batch, key, result, ORDER, batch.output, batch.reference, batch.source)
        place = np.searchsorted(pairs.places, pairs.sample)
        return pairs.scattered(
            100 * self._sari(grams, batch.source[pairs.places], batch.output[pairs.places], pairs.reference, place)
        )

    def _sari(self, grams: Ngrams, source: Ints, output: Ints, reference: Ints, place: Ints) -> Array:
        """Return one value per sample; `place` is the sample of each reference."""
        refs = np.bincount(place, minlength=len(source)).astype(np.float64)
        counts, level, owner = _table(grams, source, output, reference, place)
        # Sums are in the order of the counts, because the numbering of n-grams depends on the other samples.
        order = np.lexsort((*counts.T, level, owner))
        counts, level, owner = counts[order], level[order], owner[order]
        s, c, r = counts.T
        s, c = s * refs[owner], c * refs[owner]
        fallback = 1.0 if self.preset == "fixed" else 0.0
        where, many = owner * ORDER + level, len(source) * ORDER

        def total(values: Array) -> Array:
            sums: Array = np.bincount(where, weights=values, minlength=many)  # type: ignore[assignment]
            return sums

        def share(above: Array, below: Array) -> Array:
            return np.where(below > 0, above / np.where(below > 0, below, 1.0), fallback)

        def f1(p: Array, q: Array) -> Array:
            return np.where(p + q > 0, 2 * p * q / np.where(p + q > 0, p + q, 1.0), 0.0)

        selected, kept_well, could_keep = np.minimum(s, c), np.minimum(np.minimum(s, c), r), np.minimum(s, r)
        precision = share(total(kept_well / np.maximum(selected, 1)), total(selected > 0))
        if self.preset == "fixed":
            recall = share(total(kept_well), total(could_keep))
        else:
            recall = share(total(kept_well / np.maximum(could_keep, 1)), total(could_keep > 0))
        keep = f1(precision, recall)
        dropped = np.maximum(s - c, 0)
        delete = share(total(np.maximum(dropped - r, 0) / np.maximum(dropped, 1)), total(dropped > 0))
        added, well, could = (c > 0) & (s == 0), (c > 0) & (s == 0) & (r > 0), (r > 0) & (s == 0)
        add = f1(share(total(well), total(added)), share(total(well), total(could)))
        means: Array = ((keep + delete + add) / 3).reshape(-1, ORDER).mean(axis=1)
        return means


def _table(grams: Ngrams, source: Ints, output: Ints, reference: Ints, place: Ints) -> tuple[Array, Ints, Ints]:
    """Return every n-gram of every sample with its counts in source, output and all references: counts, order,
    sample.
    """
    size = max(len(grams.parent), 1)
    keys, levels, amounts, sides = [], [], [], []
    for side, (texts, whose) in enumerate(
        ((source, np.arange(len(source))), (output, np.arange(len(output))), (reference, place))
    ):
        owner, level, entry = grams.span(texts)
        keys.append(whose[owner] * size + grams.grams[entry])
        levels.append(level)
        amounts.append(grams.counts[entry])
        sides.append(np.full(len(entry), side))
    cells, first, index = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    counts = np.zeros((len(cells), 3))
    np.add.at(counts, (index, np.concatenate(sides)), np.concatenate(amounts))
    return counts, np.concatenate(levels)[first], cells // size
