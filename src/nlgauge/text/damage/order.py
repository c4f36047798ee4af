"""Perturbations of word order: words deleted, moved or repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from nlgauge.text.damage.core import Pieces, choose, compare, count, register, sentences, without


@register("drop")
def drop(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Delete a share of the words, never all."""
    gone = rng.permutation(len(words))[1:][: count(len(words), amount)]
    return without(words, gone.tolist())


@register("truncate")
def truncate(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Delete a share of the words from the end, never all."""
    return without(words, range(max(1, len(words) - count(len(words), amount)), len(words)))


@register("swap")
def swap(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Swap adjacent words in a share of the pairs (0 1)(2 3)... or, at random, (1 2)(3 4)..."""
    first = int(rng.integers(2)) if len(words) > 2 else 0
    pairs = range(first, len(words) - 1, 2)
    new = list(words)
    for i in (pairs[p] for p in choose(len(pairs), amount, rng)):
        new[i], new[i + 1] = words[i + 1], words[i]
    return compare(words, new)


@register("shuffle")
def shuffle(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Shuffle the order within one window of that share of the words; 1 shuffles the whole text."""
    size = min(len(words), max(2, count(len(words), amount)))
    window = int(rng.integers(len(words) - size + 1)) + rng.permutation(size)
    new = list(words)
    for place, taken in zip(window, np.roll(window, 1), strict=True):  # one cycle: no word stays in its place
        new[place] = words[taken]
    return compare(words, new)


@register("repeat")
def repeat(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Repeat one phrase with that share of the words."""
    size = count(len(words), amount)
    end = int(rng.integers(size, len(words) + 1))
    text = words[:end] + words[end - size :]
    return [(word, end <= i < end + size) for i, word in enumerate(text)]


@register("repeat-sentence")
def repeat_sentence(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Repeat a share of the sentences."""
    groups = sentences(words)
    twice = choose(len(groups), amount, rng)
    text = [(group, again) for s, group in enumerate(groups) for again in (False, True) if s in twice or not again]
    return [(words[i], again) for group, again in text for i in group]
