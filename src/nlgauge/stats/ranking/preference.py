"""Preference sequences and their similarity (nimah2023, Eq. 2-4).

`a ≺ b` is the sequence ("a", "<", "b"): worst first, the relation keeps its sign, "~" is a tie.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.correlation.ties import snap

LESS, TIE = "<", "~"


def levenshtein(one: Sequence[Hashable], two: Sequence[Hashable]) -> int:
    """Compute the minimum number of insertions, deletions and substitutions between two sequences.

    Parameters
    ----------
    one, two : sequence

    Returns
    -------
    int

    Notes
    -----
    Eq. 3 of Nimah et al. (2023), computed with the bit-parallel algorithm of Hyyrö (2003).

    Examples
    --------
    >>> levenshtein("a<b", "b<a"), levenshtein("cbed", "abcde")
    (2, 3)
    """
    if not one or not two:
        return len(one) + len(two)
    places: dict[Hashable, int] = {}
    for i, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << i
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, distance = full, 0, len(one)
    for item in two:
        match = places.get(item, 0) | down
        diagonal = (((match & up) + up) ^ up) | match
        left, right = down | (full & ~(up | diagonal)), up & diagonal
        distance += bool(left & last) - bool(right & last)
        left, right = ((left << 1) | 1) & full, (right << 1) & full
        down, up = left & diagonal, right | (full & ~(left | diagonal))
    return distance


def preference_similarity(one: Sequence[Hashable], two: Sequence[Hashable]) -> float:
    """Compute the similarity of two preference sequences.

    Parameters
    ----------
    one, two : sequence
        Names and the relations between them, in ascending order: `a < b` is ("a", "<", "b"), "~" a tie.

    Returns
    -------
    float
        1 for equal sequences; NaN for two empty ones.

    Notes
    -----
    ((L1 + L2) − 2 · Lev) / (L1 + L2), Eq. 4 of Nimah et al. (2023).

    Examples
    --------
    >>> round(preference_similarity("a<b", "b<a"), 3), round(preference_similarity("a~b", "a<b"), 3)
    (0.333, 0.667)
    """
    length = len(one) + len(two)
    return (length - 2 * levenshtein(one, two)) / length if length else float("nan")


def order_sequence(names: Sequence[str], values: ArrayLike, *, within: ArrayLike | None = None) -> tuple[str, ...]:
    """Return the names from the lowest value to the highest with the relations between them; NaN values are left out.

    Tied names are in the order of `names`, or of the values `within` if given.

    >>> order_sequence(["a", "b", "c"], [2.0, 1.0, 2.0])
    ('b', '<', 'a', '~', 'c')
    """
    x = snap(np.asarray(values, np.float64))
    second = np.zeros(len(x)) if within is None else np.asarray(within, np.float64)
    order = [i for i in np.lexsort((np.arange(len(x)), second, x)) if not np.isnan(x[i])]
    sequence: list[str] = []
    for place, i in enumerate(order):
        if place:
            sequence.append(TIE if x[order[place - 1]] == x[i] else LESS)
        sequence.append(names[i])
    return tuple(sequence)


def order_similarity(names: Sequence[str], human: ArrayLike, metric: ArrayLike) -> float:
    """Compute the similarity of two orders of `names`; NaN when fewer than two names have both values.

    Tied names are written in the order of the other side, because the order of tied systems has no meaning; a tie
    against a strict order is thus always 2/3.

    >>> round(order_similarity(["a", "b"], [1, 2], [3, 3]), 3), round(order_similarity(["a", "b"], [2, 1], [3, 3]), 3)
    (0.667, 0.667)
    """
    x, y = np.asarray(human, np.float64), np.asarray(metric, np.float64)
    both = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < 2:
        return float("nan")
    selected = [name for name, there in zip(names, both, strict=True) if there]
    x, y = snap(x[both]), snap(y[both])
    return preference_similarity(order_sequence(selected, x, within=y), order_sequence(selected, y, within=x))


@cache
def chance_similarity(names: int) -> float:
    """Compute the mean similarity of a random strict order of that many names with a fixed one; NaN below two.

    >>> round(chance_similarity(2), 3), chance_similarity(3)
    (0.667, 0.6)
    """
    if names < 2:
        return float("nan")
    order = np.arange(names)
    labels = [str(i) for i in order]
    every = [order_similarity(labels, order, each) for each in permutations(range(names))]
    return float(np.mean(every))
