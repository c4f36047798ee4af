"""Fluent texts from elsewhere: another output, the source; and other words for the same."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.random import Generator

from nlgauge.text.damage.core import Pieces, choose, compare, count, register, sentences, trim, unchanged


@register("wrong")
def wrong(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Replace a share of the sentences by sentences of another output, so that the text is fluent but wrong.

    With a share of 1, the whole text is replaced.
    """
    others = [text.split() for text in pool if text.split() not in ([], words)]
    if not others:
        return unchanged(words)
    foreign = others[int(rng.integers(len(others)))]
    own, other_values = sentences(words), sentences(foreign)
    chosen = choose(len(own), amount, rng)
    if len(chosen) == len(own):
        return [(word, True) for word in foreign]
    pieces: Pieces = []
    for s, group in enumerate(own):
        message = [words[i] for i in group]
        new = [foreign[i] for i in other_values[s % len(other_values)]] if s in chosen else message
        pieces += [(word, new != message) for word in new]
    return pieces


@register("copy")
def copy(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Replace a share of the last sentences of the text by the same share of the first sentences of the source.

    The source is the first entry of the pool. With a share of 1, the result is the source itself.
    """
    source = next((text.split() for text in pool if text.strip()), [])
    if not source:
        return unchanged(words)
    own, others = sentences(words), sentences(source)
    selected = own[: len(own) - count(len(own), amount)]
    taken = others[: count(len(others), amount)]
    return [
        *((words[i], False) for group in selected for i in group),
        *((source[i], True) for group in taken for i in group),
    ]


@register("synonym")
def synonym(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Put another word for the same in the place of that share of the words that have one. An entry of the pool is a
    word and those that may stand for it, with blanks between: 'film movie picture'. Words with capitals stay, as they
    may be names."""
    entries = (line.split() for line in pool)
    thesaurus = {entry[0]: entry[1:] for entry in entries if len(entry) > 1}
    options = {i: _fitting(words, i, thesaurus) for i in range(len(words))}
    places = [i for i, result in options.items() if result]
    chosen, pick = choose(len(places), amount, rng), rng.random(len(places))
    new = list(words)
    for p in chosen:
        result = options[places[p]]
        head, _, tail = trim(words[places[p]])
        new[places[p]] = head + result[int(pick[p] * len(result))] + tail
    return compare(words, new)


def _fitting(words: list[str], place: int, thesaurus: dict[str, list[str]]) -> list[str]:
    """Return other words for this one; after 'a' and 'an' only those whose first letter requires the same article."""
    core = trim(words[place])[1]
    results = [word for word in thesaurus.get(core, ()) if word != core]
    if place and words[place - 1].lower() in ("a", "an"):
        results = [word for word in results if (word[0] in "aeiou") == (core[0] in "aeiou")]
    return results
