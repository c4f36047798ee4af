"""Pairwise judging: two outputs of one input, in both orders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

CHOICE = re.compile(
    r"\b(?:better|answer|choice|verdict|winner|preferred)\b\W*(?:is\W+)?(?:(?:text|output|option|summary|response)\W+)?(?P<pick>A|B|tie|both|equal|neither)\b",
    re.I,
)
ALONE = re.compile(r"^\W*(?:(?:text|output|option)\W+)?(?P<pick>A|B|tie|both|equal|neither)\W*$", re.I)
TIES = {"tie", "both", "equal", "neither"}


@dataclass(frozen=True)
class ShownPair:
    """Samples `first` and `second` (places in the batch) in the order in which they are shown."""

    first: int
    second: int


def all_pairs(inputs: np.ndarray, rivals: int | None = None, seed: int = 0) -> Iterator[ShownPair]:
    """Every two samples of one input, in both orders; with `rivals` so many opponents of each, drawn by the seed."""
    rng = np.random.default_rng(seed)
    for number in np.unique(inputs):
        places = np.flatnonzero(inputs == number).tolist()
        chosen = {(a, b) for k, a in enumerate(places) for b in places[k + 1 :]}
        if rivals is not None and rivals < len(places) - 1:
            order = [places[k] for k in rng.permutation(len(places))]
            # a ring of the drawn order: everyone meets the next ones, and nobody is left out
            chosen = {
                (min(a, b), max(a, b))
                for k, a in enumerate(order)
                for b in (order[(k + step) % len(order)] for step in range(1, -(-rivals // 2) + 1))
            }
        for a, b in sorted(chosen):
            yield ShownPair(a, b)
            yield ShownPair(b, a)


def read_choice(reply: str) -> float | None:
    """1.0 the first was chosen, 0.0 the second, 0.5 a tie; None when the reply says none or several.

    >>> read_choice("A is longer, but B is true.\\nBetter: B"), read_choice("tie"), read_choice("Both are fine.")
    (0.0, 0.5, None)
    """
    text = re.sub(r"[*`#_]+", " ", reply)
    alone = ALONE.match(text.strip())
    said = [alone["pick"]] if alone else [m["pick"] for m in CHOICE.finditer(text)][-1:]
    if not said:
        return None
    pick = said[0].lower()
    return 0.5 if pick in TIES else 1.0 if pick == "a" else 0.0
