"""One output with the token scores behind its score."""

from __future__ import annotations

from dataclasses import dataclass

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.metrics.alignment.ctc import Aligned
from nlgauge.metrics.base import Metric
from nlgauge.text.batch import Batch

NAMES = {"x": "source", "c": "context", "y": "output", "r": "reference"}


@dataclass(frozen=True)
class AlignedPart:
    """Tokens of one text, each with the degree to which others ground it; `name` as in 'output → source'."""

    name: str
    alignment: Alignment


@dataclass(frozen=True)
class AlignedOutput:
    """The score of one output by a metric, and the alignments it was made from; `which` names the output."""

    metric: str
    score: float
    parts: list[AlignedPart]
    which: str = ""


def aligned_output(metric: Metric, batch: Batch, which: str = "") -> AlignedOutput:
    """The first output of a batch, explained by a metric that can (ctc, align-expr)."""
    if not isinstance(metric, Aligned):
        raise NlgaugeError(f"-m {metric}: has no token scores; use ctc or align-expr.")
    metric.ready()
    scores, aligned = metric.explain(batch)
    if not aligned[0]:
        raise NlgaugeError(f"{metric}: no score ({scores.reasons[0]}).")
    parts = []
    for k, terms in enumerate(aligned[0]):
        for (a, b), alignment in terms.items():
            number = f" {k + 1}" if "r" in (a, *b) and len(aligned[0]) > 1 else ""
            parts.append(AlignedPart(f"{NAMES[a]} → {' and '.join(NAMES[f] for f in b)}{number}", alignment))
    return AlignedOutput(str(metric), float(scores.values[0]), parts, which)
