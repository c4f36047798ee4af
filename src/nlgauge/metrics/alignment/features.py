"""Features of a trained aligner: numbers about each token of a and its match in b, from a frozen encoder.

Every token of a has one row: its cosine with the best token of b at four layers (in any window, and in the window that
matches its sentence best), the same of adjacent tokens and of its sentence, whether the word or its stem occurs in b
and next to the same words, whether adjacent tokens match adjacent positions, and the kind of token. No feature depends
on capitals, because published outputs are often lower-cased, nor on the position, length or frequency of a token: a
head with such features fitted its training corruptions better and agreed less with human ratings.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from nlgauge.metrics.alignment.alignments import ToAlign
from nlgauge.metrics.alignment.matching import chunks
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.encoder import DEFAULT, Encoded
from nlgauge.text.porter import stem
from nlgauge.text.stopwords import STOP, WORD
from nlgauge.text.windows import sentence_spans
from nlgauge.types import Ids, Singles

DEPTHS = (0.5, 0.67, 0.83, 1.0)  # relative depth of the layers: 3, 4, 5 and 6 of six
MAIN = 1  # the one of these whose matches select the window and the neighbors
WINDOW = 2  # sentences per window
CHUNK = 300_000  # characters of distinct texts at a time
DIGIT = re.compile(r"\d")
MAX_WORD_DISTANCE = 50.0  # words; larger distances count as unrelated

NAMES = (
    *(f"any{i}" for i in range(4)),
    *(f"best{i}" for i in range(4)),
    "contrast",
    "typical",
    "left2",
    "left1",
    "right1",
    "right2",
    "any left",
    "any right",
    "around min",
    "around mean",
    "sentence mean",
    "sentence min",
    "sentence any",
    "word",
    "stem",
    "word in best",
    "stem in best",
    "pair left",
    "pair right",
    "triple",
    "context left",
    "context right",
    "step left",
    "step right",
    "any step left",
    "any step right",
    "stop",
    "number",
    "mark",
    "inside",
    "sentence cosine",
    "sentence cosine any",
)


@dataclass(frozen=True)
class ContextVectors:
    """b, read in windows: one matrix of unit vectors per layer, the windows' first rows, and word information."""

    vectors: list[Singles]
    firsts: Any
    places: Any  # the number of each token's word in b
    pooled: Singles
    words: frozenset[str]
    stems: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    triples: frozenset[tuple[str, str, str]]
    of_windows: list[tuple[frozenset[str], frozenset[str]]]


@dataclass
class FeatureReader:
    """Features of pairs. Texts are encoded once; b is assembled once for all consecutive pairs that share it."""

    encoder: str = DEFAULT
    window: int = WINDOW
    vectors: Embeddings | None = field(default=None, repr=False)

    def expect(self, pairs: Collection[ToAlign]) -> None:
        """Announce pairs, so that one pass of their texts serves other metrics too."""
        selected = self.vectors or embeddings(None, self.encoder)
        sides = {p[1:] for p in pairs}
        texts = {p.a for p in pairs} | {p[0] for b, whole in sides for p in _parts(b, 0 if whole else self.window)}
        for layer in layers_of(selected):
            selected.want(layer, texts)

    def read(self, pairs: Sequence[ToAlign]) -> Iterator[tuple[int, Ids, Singles]]:
        """Yield for each pair, in the order of their b: its number, the spans of a's tokens, tokens × features."""
        selected = self.vectors or embeddings(None, self.encoder)
        layers = layers_of(selected)
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1:])
        last: tuple[Any, ContextVectors | None] | None = None
        for rows in chunks(order, pairs, CHUNK):
            parts = {pairs[i][1:]: _parts(pairs[i].b, 0 if pairs[i].whole else self.window) for i in rows}
            texts = list(dict.fromkeys([*(pairs[i].a for i in rows), *(p[0] for ps in parts.values() for p in ps)]))
            results = [dict(zip(texts, of, strict=True)) for of in selected.at(texts, layers)]
            for i in rows:
                b = pairs[i][1:]
                if last is None or last[0] != b:
                    last = b, _side(parts[b], [[of[p[0]] for p in parts[b]] for of in results])
                a = [of[pairs[i].a] for of in results]
                spans = np.stack([a[0].pieces.starts, a[0].pieces.ends], axis=1).reshape(-1, 2)
                yield i, spans, _rows(pairs[i].a, spans, a, last[1])


def pooled(rows: Singles) -> Singles:
    """Return the features of a whole text: mean, spread, mean of the lowest and highest fifth of each, and length."""
    if not len(rows):
        return np.zeros(4 * rows.shape[1] + 1, np.float32)
    ordered = np.sort(rows, axis=0)
    fifth = max(1, round(len(rows) / 5))
    size = np.array([np.log1p(len(rows))], np.float32)
    return np.concatenate([rows.mean(0), rows.std(0), ordered[:fifth].mean(0), ordered[-fifth:].mean(0), size])


def layers_of(kept: Embeddings) -> list[int]:
    """Return the four layers that are used."""
    return [max(1, round(depth * kept.encoder.layers)) for depth in DEPTHS]


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[Any, list[str], list[str]]:
    """Return where words begin and end, the lower-cased words, and their stems."""
    result = list(WORD.finditer(text))
    lower = [w[0].lower().replace("’", "'") for w in result]
    return np.array([w.span() for w in result], np.int64).reshape(-1, 2), lower, [_stem(w) for w in lower]


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return stem(word)


def _parts(b: tuple[str, ...], size: int) -> list[tuple[str, int, int]]:
    """Return the windows of b: text, index of the text in b, and offset."""
    results = []
    for k, text in enumerate(b):
        spans = sentence_spans(text) if size else []
        if len(spans) <= size or not size:
            results.append((text, k, 0))
        else:
            results += [
                (text[spans[i][0] : spans[i + size - 1][1]], k, spans[i][0]) for i in range(len(spans) - size + 1)
            ]
    return [p for p in results if p[0].strip()]


def _side(parts: list[tuple[str, int, int]], encoded: list[list[Encoded]]) -> ContextVectors | None:
    full = [k for k, e in enumerate(encoded[0]) if len(e.tokens)] if encoded else []
    if not full:
        return None
    sizes = [len(encoded[0][k].tokens) for k in full]
    words: list[str] = []
    stems: list[str] = []
    pairs: set[tuple[str, str]] = set()
    triples: set[tuple[str, str, str]] = set()
    of_windows, places, shift = [], [], 0
    for k in full:
        text, _, start = parts[k]
        spans, lower, of_words = _words(text)
        words += lower
        stems += of_words
        pairs |= set(pairwise(of_words))
        triples |= set(zip(of_words, of_words[1:], of_words[2:], strict=False))
        of_windows.append((frozenset(lower), frozenset(of_words)))
        # Windows overlap, so distances are counted in characters of the whole text, six per word.
        places.append((encoded[0][k].pieces.starts + start) / 6.0 + 1e6 * parts[k][1])
        shift += len(spans)
    pooled = np.stack([encoded[-1][k].mean() for k in full])
    return ContextVectors(
        [np.concatenate([of[k].tokens for k in full]) for of in encoded],
        np.cumsum([0, *sizes[:-1]]),
        np.concatenate(places),
        _unit(pooled),
        frozenset(words),
        frozenset(stems),
        frozenset(pairs),
        frozenset(triples),
        of_windows,
    )


def _unit(rows: Any) -> Singles:
    result: Singles = (rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)).astype(np.float32)
    return result


def _rows(text: str, spans: Ids, a: list[Encoded], b: ContextVectors | None) -> Singles:
    n = len(spans)
    if b is None or not n:
        return np.zeros((n, len(NAMES)), np.float32)
    starts = [first for first, _ in sentence_spans(text)] or [0]
    sentence = np.maximum(np.searchsorted(starts, spans[:, 0], side="right") - 1, 0)
    firsts = np.flatnonzero(np.append(True, sentence[1:] != sentence[:-1]))
    sizes = np.diff(np.append(firsts, n))
    which = np.repeat(np.arange(len(firsts)), sizes)
    near = [of.tokens @ side.T for of, side in zip(a, b.vectors, strict=True)]
    by_window = [np.maximum.reduceat(m, b.firsts, axis=1) for m in near]
    means = np.add.reduceat(by_window[MAIN], firsts, axis=0) / sizes[:, None]
    window = means.argmax(axis=1)[which]
    rows = np.arange(n)
    anywhere = [m.max(axis=1) for m in by_window]
    best = [m[rows, window] for m in by_window]
    main, typical = near[MAIN], near[MAIN].mean(axis=1)
    columns: list[Any] = [*anywhere, *best, (anywhere[MAIN] - typical) / (main.std(axis=1) + 1e-3), typical]
    here, wide = best[MAIN], anywhere[MAIN]
    columns += [_shift(here, k) for k in (2, 1, -1, -2)] + [_shift(wide, 1), _shift(wide, -1)]
    around = np.stack([_shift(here, k) for k in range(-3, 4)])
    columns += [around.min(axis=0), around.mean(axis=0)]
    columns += [_per(np.add, here, firsts) / sizes[which] if k == 0 else _per(np.minimum, here, firsts) for k in (0, 1)]
    columns += [_per(np.add, wide, firsts) / sizes[which]]
    at_any = b.places[main.argmax(axis=1)]
    ends = np.append(b.firsts[1:], main.shape[1])
    best_at = (lo + main[r, lo:hi].argmax() for r, lo, hi in zip(rows, b.firsts[window], ends[window], strict=True))
    at_best = at_any if len(b.firsts) == 1 else b.places[np.fromiter(best_at, np.int64, n)]
    lexical, kinds, word = _lexical(text, spans, window, b)
    columns += [*lexical.T]
    columns += [_step(index, word, k) for index in (at_best, at_any) for k in (1, -1)]
    columns += [*kinds.T]
    raw = (
        a[-1].unit[a[-1].prefix : len(a[-1].unit) - a[-1].suffix]
        * a[-1].norms[a[-1].prefix : len(a[-1].norms) - a[-1].suffix, None]
    )
    pooled = _unit(np.add.reduceat(raw, firsts, axis=0)) @ b.pooled.T
    columns += [pooled[which, window], pooled.max(axis=1)[which]]
    return np.stack(columns, axis=1).astype(np.float32)


def _shift(values: Any, by: int) -> Any:
    """Return the value `by` positions to the left (negative: right); at the ends the token's own value."""
    return values[_shifted(len(values), by)]


@lru_cache(maxsize=10_000)
def _shifted(n: int, by: int) -> Any:
    return np.clip(np.arange(n) - by, 0, n - 1)


def _per(ufunc: Any, values: Any, firsts: Any) -> Any:
    return np.repeat(ufunc.reduceat(values, firsts), np.diff(np.append(firsts, len(values))))


def _step(at: Any, word: Any, by: int) -> Any:
    """Return the distance in b between the matches of a token and its neighbor, 0 to 1 on a log scale."""
    apart = np.minimum(np.abs(at - _shift(at, by)), MAX_WORD_DISTANCE)
    return np.log1p(apart) / np.log1p(MAX_WORD_DISTANCE)


def _lexical(text: str, spans: Ids, window: Any, b: ContextVectors) -> tuple[Any, Any, Any]:
    """Return nine numbers about the word in b, four about its kind, and the word of each token (−1: punctuation)."""
    places, words, stems = _words(text)
    word = np.searchsorted(places[:, 0], spans[:, 0], side="right") - 1
    inside = (word >= 0) & (spans[:, 1] <= np.append(places[:, 1], 0)[word])
    word = np.where(inside, word, -1)
    content = [w not in STOP for w in words]
    seen: dict[tuple[int, int], tuple[float, ...]] = {}
    lexical = []
    for w, k in zip(word.tolist(), window.tolist(), strict=True):
        if (w, k) not in seen:
            seen[w, k] = _found(w, words, stems, content, b, k) if w >= 0 else (0.0,) * 9
        lexical.append(seen[w, k])
    # The last row is for punctuation, which has word index −1.
    kinds = np.array([*((not c, bool(DIGIT.search(w)), 0) for w, c in zip(words, content, strict=True)), (0, 0, 1)])
    later = inside & (spans[:, 0] > np.append(places[:, 0], 0)[word])
    return np.array(lexical, np.float64), np.column_stack([kinds[word], later]).astype(np.float64), word


def _found(
    w: int, words: list[str], stems: list[str], content: list[bool], b: ContextVectors, k: int
) -> tuple[float, ...]:
    left = stems[w - 1] if w else ""
    right = stems[w + 1] if w + 1 < len(stems) else ""
    own = stems[w]
    near = []
    for step in (-1, 1):
        i = w + step
        while 0 <= i < len(words) and not content[i]:
            i += step
        other = stems[i] if 0 <= i < len(words) else None
        near.append(0.5 if other is None else float(any(own in s and other in s for _, s in b.of_windows)))
    return (
        words[w] in b.words,
        own in b.stems,
        words[w] in b.of_windows[k][0],
        own in b.of_windows[k][1],
        (left, own) in b.pairs,
        (own, right) in b.pairs,
        (left, own, right) in b.triples,
        *near,
    )
