"""SIM of Novikova et al. (2017): similarity of an output and the meaning representation from which it was generated."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from nlgauge.metrics import Batch, Facts, Metric, Scores, metric, signature, static_vectors, usable, wordnet_folder
from nlgauge_papers.novikova2017 import wordnet_distance

# inform_no_match(area='upper market', kids_allowed=no): the act, then slots and values.
ACT = re.compile(r"^\s*\??\w+\s*\((.*)\)\s*$", re.S)
TERM = re.compile(r"[^\W_]+")
FUNCTION_WORDS = (
    "a an the is are was were be been it its in of at on to for and or that this these those which with i you "
    "he she we they their there has have had do does did not can could would will if but by from as am "
    "s m re ll ve t d"
)
STOP = frozenset(FUNCTION_WORDS.split())
LEAST = 0.1  # smallest cosine of two words for which WordNet relations count
LARGEST = 1_000_000  # pairs of terms: meaning representations have a few dozen
BAD = 0.05  # a term whose best similarity is lower is unaligned


@metric(
    "sim",
    family="embedding",
    needs=("source",),
    bounds=(0.0, 1.0),
    year=2013,
    cite="han-etal-2013-umbc",
    extra="vectors",
    weights="wordllama l2_supercat_256 (inside the package); WordNet 3.0",
)
class Sim(Metric):
    """Similarity of output and meaning representation: distributional with WordNet relations, terms aligned both ways.

    After Han et al. (2013), the measure that novikova2017 names:
    word similarity = min(1, cosine + 0.5·exp(−0.25·D)), D the distance in WordNet (0 same synset, 1 direct, 2 two
    links: hypernyms, similar adjectives; 1 derived forms), the second part only where the cosine is at least 0.1; T =
    mean over the output's terms of the best similarity / 2 + the same from the source's side / 2;
    penalties: a term whose best similarity is below 0.05 costs (similarity + weight) / 2n, weight 1 for nouns, verbs,
    numbers and words WordNet does not know, 0.5 for adjectives and adverbs; a term whose best one is its antonym costs
    (similarity + 0.5) / 2n. The score is T minus the penalties, not below 0.

    Ours: static vectors of wordllama for their LSA model (a closed service), with a cosine below `floor` counted as 0;
    no relations from glosses; no weights by corpus frequency; their rules for pronouns, acronyms and phrases left out;
    parts of speech from WordNet and no tagger. An output without content terms scores 0.
    against='references' compares with references instead of the meaning representation; the best one counts.
    """

    floor: float = 0.2
    wordnet: bool = True
    penalties: bool = True
    against: Literal["source", "references"] = "source"

    def own_facts(self, facts: Facts) -> Facts:
        return replace(facts, needs=frozenset({"output", self.against}))

    def ready(self) -> None:
        static_vectors("sim")
        if self.wordnet:
            wordnet_folder("sim(wordnet=False, penalties=False)")

    @property
    def signature(self) -> str:
        return signature(
            vectors="wordllama-l2_supercat_256",
            floor=self.floor,
            wordnet="3.0" if self.wordnet else "no",
            penalties=self.penalties,
            against=self.against,
        )

    def score(self, batch: Batch) -> Scores:
        space = static_vectors("sim")
        texts = batch.texts.list()
        others = batch.source if self.against == "source" else batch.reference
        terms = {n: content_terms(texts[n]) for n in {*batch.output.tolist(), *others.tolist()} if n >= 0}
        filled = np.array([bool(terms.get(n)) for n in range(len(texts))], np.bool_)
        result = usable(batch, self.facts.needs, filled=filled, may_be_empty=("output",))
        values = []
        for i in result.places.tolist():
            own = terms[int(batch.output[i])]
            refs = result.reference[result.start[i] : result.start[i + 1]]
            given = [terms[int(n)] for n in ([batch.source[i]] if self.against == "source" else refs)]
            if any(len(own) * len(other) > LARGEST for other in given):
                result.reasons[i] = f"too long to align (more than {LARGEST:,} pairs of terms)"
                values.append(math.nan)
            else:
                values.append(max(self._aligned(space, own, other) for other in given) if own else 0.0)
        return result.scattered(values)

    def _aligned(self, space: Any, output: list[str], other: list[str]) -> float:
        near = space.of(output) @ space.of(other).T
        for i, a in enumerate(output):
            for j, b in enumerate(other):
                near[i, j] = self._near(a, b, float(near[i, j]))
        result = 0.0
        for rows, own, others in ((near, output, other), (near.T, other, output)):
            best = rows.argmax(axis=1).tolist()
            for i, j in enumerate(best):
                cost = _penalty(own[i], others[j], rows[i, j], self.wordnet) if self.penalties else 0.0
                result += (rows[i, j] - cost) / (2 * len(own))
        return float(np.clip(result, 0.0, 1.0))

    def _near(self, a: str, b: str, cosine: float) -> float:
        if a == b or a.isdigit() or b.isdigit():
            return float(a == b)
        boost = _boost(a, b) if self.wordnet and cosine >= LEAST else 0.0
        return min(1.0, (cosine if cosine >= self.floor else 0.0) + boost)


@functools.lru_cache(2**18)
def _boost(a: str, b: str) -> float:
    steps = wordnet_distance.distance(a, b)
    return 0.0 if steps is None else 0.5 * math.exp(-0.25 * steps)


def _penalty(term: str, aligned: str, similarity: float, wordnet: bool) -> float:
    if similarity < BAD:
        parts = wordnet_distance.parts_of(term) if wordnet else frozenset()
        return similarity + (0.5 if parts and parts <= {"adj", "adv"} else 1.0)
    return similarity + 0.5 if wordnet and wordnet_distance.antonyms(term, aligned) else 0.0


def content_terms(text: str) -> list[str]:
    """Return content words; of a meaning representation, return slots and values without the act.

    >>> content_terms("inform(name='hotel del sol',has_internet='yes')")
    ['name', 'hotel', 'del', 'sol', 'internet', 'yes']
    """
    inner = ACT.match(text)
    return [term for term in TERM.findall((inner[1] if inner else text).lower()) if term not in STOP]
