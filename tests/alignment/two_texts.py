"""The alignment of two texts by an estimator of `ctc`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.metrics.alignment.matching import Matching
from nlgauge.metrics.alignment.trained import aligner
from nlgauge.models.encoder import DEFAULT


def align(a: str, b: str | Sequence[str], *, estimator: str = "E", **options: Any) -> Alignment:
    """Return how well b (one text or several) grounds each token of a."""
    pair = ToAlign(a, (b,) if isinstance(b, str) else tuple(b))
    if estimator == "E":
        return Matching(**options).align([pair])[0]
    return aligner(estimator, **{"task": "summarization", "weights": "", "encoder": DEFAULT, **options}).align([pair])[
        0
    ]
