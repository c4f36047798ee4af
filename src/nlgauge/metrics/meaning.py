"""Output against the meaning that it was made from: SIM and lev.dist of paper 004."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from nlgauge.metrics._base import Batch, Scores, metric, signature
from nlgauge.metrics._vectors import Vectors, ready, vectors

# inform_no_match(area='upper market', kids_allowed=no): the act, then slots and values.
ACT = re.compile(r"^\s*\??\w+\s*\((.*)\)\s*$", re.S)
TERM = re.compile(r"[^\W_]+")
FUNCTION_WORDS = (
    "a an the is are was were be been it its in of at on to for and or that this these those which with i you "
    "he she we they their there has have had do does did not can could would will if but by from as am "
    "s m re ll ve t d"
)
STOP = frozenset(FUNCTION_WORDS.split())


@metric(
    "sim", family="embedding", needs=("source",), bounds=(0.0, 1.0), year=2013, cite="han-etal-2013-umbc",
    extra="vectors", weights="wordllama l2_supercat_256 (inside the package)",
)  # fmt: skip
@dataclass(frozen=True)
class Sim:
    """Similarity of output and meaning representation: each term with its nearest one, averaged both ways.

    The alignment of Han et al. (2013); their LSA and WordNet word similarity is a closed service, so words are
    compared by static vectors, and their penalties for bad alignments are left out. Similarity below `floor`
    counts as 0.
    """

    floor: float = 0.2

    def ready(self) -> None:
        ready("sim")

    @property
    def signature(self) -> str:
        return signature(vectors="wordllama-l2_supercat_256", floor=self.floor, penalties="none")

    def score(self, batch: Batch) -> Scores:
        space = vectors()
        texts = batch.texts.list()
        terms: dict[int, list[str]] = {}
        values, reasons = np.full(len(batch), np.nan), {}
        for i, pair in enumerate(zip(batch.output.tolist(), batch.source.tolist(), strict=True)):
            if min(pair) < 0:
                continue
            for number in pair:
                if number not in terms:
                    terms[number] = content_terms(texts[number])
            output, source = (terms[number] for number in pair)
            if not source:
                reasons[i] = "empty source"
            else:
                values[i] = _align(space, output, source, self.floor) if output else 0.0
        return Scores(values, reasons)


def content_terms(text: str) -> list[str]:
    """Content words; of a meaning representation slots and values without the act.

    >>> content_terms("inform(name='hotel del sol',has_internet='yes')")
    ['name', 'hotel', 'del', 'sol', 'internet', 'yes']
    """
    inner = ACT.match(text)
    return [term for term in TERM.findall((inner[1] if inner else text).lower()) if term not in STOP]


def _align(space: Vectors, output: list[str], source: list[str], floor: float) -> float:
    near = space.of(output) @ space.of(source).T
    near[near < floor] = 0.0
    near[np.array(output)[:, None] == np.array(source)[None, :]] = 1.0
    return float(np.clip((near.max(axis=1).mean() + near.max(axis=0).mean()) / 2, 0.0, 1.0))


@metric(
    "lev-source", family="control", needs=("source",), lower=True, bounds=(0.0, math.inf), year=2017,
    cite="novikova-etal-2017-need",
)  # fmt: skip
@dataclass(frozen=True)
class LevSource:
    """Levenshtein distance in characters between output and source (lev.dist of paper 004's data)."""

    normalise: bool = False

    def score(self, batch: Batch) -> Scores:
        texts = batch.texts.list()
        known: dict[tuple[int, int], float] = {}
        for pair in zip(batch.output.tolist(), batch.source.tolist(), strict=True):
            if pair not in known:
                known[pair] = self._of(texts[pair[0]], texts[pair[1]]) if min(pair) >= 0 else math.nan
        pairs = zip(batch.output.tolist(), batch.source.tolist(), strict=True)
        return Scores(np.array([known[pair] for pair in pairs], np.float64))

    def _of(self, output: str, source: str) -> float:
        distance = levenshtein(output, source)
        return distance / max(len(output), len(source), 1) if self.normalise else distance


def levenshtein(a: str, b: str) -> int:
    """Edits between two strings, a column of the table at a time as bits of one integer (Hyyrö 2003).

    >>> levenshtein("kitten", "sitting")
    3
    """
    if not a or not b:
        return len(a) + len(b)
    places: dict[str, int] = {}
    for i, sign in enumerate(a):
        places[sign] = places.get(sign, 0) | 1 << i
    full, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    up, down, distance = full, 0, len(a)
    for sign in b:
        match = places.get(sign, 0) | down
        diagonal = (((match & up) + up) ^ up) | match
        left, right = down | (full & ~(up | diagonal)), up & diagonal
        distance += bool(left & last) - bool(right & last)
        left, right = ((left << 1) | 1) & full, (right << 1) & full
        down, up = left & diagonal, right | (full & ~(left | diagonal))
    return distance
