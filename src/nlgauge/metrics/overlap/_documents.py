"""Sets of references that form the corpus for n-gram frequencies."""

from __future__ import annotations

import numpy as np

from nlgauge.metrics.batch import Usable
from nlgauge.text.batch import Batch
from nlgauge.types import Ints


def documents(batch: Batch, pairs: Usable) -> tuple[Ints, Ints]:
    """Return the references of each document, `texts[start[d]:start[d + 1]]`; systems share the document of an input.

    Where inputs are unknown every sample is a document, as in pycocoevalcap and mteval, which see one system.
    """
    scored = np.flatnonzero(np.diff(pairs.start) > 0)
    if batch.input is None:
        return pairs.reference, np.append(pairs.start[scored], len(pairs.reference))
    seen: dict[tuple[int, bytes], Ints] = {}
    for s in scored.tolist():
        references = pairs.reference[pairs.start[s] : pairs.start[s + 1]]
        seen.setdefault((int(batch.input[s]), references.tobytes()), references)
    start = np.concatenate([[0], np.cumsum([len(r) for r in seen.values()])]).astype(np.int64)
    return np.concatenate([*seen.values(), np.empty(0, np.int64)]), start
