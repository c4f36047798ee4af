"""Parts of a batch: the samples that a metric can score, in pieces that several cores share.

A part shares the texts of its batch, so a text is encoded once however many parts it appears in.
"""

from __future__ import annotations

import numpy as np

from nlgauge.metrics import Batch
from nlgauge.types import Ints, Mask

# Large enough that starting a part costs nothing beside it, small enough that what it keeps stays small.
SMALLEST, LARGEST = 500, 20_000


def lacking(batch: Batch, needs: frozenset[str]) -> dict[str, Mask]:
    """Reason -> the samples that cannot be scored for it."""
    found = {"no output": batch.output < 0}
    if "references" in needs:
        found["no reference"] = batch.start[1:] == batch.start[:-1]
    if "source" in needs:
        found["no source"] = batch.source < 0
    if "context" in needs:
        found["no context"] = batch.context < 0
    if "control" in needs:
        found["no control attribute"] = np.array([c is None for c in batch.control], np.bool_)
    return found


def pieces(n: int, workers: int) -> list[Ints]:
    """Consecutive samples in pieces of equal size."""
    size = min(max(-(-n // max(workers, 1)), SMALLEST), LARGEST)
    return [np.arange(i, min(i + size, n), dtype=np.int64) for i in range(0, n, size)]
