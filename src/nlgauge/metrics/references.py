"""What several references make of one value.

`references=` of a metric says how:
  max        the best reference (the smallest value where lower is better)
  mean       the mean over references
  jackknife  the mean, over leaving each reference out once, of the best of the others (Lin 2004); one alone is itself
  closest    the reference whose length is nearest to the output's, the shorter of two (BLEU: all n-grams of all
             references count, and that length)
A reference without a single token is left out; a sample that has no other gets no value.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.metrics.batch import Usable, usable
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array

MultiRef = Literal["max", "mean", "jackknife", "closest"]


def usable_pairs(batch: Batch, tokens: Tokens, *more: str) -> Usable:
    """Return outputs and references that have tokens; empty outputs are scored and noted. `more`: further needs."""
    result = usable(batch, ("output", "references", *more), filled=tokens.length > 0, may_be_empty=("output", *more))
    empty = (tokens.length[result.of_sample] == 0) & (batch.output >= 0)
    if np.count_nonzero(empty):
        result.notes |= {s: "empty output" for s in np.flatnonzero(empty).tolist() if s not in result.reasons}
    return result


def over_references(
    pairs: Usable, values: Array, how: str, *, rank: Array | None = None, tokens: Tokens | None = None
) -> Array:
    """Reduce one value per reference to one per sample.

    Parameters
    ----------
    pairs : Usable
        The pairs of outputs and references, as `tokenized_pairs` returns them.
    values : array of pairs, or pairs × columns
    how : {'max', 'mean', 'jackknife', 'closest'}
        The best reference, the mean, the mean of leaving out each reference once (Lin 2004), or the reference whose
        length is nearest to the output's.
    rank : array of pairs, optional
        The best reference is the one with the highest rank; the value by default. Ties go to the first.
    tokens : Tokens, optional
        Needed by 'closest'.

    Returns
    -------
    array of samples
        NaN where a sample has no pair.
    """
    if pairs.single:
        return np.asarray(values, np.float64)
    sizes = pairs.start[1:] - pairs.start[:-1]
    there = sizes > 0
    result = np.full((len(pairs), *values.shape[1:]), np.nan)
    first, many = pairs.start[:-1][there], sizes[there]
    if not len(first):
        return result
    if len(first) == len(values):  # one reference each, where there is any
        result[there] = values
        return result
    if how == "mean":
        sums = np.add.reduceat(values, first, axis=0)
        result[there] = sums / (many if values.ndim == 1 else many[:, None])
        return result
    if how == "closest":
        if tokens is None:
            raise ValueError("the closest reference needs lengths")
        size = tokens.length[pairs.reference]
        rank = -(np.abs(size - tokens.length[pairs.output]) * (size.max() + 1.0) + size)
    rank = values if rank is None else rank
    order = np.lexsort((np.arange(len(rank)), -rank, pairs.sample))
    best = values[order[first]]
    if how == "jackknife":
        second = values[order[first + (many > 1)]]
        share = many if values.ndim == 1 else many[:, None]
        best = ((share - 1) * best + second) / share
    result[there] = best
    return result
