"""Relevance of a summary: coverage of important content without padding, from source, references and output."""

from __future__ import annotations

from typing import ClassVar

from nlgauge.metrics.base import metric
from nlgauge.metrics.combined.blend import Blend, PartScale
from nlgauge.metrics.combined.consistency import WEIGHTS


@metric(
    "relevance",
    family="combined",
    needs=("source", "references"),
    year=2026,
    cite="deng-etal-2021-compression",
    extra="neural",
    weights=WEIGHTS,
)
class Relevance(Blend):
    """Relevance of a summary: coverage of references and important source content, without padding.

    Mean of five parts on a fixed scale: the references' words aligned with the output, the source's important content
    covered (by words and by embeddings), words that a reference has, and no pair of words said twice.
    """

    parts: ClassVar[dict[str, PartScale]] = {
        "align-expr(expr='mean(r>y)', layer=6)": PartScale(0.669, 0.089),
        "salience": PartScale(0.408, 0.125),
        "salience(by='vectors')": PartScale(0.585, 0.093),
        "rouge-1(part='p', references='mean', stem=True)": PartScale(0.342, 0.099),
        "distinct-2": PartScale(0.960, 0.062),
    }
