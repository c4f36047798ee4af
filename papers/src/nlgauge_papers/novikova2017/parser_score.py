"""The parser score `prs` of novikova2017, with link grammar instead of the Stanford parser."""

from __future__ import annotations

import math

import numpy as np

from nlgauge.metrics import Batch, Metric, Scores, metric, sentences, signature
from nlgauge_papers.novikova2017.link_parser import LONGEST, PIECE, costs, version

NO_SENTENCE = "no sentence in the output"


@metric(
    "prs",
    family="grammar",
    needs=(),
    bounds=(-math.inf, 0.0),
    year=1993,
    cite="sleator-temperley-1993-parsing",
    extra="apt install link-grammar",
)
class Prs(Metric):
    """Parser score: minus the cost of the best linkage (words left out, rare uses), mean over sentences."""

    def ready(self) -> None:
        version()

    @property
    def signature(self) -> str:
        return signature(parser=f"link-grammar-{version()}", spell=0, whole=LONGEST, piece=PIECE)

    def score(self, batch: Batch) -> Scores:
        texts = batch.texts.list()
        rows, place = np.unique(batch.output, return_inverse=True)
        parts = [sentences(texts[i]) if i >= 0 else [] for i in rows.tolist()]
        cost = costs(sorted({s for sents in parts for s in sents}))
        scored = [_mean(sents, cost) for sents in parts]
        values = np.array([value for value, _ in scored], np.float64)[place]
        return Scores(values, {i: scored[p][1] for i, p in enumerate(place.tolist()) if scored[p][1]})


def _mean(sents: list[str], cost: dict[str, float]) -> tuple[float, str]:
    if not sents:
        return math.nan, NO_SENTENCE
    results = [cost[s] for s in sents]
    if any(math.isnan(c) for c in results):
        return math.nan, "a sentence that could not be parsed"
    return 0.0 - math.fsum(results) / len(results), ""
