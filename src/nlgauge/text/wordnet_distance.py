"""How near two words stand in WordNet: same synset 0, one relation 1, two relations 2 (Han et al.

2013, section 2.2).
"""

from __future__ import annotations

from functools import cache, lru_cache

from nlgauge.text.wordnet import PARTS, _lines, _morphy, index

Synset = tuple[str, int]  # part of speech, offset
Sense = tuple[Synset, str]  # a synset and the word in it that was looked up
LETTERS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
TYPES = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}  # of a sense key
HYPERNYM, SIMILAR, DERIVED, ANTONYM = ("@", "@i"), ("&",), ("+",), ("!",)
HYPONYM = ("~",)
OFTEN = 5  # a sense counts when it is the first one or was tagged this often in WordNet's texts
FARTHEST = 2


def distance(a: str, b: str) -> int | None:
    """0 for synonyms, 1 for a direct and 2 for a two-link relation, None when there is none.

    Hypernyms and adjectives that are similar to each other up to two links, derivationally related forms one.

    >>> distance("cheap", "inexpensive"), distance("hotel", "building"), distance("hotel", "cheap")   # doctest: +SKIP
    (0, 1, None)
    """
    if a == b:
        return 0
    near, far = _around(a), _around(b)
    found = [d for d in range(FARTHEST + 1) for up, down in ((near, far), (far, near)) if up[d] & down[0]]
    if _related(a, DERIVED) & _forms(b) or _related(b, DERIVED) & _forms(a):
        found.append(1)
    return min(found, default=None)


def antonyms(a: str, b: str) -> bool:
    """Whether WordNet calls them opposites, whatever their senses."""
    return bool(_related(a, ANTONYM) & _forms(b) or _related(b, ANTONYM) & _forms(a))


@lru_cache(2**16)
def parts_of(word: str) -> frozenset[str]:
    """The parts of speech under which WordNet knows a word."""
    return frozenset(part for part in PARTS if _morphy(word, part))


@lru_cache(2**16)
def _senses(word: str) -> frozenset[Sense]:
    """The frequent senses of a word and its base forms."""
    found = set()
    for part in PARTS:
        for form in _morphy(word, part):
            for place, offset in enumerate(index(part)[form], 1):
                if place == 1 or _tagged().get((form, part, place), 0) >= OFTEN:
                    found.add(((part, offset), form))
    return frozenset(found)


@lru_cache(2**16)
def _forms(word: str) -> frozenset[str]:
    return frozenset(form for _, form in _senses(word))


@lru_cache(2**16)
def _around(word: str) -> tuple[frozenset[Synset], ...]:
    """Synsets at distance 0, 1 and 2; links do not mix: up or sideways."""
    here = {synset for synset, _ in _senses(word)}
    up, side = [here], [here]
    for _ in range(FARTHEST):
        up.append({t for s in up[-1] for t in _links(s, HYPERNYM)})
        side.append({t for s in side[-1] for t in _links(s, SIMILAR)})
    return tuple(frozenset(a | b) for a, b in zip(up, side, strict=True))


@lru_cache(2**16)
def _related(word: str, signs: tuple[str, ...]) -> frozenset[str]:
    """Words that a lexical relation joins to a word: derived forms or antonyms."""
    found = set()
    for synset, form in _senses(word):
        names, pointers = _entry(synset)
        for sign, target, ends in pointers:
            if sign in signs and names[int(ends[:2], 16) - 1] == form:
                found.add(_entry(target)[0][int(ends[2:], 16) - 1])
    return frozenset(found)


def _links(synset: Synset, signs: tuple[str, ...]) -> list[Synset]:
    return [target for sign, target, ends in _entry(synset)[1] if sign in signs and ends == "0000"]


@lru_cache(2**16)
def _entry(synset: Synset) -> tuple[list[str], list[tuple[str, Synset, str]]]:
    """The words of a synset, and its pointers: sign, target, which of the words they join (0000: the synsets)."""
    fields = _data(synset[0])[synset[1]].split()
    many = int(fields[3], 16)
    names = [fields[4 + 2 * k].partition("(")[0].lower() for k in range(many)]
    place = 4 + 2 * many
    pointers = [fields[k : k + 4] for k in range(place + 1, place + 1 + 4 * int(fields[place]), 4)]
    return names, [(sign, (LETTERS[part], int(at)), ends) for sign, at, part, ends in pointers]


@cache
def _data(part: str) -> dict[int, str]:
    return {int(line[:8]): line for line in _lines(f"data.{part}")}


@cache
def _tagged() -> dict[tuple[str, str, int], int]:
    """How often a sense was tagged, by word, part of speech and number of the sense."""
    found = {}
    for line in _lines("cntlist.rev"):
        key, number, count = line.split()
        word, _, rest = key.partition("%")
        found[word, TYPES[rest[0]], int(number)] = int(count)
    return found
