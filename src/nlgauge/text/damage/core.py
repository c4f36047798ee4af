"""Common parts of all perturbations: words, places, and the rule for touched words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.random import Generator

from nlgauge.errors import NameUnknown, NlgaugeError


@dataclass(frozen=True)
class Damaged:
    """A perturbed text, and the indices into `text.split()` of words that were changed, moved or added.

    For removed words, the index of the word before the gap (at the very start, the first word). `touched` is empty
    exactly when the text is unchanged.
    """

    text: str
    touched: tuple[int, ...] = ()


Damage = Callable[..., Damaged]
Pieces = list[tuple[str, bool]]  # the words of the new text, each with whether it was touched
Maker = Callable[[list[str], float, Generator, Sequence[str]], Pieces]

DAMAGES: dict[str, Damage] = {}
KINDS: list[str] = []


def register(name: str) -> Callable[[Maker], Damage]:
    """Register a perturbation. The function turns words into pieces; the common part of all perturbations is here."""

    def wrap(make: Maker) -> Damage:
        def damaged(text: str, amount: float, rng: Generator, pool: Sequence[str] = ()) -> Damaged:
            if not 0 <= amount <= 1:  # also refuses NaN
                raise NlgaugeError(f"the amount of damage must be between 0 and 1. Got {amount!r} instead.")
            words = text.split()
            if amount == 0 or not words:
                return Damaged(text)
            pieces = make(words, amount, rng, pool)
            flat = [(word, hit) for piece, hit in pieces for word in piece.split()]  # pools may contain phrases
            touched = tuple(i for i, (_, hit) in enumerate(flat) if hit)
            new = [word for word, _ in flat]
            # An inserted word may equal the original one.
            return Damaged(" ".join(new), touched) if touched and new != words else Damaged(text)

        damaged.__name__, damaged.__doc__ = make.__name__, make.__doc__
        DAMAGES[name] = damaged
        KINDS.append(name)
        return damaged

    return wrap


def damage(text: str, kind: str, amount: float, rng: Generator, pool: Sequence[str] = ()) -> Damaged:
    """Apply one of the perturbations of `KINDS`.

    `pool` contains text from elsewhere: words (replace, entity), lines of a thesaurus (synonym), other outputs (wrong),
    the source (copy).

    >>> damage("The bridge is safe.", "negate", 1.0, np.random.default_rng(0))
    Damaged(text='The bridge is not safe.', touched=(3,))
    """
    if kind not in DAMAGES:
        raise NameUnknown(f"no perturbation '{kind}'. Expected one of: {', '.join(KINDS)}.")
    return DAMAGES[kind](text, amount, rng, pool)


def count(n: int, amount: float) -> int:
    """Return how many of n places are perturbed: at least one if there is one."""
    return min(n, max(1, round(n * amount)))


def choose(n: int, amount: float, rng: Generator) -> set[int]:
    """Choose some of n places from one permutation: those of a small amount are a subset of those of a larger one."""
    return set(rng.permutation(n)[: count(n, amount)].tolist())


def compare(old: Sequence[str], new: Sequence[str]) -> Pieces:
    """Mark the words that differ."""
    return [(b, a != b) for a, b in zip(old, new, strict=True)]


def without(words: Sequence[str], gone: Iterable[int]) -> Pieces:
    """Remove the words at these places and mark those before the gaps."""
    missing = set(gone)
    selected = [i for i in range(len(words)) if i not in missing]
    return [(words[i], i + 1 in missing or (i == selected[0] and i > 0)) for i in selected]


def unchanged(words: Sequence[str]) -> Pieces:
    """Return all words unmarked."""
    return [(word, False) for word in words]


def sentences(words: Sequence[str]) -> list[list[int]]:
    """Return word indices by sentence. The simple rule ('Dr.' ends one) is sufficient here."""
    ends = np.cumsum([0, *(bool(re.search(r"[.!?。！？؟][^\w.!?]*$", word[-9:])) for word in words[:-1])])
    return [list(group) for _, group in groupby(range(len(words)), key=ends.__getitem__)]


def trim(word: str) -> tuple[str, str, str]:
    """Split off the punctuation before and after a word: '(Oslo),' is '(', 'Oslo', '),'."""
    core = word.strip("".join({c for c in word if not c.isalnum()}))
    head, _, tail = word.partition(core) if core else ("", "", "")
    return head, core or word, tail


def other(word: str, pool: Sequence[str], pick: int) -> str:
    """Return the entry of the pool at `pick`, or the next different one, within the punctuation of the word."""
    head, core, tail = trim(word)
    candidates = (trim(pool[(pick + step) % len(pool)].strip())[1] for step in range(len(pool)))
    return head + next((result for result in candidates if result not in ("", core)), core) + tail
