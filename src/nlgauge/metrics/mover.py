"""Optimal transport between contextual tokens: MoverScore, and XMoverScore across languages."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics._base import Batch, Scores, metric
from nlgauge.metrics._pairs import MultiRef, Pair, check_multiref, over_pairs
from nlgauge.metrics.embedding import CHUNK, MULTILINGUAL, WEIGHTS, Contextual, piece_weights
from nlgauge.metrics.lm import WINDOWS

if TYPE_CHECKING:
    from nlgauge.alignment.embeddings import Embeddings
    from nlgauge.alignment.encoder import Encoded

Bag = tuple[Any, Any]  # vectors of length 1, weights


class Moving(Contextual):
    """The least cost of moving the n-grams of one text onto those of another; the score is 1 / (1 + cost)."""

    idf: bool
    n: int
    references: MultiRef = "max"

    def ready(self) -> None:
        from nlgauge.metrics._transport import ready

        super().ready()
        ready(self.facts.name)

    def _check(self) -> None:
        check_multiref(self.facts.name, self.references)
        if self.n < 1:
            raise NlgaugeError(f"{self.facts.name}: n={self.n}; 1 (tokens), 2 (pairs of neighbours) or more.")
        object.__setattr__(self, "facts", replace(type(self).facts, corpus=self.idf))

    def wanted(self, kept: Embeddings) -> list[int]:
        return [kept.want(self.layer)]

    def table(self, layers: list[Encoded], other: bool) -> Any:
        """The token vectors of a text from its layers; `other`: it is the reference or source."""
        raise NotImplementedError

    def prepare(self, batch: Batch) -> None:
        self.wanted(self.vectors(batch)[0])

    def vectors(self, batch: Batch) -> tuple[Embeddings, int]:
        from nlgauge.alignment.embeddings import embeddings

        kept = embeddings(batch, self.encoder)
        return kept, self.wanted(kept)[-1]

    def score(self, batch: Batch) -> Scores:
        from nlgauge.metrics._transport import TOO_LONG, euclidean, too_large, transport

        weigh = piece_weights(batch, self.side, self.encoder, self.idf)
        long: set[Pair] = set()

        def score(pairs: list[Pair]) -> list[float]:
            found = []
            for pair, (a, b) in zip(pairs, self._bags(batch, pairs, weigh), strict=True):
                if too_large(len(a[1]), len(b[1])):
                    long.add(pair)
                    found.append(math.nan)
                else:
                    found.append(1 / (1 + transport(a[1], b[1], euclidean(a[0], b[0]))))
            return found

        def why(pair: Pair) -> str:
            return TOO_LONG if pair in long else "no words to compare"

        return over_pairs(batch, self.side, score, self.references, why=why)

    def _bags(
        self, batch: Batch, pairs: Sequence[Pair], weigh: Callable[[Encoded], Any]
    ) -> Iterator[tuple[Bag, Bag]]:
        kept, _ = self.vectors(batch)
        layers = self.wanted(kept)
        for at in range(0, len(pairs), CHUNK):
            some = [(a.strip(), b.strip()) for a, b in pairs[at : at + CHUNK]]
            texts = list(dict.fromkeys(t for pair in some for t in pair))
            found = dict(
                zip(texts, zip(*(kept.of(texts, layer) for layer in layers), strict=True), strict=True)
            )
            for pair in some:
                a, b = (
                    ngrams(self.table(list(found[t]), other), weigh(found[t][0]), self.n)
                    for t, other in zip(pair, (False, True), strict=True)
                )
                yield a, b


def ngrams(table: Any, weights: Any, n: int) -> Bag:
    """Weighted means of n neighbours and the sums of their weights; a shorter text is one n-gram."""
    n = min(n, len(table))
    if n > 1:
        places = np.arange(len(table) - n + 1)[:, None] + np.arange(n)
        share = weights[places]
        sums = share.sum(axis=1)
        share = share / np.where(sums, sums, 1.0)[:, None]
        table, weights = (table[places] * share[:, :, None]).sum(axis=1), sums
    return table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12), weights


@metric(
    "moverscore",
    family="embedding",
    bounds=(0.0, 1.0),
    year=2019,
    cite="zhao-etal-2019-moverscore",
    extra="neural",
    weights=WEIGHTS,
)
@dataclass(frozen=True)
class MoverScore(Moving):
    """Word mover's distance on contextual tokens of output and reference, as 1 / (1 + distance).

    layers: how many of the last layers, or which ones as (2, 4, 6), are taken together: `combine` is 'mean' or 'power'
    (minimum, mean and maximum side by side, the paper's power means). n=2 moves pairs of neighbouring tokens. The paper's
    own form is moverscore(layers=5, combine='power', idf=True). Ours: [CLS] and [SEP] do not take part, word pieces and
    punctuation do, and the authors' program reports 1 − cost of squared distances.
    """

    encoder: str = "minilm"
    layer: int | None = None
    layers: int | tuple[int, ...] = ()
    combine: Literal["mean", "power"] = "mean"
    n: int = 1
    idf: bool = False
    references: MultiRef = "max"

    def __post_init__(self) -> None:
        self._check()
        if self.combine not in ("mean", "power"):
            raise NlgaugeError(f"moverscore: combine='{self.combine}'; use mean or power.")
        if self.layers and self.layer is not None:
            raise NlgaugeError("moverscore: give layer or layers, not both.")
        if isinstance(self.layers, int) and self.layers < 0:
            raise NlgaugeError(f"moverscore: layers={self.layers}; how many of the last ones, or (2, 4, 6).")

    def wanted(self, kept: Embeddings) -> list[int]:
        if not self.layers:
            return [kept.want(self.layer)]
        last = kept.encoder.layers
        if isinstance(self.layers, int) and self.layers > last + 1:
            raise NlgaugeError(f"moverscore: layers={self.layers}: encoder '{self.encoder}' has {last + 1}.")
        named = range(last - self.layers + 1, last + 1) if isinstance(self.layers, int) else self.layers
        return [kept.want(layer) for layer in named]

    def table(self, layers: list[Encoded], other: bool) -> Any:
        if len(layers) == 1:
            return layers[0].tokens
        stacked = np.stack([e.tokens for e in layers])
        if self.combine == "mean":
            return stacked.mean(axis=0)
        return np.concatenate([stacked.min(axis=0), stacked.mean(axis=0), stacked.max(axis=0)], axis=1)

    @property
    def signature(self) -> str:
        layers = f"{self.layers}-{self.combine}".replace(" ", "") if self.layers else None
        return self._signature(
            layers=layers, idf=self.idf, ngram=self.n, cost="euclidean", refs=self.references
        )


@metric(
    "xmoverscore",
    family="embedding",
    needs=("source",),
    bounds=(0.0, 1.0),
    year=2020,
    cite="zhao-etal-2020-limitations",
    extra="neural",
    weights="a multilingual encoder by name",
)
@dataclass(frozen=True)
class XMoverScore(Moving):
    """MoverScore of output and source, across languages, with re-mapping and a language model if they are given.

    clp: file with a matrix M, source vectors become v·M (cross-lingual projection); umd: file with a direction b, they
    become v − (v·b)b (its first row where there are several); .npy, .safetensors, or numbers as text like the authors'
    maps. lm: a causal language model; lm_weight times its mean log-probability of the output's tokens is added.
    """

    encoder: str = MULTILINGUAL
    layer: int | None = None
    n: int = 1
    idf: bool = False
    clp: str = ""
    umd: str = ""
    lm: str = ""
    lm_weight: float = 0.1

    side = "source"

    def __post_init__(self) -> None:
        self._check()
        if self.clp and self.umd:
            raise NlgaugeError("xmoverscore: give clp or umd, not both.")
        if self.lm:
            object.__setattr__(self, "facts", replace(self.facts, bounds=(-math.inf, 1.0)))

    def ready(self) -> None:
        super().ready()
        for option in ("clp", "umd"):
            path = getattr(self, option)
            if path and not Path(path).expanduser().is_file():
                raise NlgaugeError(f"xmoverscore: {option}='{path}': no such file.")
        if self.lm:
            from nlgauge.metrics._models import check_ready

            check_ready("xmoverscore", lm=self.lm)

    def table(self, layers: list[Encoded], other: bool) -> Any:
        e = layers[0]
        raw = e.raw()[e.prefix : len(e.unit) - e.suffix]
        return remapped(raw, self.clp, self.umd) if other else raw

    @property
    def signature(self) -> str:
        from nlgauge.metrics._models import fingerprint

        files = {k: _hash(getattr(self, k)) for k in ("clp", "umd") if getattr(self, k)}
        lm = f"{self.lm_weight}x{fingerprint(self.lm)}" if self.lm else None
        return self._signature(idf=self.idf, ngram=self.n, cost="euclidean", **files, lm=lm)

    def score(self, batch: Batch) -> Scores:
        found = super().score(batch)
        if not self.lm or not self.lm_weight:
            return found
        from nlgauge.metrics._likelihood import answers

        rows = np.flatnonzero(~np.isnan(found.values))
        texts = batch.texts.list()
        likely = answers(batch, self.lm).of([("", texts[batch.output[i]].strip()) for i in rows], start=False)
        for i, told in zip(rows.tolist(), likely, strict=True):
            found.values[i] += self.lm_weight * told.mean
            if math.isnan(told.mean):
                found.reasons[i] = "one token only: nothing for the language model"
            elif told.windows:
                found.notes.setdefault(i, WINDOWS)
        return found


def remapped(rows: Any, clp: str = "", umd: str = "") -> Any:
    """Vectors of the source, brought nearer to those of the other language."""
    if clp:
        matrix = numbers(clp)
        if matrix.ndim != 2 or matrix.shape[0] != rows.shape[1]:
            raise NlgaugeError(
                f"clp='{clp}': shape {matrix.shape}; needs {rows.shape[1]} rows, one for each dimension."
            )
        return rows @ matrix
    if umd:
        bias = np.atleast_2d(numbers(umd))[0]
        if len(bias) != rows.shape[1]:
            raise NlgaugeError(
                f"umd='{umd}': {len(bias)} numbers; needs {rows.shape[1]}, one for each dimension."
            )
        return rows - (rows @ bias)[:, None] * bias
    return rows


@lru_cache(4)
def numbers(path: str) -> Any:
    """A matrix from a file: .npy or .safetensors (its only tensor), else numbers as text. Nothing is unpickled."""
    place = Path(path).expanduser()
    try:
        if place.suffix == ".safetensors":
            from safetensors.numpy import load_file

            (found,) = load_file(place).values()
        else:
            found = np.load(place, allow_pickle=False) if place.suffix == ".npy" else np.loadtxt(place)
    except (OSError, ValueError) as error:
        raise NlgaugeError(f"{path}: no matrix of numbers ({str(error).splitlines()[0][:120]}).") from None
    return np.asarray(found, np.float64)


def _hash(path: str) -> str:
    return hashlib.blake2b(Path(path).expanduser().read_bytes(), digest_size=6).hexdigest()
