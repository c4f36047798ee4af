"""Controlled damage to texts: the one place that makes a text worse on purpose, by a known amount.

Every damage is `f(text, amount, rng, pool=()) -> Damaged`. A word is what `str.split()` gives. `amount` is
the share of places that are damaged: 0 gives the text back as it was, more does at least as much on average,
and anything above 0 damages at least one place if there is one. A text with words never becomes empty; one
that offers no place (nothing to negate, a single word to shuffle) comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.random import Generator

from nlgauge.errors import NameUnknown, NlgaugeError


@dataclass(frozen=True)
class Damaged:
    """A text after damage, and where: indices into `text.split()` of the words that were changed, moved or
    added; for words that were taken out, the word before the gap (at the very start, the first word).
    `touched` is empty exactly when the text is unchanged."""

    text: str
    touched: tuple[int, ...] = ()


Damage = Callable[..., Damaged]
Pieces = list[tuple[str, bool]]  # the words of the new text, each with "was it touched?"
Maker = Callable[[list[str], float, Generator, Sequence[str]], Pieces]

DAMAGES: dict[str, Damage] = {}
KINDS: list[str] = []


def register(name: str) -> Callable[[Maker], Damage]:
    """Name a damage. The function below it turns words into pieces; what all damages share is done here."""

    def wrap(make: Maker) -> Damage:
        def damaged(text: str, amount: float, rng: Generator, pool: Sequence[str] = ()) -> Damaged:
            if not 0 <= amount <= 1:  # also refuses NaN
                raise NlgaugeError(f"the amount of damage must be between 0 and 1. Got {amount!r} instead.")
            words = text.split()
            if amount == 0 or not words:
                return Damaged(text)
            pieces = make(words, amount, rng, pool)
            flat = [(word, hit) for piece, hit in pieces for word in piece.split()]  # pools may hold phrases
            touched = tuple(i for i, (_, hit) in enumerate(flat) if hit)
            return Damaged(" ".join(word for word, _ in flat), touched) if touched else Damaged(text)

        damaged.__name__, damaged.__doc__ = make.__name__, make.__doc__
        DAMAGES[name] = damaged
        KINDS.append(name)
        return damaged

    return wrap


def damage(text: str, kind: str, amount: float, rng: Generator, pool: Sequence[str] = ()) -> Damaged:
    """Damage a text in one of the ways of `KINDS`; `pool` holds words that may come in from elsewhere.

    >>> damage("The bridge is safe.", "negate", 1.0, np.random.default_rng(0))
    Damaged(text='The bridge is not safe.', touched=(3,))
    """
    if kind not in DAMAGES:
        raise NameUnknown(f"no damage '{kind}'. There are: {', '.join(KINDS)}.")
    return DAMAGES[kind](text, amount, rng, pool)


def _count(n: int, amount: float) -> int:
    return min(n, max(1, round(n * amount)))


def _choose(n: int, amount: float, rng: Generator) -> set[int]:
    """Some of n places. Cutting one permutation puts the places of a small amount among those of a larger
    one under the same seed."""
    return set(rng.permutation(n)[: _count(n, amount)].tolist())


def _compare(old: Sequence[str], new: Sequence[str]) -> Pieces:
    return [(b, a != b) for a, b in zip(old, new, strict=True)]


def _without(words: Sequence[str], gone: Iterable[int]) -> Pieces:
    missing = set(gone)
    kept = [i for i in range(len(words)) if i not in missing]
    return [(words[i], i + 1 in missing or (i == kept[0] and i > 0)) for i in kept]


def _sentences(words: Sequence[str]) -> list[list[int]]:
    """Word indices, sentence by sentence. Rough on purpose ('Dr.' ends one): damage needs no better."""
    ends = np.cumsum([0, *(bool(re.search(r"[.!?。！？؟][^\w.!?]*$", word[-9:])) for word in words[:-1])])
    return [list(group) for _, group in groupby(range(len(words)), key=ends.__getitem__)]


def _trim(word: str) -> tuple[str, str, str]:
    """The punctuation before, the word itself, the punctuation after: '(Oslo),' is '(', 'Oslo', '),'."""
    core = word.strip("".join({c for c in word if not c.isalnum()}))
    head, _, tail = word.partition(core) if core else ("", "", "")
    return head, core or word, tail


def _other(word: str, pool: Sequence[str], pick: int) -> str:
    """The entry of the pool at `pick`, or the next that differs, within the punctuation of the word."""
    head, core, tail = _trim(word)
    candidates = (_trim(pool[(pick + step) % len(pool)].strip())[1] for step in range(len(pool)))
    return head + next((other for other in candidates if other not in ("", core)), core) + tail


@register("drop")
def drop(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Take out that share of the words, never all."""
    gone = rng.permutation(len(words))[1:][: _count(len(words), amount)]
    return _without(words, gone.tolist())


@register("truncate")
def truncate(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Cut that share of the words from the end, never all."""
    return _without(words, range(max(1, len(words) - _count(len(words), amount)), len(words)))


@register("swap")
def swap(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Exchange neighbours: that share of the pairs (0 1)(2 3)... or, by lot, (1 2)(3 4)..."""
    first = int(rng.integers(2)) if len(words) > 2 else 0
    pairs = range(first, len(words) - 1, 2)
    new = list(words)
    for i in (pairs[p] for p in _choose(len(pairs), amount, rng)):
        new[i], new[i + 1] = words[i + 1], words[i]
    return _compare(words, new)


@register("shuffle")
def shuffle(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Mix up the order in one window with that share of the words; 1 shuffles the whole text."""
    size = min(len(words), max(2, _count(len(words), amount)))
    window = int(rng.integers(len(words) - size + 1)) + rng.permutation(size)
    new = list(words)
    for place, taken in zip(window, np.roll(window, 1), strict=True):  # one cycle: no word stays in its place
        new[place] = words[taken]
    return _compare(words, new)


@register("repeat")
def repeat(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Say one phrase with that share of the words twice in a row."""
    size = _count(len(words), amount)
    end = int(rng.integers(size, len(words) + 1))
    said = words[:end] + words[end - size :]
    return [(word, end <= i < end + size) for i, word in enumerate(said)]


@register("repeat-sentence")
def repeat_sentence(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Say that share of the sentences twice."""
    groups = _sentences(words)
    twice = _choose(len(groups), amount, rng)
    said = [
        (group, again) for s, group in enumerate(groups) for again in (False, True) if s in twice or not again
    ]
    return [(words[i], again) for group, again in said for i in group]


@register("garble")
def garble(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Spoil that share of the characters: another one of this text (so the script stays), none, or two."""
    letters = sorted(set("".join(words)))
    n = sum(map(len, words))
    chosen, pick = _choose(n, amount, rng), rng.integers(len(letters), size=n)
    how = rng.integers(len(letters) == 1, 3, size=n)  # a text of one letter has no other
    new, at = [], 0
    for word in words:
        made = ""
        for i, char in enumerate(word, at):
            made += (_other(char, letters, pick[i]), "", char * 2)[how[i]] if i in chosen else char
        new.append(made or word * 2)  # a word that lost every character would shift the words after it
        at += len(word)
    return _compare(words, new)


@register("replace")
def replace(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Put a word from the pool (without one, of the text itself) in the place of that share of the words."""
    pool = pool if any(map(str.strip, pool)) else sorted({_trim(word)[1] for word in words})
    chosen, pick = _choose(len(words), amount, rng), rng.integers(len(pool), size=len(words))
    return _compare(words, [_other(w, pool, pick[i]) if i in chosen else w for i, w in enumerate(words)])


def _other_number(word: str, rng: Generator) -> str:
    """Every run of digits becomes another number of as many digits: 1,250 may become 7,803."""
    runs = re.split("([0-9]+)", word)
    for i, run in enumerate(runs[1::2]):
        more = "".join(map(str, rng.integers(10, size=len(run) - 1)))
        runs[2 * i + 1] = _other(run[0], "123456789", int(rng.integers(9))) + more
    return "".join(runs)


@register("entity")
def entity(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Change that share of the numbers and names (capitalised inside a sentence): a number to another number,
    a name to a capitalised entry of the pool or, if it has none, to another name of the text."""
    starts = {sentence[0] for sentence in _sentences(words)}
    cores = [_trim(word)[1] for word in words]
    names = {i for i, core in enumerate(cores) if i not in starts and core[0].isupper() and core != "I"}
    others = [entry for entry in pool if entry[:1].isupper()] or sorted({cores[i] for i in names})
    names = {i for i in names if _other(cores[i], others, 0) != cores[i]}
    places = [i for i, word in enumerate(words) if i in names or re.search("[0-9]", word)]
    new = list(words)
    for i in sorted(places[p] for p in _choose(len(places), amount, rng)):
        pick = int(rng.integers(len(others) or 1))
        new[i] = _other(words[i], others, pick) if i in names else _other_number(words[i], rng)
    return _compare(words, new)


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
    """What is left of a denying word: '' of not and never, 'is' of isn't; None if it does not deny."""
    denial = re.fullmatch(r"(\w+)n['’]t|(can)not|not|never", _trim(word)[1].lower())
    return (_FULL.get(denial[1], denial[1]) or denial[2] or "") if denial else None


def _can_deny(word: str, before: str) -> bool:
    past = re.fullmatch(_NEVER_BEFORE, word) and not re.fullmatch(_PARTICIPLE_AFTER, before)
    return bool(past or re.fullmatch(_NOT_AFTER, word))


@register("negate")
def negate(words: list[str], amount: float, rng: Generator, pool: Sequence[str]) -> Pieces:
    """Turn that share of the English sentences into their opposite, once each: 'not', 'never' or "n't" is
    taken out where there is one, 'not' or 'never' put in beside a verb where there is none."""
    options = []
    for _, *inner in _sentences(words):  # the first word of a sentence is left alone
        denials = [i for i in inner if _affirmed(words[i]) is not None]
        options.append(denials or [i for i in inner if _can_deny(words[i], words[i - 1].lower())])
    options = [places for places in options if places]
    pick = rng.random(len(options))
    chosen = {options[s][int(pick[s] * len(options[s]))] for s in _choose(len(options), amount, rng)}
    pieces: Pieces = []
    for i, word in enumerate(words):
        head, _, tail = _trim(word)
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
