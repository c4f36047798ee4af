"""Synonyms from WordNet, chosen conservatively so that the meaning of the sentence is preserved.

Not every word of every synset would do ("bank" and "cant"). Two words are synonyms here only if both are nouns,
adjectives or adverbs with few meanings of which the first, most frequent one is the same, and if each occurs in
WordNet's tagged texts as that part of speech only. Verbs take different objects ("enjoy", "bask") and are left out.
"""

from __future__ import annotations

from functools import cache, lru_cache

from nlgauge.text.stopwords import STOP
from nlgauge.text.wordnet import DETACH, PARTS, _names, exceptions, wordnet_index, wordnet_lines

MEANINGS = 4  # that a word may have at most
SMALLEST = 3  # letters; shorter words are function words, or symbols of units and elements
ENDINGS = ("s", "x", "z", "ch", "sh", "y", "man", "f", "fe", "o")  # of nouns whose plural is not just -s


@lru_cache(2**16)
def same_meaning(word: str) -> tuple[str, ...]:
    """Return synonyms of a lower-case word; plurals for a plural.

    >>> same_meaning("autumn"), same_meaning("cars")  # doctest: +SKIP
    (('fall',), ('automobiles',))
    """
    if not _inflected(word):
        return _others(word)
    one = word.removesuffix("s")
    plain = one != word and word not in exceptions("noun") and _only_part(one) == "noun"
    return tuple(f"{w}s" for w in _others(one) if not w.endswith(ENDINGS)) if plain else ()


def _others(word: str) -> tuple[str, ...]:
    part = _only_part(word)
    if part is None:
        return ()
    first = wordnet_index(part)[word][0]
    names = sorted(set(_names(part)[first]) - {word})
    return tuple(n for n in names if _only_part(n) == part and wordnet_index(part)[n][0] == first and not _inflected(n))


def _only_part(word: str) -> str | None:
    """Return the part of speech of a word that occurs as only one part of speech, else None."""
    if len(word) < SMALLEST or word in STOP or not (word.isalpha() and word.islower()):
        return None
    met = [part for part in PARTS if word in _met(part)]
    return met[0] if len(met) == 1 and met != ["verb"] and len(wordnet_index(met[0])[word]) <= MEANINGS else None


@cache
def _met(part: str) -> frozenset[str]:
    """Return the words with at least one meaning that occurs in WordNet's sense-tagged texts."""
    result = set()
    for line in wordnet_lines(f"index.{part}"):
        fields = line.split()
        if int(fields[-int(fields[2]) - 1]) > 0:  # the count precedes the offsets, whose number is fields[2]
            result.add(fields[0])
    return frozenset(result)


def _inflected(word: str) -> bool:
    """Return whether a word may be an inflected form: 'said' is an adjective in WordNet, but hardly ever in a text."""
    return any(word in exceptions(part) or _has_base(word, part) for part in PARTS)


def _has_base(word: str, part: str) -> bool:
    available = wordnet_index(part)
    bases = (word[: -len(ending)] + instead for ending, instead in DETACH[part] if word.endswith(ending))
    return any(base in available for base in bases if len(base) >= SMALLEST)
