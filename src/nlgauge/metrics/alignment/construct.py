"""Training data without labels (Deng et al. 2021, Appendix A): target, paraphrase, mask, infill, word labels.

A target sentence y1 is taken from the text itself, so all of it is aligned. It is paraphrased (y2), phrases of it are
masked and filled without access to the text; the filled words are labeled 0, the others 1. Each step is a replaceable
function; those here work offline, and `construct_models` has those that load a model by name.

>>> made = list(examples([["Ann saw a red bird in the old park.", "It sang."]] * 3, "style", 0, 1))
>>> len(made[0].a.split()) == len(made[0].labels)
True
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.random import Generator

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import ToAlign
from nlgauge.text.damage import damage
from nlgauge.text.damage.core import trim
from nlgauge.text.paraphrase import Reworded, most_distant, wordnet
from nlgauge.text.stopwords import CLASSES, STOP
from nlgauge.text.textrank import textrank

Task = Literal["summarization", "dialogue", "response", "style"]
TASKS: tuple[str, ...] = get_args(Task)
Document = Sequence[str]  # sentences of a document
Span = tuple[int, int]
SHARE = 0.3  # mean share of the words of a target that are masked
CLEAN = 0.2  # share of targets that stay unchanged, so that training includes fully grounded texts
NEAR_SHARE = 0.3  # share of fillings from the same document: real errors often mix up facts of a text
SHORTEST, LONGEST = 5, 60  # limits of the words of a target sentence
FUSED, KEPT = 0.5, 0.6  # share of targets that are fused, and of phrases kept in them


class Example(NamedTuple):
    """Text a, the texts of b, and for each word (`a.split()`) whether b grounds it."""

    a: str
    b: tuple[str, ...]
    labels: tuple[int, ...]
    whole: bool = False

    @property
    def pair(self) -> ToAlign:
        """Return the texts to align."""
        return ToAlign(self.a, self.b, self.whole)


class ChosenText(NamedTuple):
    """A target: the texts of b, and sentences of it. `foreign` words that are not in b follow."""

    target: str
    b: tuple[str, ...]
    foreign: str = ""
    whole: bool = False


# Types of the construction steps. Each step draws from the generator it is given.
Select = Callable[
    [Document, Document, Generator], ChosenText | None
]  # a target in a document; other documents provide small talk
Paraphrase = Callable[[str, Generator], list[str]]  # several paraphrases of a text
ChooseSpans = Callable[[Sequence[str], Generator], list[Span]]  # spans of words to replace
# The words with the spans filled, and for each word whether it is grounded (1) or not (0).
Infill = Callable[[Sequence[str], Sequence[Span], Document, Generator], tuple[list[str], list[int]]]


# --- 1. targets ---


def _fit(document: Document) -> list[int]:
    return [i for i, s in enumerate(document) if SHORTEST <= len(s.split()) <= LONGEST]


def pseudo_summary(document: Document, others: Document, rng: Generator) -> ChosenText | None:
    """Return one to three of the most central half of the sentences, by TextRank; b is the document."""
    good = set(_fit(document))
    ranked = [i for i in _central(tuple(document)) if i in good]
    ranked = ranked[: max(3, len(ranked) // 2)]
    if not ranked:
        return None
    picked = sorted(rng.permutation(ranked)[: int(rng.integers(1, 4))].tolist())
    return ChosenText(" ".join(document[i] for i in picked), (" ".join(document),))


_central = lru_cache(maxsize=4096)(textrank)  # cached, because a document has many targets


def fusion(document: Document, others: Document, rng: Generator) -> ChosenText | None:
    """Return a pseudo-summary; every second one joins only some phrases of its sentences, like an abstractive
    summary.
    """
    chosen = pseudo_summary(document, others, rng)
    if chosen is None or rng.random() >= FUSED:
        return chosen
    words = chosen.target.split()
    selected = [w for a, b in phrases(words) if rng.random() < KEPT for w in words[a:b]]
    return chosen._replace(target=" ".join(selected)) if len(selected) >= SHORTEST else chosen


def lead(document: Document, others: Document, rng: Generator) -> ChosenText | None:
    """Return the first sentence, which represents a reference summary: news and encyclopedia texts begin with one.

    b is the rest of the document, so not all of the target is grounded in it, as with real references.
    """
    if len(document) < 4 or 0 not in _fit(document):
        return None
    return ChosenText(document[0], (" ".join(document[1:]),))


def itself(document: Document, others: Document, rng: Generator) -> ChosenText | None:
    """Return b as the target: for style transfer, and for a reference and an output."""
    good = _fit(document)
    if not good:
        return None
    first = good[int(rng.integers(len(good)))]
    last = first + int(rng.integers(1, 3)) if rng.random() < 0.3 else first
    target = " ".join(document[first : last + 1])
    return ChosenText(target, (target,), whole=True)


def response(document: Document, others: Document, rng: Generator) -> ChosenText | None:
    """Return the following sentence as a response: it fits the dialogue and the knowledge but adds something new."""
    good = [i for i in _fit(document) if i >= 2]
    if not good:
        return None
    i = good[int(rng.integers(len(good)))]
    history, valid = " ".join(document[max(0, i - 3) : i]), " ".join(document[i + 1 : i + 3])
    return ChosenText(document[i], (history, valid) if valid else (history,))


def knowledge(document: Document, others: Document, rng: Generator) -> ChosenText | None:
    """Return a turn that uses one to three knowledge sentences, or the history, and often adds small talk."""
    good = _fit(document)
    if len(good) < 4 or not others:
        return None
    start = int(rng.integers(0, max(1, len(document) - 5)))
    available = list(document[start : start + int(rng.integers(3, 9))])
    first = int(rng.integers(len(others)))
    history = " ".join(others[first : first + int(rng.integers(2, 5))])
    picked = rng.permutation(len(available))[: int(rng.integers(1, 4))]
    target = " ".join(available[i] for i in sorted(picked.tolist()))
    own = others[int(rng.integers(len(others)))] if rng.random() < 0.6 else ""
    b = (history, " ".join(available)) if rng.random() < 0.5 else (" ".join(available),)
    if own and own in history:
        own = ""
    return ChosenText(target, b, own)


# --- 3. masking ---

_OPENERS = {
    w: name
    for name in ("prepositions", "joining", "articles and pointers", "auxiliaries")
    for w in CLASSES[name].split()
}


def phrases(words: Sequence[str]) -> list[Span]:
    """Split into phrases without a tagger: a function word begins a phrase, a comma or full stop ends one.

    >>> phrases("She walked to the old harbour, and sang.".split())
    [(0, 2), (2, 6), (6, 8)]
    """
    spans: list[Span] = []
    start = 0
    for i, word in enumerate(words):
        opens = trim(word)[1].lower() in _OPENERS
        before = trim(words[i - 1])[1].lower() in STOP if i else True
        if i > start and ((opens and not before) or words[i - 1][-1:] in ",;.:!?"):
            spans.append((start, i))
            start = i
    if start < len(words):
        spans.append((start, len(words)))
    return spans


def masked_phrases(words: Sequence[str], rng: Generator) -> list[Span]:
    """Mask random phrases until about that share of the words is covered; sometimes content words only."""
    wanted = rng.uniform(0.3, 1.7) * SHARE * len(words)
    result, covered = [], 0
    spans = phrases(words)
    for k in rng.permutation(len(spans)).tolist():
        a, b = spans[k]
        if rng.random() < 0.5:  # only the content words of the phrase
            while b - a > 1 and trim(words[a])[1].lower() in STOP:
                a += 1
        if b - a > 8:
            a = b - int(rng.integers(1, 9))
        result.append((a, b))
        covered += b - a
        if covered >= wanted:
            break
    return sorted(result)


def kind(words: Sequence[str]) -> str:
    """Return the kind of a phrase: its first word, whether it contains a number or a name, and its length."""
    first = trim(words[0])[1].lower()
    number = any(re.search(r"\d", w) for w in words)
    name = any(w[:1].isupper() for w in words[1:] or words)
    return f"{_OPENERS.get(first, 'content')}/{'number' if number else 'name' if name else ''}/{min(len(words), 4)}"


# --- 4. infilling ---


@dataclass
class Borrowed:
    """Phrases of the same kind, from other documents or from elsewhere in this one."""

    pool: dict[str, list[str]]
    near: float = NEAR_SHARE

    @classmethod
    def of(cls, documents: Sequence[Document], near: float = NEAR_SHARE, most: int = 20_000) -> Borrowed:
        """Collect the phrases of all documents by kind, at most `most` of each."""
        pool: dict[str, list[str]] = defaultdict(list)
        for document in documents:
            for sort, result in _by_kind(tuple(document)).items():
                pool[sort] += result[: max(0, most - len(pool[sort]))]
        return cls(dict(pool), near)

    def __call__(
        self, words: Sequence[str], spans: Sequence[Span], document: Document, rng: Generator
    ) -> tuple[list[str], list[int]]:
        here = _by_kind(tuple(document))
        new: list[str] = []
        labels: list[int] = []
        place = 0
        for a, b in spans:
            old = list(words[a:b])
            sort = kind(old)
            near = here.get(sort, [])
            options = near if rng.random() < self.near and len(near) > 1 else self.pool.get(sort, [])
            filled = ending(old, options[int(rng.integers(len(options)))].split()) if options else old
            new += [*words[place:a], *filled]
            labels += [1] * (a - place) + changed(old, filled)
            place = b
        return [*new, *words[place:]], [*labels, *[1] * (len(words) - place)]


@lru_cache(maxsize=4096)
def _by_kind(document: tuple[str, ...]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = defaultdict(list)
    for sentence in document:
        for phrase in _phrases_of(sentence):
            result[kind(phrase)].append(" ".join(phrase))
    return dict(result)


def _phrases_of(sentence: str) -> list[list[str]]:
    words = sentence.split()
    results = []
    for a, b in phrases(words):
        first = a
        while b - first > 1 and trim(words[first])[1].lower() in STOP:
            first += 1
        results += [words[a:b], words[first:b]]
    return [f for f in results if len(f) <= 8]


def changed(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Label words that were inserted 0, and those of the original 1."""
    bare = [trim(w)[1].lower() for w in old]
    return [int(k < len(bare) and trim(w)[1].lower() == bare[k]) for k, w in enumerate(new)]


def ending(old: list[str], new: list[str]) -> list[str]:
    """Return the new phrase with the final punctuation of the old one."""
    head, core, _ = trim(new[-1])
    return [*new[:-1], head + core + trim(old[-1])[2]]


# --- all of it ---


@dataclass
class Recipe:
    """The functions that construct the training data of a task."""

    select: Select
    paraphrase: Paraphrase
    mask: ChooseSpans
    infill: Infill

    def names(self) -> list[str]:
        """Return the names of the functions, for stored files."""
        parts = (self.select, self.paraphrase, self.mask, self.infill)
        return [getattr(p, "__name__", f"{type(p).__name__}({getattr(p, 'name', '')})") for p in parts]


SELECT: dict[str, Select] = {
    "summarization": pseudo_summary,
    "dialogue": knowledge,
    "response": response,
    "style": itself,
}
TARGETS: dict[str, Select] = {
    "pseudo-summary": pseudo_summary,
    "fusion": fusion,
    "lead": lead,
    "knowledge": knowledge,
    "response": response,
    "itself": itself,
}
# Corruptions of `text.damage` after infilling, which replacing phrases does not cover.
HARM = ("number", "entity", "negate")


def recipe(documents: Sequence[Document], task: str, targets: str = "") -> Recipe:
    """Return the offline recipe of a task; `targets` names another selection of targets."""
    if task not in SELECT:
        raise NlgaugeError(f"task='{task}'; expected one of {', '.join(SELECT)}.")
    return Recipe(
        TARGETS[targets] if targets else SELECT[task],
        Reworded(wordnet()),
        masked_phrases,
        # Facts of a lead are often absent from the rest of the document, so fillings from the rest would be mislabeled.
        Borrowed.of(documents, 0.0 if targets == "lead" else NEAR_SHARE),
    )


def examples(
    documents: Sequence[Document], task: str, seed: int, count: int, parts: Recipe | None = None
) -> Iterator[Example]:
    """Yield `count` examples, document by document. Each has its own random numbers, so a prefix does not change."""
    if not documents:
        raise NlgaugeError("no text to train on: every document is empty.")
    made = parts or recipe(documents, task)
    seeds = np.random.SeedSequence(seed).spawn(count)
    for k, own in enumerate(seeds):
        rng = np.random.default_rng(own)
        document = documents[k % len(documents)]
        step = 1 + int(rng.integers(max(len(documents) - 1, 1)))
        others = documents[(k + step) % len(documents)]
        if (result := example(document, others, made, rng)) is not None:
            yield result


def example(document: Document, others: Document, parts: Recipe, rng: Generator) -> Example | None:
    """Return one example of a document; None without a suitable sentence."""
    chosen = parts.select(document, others, rng)
    if chosen is None:
        return None
    words = most_distant(chosen.target, parts.paraphrase(chosen.target, rng)).split()
    labels = [1] * len(words)
    if rng.random() >= CLEAN:
        words, labels = parts.infill(words, parts.mask(words, rng), document, rng)
        if rng.random() < 0.5:
            words, labels = harmed(words, labels, HARM[int(rng.integers(len(HARM)))], rng)
    if chosen.foreign:
        words, labels = [*words, *chosen.foreign.split()], [*labels, *[0] * len(chosen.foreign.split())]
    return Example(" ".join(words), chosen.b, tuple(labels), chosen.whole)


def harmed(words: list[str], labels: list[int], how: str, rng: Generator) -> tuple[list[str], list[int]]:
    """Apply one more corruption; the words it touches are labeled as not aligned."""
    done = damage(" ".join(words), how, 0.3, rng)
    new = done.text.split()
    touched = set(done.touched)
    selected = SequenceMatcher(None, words, new, autojunk=False).get_matching_blocks()
    result = [0] * len(new)
    for block in selected:
        result[block.b : block.b + block.size] = labels[block.a : block.a + block.size]
    return new, [0 if i in touched else label for i, label in enumerate(result)]
