"""Character-level perturbations: typos, and changes of form that preserve the meaning."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from numpy.random import Generator

from nlgauge.text.damage.core import Pieces, choose, compare, other, register, trim, unchanged


@register("garble")
def garble(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Corrupt a share of the characters: replace by another character of this text (same script), delete, or double."""
    letters = sorted(set("".join(words)))
    n = sum(map(len, words))
    chosen, pick = choose(n, amount, rng), rng.integers(len(letters), size=n)
    how = rng.integers(len(letters) == 1, 3, size=n)  # a text of one letter has no other
    new, index = [], 0
    for word in words:
        made = ""
        for i, char in enumerate(word, index):
            made += (other(char, letters, pick[i]), "", char * 2)[how[i]] if i in chosen else char
        new.append(made or word * 2)  # a word that lost every character would shift the words after it
        index += len(word)
    return compare(words, new)


@register("typo")
def typo(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Make one typo in a share of the words: two adjacent letters swapped, one deleted, or one doubled."""
    places = [i for i, word in enumerate(words) if _slippery(word)]
    chosen = choose(len(places), amount, rng)
    where, how = rng.random(len(places)), rng.integers(3, size=len(places))
    new = list(words)
    for p in chosen:
        new[places[p]] = _slip(words[places[p]], where[p], int(how[p]))
    return compare(words, new)


def _slippery(word: str) -> bool:
    core = trim(word)[1]
    return len(core) > 1 and any(map(str.isalpha, core)) and not any(map(str.isdigit, core))


def _slip(word: str, where: float, how: int) -> str:
    head, core, tail = trim(word)
    index = int(where * (len(core) - 1))
    before, a, b, after = core[:index], core[index], core[index + 1], core[index + 2 :]
    if how == 0 and a != b:
        return head + before + b + a + after + tail
    return head + before + a + ("" if how == 1 else a + b) + after + tail


def _recase(words: list[str], amount: float, rng: Generator, form: Callable[[str], str]) -> Pieces:
    places = [i for i, word in enumerate(words) if form(word) != word]
    chosen = {places[p] for p in choose(len(places), amount, rng)}
    return compare(words, [form(word) if i in chosen else word for i, word in enumerate(words)])


@register("lower")
def lower(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Lower-case a share of the words that contain capitals."""
    return _recase(words, amount, rng, str.lower)


@register("upper")
def upper(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Upper-case a share of the words."""
    return _recase(words, amount, rng, str.upper)


# Symbols that carry meaning ("5%", "#1", "and/or") and apostrophes ("it's", "'s") are kept.
_MEANT = set("%#@&*/\\-_‰'’")


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign)[0] == "P" and sign not in _MEANT


@register("punctuation")
def punctuation(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Remove punctuation at a share of the places that have some, at the ends of words or standing alone."""
    bare = [_stripped(word) for word in words]
    if not any(bare):
        return unchanged(words)
    places = [i for i, word in enumerate(words) if bare[i] != word]
    chosen = {places[p] for p in choose(len(places), amount, rng)}
    pieces: Pieces = []
    gap = False  # a sign that stood alone at the very beginning
    for i, word in enumerate(words):
        if i not in chosen:
            pieces.append((word, gap))
        elif bare[i]:
            pieces.append((bare[i], True))
        elif pieces:
            pieces[-1] = (pieces[-1][0], True)
        gap = i in chosen and not pieces
    return pieces


def _stripped(word: str) -> str:
    return word.strip("".join({sign for sign in word if _is_mark(sign)}))
