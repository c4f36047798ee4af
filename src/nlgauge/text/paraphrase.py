"""Offline paraphrases: synonyms, reordered clauses, and removed parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from numpy.random import Generator

from nlgauge.errors import NlgaugeError
from nlgauge.text.damage import damage
from nlgauge.text.damage.core import trim
from nlgauge.text.sentences import sentences
from nlgauge.text.stopwords import STOP
from nlgauge.text.thesaurus import same_meaning

CANDIDATES = 10  # paraphrases, of which the most distant is taken
SHORTEST = 5  # minimum number of words that remain of a sentence


@dataclass
class Reworded:
    """Other words for the same (WordNet, where it is installed), clauses in another order, asides left out."""

    thesaurus: Callable[[str], Sequence[str]] | None = None
    amount: float = 0.6
    _known: dict[str, list[str]] = field(default_factory=dict, repr=False)

    def __call__(self, text: str, rng: Generator) -> list[str]:
        return [self.once(text, rng) for _ in range(CANDIDATES)]

    def once(self, text: str, rng: Generator) -> str:
        """Return one paraphrase of the text."""
        message = text
        for change in (shortened, reordered):
            if rng.random() < 0.5:
                message = change(message, rng)
        return damage(message, "synonym", self.amount, rng, self._lines(text)).text

    def _lines(self, text: str) -> list[str]:
        if self.thesaurus is None:
            return []
        words = dict.fromkeys(trim(w)[1] for w in text.split())
        for word in words.keys() - self._known.keys():
            self._known[word] = [w for w in self.thesaurus(word) if " " not in w]
        return [" ".join([word, *self._known[word]]) for word in words if self._known[word]]


def wordnet() -> Callable[[str], Sequence[str]] | None:
    """Return the thesaurus if WordNet is available on this machine, else None."""
    try:
        same_meaning("autumn")
    except NlgaugeError:
        return None
    return same_meaning


_ASIDE = re.compile(r"\s*\([^()]*\)|, (?:which|who|where|whose)\b[^,.;]*(?:,|(?=[.;]))")
_FIRST = re.compile(
    r"^((?:In|On|At|By|After|Before|During|When|While|If|For|From|Since|Under|With)\b[^,.;]{3,60}), ([^.;]+)([.!?]?)$"
)
_LAST = re.compile(r"^([^,;.]{12,}?) ((?:in|on|at|after|before|during|when|while|if|since) [^,;.]{4,60})([.!?]?)$")


def shortened(text: str, rng: Generator) -> str:
    """Remove parentheses and relative clauses between commas, and sometimes the second of two clauses."""
    message = _ASIDE.sub("", text)
    parts = re.split(r"(?:,|;) (?:and|but|while|although) ", message)
    if len(parts) == 2 and len(parts[0].split()) > 6 and rng.random() < 0.5:
        message = parts[0].rstrip(",;") + "."
    return message if len(message.split()) >= SHORTEST else text


def reordered(text: str, rng: Generator | None = None) -> str:
    """Move a clause from the front of a sentence to its end, or from the end to the front.

    >>> reordered("In 1990, the wall came down.")
    'The wall came down in 1990.'
    """
    return " ".join(_turned(s) for s in sentences(text)) or text


def _turned(sentence: str) -> str:
    if match := _FIRST.match(sentence):
        clause, rest, end = match.groups()
        return f"{rest[0].upper()}{rest[1:]} {clause[0].lower()}{clause[1:]}{end}"
    if match := _LAST.match(sentence):
        rest, clause, end = match.groups()
        first = rest.split()[0]
        low = rest[0].lower() + rest[1:] if first.lower() in STOP and first != "I" else rest
        return f"{clause[0].upper()}{clause[1:]}, {low}{end}"
    return sentence


def most_distant(text: str, candidates: Sequence[str]) -> str:
    """Return the candidate that shares the fewest words with the text."""
    words = text.split()
    return min(candidates, key=lambda c: SequenceMatcher(None, words, c.split(), autojunk=False).ratio(), default=text)
