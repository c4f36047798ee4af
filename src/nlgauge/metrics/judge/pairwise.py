"""Pairwise comparison of two outputs of one input, in both orders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nlgauge.metrics.judge.own_words import (
    TooLong,
    after_code,
    comparable,
    is_repetition,
    plain_text,
    without_judged,
    without_quotations,
)
from nlgauge.metrics.judge.rating_phrases import is_reported

PICK = (
    r"(?:an? (?=tie))?(?P<pick>(?-i:[AB])|tie|both|equal|neither)\b"
    r"(?!['’]\w|\s(?:and|or|&)\s[AB]\b|"
    r"[ \t](?!(?:because|as(?! well)|since|due|but|for|over|it|the|this|that)\b)[^\W\d_])"
)
KIND = r"(?:(?:text|output|option|summary|response)[^\w\n]{1,4})?"
IS = r"(?:[^\w\n]{0,4}[:=][^\w\n]{0,6}|[^\w\n]{0,3}\n[^\w\n]{0,6}|[^\w\n]{1,3}is[^\w\n]{1,6})"
CHOICE = re.compile(
    rf"\b(?:better|answer|choice|verdict|winner|preferred)\b(?:\s(?:one|output|text|summary|response|option|choice))?"
    rf"{IS}{KIND}{PICK}",
    re.I,
)
ALONE = re.compile(rf"\W{{0,9}}{KIND}(?P<pick>[AB]|tie|both|equal|neither)\b\W{{0,9}}", re.I)
TIES = {"tie", "both", "equal", "neither"}


@dataclass(frozen=True)
class ShownPair:
    """Samples `first` and `second` (indices in the batch) in the order in which they are shown."""

    first: int
    second: int


def all_pairs(inputs: np.ndarray, rivals: int | None = None, seed: int = 0) -> Iterator[ShownPair]:
    """Return all pairs of samples of one input, in both orders; `rivals` limits the opponents of each, drawn by the
    seed.
    """
    rng = np.random.default_rng(seed)
    for number in np.unique(inputs):
        places = np.flatnonzero(inputs == number).tolist()
        chosen = {(a, b) for k, a in enumerate(places) for b in places[k + 1 :]}
        if rivals is not None and rivals < len(places) - 1:
            order = [places[k] for k in rng.permutation(len(places))]
            # a ring of the drawn order: each sample meets the next ones, so all have opponents
            chosen = {
                (min(a, b), max(a, b))
                for k, a in enumerate(order)
                for b in (order[(k + step) % len(order)] for step in range(1, -(-rivals // 2) + 1))
            }
        for a, b in sorted(chosen):
            yield ShownPair(a, b)
            yield ShownPair(b, a)


def read_choice(reply: str, *, code: str = "", judged: str = "") -> float | None:
    """Return 1.0 if the first was chosen, 0.0 the second, 0.5 a tie; None when the reply states none or several.

    `code` and `judged` are those of `parse_reply`.

    >>> read_choice("A is longer, but B is true.\\nBetter: B"), read_choice("tie"), read_choice("Both are fine.")
    (0.0, 0.5, None)
    """
    try:
        text = plain_text(reply)
    except TooLong:
        return None
    picks = [m["pick"] for m in re.finditer(f"{after_code(code)}{KIND}{PICK}", text, re.I)] if code else []
    if not picks:
        text = re.sub(r"[*#_]+", " ", without_quotations(without_judged(text, code))).strip()
        available = comparable(judged)
        alone = ALONE.fullmatch(text)
        result = [alone] if alone else CHOICE.finditer(text)
        picks = [
            m["pick"]
            for m in result
            if not is_repetition(text, m.start(), m.end(), available) and not is_reported(text, m.start(), m.end())
        ]
    values = {0.5 if pick.lower() in TIES else 1.0 if pick.lower() == "a" else 0.0 for pick in picks}
    return values.pop() if len(values) == 1 else None
