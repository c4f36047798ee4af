"""Which sets of references make up the corpus that n-gram frequencies are counted in."""

from __future__ import annotations

import numpy as np

from nlgauge.metrics._base import Batch, Ints
from nlgauge.metrics._references import Pairs


def documents(batch: Batch, pairs: Pairs) -> Ints:
    """One sample for each document: the references of one input, which several systems share, are one document.

    Where inputs are not known every sample is a document, as in pycocoevalcap and mteval, which see one system.
    """
    scored = np.flatnonzero(np.diff(pairs.start) > 0)
    if batch.input is None:
        return scored
    seen: dict[tuple[int, bytes], int] = {}
    for s in scored.tolist():
        key = (int(batch.input[s]), pairs.reference[pairs.start[s] : pairs.start[s + 1]].tobytes())
        seen.setdefault(key, s)
    return np.array(list(seen.values()), np.int64)
