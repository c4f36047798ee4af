"""Metrics on static word vectors (wordllama, inside its package): WMD, SMS, average, greedy, extrema, ROUGE-WE."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import Best, Component, Scores, TextPair, over_pairs
from nlgauge.metrics.embedding import _transport
from nlgauge.models import static_vectors as _vectors
from nlgauge.text.batch import Batch
from nlgauge.text.stopwords import STOP, WORD
from nlgauge.text.windows import windows

WEIGHTS = "wordllama l2_supercat_256 (inside the package)"
TRANSPORT = ("wmd", "sms")
WHOLE_TABLE = (*TRANSPORT, "rouge-we")
S3_WORD = re.compile(r"\w+")


@functools.lru_cache(maxsize=200_000)
def vector(word: str) -> Any:
    """Return the vector of a word: the mean over its pieces, not normalized."""
    space = _vectors.static_vectors()
    pieces = space.tokenizer.encode(word, add_special_tokens=False).ids
    result = np.asarray(space.table[pieces], np.float64).mean(axis=0)
    result.flags.writeable = False
    return result


@functools.lru_cache(maxsize=50_000)
def words(text: str, stop: bool = False) -> tuple[str, ...]:
    """Return lower-cased words; with `stop`, without function words.

    >>> words("The cat's hat!", stop=True)
    ("cat's", 'hat')
    """
    result = (w[0].lower().replace("’", "'") for w in WORD.finditer(text))
    return tuple(w for w in result if not (stop and w in STOP))


def cosine(a: Any, b: Any) -> float:
    """Return the cosine of two vectors; NaN where one is zero."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size else math.nan


def units(rows: Any) -> Any:
    """Return the rows scaled to length 1; a zero row stays zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


class Static(Metric):
    """Common part of these metrics: a function of two texts, over references or with the source."""

    references: Best = "max"

    def ready(self) -> None:
        _vectors.ready(self.facts.name)
        if self.facts.name in TRANSPORT:
            _transport.ready(self.facts.name)

    def value(self, output: str, other: str) -> float:
        """Compute the value from the vectors of all words of both texts; NaN where one has no words."""
        tables = [np.stack([vector(w) for w in side]) for t in (output, other) if (side := words(t))]
        return self.of_vectors(*tables) if len(tables) == 2 else math.nan

    def of_vectors(self, a: Any, b: Any) -> float:
        """Compute the value of two texts from their word vectors, words × dimensions."""
        raise NotImplementedError

    @property
    def signature(self) -> str:
        return signature(vectors="wordllama-l2_supercat_256", words="unicode-lower", refs=self.references)

    def score(self, batch: Batch) -> Scores:
        def score(pairs: list[TextPair]) -> list[float]:
            return [math.nan if self._too_long(pair) else self.value(*pair) for pair in pairs]

        def why(pair: TextPair) -> str:
            return _transport.TOO_LONG if self._too_long(pair) else "no words to compare"

        return over_pairs(batch, "references", score, self.references, self.facts.lower, why)

    def _too_long(self, pair: TextPair) -> bool:
        """Return whether a pair is too long for a metric that holds the whole distance table in memory.

        The other metrics process the table in blocks.
        """
        if self.facts.name not in WHOLE_TABLE:
            return False
        a, b = (len(set(words(t))) if self.facts.name in TRANSPORT else len(words(t)) for t in pair)
        return _transport.too_large(a, b)


def _facts(name: str, year: int, cite: str, **more: Any) -> Callable[[type[Metric]], type[Metric]]:
    return metric(name, family="embedding", year=year, cite=cite, extra="vectors", weights=WEIGHTS, **more)


@_facts("wmd", 2015, "kusner-etal-2015-from", lower=True, bounds=(0.0, math.inf))
class Wmd(Static):
    """Word mover's distance of output and reference: the minimum transport cost of its words, without stop words."""

    stop: bool = True
    normalize: bool = True
    references: Best = "max"

    def value(self, output: str, other: str) -> float:
        """Compute the value of one pair of texts; with `normalize`, word vectors have length 1, as in gensim's WMD by
        default.
        """
        bags = [Counter(words(t, self.stop)) for t in (output, other)]
        if not all(bags):
            return math.nan
        tables = [np.stack([vector(w) for w in bag]) for bag in bags]
        if self.normalize:
            tables = [units(t) for t in tables]
        a, b = (list(bag.values()) for bag in bags)
        return _transport.transport(a, b, _transport.euclidean(tables[0], tables[1]))


@_facts("sms", 2019, "clark-etal-2019-sentence", bounds=(0.0, 1.0))
class Sms(Static):
    """Sentence mover's similarity: sentences as mean word vectors, weighted by their length; exp(−distance).

    of: 'sms' sentences only, 's+wms' sentences and words together, 'wms' words only. normalize: word vectors have
    length 1; without it they are taken as they are, as the authors' program does.
    """

    of: Literal["sms", "s+wms", "wms"] = "sms"
    normalize: bool = True
    references: Best = "max"

    def value(self, output: str, other: str) -> float:
        bags = [self._bag(t) for t in (output, other)]
        if not all(len(w) for w, _ in bags):
            return math.nan
        (a, u), (b, v) = bags
        return math.exp(-_transport.transport(a, b, _transport.euclidean(u, v)))

    def _bag(self, text: str) -> tuple[list[float], Any]:
        weights: list[float] = []
        rows = []
        if self.of != "wms":
            for sentence in (words(s, stop=True) for s in windows(text, 1)):
                if sentence:
                    weights.append(float(len(sentence)))
                    rows.append(self._vectors(sentence).mean(axis=0))
        if self.of != "sms":
            bag = Counter(words(text, stop=True))
            weights += map(float, bag.values())
            rows += [*self._vectors(tuple(bag))] if bag else []
        return weights, np.stack(rows) if rows else np.empty((0, 1))

    def _vectors(self, given: tuple[str, ...]) -> Any:
        rows = np.stack([vector(w) for w in given])
        return units(rows) if self.normalize else rows


@_facts("embedding-average", 2016, "liu-etal-2016-evaluate", bounds=(-1.0, 1.0))
class EmbeddingAverage(Static):
    """Cosine of the mean word vectors of output and reference."""

    references: Best = "max"

    def of_vectors(self, a: Any, b: Any) -> float:
        return cosine(a.mean(axis=0), b.mean(axis=0))


@_facts("vector-extrema", 2014, "forgues-etal-2014-bootstrapping", bounds=(-1.0, 1.0))
class VectorExtrema(Static):
    """Cosine of output and reference, each dimension by its most extreme word."""

    references: Best = "max"

    def of_vectors(self, a: Any, b: Any) -> float:
        return cosine(extrema(a), extrema(b))


def extrema(rows: Any) -> Any:
    """Return for each dimension the value farthest from 0 (Forgues et al. 2014)."""
    high, low = rows.max(axis=0), rows.min(axis=0)
    return np.where(high >= np.abs(low), high, low)


@_facts("greedy-matching", 2012, "rus-lintean-2012-comparison", bounds=(-1.0, 1.0), longest=50_000)
class GreedyMatching(Static):
    """Mean cosine of each word with its nearest one, averaged over both directions."""

    references: Best = "max"

    def of_vectors(self, a: Any, b: Any) -> float:
        of_a, of_b = _transport.best_of_each(units(a), units(b))
        return float(of_a.mean() + of_b.mean()) / 2


@_facts("rouge-we", 2015, "ng-abrecht-2015-better", bounds=(0.0, 1.0))
class RougeWe(Static):
    """ROUGE-N with soft matches: n-grams count by the cosine of their vectors (products of their words' vectors).

    Each n-gram is matched once, nearest pairs first; a cosine below `floor` is no match. preset='s3' is the program
    behind most published columns of this name (S3's, in SummEval's toolkit): vectors are added, a match counts as a
    whole one, and n-grams take their nearest one in the order of the output.
    """

    n: int = 1
    of: Component = "f"
    floor: float = 0.8
    preset: Literal["paper", "s3"] = "paper"
    references: Best = "max"

    def check(self) -> None:
        if self.n < 1:
            raise NlgaugeError(f"rouge-we: n must be at least 1. Got {self.n} instead.")

    def value(self, output: str, other: str) -> float:
        given = [words(t) if self.preset == "paper" else tuple(S3_WORD.findall(t.lower())) for t in (output, other)]
        if min(map(len, given)) < self.n:
            return math.nan
        if self.preset == "paper":
            a, b = (self._products(side) for side in given)
            total = soft_overlap(units(a) @ units(b).T, self.floor)
        else:
            total = counted_overlap(self._counts(given[0]), self._counts(given[1]), self.floor, _sums)
        sizes = [len(side) - self.n + 1 for side in given]
        p, r = total / sizes[0], total / sizes[1]
        return p if self.of == "p" else r if self.of == "r" else 2 * total / sum(sizes)

    def _products(self, given: tuple[str, ...]) -> Any:
        rows = units(np.stack([vector(w) for w in given]))
        return np.prod([rows[i : len(rows) - self.n + 1 + i] for i in range(self.n)], axis=0)

    def _counts(self, given: tuple[str, ...]) -> Counter[tuple[str, ...]]:
        return Counter(given[i : i + self.n] for i in range(len(given) - self.n + 1))


def _sums(grams: Iterable[tuple[str, ...]]) -> Any:
    return units(np.stack([np.sum([vector(w) for w in gram], axis=0) for gram in grams]))


def counted_overlap(
    mine: Counter[tuple[str, ...]],
    others: Counter[tuple[str, ...]],
    floor: float,
    rows: Callable[[Iterable[tuple[str, ...]]], Any],
) -> float:
    """Count the n-grams of two texts that match, where n-grams with near vectors match too (ROUGE-WE).

    Parameters
    ----------
    mine, others : Counter
        Counts of n-grams.
    floor : float
        Smallest cosine of a match.
    rows : callable
        Returns a vector of length 1 for each n-gram; zeros for one without a vector, which then matches itself only.

    Returns
    -------
    float

    Notes
    -----
    Each n-gram of `mine` is matched with the nearest one left of `others`, as often as both have it (Ng and Abrecht
    2015).
    """
    if not mine or not others:
        return 0.0
    near = rows(mine) @ rows(others).T
    left, total = np.array(list(others.values())), 0
    names = {gram: k for k, gram in enumerate(others)}
    for i, (gram, n) in enumerate(mine.items()):
        row = np.where(left > 0, near[i], -math.inf)
        if (same := names.get(gram)) is not None and left[same]:
            row[same] = 1.0
        k = int(row.argmax())
        if row[k] >= floor:
            result = min(n, int(left[k]))
            left[k] = left[k] - n if left[k] > n else 0
            total += result
    return float(total)


def soft_overlap(near: Any, floor: float) -> float:
    """Return the sum of similarities of a one-to-one matching, nearest pairs first."""
    rows, columns = np.nonzero(near >= floor)
    order = np.argsort(-near[rows, columns], kind="stable")
    used_a, used_b, total = set(), set(), 0.0
    for a, b in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        if a not in used_a and b not in used_b:
            used_a.add(a)
            used_b.add(b)
            total += min(1.0, float(near[a, b]))
    return total
