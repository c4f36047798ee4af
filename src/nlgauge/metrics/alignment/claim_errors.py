"""Errors of a claim, of the kinds that systems make which write freely; words that came in have the label 0.

Each takes the words of a claim, their labels, its document, where other words come from, and random numbers; it gives
the new words, their labels, and the sentence of the document from which something came; None where it cannot be made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from nlgauge.metrics.alignment.construct import Borrowed, Document, Infill, Span, changed, ending, harmed, kind, phrases
from nlgauge.text.damage.core import trim
from nlgauge.text.paraphrase import Reworded, wordnet
from nlgauge.text.stopwords import STOP

Labels = list[float]
Spoiled = tuple[list[str], Labels, int | None]


@dataclass
class ClaimParts:
    """Where phrases come from, and who says things differently."""

    borrowed: Borrowed
    reworded: Reworded = field(default_factory=Reworded)
    infill: Infill | None = None  # a language model

    @classmethod
    def of(cls, documents: Sequence[Document], infill: Infill | None = None) -> ClaimParts:
        return cls(Borrowed.of(documents), Reworded(wordnet()), infill)


def bare(word: str) -> str:
    return trim(word)[1].lower()


def in_small(text: str) -> str:
    """In small letters where it begins with a function word."""
    return text[0].lower() + text[1:] if text.split(maxsplit=1)[0].lower() in STOP and text[:2] != "I " else text


def _exchanged(words: list[str], labels: Labels, span: Span, new: list[str]) -> tuple[list[str], Labels]:
    a, b = span
    new = ending(words[a:b], new)
    return [*words[:a], *new, *words[b:]], [*labels[:a], *map(float, changed(words[a:b], new)), *labels[b:]]


def _content(words: Sequence[str], rng: Generator) -> list[Span]:
    """Phrases in an order by lot, most of them without the function words that they begin with."""
    found = []
    spans = phrases(words)
    for k in rng.permutation(len(spans)).tolist():
        a, b = spans[k]
        while b - a > 1 and rng.random() < 0.85 and bare(words[a]) in STOP:
            a += 1
        if b - a <= 6:
            found.append((a, b))
    return found


def _far(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """A phrase of the same kind of another document."""
    for span in _content(words, rng):
        old = words[slice(*span)]
        options = parts.borrowed.pool.get(kind(old), [])
        if options and not all(bare(w) in STOP for w in old):
            return *_exchanged(words, labels, span, options[int(rng.integers(len(options)))].split()), None
    return None


def _near(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """A phrase of the same kind of another sentence of the document."""
    said = set(map(bare, words))
    for span in _content(words, rng):
        sort = kind(words[slice(*span)])
        for i in rng.permutation(len(document)).tolist():
            others = document[i].split()
            fitting = [others[a:b] for a, b in _content(others, rng) if kind(others[a:b]) == sort]
            fitting = [f for f in fitting if not {bare(w) for w in f} - STOP <= said]
            if fitting:
                return *_exchanged(words, labels, span, fitting[0]), i
    return None


def _name(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """A name of another sentence, or of another document."""
    mine = _names(words)
    if not mine:
        return None
    span = mine[int(rng.integers(len(mine)))]
    said = set(map(bare, words))
    there = [(i, s[a:b]) for i, s in enumerate(d.split() for d in document) for a, b in _names(s)]
    there = [(i, n) for i, n in there if not {bare(w) for w in n} & said]
    if there and rng.random() < 0.6:
        i, new = there[int(rng.integers(len(there)))]
        return *_exchanged(words, labels, span, list(new)), i
    options = parts.borrowed.pool.get(f"content/name/{min(span[1] - span[0], 4)}", [])
    if not options:
        return None
    return *_exchanged(words, labels, span, options[int(rng.integers(len(options)))].split()), None


def _names(words: Sequence[str]) -> list[Span]:
    """Runs of capitalised words inside a sentence."""
    found: list[Span] = []
    for i, word in enumerate(words):
        core = trim(word)[1]
        if i and core[:1].isupper() and core != "I" and core.lower() not in STOP:
            if found and found[-1][1] == i and words[i - 1][-1:].isalpha():
                found[-1] = found[-1][0], i + 1
            else:
                found.append((i, i + 1))
    return found


MONTHS = "January February March April May June July August September October November December".split()


def _number(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """Another number, or another month."""
    months = [i for i, w in enumerate(words) if trim(w)[1] in MONTHS]
    if months and rng.random() < 0.5:
        i = months[int(rng.integers(len(months)))]
        return *_exchanged(words, labels, (i, i + 1), [MONTHS[int(rng.integers(12))]]), None
    return *_harmed(words, labels, "number", rng), None


def _negated(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    return *_harmed(words, labels, "negate", rng), None


def _harmed(words: list[str], labels: Labels, how: str, rng: Generator) -> tuple[list[str], Labels]:
    new, given = harmed(words, [int(label) for label in labels], how, rng)
    return new, list(map(float, given))


PRONOUNS = (("he", "she", "they", "it"), ("his", "her", "their", "its"), ("him", "them"), ("himself", "herself"))


def _pronoun(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    places = [(i, group) for i, w in enumerate(words) for group in PRONOUNS if bare(w) in group]
    if not places:
        return None
    i, group = places[int(rng.integers(len(places)))]
    head, core, tail = trim(words[i])
    options = [p for p in group if p != core.lower()]
    new = options[int(rng.integers(len(options)))]
    said = head + (new.capitalize() if core[0].isupper() else new) + tail
    return [*words[:i], said, *words[i + 1 :]], [*labels[:i], 0.0, *labels[i + 1 :]], None


ARTICLES = frozenset("the a an his her its their".split())
APART = 3  # words between two things that are exchanged: not neighbours of a list


def _roles(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """Two names, or two things, in each other's place."""
    spans = _names(words)
    if len(spans) < 2:
        marked = [(a, b) for a, b in _content(words, rng) if a and bare(words[a - 1]) in ARTICLES]
        spans = sorted(s for s in marked if bare(words[s[0]]) not in STOP)
    pairs = [(s, t) for s in spans for t in spans if t[0] - s[1] >= APART]
    if not pairs:
        return None
    (a, b), (c, d) = pairs[int(rng.integers(len(pairs)))]
    one, two = words[a:b], words[c:d]
    new, given = _exchanged(words, labels, (c, d), one)
    return *_exchanged(new, given, (a, b), two), None


def _subject(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """What one sentence says, said of what another is about."""
    mine = phrases(words)[0]
    if kind(words[slice(*mine)]).startswith("prepositions") or mine[1] - mine[0] > 6:
        return None
    for i in rng.permutation(len(document)).tolist():
        others = document[i].split()
        new = others[slice(*phrases(others)[0])]
        if (
            len(new) <= 6
            and not kind(new).startswith("prepositions")
            and not {bare(w) for w in new} - STOP <= set(map(bare, words))
        ):
            return *_exchanged(words, labels, mine, new), i
    return None


def _added(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """Something said besides, after one of the phrases: of where, when, how or who."""
    sorts = [s for s in parts.borrowed.pool if s.startswith(("prepositions/", "content/name/"))]
    if not sorts:
        return None
    options = parts.borrowed.pool[sorts[int(rng.integers(len(sorts)))]]
    new = options[int(rng.integers(len(options)))].split()
    ends = [b for _, b in phrases(words)]
    at = ends[int(rng.integers(len(ends)))]
    last = words[at - 1]
    tail = re.search(r"[.!?,;:]*$", last)
    mark = tail[0] if tail else ""
    new = [*in_small(" ".join(new[:-1] or new)).split()[: len(new) - 1], trim(new[-1])[1] + mark]
    before = [*words[: at - 1], last[: len(last) - len(mark)] if mark else last]
    return [*before, *new, *words[at:]], [*labels[:at], *[0.0] * len(new), *labels[at:]], None


def _kin(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """Another thing of the same kind, or the opposite."""
    if parts.reworded.thesaurus is None:
        return None
    from nlgauge.text.thesaurus import otherwise

    for i in rng.permutation(len(words)).tolist():
        if options := otherwise(trim(words[i])[1]):
            return *_exchanged(words, labels, (i, i + 1), options[int(rng.integers(len(options)))].split()), None
    return None


def _written(words: list[str], labels: Labels, document: Document, parts: ClaimParts, rng: Generator) -> Spoiled | None:
    """What a language model goes on with that has not read the document."""
    spans = [(a, b) for a, b in phrases(words)[1:] if 2 <= b - a <= 8]
    if parts.infill is None or not spans:
        return None
    span = spans[int(rng.integers(len(spans)))]
    new, given = parts.infill(words, [span], document, rng)
    more = len(new) - len(words)
    here = slice(span[0], span[1] + more)
    return new, [*labels[: span[0]], *map(float, given[here]), *labels[span[1] :]], None


Error = Callable[[list[str], Labels, Document, ClaimParts, Generator], Spoiled | None]
ERRORS: dict[str, Error] = {
    "far": _far, "near": _near, "name": _name, "number": _number, "negation": _negated, "pronoun": _pronoun,
    "roles": _roles, "subject": _subject, "added": _added, "kin": _kin,
    "written": _written,
}  # fmt: skip
OFTEN = ("name", "number", "pronoun", "roles", "written")  # not every sentence can have them: sometimes first
