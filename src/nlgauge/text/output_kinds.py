"""Categories of outputs, and the words of an output that its source supports, by lexical rules without a model."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nlgauge.text.stopwords import STOP, WORD

LONGER, SHORTER = 1.5, 1 / 1.5  # times the words of the median output
COPIED, RUN, LEAST = 0.8, 4, 8  # share of copied runs, words per run, and minimum words of an output
REPEATED, PHRASE = 0.2, 3
CAPITALS = 0.2  # of words inside sentences: such a language writes more than names with a capital
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
INSIDE = re.compile(r"(?<=[^\W\d_],\s|[^\W\d_][^\W\d_]\s)[^\W\d_]+")  # a word after a word: no sentence begins there
WRITTEN = {
    w: str(k) for k, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
KINDS = {
    "empty": "no word",
    "long": "at least 1.5 times the words of the median output for its input (of all outputs where an input has "
    "fewer than 4)",
    "short": "at most two thirds of the words of that median",
    "same as a reference": "the words of a reference, in their order",
    "copied": f"at least {COPIED:.0%} of its runs of {RUN} words are in the source",
    "repeats itself": f"at least {REPEATED:.0%} of its runs of {PHRASE} words stood earlier in it",
    "number from nowhere": "a number that stands neither in source or context nor in a reference",
    "name from nowhere": "a word with a capital inside a sentence that stands neither in source or context nor in a "
    "reference",
}


@dataclass(frozen=True)
class OriginTexts:
    """What an output came from: source and context, and references. Its words are found once for all its outputs."""

    sources: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    @cached_property
    def in_sources(self) -> set[str]:
        """Return the words of source and context."""
        return {w for text in self.sources for w in words(text)}

    @cached_property
    def in_references(self) -> set[str]:
        """Return the words of the references."""
        return {w for text in self.references for w in words(text)}

    @cached_property
    def known(self) -> set[str]:
        """Return the words of source, context and references."""
        return self.in_sources | self.in_references

    @cached_property
    def numbers(self) -> set[str]:
        """Also small ones that are written as words."""
        return _numbers(*self.sources, *self.references) | {n for w, n in WRITTEN.items() if w in self.known}

    @cached_property
    def runs(self) -> set[tuple[str, ...]]:
        """Return the runs of words of source and context with which copies are found."""
        return {run for text in self.sources for run in _runs(words(text), RUN)}


@dataclass(frozen=True)
class OutputTexts:
    """An output with its sources and references."""

    input: str
    output: str
    origin: OriginTexts

    @cached_property
    def words(self) -> list[str]:
        """Return the words of the output."""
        return words(self.output)


def words(text: str) -> list[str]:
    """Return the lower-case words of a text.

    >>> words("It’s the Owl-bird, 3 of them")
    ["it's", 'the', 'owl', 'bird', '3', 'of', 'them']
    """
    return [w.lower().replace("’", "'") for w in WORD.findall(text)]


def support(shown: str, origin: OriginTexts) -> str:
    """Return one letter per word: `s` in source or context, `r` in a reference only, `n` in neither, `.` a function
    word.

    >>> support("The owl ate 3 mice", OriginTexts(("an owl eats",), ("it ate them",)))
    '.srnn'
    """
    came, other = origin.in_sources, origin.in_references
    return "".join(
        "." if w in STOP or w == "n't" else "s" if w in came else "r" if w in other else "n" for w in words(shown)
    )


def output_kinds(texts: Sequence[OutputTexts]) -> list[list[str]]:
    """Return the names in KINDS of the properties that each output has.

    >>> output_kinds([OutputTexts("1", "It has 7 legs.", OriginTexts(("A spider has eight legs.",)))])
    [['number from nowhere']]
    """
    lengths: dict[str, list[int]] = {}
    for text in texts:
        lengths.setdefault(text.input, []).append(len(text.words))
    whole = statistics.median([n for each in lengths.values() for n in each]) if texts else 0
    usual = {given: statistics.median(each) if len(each) >= 4 else whole for given, each in lengths.items()}
    enough = len(texts) > 1  # the median of one output is that output
    inside = [w for text in texts for w in INSIDE.findall(text.output)]
    named = sum(w[0].isupper() for w in inside) < CAPITALS * len(inside)
    return [_kinds(text, usual[text.input] if enough else 0, named) for text in texts]


def _kinds(text: OutputTexts, usual: float, named: bool) -> list[str]:
    own, origin = text.words, text.origin
    if not own:
        return ["empty"]
    holds = {
        "long": bool(usual) and len(own) >= LONGER * usual,
        "short": bool(usual) and len(own) <= SHORTER * usual,
        "same as a reference": any(own == words(t) for t in origin.references),
        "copied": len(own) >= LEAST and _share(_runs(own, RUN), origin.runs) >= COPIED,
        "repeats itself": len(own) >= LEAST and _repeated(own) >= REPEATED,
        "number from nowhere": bool(origin.known) and not _numbers(text.output) <= origin.numbers,
        "name from nowhere": bool(origin.known) and named and _names(text.output, origin.known),
    }
    return [kind for kind, true in holds.items() if true]


def _runs(own: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return list(zip(*(own[k:] for k in range(length)), strict=False))


def _share(mine: Sequence[tuple[str, ...]], theirs: set[tuple[str, ...]]) -> float:
    return sum(run in theirs for run in mine) / len(mine)


def _repeated(own: Sequence[str]) -> float:
    own_part = _runs(own, PHRASE)
    return 1 - len(set(own_part)) / len(own_part)


def _numbers(*texts: str) -> set[str]:
    """Return the numbers in the texts without separators."""
    return {re.sub(r"[.,]", "", n) for text in texts for n in NUMBER.findall(text)}


def _names(output: str, known: set[str]) -> bool:
    if not any(c.islower() for c in output):
        return False  # all in capitals: names cannot be recognized
    return any(
        w[0].isupper() and len(w) > 1 and w.lower() not in known and w.lower() not in STOP
        for w in INSIDE.findall(output)
    )
