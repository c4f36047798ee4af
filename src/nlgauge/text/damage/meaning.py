"""Perturbations of the content: other words, names and numbers, negation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from numpy.random import Generator

from nlgauge.text.damage.core import Pieces, choose, compare, other, register, sentences, trim


@register("replace")
def replace(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Replace a share of the words by words of the pool (or, without a pool, of the text itself)."""
    pool = pool if any(map(str.strip, pool)) else sorted({trim(word)[1] for word in words})
    chosen, pick = choose(len(words), amount, rng), rng.integers(len(pool), size=len(words))
    return compare(words, [other(w, pool, pick[i]) if i in chosen else w for i, w in enumerate(words)])


def _other_number(word: str, rng: Generator) -> str:
    """Replace every run of digits by another number with as many digits: 1,250 may become 7,803."""
    runs = re.split("([0-9]+)", word)
    for i, run in enumerate(runs[1::2]):
        more = "".join(map(str, rng.integers(10, size=len(run) - 1)))
        runs[2 * i + 1] = other(run[0], "123456789", int(rng.integers(9))) + more
    return "".join(runs)


@register("entity")
def entity(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Replace a share of the numbers and names (capitalized inside a sentence).

    A number becomes another number, a name a capitalized entry of the pool or, without one, another name of the text.
    """
    starts = {sentence[0] for sentence in sentences(words)}
    cores = [trim(word)[1] for word in words]
    names = {i for i, core in enumerate(cores) if i not in starts and core[0].isupper() and core != "I"}
    others = [entry for entry in pool if entry[:1].isupper()] or sorted({cores[i] for i in names})
    names = {i for i in names if other(cores[i], others, 0) != cores[i]}
    places = [i for i, word in enumerate(words) if i in names or re.search("[0-9]", word)]
    new = list(words)
    for i in sorted(places[p] for p in choose(len(places), amount, rng)):
        pick = int(rng.integers(len(others) or 1))
        new[i] = other(words[i], others, pick) if i in names else _other_number(words[i], rng)
    return compare(words, new)


# One, first and second are more often no numbers. A word is exchanged within its line.
_COUNTS = (
    "two three four five six seven eight nine ten eleven twelve",
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "hundred thousand million billion",
    "hundreds thousands millions billions",
)
_LINE = {word: line.split() for line in _COUNTS for word in line.split()}
_COUNTED = re.compile(rf"(?<![A-Za-z])({'|'.join(sorted(_LINE, key=len, reverse=True))})(?![A-Za-z])", re.I)


def _other_count(word: str, rng: Generator) -> str:
    """Replace number words: 'six-time' may become 'four-time', and 'Twenty' 'Ninety'."""

    def another(found: re.Match[str]) -> str:
        line = _LINE[found[0].lower()]
        new = other(found[0].lower(), line, int(rng.integers(len(line))))
        return new.capitalize() if found[0][0].isupper() else new

    return _COUNTED.sub(another, word)


@register("number")
def number(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Replace a share of the numbers, in digits or (English) words, by other numbers of the same size."""
    places = [i for i, word in enumerate(words) if re.search("[0-9]", word) or _COUNTED.search(word)]
    chosen = {places[p] for p in choose(len(places), amount, rng)}
    new = list(words)
    for i in places:  # also for numbers that are kept, so that a larger amount changes a number in the same way
        changed = _other_count(_other_number(words[i], rng), rng)
        new[i] = changed if i in chosen else words[i]
    return compare(words, new)


# Negation by word lists: English only, and rough where a tagger would be needed.
_NOT_AFTER = "is|are|was|were|will|would|can|could|shall|should|must|may|might"
_NEVER_BEFORE = (
    "has|have|had|said|went|made|took|found|gave|won|lost|began|became|rose|fell|grew|led|ran|built|kept|left|came"
    "|got|saw|knew|told|held|brought|wrote|stood|met|paid|sold|spent|sent|beat|(?!hundred)[a-z]{2,}[^e]ed"
)
# After these a past form is a participle ("was opened", "the closed road"), which 'never' would not deny.
_PARTICIPLE_AFTER = (
    f"{_NOT_AFTER}|has|have|had|be|been|being|an?|the|his|her|its|their|our|my|your|this|that|these|those"
    "|of|in|on|by|with|for|from|at|as|to|more|most|.*ly"
)
_FULL = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}  # of can't, won't, shan't, ain't


def _affirmed(word: str) -> str | None:
    """Return the remainder of a negated word: '' for not and never, 'is' for isn't; None if it is not negated."""
    denial = re.fullmatch(r"(\w+)n['’]t|(can)not|not|never", trim(word)[1].lower())
    return (_FULL.get(denial[1], denial[1]) or denial[2] or "") if denial else None


def _can_deny(word: str, before: str) -> bool:
    past = re.fullmatch(_NEVER_BEFORE, word) and not re.fullmatch(_PARTICIPLE_AFTER, before)
    return bool(past or re.fullmatch(_NOT_AFTER, word))


@register("negate")
def negate(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Negate a share of the English sentences, once each.

    'not', 'never' or "n't" is removed where there is one; otherwise 'not' or 'never' is inserted next to a verb.
    """
    options = []
    for _, *inner in sentences(words):  # the first word of a sentence is left alone
        denials = [i for i in inner if _affirmed(words[i]) is not None]
        options.append(denials or [i for i in inner if _can_deny(words[i], words[i - 1].lower())])
    options = [places for places in options if places]
    pick = rng.random(len(options))
    chosen = {options[s][int(pick[s] * len(options[s]))] for s in choose(len(options), amount, rng)}
    pieces: Pieces = []
    for i, word in enumerate(words):
        head, _, tail = trim(word)
        if i not in chosen:
            pieces.append((word, False))
        elif left := _affirmed(word):
            pieces.append((head + left + tail, True))
        elif left == "":
            pieces[-1] = (pieces[-1][0] + tail, True)
        elif re.fullmatch(_NOT_AFTER, word):
            pieces += [(word, False), ("not", True)]
        else:
            pieces += [("never", True), (word, False)]
    return pieces
