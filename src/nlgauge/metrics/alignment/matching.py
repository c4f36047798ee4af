"""Estimator E: greedy matching of contextual token vectors (Deng et al. 2021, section 3.5).

The score of a token of a is its highest cosine with a token of b. There are three additions: b can be read in
overlapping windows of sentences, because small encoders blur long inputs; a sentence of a can be restricted to the one
window that matches it best on average, so that its words are not collected from a whole document; and it can be encoded
by itself, so that adjacent sentences do not influence it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.encoder import DEFAULT, Encoded
from nlgauge.text.windows import sentence_spans, windows
from nlgauge.types import Array

Match = Literal["all", "apart", "best", "sentence"]
ALONE = ("apart", "sentence")  # a is read sentence by sentence
Read = list[tuple[int, Encoded]]  # the parts in which a text is read, and their offsets
BLOCK = 8_000_000  # maximum number of cosines in memory
CHUNK = 600_000  # characters of distinct texts encoded together: about 150,000 tokens, 230 MB per layer

sentences_of = lru_cache(maxsize=20_000)(sentence_spans)
windows_of = lru_cache(maxsize=5_000)(windows)


@dataclass(frozen=True)
class Matching:
    """Embedding matching (estimator E).

    window: sentences in a window of b (a source or context); 0 the whole text. match: 'all' takes the best token of any
    window, 'apart' the same with each sentence of a encoded by itself, 'best' the window with the highest mean for the
    sentence of a, 'sentence' the same with each sentence of a encoded by itself. sharp: the cosine's exponent; above 1,
    partial matches count less.
    """

    encoder: str = DEFAULT
    layer: int | None = None
    window: int = 0
    match: Match = "all"
    sharp: float = 1.0
    vectors: Embeddings | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.match not in get_args(Match):
            raise NlgaugeError(
                "match must be 'all' (any window), 'best' (the best-fitting window of a sentence), 'apart' or "
                f"'sentence' (as 'all' and 'best', but each sentence is processed separately); got '{self.match}'."
            )
        if self.window < 0:
            raise NlgaugeError(f"window must be a number of sentences, or 0 for the whole text; got {self.window}.")

    def expect(self, pairs: Collection[ToAlign]) -> None:
        """Announce pairs that will be aligned, so that one pass of the encoder serves several metrics."""
        selected = self.vectors or embeddings(None, self.encoder)
        own = (text for p in pairs for _, text in reading(p, self.match, self.window))
        selected.want(self.layer, {*own, *(w for p in pairs for w in self._parts(p))})

    def align(self, pairs: Sequence[ToAlign]) -> list[Alignment]:
        """Return one alignment per pair, in the order of the pairs."""
        selected = self.vectors or embeddings(None, self.encoder)
        layer = selected.want(self.layer)
        result: list[Alignment | None] = [None] * len(pairs)
        # Pairs with the same b are consecutive, so its windows are assembled once.
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1:])
        last: tuple[Any, Any] | None = None
        for rows in chunks(order, pairs):
            parts = {pairs[i][1:]: self._parts(pairs[i]) for i in rows}
            read = {i: reading(pairs[i], self.match, self.window) for i in rows}
            own = (text for of_a in read.values() for _, text in of_a)
            texts = list(dict.fromkeys([*own, *(w for ws in parts.values() for w in ws)]))
            vectors = dict(zip(texts, selected.of(texts, layer), strict=True))
            for i in rows:
                b = pairs[i][1:]
                if last is None or last[0] != b:
                    last = b, side([vectors[w] for w in parts[b]])
                result[i] = self._one(pairs[i].a, [(first, vectors[text]) for first, text in read[i]], last[1])
        return [f for f in result if f is not None]

    def _parts(self, pair: ToAlign) -> list[str]:
        return [w for text in pair.b for w in windows_of(text, 0 if pair.whole else self.window)]

    def _one(self, text: str, a: Read, b: tuple[Any, Any] | None) -> Alignment:
        near = np.concatenate([maxima(part, b) for _, part in a])
        spans = spans_of(a)
        return Alignment(text, spans, scores(text, spans, near, self.match, self.sharp))


def reading(pair: ToAlign, match: str, window: int) -> list[tuple[int, str]]:
    """Return the parts in which a is encoded and their offsets: the whole text, or its sentences."""
    if match not in ALONE or not window or pair.whole:
        return [(0, pair.a)]
    return [(first, pair.a[first:last]) for first, last in sentences_of(pair.a)] or [(0, pair.a)]


def spans_of(a: Read) -> Any:
    """Return where each token of a text begins and ends, from the parts in which it was read."""
    spans = [first + np.stack([e.pieces.starts, e.pieces.ends], axis=1).reshape(-1, 2) for first, e in a]
    return np.concatenate(spans)


def maxima(a: Encoded, b: tuple[Any, Any] | None) -> Any:
    """Return tokens of a × windows of b: the highest cosine with a token of that window."""
    if b is None or not len(a.tokens):
        return np.zeros((len(a.tokens), 1))
    table, firsts = b
    step = max(1, BLOCK // len(table))  # two long texts would fill the memory
    parts = (a.tokens[index : index + step] @ table.T for index in range(0, len(a.tokens), step))
    if len(firsts) == 1:
        return np.concatenate([near.max(axis=1, keepdims=True) for near in parts])
    return np.concatenate([np.maximum.reduceat(near, firsts, axis=1) for near in parts])


def scores(text: str, spans: Any, near: Any, match: str, sharp: float) -> Array:
    """Return one score per token from its maxima: of any window, or of the one that matches its sentence best."""
    if not len(near) or match in ("all", "apart") or near.shape[1] == 1:
        best = near.max(axis=1)
    else:
        best = _best_window(near, _sentence_of(text, spans[:, 0]))
    result: Array = np.clip(best.astype(np.float64), 0.0, 1.0)
    return result**sharp if sharp != 1 else result


def chunks(order: list[int], pairs: Sequence[ToAlign], most: int = CHUNK) -> Iterator[list[int]]:
    """Yield the pairs in chunks of limited text: large chunks encode faster, unlimited ones would fill the memory."""
    rows: list[int] = []
    seen: set[str] = set()
    size = 0
    for i in order:
        for text in {pairs[i].a, *pairs[i].b} - seen:
            seen.add(text)
            size += len(text)
        rows.append(i)
        if size > most:
            yield rows
            rows, seen, size = [], set(), 0
    if rows:
        yield rows


def side(parts: list[Encoded]) -> tuple[Any, Any] | None:
    """Return all windows of b as one matrix, and where each begins; None when b has no tokens."""
    parts = [p for p in parts if len(p.tokens)]
    if not parts:
        return None
    firsts = np.cumsum([0, *(len(p.tokens) for p in parts[:-1])])
    return np.concatenate([p.tokens for p in parts]), firsts


def _sentence_of(text: str, begins: Any) -> Any:
    """Return the sentence number of each token of a."""
    starts = [first for first, _ in sentences_of(text)] or [0]
    return np.maximum(np.searchsorted(starts, begins, side="right") - 1, 0)


def _best_window(near: Any, sentence: Any) -> Any:
    """Select for each sentence the column with its highest mean; near: tokens × windows."""
    firsts = np.flatnonzero(np.append(True, sentence[1:] != sentence[:-1]))
    means = np.add.reduceat(near, firsts, axis=0) / np.diff(np.append(firsts, len(near)))[:, None]
    column = np.repeat(means.argmax(axis=1), np.diff(np.append(firsts, len(near))))
    return near[np.arange(len(near)), column]
