"""Values of words such as pass, 👎, C, tie or excellent; add a word here to have it recognized.

A column is read if all its words are in one line of one list; other columns are not guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

# Good and bad words: 1 and 0. They are unambiguous, so one of a pair is enough.
VERDICTS = (
    ("pass, passed, passes, passing", "fail, failed, fails, failing, failure"),
    ("success, successful, succeeded", "failure, failed, unsuccessful"),
    ("good", "bad, not good"),
    ("correct", "incorrect, wrong, not correct"),
    ("right", "wrong"),
    ("acceptable", "unacceptable, not acceptable"),
    ("accept, accepted", "reject, rejected"),
    ("approve, approved", "reject, rejected, disapprove, disapproved, not approved"),
    ("ok, okay", "not ok, not okay"),
    ("valid", "invalid, not valid"),
    ("helpful", "unhelpful, not helpful"),
    ("relevant", "irrelevant, not relevant"),
    ("faithful", "unfaithful, not faithful"),
    ("grounded", "ungrounded, not grounded"),
    ("supported", "unsupported, not supported"),
    ("consistent", "inconsistent, not consistent"),
    ("factual", "nonfactual, non factual, not factual"),
    ("satisfied", "dissatisfied, unsatisfied, not satisfied"),
    ("safe", "unsafe, not safe"),
    ("thumbs up, thumb up, thumbsup, 👍", "thumbs down, thumb down, thumbsdown, 👎"),
    ("✅, ✔, ✓, ☑", "❌, ✗, ✘, ✖, ❎"),
    ("like, liked", "dislike, disliked"),
    ("upvote, upvoted", "downvote, downvoted"),
)
# Pairs whose words are ambiguous alone (n, t).
ANSWERS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))
# Rating words from worst to best. Words of equal rank are separated by a slash. The ranks become the numbers 0, ½, 1.
THIRDS = (
    "incorrect/wrong, partially correct/partly correct/partial, correct",
    "loss/lose/loses/lost, tie/ties/tied/draw, win/wins/won",
)
# The ranks of these words become 1, 2, 3, …, if three words of a line occur, or two on either side of its middle.
SCALES = (
    "bad, poor, fair, good, excellent",
    "poor, fair, good, very good, excellent",
    "very poor, poor, fair/average/ok/okay/neutral/acceptable, good, very good/excellent",
    "very bad, bad, ok/okay/fair/average/neutral/mediocre, good, very good",
    "terrible/awful, bad/poor, ok/okay/fair/average/mediocre, good, great/excellent",
    "low, medium/moderate/mid, high",
    "very low, low, medium/moderate/neutral, high, very high",
    "strongly disagree, disagree, neutral/neither agree nor disagree, agree, strongly agree",
    "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
)
INSPECT = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0}  # correct, partially, incorrect, no answer
# Ignored around a word: skin tones and variants of an emoji, Markdown, quotes, a full stop.
AROUND = r"[\x{1F3FB}-\x{1F3FF}\x{FE0E}\x{FE0F}\x{200D}*`\"“”]"


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _tables() -> list[tuple[dict[str, float], str]]:
    """Return the word values of every line, and which words must occur for the line to apply:
    'any', 'both' or 'apart'.
    """
    tables = []
    for kind, pairs in (("any", VERDICTS), ("both", ANSWERS)):
        for good, bad in pairs:
            tables.append((dict.fromkeys(_listed(good), 1.0) | dict.fromkeys(_listed(bad), 0.0), kind))
    for lines, start, step in ((THIRDS, 0.0, 0.5), (SCALES, 1.0, 1.0)):
        for line in lines:
            ranks = [rank.split("/") for rank in _listed(line)]
            tables.append(({w: start + step * k for k, words in enumerate(ranks) for w in words}, "apart"))
    return [*tables, (INSPECT, "both")]


TABLES = _tables()
# Values of single words, for readers of logs in which all verdicts may be equal.
WORTH = {word: value for table, kind in TABLES if kind == "any" or len(table) == 2 for word, value in table.items()}
OF_WHAT = [table for table, kind in TABLES if (kind == "both" and len(table) == 2) or max(table.values()) > 1]


def of_what(words: Collection[str]) -> bool:
    """Return whether the meaning of the words (yes, high) depends on the name of their column."""
    return any(all(word in table for word in words) for table in OF_WHAT)


def worth_of(words: Collection[str]) -> dict[str, float] | None:
    """Return the numbers of the words of a column, or None if no list has them all.

    >>> worth_of(["pass", "fail"]), worth_of(["good", "excellent"]), worth_of(["win", "tie"])
    ({'pass': 1.0, 'fail': 0.0}, None, {'win': 1.0, 'tie': 0.5})
    """
    for table, needs in TABLES:
        if all(word in table for word in words):
            mapped = {word: table[word] for word in words}
            if needs == "any" or _enough(set(mapped.values()), table, needs):
                return mapped
    return None


def _enough(values: set[float], table: Mapping[str, float], needs: str) -> bool:
    if needs == "both":
        return {0.0, 1.0} <= values
    low, high = min(table.values()), max(table.values())
    middle = (low + high) / 2
    if high == 1:  # thirds
        return len(values) > 1
    return len(values) > 2 or (min(values) < middle < max(values))


def bare_words(series: pl.Series) -> pl.Series:
    """Normalize words: lower case, no surrounding marks, spaces between their parts.

    >>> bare_words(pl.Series(["**PASS**", "thumbs-up", "Not_OK.", "👍🏽"])).to_list()
    ['pass', 'thumbs up', 'not ok', '👍']
    """
    plain = series.str.to_lowercase().str.replace_all(AROUND, "").str.replace_all(r"[\s_-]+", " ")
    return plain.str.strip_chars(" .!'[]()")
