"""Relations of WordNet between words and between synsets: hypernyms, similar adjectives, derived forms, antonyms."""

from __future__ import annotations

from functools import cache, lru_cache

from nlgauge.metrics import base_forms, wordnet_index, wordnet_lines

Synset = tuple[str, int]  # part of speech, offset
Sense = tuple[Synset, str]  # a synset and the word in it that was looked up
PARTS = ("noun", "verb", "adj", "adv")
LETTERS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
TYPES = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}  # of a sense key
HYPERNYM, HYPONYM, SIMILAR, DERIVED, ANTONYM = ("@", "@i"), ("~",), ("&",), ("+",), ("!",)
OFTEN = 5  # a sense counts if it is the first one or was tagged this often in WordNet's texts


@lru_cache(2**16)
def senses(word: str) -> frozenset[Sense]:
    """Return the frequent senses of a word and of its base forms."""
    result = set()
    for part in PARTS:
        for form in base_forms(word, part):
            for place, offset in enumerate(wordnet_index(part)[form], 1):
                if place == 1 or _tagged().get((form, part, place), 0) >= OFTEN:
                    result.add(((part, offset), form))
    return frozenset(result)


@lru_cache(2**16)
def related(word: str, signs: tuple[str, ...]) -> frozenset[str]:
    """Return the words that a lexical relation links to a word: derived forms or antonyms."""
    result = set()
    for synset, form in senses(word):
        names, pointers = entry(synset)
        for sign, target, ends in pointers:
            if sign in signs and names[int(ends[:2], 16) - 1] == form:
                result.add(entry(target)[0][int(ends[2:], 16) - 1])
    return frozenset(result)


def links(synset: Synset, signs: tuple[str, ...]) -> list[Synset]:
    """Return the synsets that a relation with one of these signs leads to."""
    return [target for sign, target, ends in entry(synset)[1] if sign in signs and ends == "0000"]


@lru_cache(2**16)
def entry(synset: Synset) -> tuple[list[str], list[tuple[str, Synset, str]]]:
    """Return the words of a synset and its pointers: sign, target, and which words they link (0000:
    the whole synsets).
    """
    fields = _data(synset[0])[synset[1]].split()
    many = int(fields[3], 16)
    names = [fields[4 + 2 * k].partition("(")[0].lower() for k in range(many)]
    place = 4 + 2 * many
    pointers = [fields[k : k + 4] for k in range(place + 1, place + 1 + 4 * int(fields[place]), 4)]
    return names, [(sign, (LETTERS[part], int(index)), ends) for sign, index, part, ends in pointers]


@cache
def _data(part: str) -> dict[int, str]:
    return {int(line[:8]): line for line in wordnet_lines(f"data.{part}")}


@cache
def _tagged() -> dict[tuple[str, str, int], int]:
    """Read how often each sense was tagged, by word, part of speech and number of the sense."""
    results = {}
    for line in wordnet_lines("cntlist.rev"):
        key, number, count = line.split()
        word, _, rest = key.partition("%")
        results[word, TYPES[rest[0]], int(number)] = int(count)
    return results
