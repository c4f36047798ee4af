"""Parts of a batch: the samples that a metric can score, in pieces that several cores share.

A part shares the texts of its batch, so a text is encoded once however many parts it appears in.
"""

from __future__ import annotations

import numpy as np

from nlgauge.types import Ints

# Large enough that starting a part costs nothing beside it, small enough that what it keeps stays small.
SMALLEST, LARGEST = 500, 20_000


def pieces(n: int, workers: int) -> list[Ints]:
    """Consecutive samples in pieces of equal size."""
    size = min(max(-(-n // max(workers, 1)), SMALLEST), LARGEST)
    return [np.arange(i, min(i + size, n), dtype=np.int64) for i in range(0, n, size)]
