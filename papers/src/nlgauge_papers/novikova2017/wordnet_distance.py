"""Distance of two words in WordNet: same synset 0, one relation 1, two relations 2 (Han et al. 2013, section 2.2)."""

from __future__ import annotations

from functools import lru_cache

from nlgauge.metrics import base_forms
from nlgauge_papers.novikova2017.wordnet_relations import (
    ANTONYM,
    DERIVED,
    HYPERNYM,
    PARTS,
    SIMILAR,
    Synset,
    links,
    related,
    senses,
)

FARTHEST = 2


def distance(a: str, b: str) -> int | None:
    """Return 0 for synonyms, 1 for a direct and 2 for a two-link relation, and None if there is none.

    Hypernyms and adjectives that are similar to each other up to two links, derivationally related forms one.

    >>> distance("cheap", "inexpensive"), distance("hotel", "building"), distance("hotel", "cheap")   # doctest: +SKIP
    (0, 1, None)
    """
    if a == b:
        return 0
    near, far = _around(a), _around(b)
    results = [d for d in range(FARTHEST + 1) for up, down in ((near, far), (far, near)) if up[d] & down[0]]
    if related(a, DERIVED) & _forms(b) or related(b, DERIVED) & _forms(a):
        results.append(1)
    return min(results, default=None)


def antonyms(a: str, b: str) -> bool:
    """Return whether WordNet lists them as antonyms, in any of their senses."""
    return bool(related(a, ANTONYM) & _forms(b) or related(b, ANTONYM) & _forms(a))


@lru_cache(2**16)
def parts_of(word: str) -> frozenset[str]:
    """Return the parts of speech under which WordNet lists a word."""
    return frozenset(part for part in PARTS if base_forms(word, part))


@lru_cache(2**16)
def _forms(word: str) -> frozenset[str]:
    return frozenset(form for _, form in senses(word))


@lru_cache(2**16)
def _around(word: str) -> tuple[frozenset[Synset], ...]:
    """Return the synsets at distance 0, 1 and 2; links are not mixed: only upward or only sideways."""
    here = {synset for synset, _ in senses(word)}
    up, side = [here], [here]
    for _ in range(FARTHEST):
        up.append({t for s in up[-1] for t in links(s, HYPERNYM)})
        side.append({t for s in side[-1] for t in links(s, SIMILAR)})
    return tuple(frozenset(a | b) for a, b in zip(up, side, strict=True))
