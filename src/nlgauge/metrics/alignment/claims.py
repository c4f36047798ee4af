"""Claims and their evidence, made from text without labels: what the aligner that reads both together learns from.

A claim is a sentence of a document, parts of one, or two joined, in other words, so that a grounded claim is no copy.
Beside it stands the same with an error of a kind that systems make which write freely: a phrase, name, number or date
of elsewhere, a negation, another pronoun, two names or things exchanged, the subject of another sentence, something
added, another thing of the same kind, what a language model writes that does not know the text; or the evidence lacks
the sentence that says it. Evidence is a few sentences of the document: those the claim was made of, where an error came
from, and those most like them.

>>> document = ["Ann saw a red bird in the old park.", "It sang.", "She wrote two books on birds in 1990."]
>>> like = [[0, 2, 1], [1, 0, 2], [2, 0, 1]]
>>> right, wrong = pair(document, ClaimParts.of([document]), like, np.random.default_rng(1))
>>> right.evidence == wrong.evidence, len(wrong.text.split()) == len(wrong.labels)
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.claim_errors import ERRORS, OFTEN, ClaimParts, Labels, bare, in_small
from nlgauge.metrics.alignment.construct import Document, phrases
from nlgauge.text.damage.core import trim
from nlgauge.text.porter import stem
from nlgauge.text.stopwords import STOP

EVIDENCE = 3  # sentences
FEWER = 0.6  # of the claims have one less
SHORTEST, LONGEST = 6, 45  # words of a sentence that becomes a claim
FUSED, PARTLY = 0.25, 0.3  # of the claims: two sentences joined; some phrases of one
TWICE = 0.3  # of the wrong ones get two errors
BROADER = 0.15  # of the nouns with a broader word are said with it
UNTOLD = float("nan")  # the label of a word of which nothing is known


class Claim(NamedTuple):
    """A claim, sentences of its document, a label for each word (`text.split()`: 1 grounded, 0 not), and its error."""

    text: str
    evidence: tuple[str, ...]
    labels: tuple[float, ...]
    error: str = ""

    @property
    def supported(self) -> bool:
        return not self.error


def pair(
    document: Document, parts: ClaimParts, like: Sequence[Sequence[int]], rng: Generator
) -> tuple[Claim, Claim] | None:
    """A claim and the same with an error; like[i] are the document's sentences, those most like sentence i first.

    None where no sentence fits, or no error can be made.
    """
    good = [i for i, s in enumerate(document) if SHORTEST <= len(s.split()) <= LONGEST]
    if len(document) < 2 or not good:
        return None
    first = good[int(rng.integers(len(good)))]
    origin, text = _said([document[first]], [first], document, like[first], good, rng)
    words = _broader(_without(parts.reworded.once(text, rng).split(), rng), parts, rng)
    labels = [1.0] * len(words)
    if rng.random() < 1 / (len(ERRORS) + 1):
        rest = [i for i in like[first] if i not in origin]
        evidence = tuple(document[i] for i in sorted(rest[:EVIDENCE]))
        if missing := _missing(words, evidence):
            right = Claim(" ".join(words), _evidence(document, origin, like[first], []), tuple(labels))
            return right, Claim(right.text, evidence, tuple(missing), "absent")
    new, given, sources, error = _wrong(words, document, parts, rng)
    if not error:
        return None
    evidence = _evidence(document, origin, like[first], sources, EVIDENCE - int(rng.random() < FEWER))
    return Claim(" ".join(words), evidence, tuple(labels)), Claim(" ".join(new), evidence, tuple(given), error)


def _said(
    said: list[str], origin: list[int], document: Document, like: Sequence[int], good: list[int], rng: Generator
) -> tuple[list[int], str]:
    """The sentence itself, some of its phrases, or it and one like it joined."""
    how = rng.random()
    if how < FUSED:
        near = [i for i in like if i in good and i not in origin][:3]
        if near:
            other = near[int(rng.integers(len(near)))]
            one, two = (_some(document[i].split(), rng) for i in (*origin, other))
            join = (" and ", ", ", ", while ")[int(rng.integers(3))]
            return [*origin, other], _open(one) + join + in_small(two)
    if how < FUSED + PARTLY:
        return origin, _some(said[0].split(), rng)
    return origin, said[0]


# A phrase that begins so says where, when or how: the sentence is true without it.
BESIDES = frozenset("in on at during after before since until near across throughout around within along".split())


def _some(words: list[str], rng: Generator) -> str:
    """A sentence without some of its phrases of where, when and how."""
    kept = [(a, b) for a, b in phrases(words) if bare(words[a]) not in BESIDES or rng.random() < 0.4]
    said = [w for a, b in kept for w in words[a:b]]
    said = said if len(said) >= SHORTEST else words
    return _open(" ".join([said[0][:1].upper() + said[0][1:], *said[1:]])) + "."


def _open(text: str) -> str:
    return text.rstrip(".,;:!? ")


def _without(words: list[str], rng: Generator) -> list[str]:
    """Some adverbs left out."""
    return [w for w in words if not (w.endswith("ly") and len(w) > 5 and rng.random() < 0.5)] or words


def _broader(words: list[str], parts: ClaimParts, rng: Generator) -> list[str]:
    """Some things said with a broader word, which their source grounds."""
    if parts.reworded.thesaurus is None:
        return words
    from nlgauge.text.thesaurus import broader

    return _with(words, lambda w: broader(w) if rng.random() < BROADER else (), rng)


def _with(words: list[str], instead: Callable[[str], Sequence[str]], rng: Generator) -> list[str]:
    new = []
    for word in words:
        head, core, tail = trim(word)
        options = instead(core)
        new += f"{head}{options[int(rng.integers(len(options)))]}{tail}".split() if options else [word]
    return new


def _missing(words: list[str], evidence: Sequence[str]) -> Labels:
    """0 for content words that the evidence does not have; nothing is known of the others."""
    known = {stem(trim(w)[1].lower()) for s in evidence for w in s.split()}
    found = [UNTOLD if bare(w) in STOP or stem(bare(w)) in known else 0.0 for w in words]
    return found if sum(label == 0 for label in found) >= 2 else []


def _evidence(
    document: Document, origin: list[int], like: Sequence[int], more: list[int], most: int = EVIDENCE
) -> tuple[str, ...]:
    """In the order of the document: those it was made of, where errors came from, and those most like it."""
    wanted = list(dict.fromkeys([*origin, *more, *like]))[: max(most, len(origin))]
    return tuple(document[i] for i in sorted(wanted))


def _wrong(
    words: list[str], document: Document, parts: ClaimParts, rng: Generator
) -> tuple[list[str], Labels, list[int], str]:
    """The words with one error or two, their labels, the sentences from which they came, and the errors' name."""
    labels: Labels = [1.0] * len(words)
    names: list[str] = []
    sources: list[int] = []
    for _ in range(2 if rng.random() < TWICE else 1):
        first = OFTEN if rng.random() < 0.35 else ()
        names_by_lot = [list(ERRORS)[k] for k in rng.permutation(len(ERRORS)).tolist()]
        for name in sorted(names_by_lot, key=lambda name: name not in first):
            spoiled = ERRORS[name](words, labels, document, parts, rng)
            if spoiled is not None and 0.0 in spoiled[1] and spoiled[0] != words:
                words, labels, source = spoiled
                names.append(name)
                sources += [source] if source is not None and rng.random() < 0.7 else []
                break
    return words, labels, sources, names[0] if len(names) == 1 else "two" if names else ""


def claims(
    documents: Sequence[Document], parts: ClaimParts, like: Callable[[int], Sequence[Sequence[int]]],
    seed: Sequence[int], count: int,
) -> list[Claim]:  # fmt: skip
    """`count` claims in pairs, right and wrong, of documents by lot; they follow from the seed alone."""
    rng = np.random.default_rng(np.random.SeedSequence(list(seed)))
    found: list[Claim] = []
    for _ in range(50 * count):
        d = int(rng.integers(len(documents)))
        made = pair(documents[d], parts, like(d), rng)
        if made and min(len(c.labels) for c in made) >= 3:
            found += made
        if len(found) >= count:
            return found[:count]
    raise NlgaugeError("too few sentences of 6 to 45 words to make claims of this text.")
