"""Optimal transport between contextual tokens: MoverScore, and XMoverScore across languages."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts
from nlgauge.metrics.batch import Best, Scores, TextPair, over_pairs
from nlgauge.metrics.embedding import _transport
from nlgauge.metrics.embedding.bertscore import CHUNK, MULTILINGUAL, WEIGHTS, Contextual, embedding, piece_weights
from nlgauge.metrics.learned.language_model import WINDOWS
from nlgauge.models.causal import answers
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.encoder import Encoded
from nlgauge.models.encoder import encoder as load_encoder
from nlgauge.models.loading import check_ready, fingerprint
from nlgauge.text.batch import Batch
from nlgauge.text.stopwords import stop_signature, stop_words_of

Bag = tuple[Any, Any]  # vectors of length 1, weights
Weigh = Callable[["Encoded"], Any]
Cost = Literal["euclidean", "squared"]
PUNCTUATION = frozenset(string.punctuation)
LEAST = {"euclidean": -1.0, "squared": -3.0}  # vectors of length 1 are at most 2 apart


class Moving(Contextual):
    """Minimum cost of transporting the n-grams of one text to those of another; the score is 1 − cost."""

    idf: bool
    n: int
    references: Best = "max"

    @property
    def _cost(self) -> Cost:
        return "euclidean"

    def ready(self) -> None:
        super().ready()
        _transport.ready(self.facts.name)

    def check(self) -> None:
        if self.n < 1:
            raise NlgaugeError(
                f"{self.facts.name}: n must be 1 (tokens), 2 (pairs of neighbors) or more; got {self.n}."
            )

    def own_facts(self, facts: Facts) -> Facts:
        return replace(facts, corpus=self.idf, bounds=(LEAST[self._cost], 1.0))

    def wanted(self, kept: Embeddings) -> list[int]:
        """Return the numbers of the layers in a bag."""
        return [kept.want(self.layer)]

    def bag(self, layers: list[Encoded], weigh: Weigh, other: bool) -> Bag:
        """Return the n-grams of a text from its layers, and their weights; `other`: it is the reference or source."""
        raise NotImplementedError

    def weighs(self, batch: Batch) -> tuple[Weigh, Weigh]:
        """Return the weights of the pieces of an output, and those of a reference or source."""
        weigh = piece_weights(batch, self.side, self.encoder, self.idf)
        return weigh, weigh

    def prepare(self, batch: Batch) -> None:
        selected, _ = self.vectors(batch)
        for layer in self.wanted(selected):
            selected.want(layer, self.read(batch))

    def vectors(self, batch: Batch) -> tuple[Embeddings, int]:
        selected = embeddings(batch, self.encoder)
        return selected, self.wanted(selected)[-1]

    def score(self, batch: Batch) -> Scores:
        weighs = self.weighs(batch)
        long: set[TextPair] = set()

        def score(pairs: list[TextPair]) -> list[float]:
            results = []
            for pair, (a, b) in zip(pairs, self._bags(batch, pairs, weighs), strict=True):
                if _transport.too_large(len(a[1]), len(b[1])):
                    long.add(pair)
                    results.append(math.nan)
                else:
                    far = _transport.euclidean(a[0], b[0])
                    results.append(1 - _transport.transport(a[1], b[1], far**2 if self._cost == "squared" else far))
            return results

        def why(pair: TextPair) -> str:
            return _transport.TOO_LONG if pair in long else "no words to compare"

        return over_pairs(batch, self.side, score, self.references, why=why)

    def _bags(self, batch: Batch, pairs: Sequence[TextPair], weighs: tuple[Weigh, Weigh]) -> Iterator[tuple[Bag, Bag]]:
        selected, _ = self.vectors(batch)
        layers = self.wanted(selected)
        for index in range(0, len(pairs), CHUNK):
            some = [(a.strip(), b.strip()) for a, b in pairs[index : index + CHUNK]]
            texts = list(dict.fromkeys(t for pair in some for t in pair))
            result = dict(zip(texts, zip(*selected.at(texts, layers), strict=True), strict=True))
            for pair in some:
                a, b = (
                    self.bag(list(result[t]), weigh, other)
                    for t, weigh, other in zip(pair, weighs, (False, True), strict=True)
                )
                yield a, b


def ngrams(table: Any, weights: Any, n: int) -> Bag:
    """Return weighted means of n adjacent tokens and the sums of their weights; a shorter text is one n-gram."""
    n = min(n, len(table))
    if n > 1:
        places = np.arange(len(table) - n + 1)[:, None] + np.arange(n)
        share = weights[places]
        sums = share.sum(axis=1)
        share = share / np.where(sums, sums, 1.0)[:, None]
        table, weights = (table[places] * share[:, :, None]).sum(axis=1), sums
    return table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12), weights


# layers, combination, cost: the program of the paper, and the authors' faster second one.
PRESETS: dict[str, tuple[int, Literal["mean", "power"], Cost]] = {
    "original": (5, "power", "squared"),
    "v2": (1, "mean", "euclidean"),
}


@embedding("moverscore", bounds=(LEAST["squared"], 1.0), year=2019, cite="zhao-etal-2019-moverscore", weights=WEIGHTS)
class MoverScore(Moving):
    """1 − the minimum cost of moving the contextual tokens of the output to those of the reference, as the authors'
    program.

    preset: 'original' is the program of the paper (power means of the last five layers: minimum, mean and maximum side
    by side; squared distances), 'v2' the authors' second one (the last layer, plain distances). Both leave out
    punctuation and pieces that continue a word. idf=True, as in the paper, weighs tokens by their rarity among the
    references and among the outputs; without it all weigh the same, as the program also allows. What differs is the
    encoder: theirs are BERT tuned on MNLI and DistilBERT. stop: a file with words to leave out as well (the authors do
    so for summaries, with idf=True and references='mean'). layer, layers (how many of the last, or which ones as (2, 4,
    6)), combine, cost and n (2: pairs of neighbors) beat the preset. Texts beyond the encoder's length are read in
    windows, where the program cuts them.
    """

    preset: Literal["original", "v2"] = "original"
    encoder: str = "minilm"
    layer: int | None = None
    layers: int | tuple[int, ...] = ()
    combine: Literal["mean", "power", ""] = ""
    cost: Cost | Literal[""] = ""
    n: int = 1
    idf: bool = False
    stop: str = ""
    references: Best = "max"

    def check(self) -> None:
        super().check()
        if self.layers and self.layer is not None:
            raise NlgaugeError("moverscore: give layer or layers, not both.")
        if isinstance(self.layers, int) and self.layers < 0:
            raise NlgaugeError(
                f"moverscore: layers must be a number of last layers, or layers such as (2, 4, 6); got {self.layers}."
            )

    @property
    def _cost(self) -> Cost:
        return self.cost or PRESETS[self.preset][2]

    @property
    def _layers(self) -> int | tuple[int, ...]:
        return self.layers or PRESETS[self.preset][0]

    def ready(self) -> None:
        super().ready()
        stop_signature(self.stop)

    def wanted(self, kept: Embeddings) -> list[int]:
        if self.layer is not None:
            return [kept.want(self.layer)]
        last, asked = kept.encoder.layers, self._layers
        if isinstance(asked, int) and asked > last + 1:
            raise NlgaugeError(f"moverscore: layers={asked}: encoder '{self.encoder}' has {last + 1}.")
        named = range(last - asked + 1, last + 1) if isinstance(asked, int) else asked
        return [kept.want(layer) for layer in named]

    def weighs(self, batch: Batch) -> tuple[Weigh, Weigh]:
        return (
            piece_weights(batch, "outputs", self.encoder, self.idf),
            piece_weights(batch, "references", self.encoder, self.idf),
        )

    def bag(self, layers: list[Encoded], weigh: Weigh, other: bool) -> Bag:
        first = layers[0]
        stacked = np.stack([e.unit for e in layers])
        if (self.combine or PRESETS[self.preset][1]) == "mean" or len(layers) == 1:
            table = stacked.mean(axis=0)
        else:
            table = np.concatenate([stacked.min(axis=0), stacked.mean(axis=0), stacked.max(axis=0)], axis=1)
        # [CLS] and [SEP] are in every text: equal weight, or 0 with idf.
        ends = [0.0 if self.idf else 1.0]
        weights = np.array([*ends * first.prefix, *weigh(first), *ends * first.suffix])
        whole = _whole(self.encoder, first.pieces.ids.tolist(), stop_words_of(self.stop) if self.stop else frozenset())
        used = np.array([*[True] * first.prefix, *whole, *[True] * first.suffix], bool)
        return ngrams(table[used], weights[used], self.n)

    @property
    def signature(self) -> str:
        layers = None if self.layer is not None else f"{self._layers}".replace(" ", "")
        combine = self.combine or PRESETS[self.preset][1]
        return self.signed(
            layers=layers and f"{layers}-{combine}",
            idf=self.idf,
            ngram=self.n,
            cost=self._cost,
            form="1-cost",
            tokens="words",
            stop=stop_signature(self.stop) or None,
            refs=self.references,
        )


def _whole(encoder: str, ids: Sequence[int], stop: frozenset[str]) -> list[bool]:
    """Return whether a piece is not a punctuation mark, stop word or word continuation (##)."""
    names = [load_encoder(encoder).tokenizer.id_to_token(i) or "" for i in ids]
    return [name not in PUNCTUATION and "##" not in name and name not in stop for name in names]


@embedding(
    "xmoverscore",
    needs=("source",),
    bounds=(LEAST["euclidean"], 1.0),
    year=2020,
    cite="zhao-etal-2020-limitations",
    weights="a multilingual encoder by name",
)
class XMoverScore(Moving):
    """1 − word mover's distance of output and source, across languages, with re-mapping and a language model if given.

    All word pieces and punctuation take part, [CLS] and [SEP] do not.
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

    def check(self) -> None:
        super().check()
        if self.clp and self.umd:
            raise NlgaugeError("xmoverscore: give clp or umd, not both.")

    def own_facts(self, facts: Facts) -> Facts:
        result = super().own_facts(facts)
        return replace(result, bounds=(-math.inf, 1.0)) if self.lm else result

    def ready(self) -> None:
        super().ready()
        for option in ("clp", "umd"):
            path = getattr(self, option)
            if path and not Path(path).expanduser().is_file():
                raise NlgaugeError(f"xmoverscore: {option}='{path}': no such file.")
        if self.lm:
            check_ready("xmoverscore", lm=self.lm)

    def bag(self, layers: list[Encoded], weigh: Weigh, other: bool) -> Bag:
        e = layers[0]
        raw = e.raw()[e.prefix : len(e.unit) - e.suffix]
        return ngrams(remapped(raw, self.clp, self.umd) if other else raw, weigh(e), self.n)

    @property
    def signature(self) -> str:
        files = {k: digest(Path(getattr(self, k))).hex() for k in ("clp", "umd") if getattr(self, k)}
        lm = f"{self.lm_weight}x{fingerprint(self.lm)}" if self.lm else None
        return self.signed(idf=self.idf, ngram=self.n, cost="euclidean", form="1-cost", **files, lm=lm)

    def score(self, batch: Batch) -> Scores:
        result = super().score(batch)
        if not self.lm or not self.lm_weight:
            return result
        rows = np.flatnonzero(~np.isnan(result.values))
        texts = batch.texts.list()
        likely = answers(batch, self.lm).of([("", texts[batch.output[i]].strip()) for i in rows], start=False)
        for i, told in zip(rows.tolist(), likely, strict=True):
            result.values[i] += self.lm_weight * told.mean
            if math.isnan(told.mean):
                result.reasons[i] = "one token only: the language model has no context"
            elif told.windows:
                result.notes.setdefault(i, WINDOWS)
        return result


def remapped(rows: Any, clp: str = "", umd: str = "") -> Any:
    """Return vectors of the source after cross-lingual mapping."""
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
            raise NlgaugeError(f"umd='{umd}': {len(bias)} numbers; needs {rows.shape[1]}, one for each dimension.")
        return rows - (rows @ bias)[:, None] * bias
    return rows


@lru_cache(4)
def numbers(path: str) -> Any:
    """Read a matrix from a file: .npy or .safetensors (its only tensor), else numbers as text. Nothing is unpickled."""
    place = Path(path).expanduser()
    try:
        if place.suffix == ".safetensors":
            from safetensors.numpy import load_file

            (result,) = load_file(place).values()
        else:
            result = np.load(place, allow_pickle=False) if place.suffix == ".npy" else np.loadtxt(place)
    except (OSError, ValueError) as error:
        raise NlgaugeError(f"{path}: not a matrix of numbers ({str(error).splitlines()[0][:120]}).") from None
    return np.asarray(result, np.float64)
