"""METEOR (Banerjee and Lavie 2005; Denkowski and Lavie 2014): alignment of exact words, stems, synonyms and
paraphrases.
"""

from __future__ import annotations

import functools
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.kernels.meteor import align, align_phrases
from nlgauge.metrics.base import Metric, metric, signature
from nlgauge.metrics.batch import GROWS, Scores, Usable, scores_without, stats_without
from nlgauge.metrics.overlap.matches import tokenized_pairs
from nlgauge.metrics.overlap.paraphrases import Matcher, check_table, table_hash
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text import wordnet as _wordnet
from nlgauge.text.batch import Batch
from nlgauge.text.stopwords import STOP
from nlgauge.text.tokens import Stems, Tokens
from nlgauge.types import Array, Ids, Ints

Preset = Literal["1.5", "coco", "nltk"]


@dataclass(frozen=True)
class Parameters:
    """METEOR's parameters (Denkowski and Lavie 2014)."""

    alpha: float
    beta: float
    gamma: float
    delta: float  # weight of content words; 1 − delta for function words
    weights: tuple[float, ...]  # weights by kind of match


PARAMETERS = {
    "1.5": Parameters(0.85, 0.2, 0.6, 0.75, (1.0, 0.6, 0.8)),
    "nltk": Parameters(0.9, 3.0, 0.5, 0.5, (1.0, 1.0, 1.0)),
}
OF_PARAPHRASES = 0.6  # weight of the fourth kind of match
MATCHES = 4_000_000  # maximum number of pairs of equal words; more take seconds and gigabytes
CROWDED = f"more than {MATCHES:,} pairs of equal words: {GROWS}"
TOKENIZERS = {"1.5": "13a", "coco": "coco", "nltk": "13a"}


@metric("meteor", family="meteor", year=2005, cite="banerjee-lavie-2005-meteor", extra="wordnet", longest=50_000)
class Meteor(Metric):
    """F-score of words aligned with the reference by form, stem or synonym, with a penalty for fragmentation.

    `preset='1.5'`: the alignment, stems (Snowball), synonyms (WordNet 3.0) and English parameters of
    METEOR 1.5 (alpha .85, beta .2, gamma .6, delta .75, weights 1 .6 .8), without its paraphrase table, as its program
    run with `-m "exact stem synonym"`; on 13a tokens, or its own with `tokenize='meteor'`.
    `paraphrases='paraphrase-en.gz'` (METEOR's table, also inside pycocoevalcap; lines of a number, a phrase, a phrase)
    adds the fourth kind of match, phrases with their paraphrases (weight .6), as its program by default.
    `'coco'`: the same on PTB-like tokens without punctuation, as pycocoevalcap and the E2E challenge prepare them.
    `'nltk'`: nltk's greedy alignment, Porter stems, and parameters (.9, 3, .5).
    `synonyms=False` needs no WordNet. An empty output scores 0.
    Function words have less weight; ours are the English words of closed classes. METEOR's own list is part of its
    program: `function_words='meteor-1.5.jar'` reads it from there (any word list works) and gives METEOR's values.
    """

    preset: Preset = "1.5"
    synonyms: bool = True
    tokenize: str | None = None
    references: MultiRef = "max"
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    function_words: str = ""
    paraphrases: str = ""

    def check(self) -> None:
        if self.paraphrases and self.preset == "nltk":
            raise NlgaugeError("meteor: paraphrases belong to preset='1.5' and 'coco'; nltk's METEOR has none.")

    def ready(self) -> None:
        super().ready()
        if self.paraphrases:
            check_table(self.paraphrases)

    @property
    def tokenizer(self) -> str:
        """The tokenizer: the option, else the preset's."""
        return self.tokenize or TOKENIZERS[self.preset]

    @property
    def parameters(self) -> Parameters:
        """The parameters: the options, else the preset's."""
        usual = PARAMETERS["nltk" if self.preset == "nltk" else "1.5"]
        return Parameters(
            usual.alpha if self.alpha is None else self.alpha,
            usual.beta if self.beta is None else self.beta,
            usual.gamma if self.gamma is None else self.gamma,
            usual.delta,
            usual.weights + ((OF_PARAPHRASES,) if self.paraphrases else ()),
        )

    @property
    def signature(self) -> str:
        p = self.parameters
        stages = "exact+stem+synonym" if self.synonyms else "exact+stem"
        numbers = ",".join(f"{x:g}" for x in (p.alpha, p.beta, p.gamma, p.delta))
        more = {}
        if self.paraphrases:
            file, stages = Path(self.paraphrases).expanduser(), f"{stages}+paraphrase"
            more = {"paraphrases": f"{file.name}@{table_hash(str(file), file.stat().st_mtime_ns)}"}
        return signature(
            rules=self.preset,
            refs=self.references,
            case="lc",
            tok=self.tokenizer,
            match=stages,
            abgd=numbers,
            function=Path(self.function_words).name or "nlgauge",
            **more,
        )

    def score(self, batch: Batch) -> Scores:
        return scores_without(batch, self._crowded(batch), CROWDED, self._score)

    def stats(self, batch: Batch) -> Array:
        """Return the columns: lengths of output and reference, their function words, matches by kind (content and
        function words of the output, then of the reference), and chunks.
        """
        return stats_without(batch, self._crowded(batch), self._stats)

    def _crowded(self, batch: Batch) -> Ints:
        """Return samples with too many pairs of equal words for the search, such as thousands of dots."""
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=True)
        h, r = pairs.output, pairs.reference
        many = np.flatnonzero(tokens.length[h] * tokens.length[r] > MATCHES)
        results = [p for p in many.tolist() if _equal_words(tokens, int(h[p]), int(r[p])) > MATCHES]
        return np.unique(pairs.sample[results])

    def _score(self, batch: Batch) -> Scores:
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=True)
        values = self.from_stats(self._rows(batch))
        return pairs.scores(over_references(pairs, values, self.references, tokens=tokens))

    def _stats(self, batch: Batch) -> Array:
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=True)
        rows = self._rows(batch)
        best = over_references(pairs, rows, self.references, rank=self.from_stats(rows), tokens=tokens)
        return pairs.zeroed(best)

    def from_stats(self, stats: Array) -> Array:
        rows, p = np.atleast_2d(np.asarray(stats, np.float64)), self.parameters
        weights = np.array(p.weights)
        kinds = len(weights)
        sides = []
        for side in (0, 1):
            matched = rows[:, 4 + 2 * kinds * side : 4 + 2 * kinds * (side + 1)]
            function = rows[:, 2 + side]
            weighed = p.delta * matched[:, :kinds] @ weights + (1 - p.delta) * matched[:, kinds:] @ weights
            sides.append((weighed, p.delta * (rows[:, side] - function) + (1 - p.delta) * function))
        hits = (rows[:, 4 : 4 + 2 * kinds].sum(axis=1), rows[:, 4 + 2 * kinds : 4 + 4 * kinds].sum(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            precision, recall = (weighed / size for weighed, size in sides)
            mean = 1 / ((1 - p.alpha) / precision + p.alpha / recall)
            scattered = rows[:, 4 + 4 * kinds] / ((hits[0] + hits[1]) / 2)
            values = mean * (1 - p.gamma * scattered**p.beta)
        return np.where(np.isnan(values), 0.0, np.maximum(values, 0.0))

    def _rows(self, batch: Batch) -> Array:
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=True)
        light = function_words(self.function_words)
        return batch.keep(
            ("meteor", self.tokenizer, self.preset == "nltk", self.synonyms, self.function_words, self.paraphrases),
            lambda: aligned(tokens, pairs, self.preset == "nltk", self.synonyms, light, self.paraphrases),
        )


def _equal_words(tokens: Tokens, output: int, reference: int) -> int:
    """Return how many pairs of equal words two texts have."""
    first, last = tokens.start, tokens.start + tokens.length
    own, times = np.unique(tokens.ids[first[output] : last[output]], return_counts=True)
    other_values, others = np.unique(tokens.ids[first[reference] : last[reference]], return_counts=True)
    _, index, there = np.intersect1d(own, other_values, assume_unique=True, return_indices=True)
    return int((times[index] * others[there]).sum())


@functools.cache
def function_words(path: str = "") -> frozenset[str]:
    """Return our English function words and punctuation; or the words of a file, or the English list in METEOR's
    jar.
    """
    if not path:
        return STOP | frozenset(".,;:?!\"'()-$“”’—")
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as jar:
                return frozenset(jar.read("function/english.words").decode().split())
        return frozenset(Path(path).read_text(encoding="utf-8").split())
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise NlgaugeError(
            f"meteor: no function words in '{path}' ({error}); give a file of words or METEOR's jar."
        ) from None


def aligned(
    tokens: Tokens, pairs: Usable, greedy: bool, synonyms: bool, light: frozenset[str], paraphrases: str = ""
) -> Array:
    """Return the statistics of each pair."""
    words = tokens.words()
    stems = Stems("porter" if greedy else "snowball")
    stems.of(tokens)
    function = np.array([w in light for w in words], np.int64)
    sets, index = _synonyms(words, list(stems.ids) if greedy else None, synonyms)
    sieve = np.zeros(len(words), np.uint64)
    if not greedy:
        owner = np.repeat(np.arange(len(words)), np.diff(index))
        np.bitwise_or.at(sieve, owner, np.uint64(1) << (sets * 2654435761 >> 7 & 63).astype(np.uint64))
    if paraphrases:
        result = _with_paraphrases(tokens, pairs, stems.of_word, sets, index, function, paraphrases)
    else:
        result = align(
            tokens.ids,
            tokens.start,
            tokens.length,
            pairs.output,
            pairs.reference,
            stems.of_word,
            sets,
            index,
            sieve,
            function,
            greedy,
        )
    if not greedy:  # 1.5 does not count the one chunk of a sentence that is matched as a whole
        half = result.shape[1] // 2
        whole = (result[:, :half].sum(axis=1) == tokens.length[pairs.output]) & (result[:, -1] == 1)
        result[whole & (result[:, half:-1].sum(axis=1) == tokens.length[pairs.reference]), -1] = 0
    runs = np.zeros(len(tokens.ids) + 1, np.int64)
    np.cumsum(function[tokens.ids], out=runs[1:])
    columns = [tokens.length[pairs.output], tokens.length[pairs.reference]]
    for text in (pairs.output, pairs.reference):
        columns.append(runs[tokens.start[text] + np.maximum(tokens.length[text], 0)] - runs[tokens.start[text]])
    return np.column_stack([*columns, result]).astype(np.float64)


def _with_paraphrases(
    tokens: Tokens, pairs: Usable, stems: Ids, sets: Ints, at: Ints, function: Ints, path: str
) -> Ints:
    """Align as `align`, with four kinds of match."""
    synsets = [sets[a:b].tolist() for a, b in pairwise(at)]
    weights = np.array([*PARAMETERS["1.5"].weights, OF_PARAPHRASES])
    match_at, rows = Matcher(tokens, pairs, stems, synsets, path).all()
    start, span, place, width, kind = (np.ascontiguousarray(column) for column in rows.T)
    # The search weighs words by kind, each side rounded down.
    gain = sum(np.floor(words * weights[kind] + 1e-9).astype(np.int64) for words in (span, width))
    result: Ints = align_phrases(
        tokens.ids,
        tokens.start,
        tokens.length,
        pairs.output,
        pairs.reference,
        function,
        match_at,
        start,
        span,
        place,
        width,
        kind,
        gain,
    )
    return result


def _synonyms(words: list[str], stems: list[str] | None, wanted: bool) -> tuple[Ints, Ints]:
    """Return the synsets of each word; for nltk, which looks up stems, the stems that are synonyms of each stem."""
    if not wanted:
        return np.zeros(0, np.int64), np.zeros(len(words if stems is None else stems) + 1, np.int64)
    look: Callable[[str], Any] = _wordnet.synsets
    asked = words
    if stems is not None:
        number = {stem: k for k, stem in enumerate(stems)}
        asked = stems

        def look(stem: str) -> Any:
            return (number[name] for name in _wordnet.synonyms(stem) if name in number)

    results = [sorted(look(word)) for word in asked]
    index = np.concatenate([[0], np.cumsum([len(f) for f in results])]).astype(np.int64)
    return np.array([number for f in results for number in f], np.int64), index
