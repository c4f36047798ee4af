"""A rating from a judge's reply: tolerant of how it is said, strict about what it is.

The reply is read in the order in which a person would: an object with a rating; a statement that names itself the
rating ("Final score: 4/5", "earning a 3 out of 5", "three stars"); a reply that is nothing but the rating. Two
statements that disagree, a rating outside the scale or out of another top, a refusal: no value, and the reason says
which. Numbers that only occur in the analysis ("the 2015 election") are never taken.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.scale import Scale

NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
}  # fmt: skip
KEYS = ("rating", "score", "final_score", "final score", "overall", "grade", "value", "answer", "final_rating")

NUMBER = (
    r"(?:(?<![\w.$£€,])-?\d+(?:\.\d+)?(?![,.]?\d|%|st\b|nd\b|rd\b|th\b)|\b(?:"
    + "|".join(NUMBER_WORDS)
    + r")\b(?:[ -]and[ -]a[ -]half)?)"
)
TOP = r"(?:\s*(?:/|out\s+of|of)\s*(?:a\s+(?:possible|total\s+of)\s+)?(?P<top>" + NUMBER + r"))?"
RANGE = r"(?:\s*(?:-|–|to|or)\s*(?P<end>" + NUMBER + r"))?"
# What may follow a rating: not a noun ("scored two goals", "a 4-bedroom house", "gives three examples").
AFTER = (
    r"(?![-–]\w)(?![ \t]+(?!(?:out|of|for|in|on|because|as|due|since|stars?|points?|based|overall|with|and|but|to|"
    r"reason|the|this|it|which|while|would|is|if|from|given|i|here|according|when|at|by|that|or)\b)(?-i:[a-z]))"
)
NOUN = r"(?:ratings?|scores?|grades?)"
KIND = (
    r"(?:perfect|solid|low|high|final|full|relatively|overall|mere|total|strong|good|middling|about|around|only|just|an?|"
    r"the)\s+"
)
# The possessive *+ keeps "the  the  the …" from being split in exponentially many ways.
# "Final score (1-5): 4/5", "Rating of 3", "score is a 2"; a scale in brackets belongs to the name.
NAMED = (
    rf"(?P<final>\b(?:final|overall|total)\s+(?:[a-z]+\s+)?)?\b{NOUN}\b(?:\s+(?:for|on|in)\s+(?:the\s+)?(?:[\w-]+\s+){{0,4}}?[\w-]+)?"
    rf"(?:\s*\([^()]{{0,30}}\))?(?:\s*[:=]\s*|\s+(?:is|of|was|would\s+be|as|at)\s+|\s*-\s+|\s*\(|\s+)(?:\W{{0,3}}\b{KIND})*+\W{{0,3}}?"
    rf"(?P<value>{NUMBER}){RANGE}{TOP}{AFTER}"
)
# "I would score it a 4", "earning a 3", "making it a 4 out of 5", "scoring a perfect fluency of 5", "the summary is a 4
# because"
AWARD = (
    r"(?:scor(?:e|es|ed|ing)|rat(?:e|es|ed|ing)|giv(?:e|es|en|ing)|earn(?:s|ed|ing)?|receiv(?:e|es|ed|ing)|"
    r"deserv(?:e|es|ing)|get(?:s|ting)?|award(?:s|ed|ing)?|assign(?:s|ed|ing)?|warrant(?:s|ing)?|merit(?:s|ing)?|mak(?:e|es|ing))"
)
AWARDED = (
    rf"\b(?:{AWARD}\s+(?:(?:it|this|the|its|summary|response|text|output|itself|that|for|in|of|terms|as|with|\w+ness|\w+ency|\w+ence|\w+ance)\s+){{0,7}}?"
    rf"(?:{KIND})*(?:(?:\w+\s+)?{NOUN}\s+of\s+|\w+\s+of\s+|at\s+)?(?:{KIND})*|(?:summary|response|text|output|it)\s+is\s+an?\s+)"
    rf"(?P<value>{NUMBER}){RANGE}{TOP}{AFTER}"
)
# What would have to happen for another rating is not the rating: "to reach a perfect 5/5".
IFONLY = (
    r"\b(?:to\s+(?:\w+\s+)?(?:reach|achieve|elevate|get|earn|attain|deserve|receive|be|raise|bring|improve|increase|make|warrant)|would\s+(?:have|make)|could\s+have|"
    r"could\s+be|might\s+have|rather\s+than|instead\s+of|from\s+(?:achieving|reaching|being|earning|getting)|on\s+a\s+scale|not\s+an?|short\s+of|than\s+an?|would\s+require|closer\s+to)\b[^.,\n:;]{0,60}$"
)
FRACTION = rf"(?P<value>{NUMBER}){RANGE}\s*(?:/|out\s+of)\s*(?:a\s+(?:possible|total\s+of)\s+)?(?P<top>{NUMBER})"
STARS = rf"(?P<value>{NUMBER}){RANGE}{TOP}[ -]stars?\b"
# "… on the sentence level. 5": a last sentence that is nothing but a number
ENDING = rf"[.!?:)\n]\s+(?P<value>{NUMBER}){RANGE}{TOP}\W*$"
# "Fluency: 3 (out of 5)" on a line of its own
LINE = rf"^[ \t]*(?P<final>overall\s+)?[A-Za-z][\w ]{{0,30}}:[ \t]*(?P<value>{NUMBER}){RANGE}(?:\s*\()?{TOP}"
BRACKETED = rf"\(\s*(?P<value>{NUMBER}){TOP}\s*\)"
ALONE = rf"^\W*(?P<value>{NUMBER}){RANGE}{TOP}\W*$"
LETTER = re.compile(
    r"^\W*(?:(?:option|choice|answer|rating|score)\W+)?(?P<letter>[A-Z])(?:[).:\]]+(?:\s.*)?|\W*)$", re.I | re.S
)
NAMED_LETTER = re.compile(r"\b(?:option|choice|answer|rating|score)\s*(?:is|:)\s*\W*(?P<letter>[A-Z])\b(?!')", re.I)


RULES = {
    "alone": ALONE,
    "named": NAMED,
    "awarded": AWARDED,
    "stars": STARS,
    "fraction": FRACTION,
    "line": LINE,
    "ending": ENDING,
    "bracketed": BRACKETED,
}


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a rule when the first reply is read: all of them together take as long as starting a command."""
    return re.compile(pattern, re.I | re.M if pattern == LINE else re.I)


@dataclass(frozen=True)
class Parsed:
    """The rating, or None with the reason; `how` names the rule that found it, `note` says what is unusual about it."""

    value: float | None
    how: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Statement:
    """A rating that a reply states; `top`: the end of the scale it names, `final`: it calls the rating final."""

    value: float
    top: float | None
    final: bool
    place: int
    ranged: bool = False


def checked_pattern(pattern: str, mode: str) -> str:
    """A user's own way to read replies; one that cannot be one is refused before anything is asked."""
    if not pattern:
        return ""
    if mode == "pairwise":
        raise NlgaugeError("judge: pattern reads ratings; pairwise replies say A, B or tie.")
    try:
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise NlgaugeError(f"judge: pattern '{pattern}' is no regular expression ({error}).") from None
    if groups < 1:
        raise NlgaugeError(rf"judge: pattern '{pattern}' has no group for the rating; as in 'Score=(\d+)'.")
    return pattern


def parse_by(pattern: str, reply: str, scale: Scale) -> Parsed | None:
    """The rating where the pattern finds it last; None when it finds nothing.

    >>> parse_by(r"mark=(\\d)", "mark=4", Scale.parse("1-5")).value
    4.0
    """
    found = [match[1] for match in re.finditer(pattern, reply) if match[1]]
    if not found:
        return None
    said = found[-1].strip()
    if scale.letters:
        at = scale.letters.find(said.upper()) if len(said) == 1 else -1
        return Parsed(scale.low + at, "pattern") if at >= 0 else Parsed(None, reason="rating outside the scale")
    try:
        value = float(said.replace(",", "."))
    except ValueError:
        return Parsed(None, reason="the pattern's group is no number")
    return Parsed(value, "pattern") if value in scale else Parsed(None, reason="rating outside the scale")


def parse_reply(reply: str, scale: Scale) -> Parsed:
    """Read the rating that a judge's reply gives.

    Parameters
    ----------
    reply : str
    scale : Scale

    Returns
    -------
    Parsed
        `value` (None without a rating), `how` it was read, and the `reason` where there is none.

    Examples
    --------
    >>> five = Scale.parse("1-5")
    >>> parse_reply("It repeats itself. Rating: 4/5", five).value, parse_reply("Three stars.", five).value
    (4.0, 3.0)
    >>> parse_reply("Rating: 7", five)
    Parsed(value=None, how='', reason='rating 7 is outside 1-5', note='')
    """
    text = _plain(reply)
    if not text.strip():
        return Parsed(None, reason="empty reply")
    if (known := _object(text)) is not None:
        return _checked([Statement(known, None, True, 0)], scale, "json")
    if scale.letters:
        return _letter(text, scale)
    for how, rule in RULES.items():
        if said := list(_statements(_compiled(rule), text)):
            return _checked(said, scale, how)
    return Parsed(None, reason="no rating found")


def _plain(reply: str) -> str:
    """Without markdown: **4**, `4`, # Rating."""
    return re.sub(r"[*`#_]+|\\boxed|</?[a-z]+>", " ", reply.replace("\\n", "\n")).replace("{ ", "{")


def number(text: str) -> float:
    """
    >>> number("4.5"), number("Three"), number("three and a half")
    (4.5, 3.0, 3.5)
    """
    word = text.strip().lower()
    half = 0.5 if "half" in word else 0.0
    first = re.split(r"[ -]", word)[0] if not re.match(r"-?\d", word) else word
    return float(NUMBER_WORDS.get(first, first)) + half


def _statements(rule: re.Pattern[str], text: str) -> Iterator[Statement]:
    for found in rule.finditer(text):
        if _compiled(IFONLY).search(text[max(0, found.start() - 110) : found.start("value")]):
            continue
        groups = found.groupdict()
        value = number(groups["value"])
        end, top = (number(groups[g]) if groups.get(g) else None for g in ("end", "top"))
        if end is not None:
            if end <= value or end - value > 1:
                continue  # 2-1 is the score of a match, 1-5 a scale; a rating's range is 3-4
            value = (value + end) / 2
        yield Statement(value, top, bool(groups.get("final")), found.start(), end is not None)


def _checked(said: list[Statement], scale: Scale, how: str) -> Parsed:
    chosen = [s for s in said if s.final] or said
    values = {s.value for s in chosen}
    if len(values) > 1:
        listed = " and ".join(f"{v:g}" for v in sorted(values))
        return Parsed(None, reason=f"two different ratings: {listed}")
    one = chosen[-1]
    tops = {s.top for s in chosen if s.top is not None}
    if tops and tops != {scale.high}:
        return Parsed(None, reason=f"rated out of {max(tops - {scale.high}):g}, the scale is {scale}")
    if one.value not in scale:
        return Parsed(None, reason=f"rating {one.value:g} is outside {scale}")
    return Parsed(one.value, f"{how}, range" if one.ranged else how)


def _object(text: str) -> float | None:
    """The rating in a JSON object inside the reply, if there is one."""
    for found in re.finditer(r"\{[^{}]*\}", text):
        try:
            values = json.loads(found[0])
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict):
            for key in (k for k in values if str(k).strip().lower() in KEYS):
                value = values[key]
                if isinstance(value, int | float) and not isinstance(value, bool):
                    return float(value) if abs(value) < 1e300 else math.inf  # a whole number may be too large for float
                if isinstance(value, str) and (alone := _compiled(ALONE).match(value)) and not alone["end"]:
                    return number(alone["value"])
    return None


def _letter(text: str, scale: Scale) -> Parsed:
    said = {m["letter"].upper() for m in NAMED_LETTER.finditer(text)}
    if alone := LETTER.match(text.strip()):
        said = {alone["letter"].upper()}
    if not said:
        return Parsed(None, reason="no option named")
    if len(said) > 1:
        return Parsed(None, reason=f"two different options: {' and '.join(sorted(said))}")
    letter = said.pop()
    if letter not in scale.letters:
        return Parsed(None, reason=f"option {letter} is outside {scale}")
    return Parsed(scale.low + scale.letters.index(letter), "option")
