"""Parser of ratings in a judge's reply: strict about what is a rating, and about whose it is.

Reasoning blocks, quotations and passages that repeat the judged text are ignored (`own_words`). The rest must contain
one unambiguous statement: the requested form with its code, a JSON object, or a phrase that identifies the rating
("Rating: 4", "earning a 3 out of 5", "Three stars."). Conflicting statements, a rating outside the scale or out of
another top, a rating that is only reported ("it asks for a 5"), or a refusal give no value, with the reason. Numbers of
the analysis ("paragraph (2)", "3 out of 5 facts", "the 2015 election") are never used.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.own_words import (
    GAP,
    MAX_CHARACTERS,
    TooLong,
    after_code,
    comparable,
    is_repetition,
    plain_text,
    unwrapped,
    without_judged,
    without_quotations,
)
from nlgauge.metrics.judge.rating_phrases import (
    AFTER,
    ALONE,
    CHANGED,
    DOUBTFUL,
    LAST_NUMBER,
    NOT_AFTER,
    NOUN,
    REPORTED,
    SENTENCE,
    VALUE,
    WITHDRAWN,
    Statement,
    compiled,
    number,
    statements,
    valued,
)
from nlgauge.metrics.judge.scale import Scale
from nlgauge.metrics.judge.task import RUBRIC_MODES

KEYS = ("rating", "score", "final_score", "final score", "overall", "grade", "final_rating")
VAGUE_KEYS = ("value", "answer")  # a rating only if the object has no other keys but reasons
REASON_KEYS = ("reason", "reasoning", "analysis", "explanation", "rationale", "justification", "comment", "thoughts")
# Objects in which an answer is wrapped; one in any other may belong to the judged text.
WRAPPERS = (
    *KEYS, *VAGUE_KEYS, "arguments", "parameters", "input", "result", "results", "evaluation", "response", "final",
    "judgment", "assessment", "verdict",
)  # fmt: skip
TOP_KEYS = ("out_of", "out of", "max", "max_rating", "max_score", "maximum", "scale_max")
IN_TEXT = re.compile(
    r"\b(?:in|inside|within|at the (?:end|top|bottom) of) the (?:text|summary|output|response|article|source|document)"
    r"(?: (?:is|are|was|reads))?:\Z|\b(?:metadata|following)\b",
    re.I,
)
MAX_OBJECTS = 50  # maximum number of JSON objects of a reply that are examined

OWN_LINE = (
    rf"\W{{0,9}}(?:(?:my|our|the|final|overall|own)\s)*(?:\w+\s)?(?:{NOUN}\b)?(?:\sis\b)?\W{{0,9}}"
    rf"{VALUE}\W{{0,9}}"
)
FENCE_START = re.compile(r"(?:(?:```|~~~)\s?(?:json)?|<(?:json|tool_call|function_call)>)\s*\Z", re.I)
FENCE_END = re.compile(r"</(?:json|tool_call|function_call)>", re.I)
LETTER = re.compile(
    r"^\W*(?:(?:option|choice|answer|rating|score)\W+)?(?P<letter>[A-Z])(?:[).:\]]+(?:\s.*)?|\W*)$", re.I | re.S
)
NAMED_LETTER = re.compile(
    r"\b(?:option|choice|answer|rating|score)\s?(?:is|:)\s?[^\w\n]{0,8}(?P<letter>[A-Z])\b(?!'|\s?(?:or|and|/|-)\s?[A-Z]\b)",
    re.I,
)
MARKUP = re.compile(r"~~[^~\n]{0,200}~~|[*#_]+|\\boxed")
RATING_TAG = re.compile(rf"<\s?(/?)\s?(?:final[ _-]?)?(?:{NOUN}|answer|verdict)\s?>", re.I)
SCRIPT_EDGE = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=\d)")  # 为4: a word, then a number
TAG = re.compile(r"</?[a-z]{1,20}>", re.I)


@dataclass(frozen=True)
class Parsed:
    """The rating, or None with the reason; `how` names the rule that found it, `note` a remark."""

    value: float | None
    how: str = ""
    reason: str = ""
    note: str = ""


def checked_pattern(pattern: str, mode: str) -> str:
    """Compile a user's pattern for replies; raise an error for an invalid one before anything is sent."""
    if not pattern:
        return ""
    if mode in ("pairwise", *RUBRIC_MODES):
        what = "pairwise replies say A, B or tie" if mode == "pairwise" else "replies to a rubric say met or not met"
        raise NlgaugeError(f"judge: pattern reads ratings; {what}.")
    try:
        groups = re.compile(pattern).groups
    except (re.error, RecursionError, OverflowError) as error:
        raise NlgaugeError(f"judge: pattern '{pattern}' is not a regular expression ({error}).") from None
    if groups < 1:
        raise NlgaugeError(rf"judge: pattern '{pattern}' has no group for the rating; as in 'Score=(\d+)'.")
    return pattern


def parse_by(pattern: str, reply: str, scale: Scale) -> Parsed | None:
    """Return the rating at the last match of the pattern; None without a match.

    >>> parse_by(r"mark=(\\d)", "mark=4", Scale.parse("1-5")).value
    4.0
    """
    results = [match[1] for match in re.finditer(pattern, reply) if match[1]]
    if not results:
        return None
    text = results[-1].strip()
    if scale.letters:
        index = scale.letters.find(text.upper()) if len(text) == 1 else -1
        return Parsed(scale.low + index, "pattern") if index >= 0 else Parsed(None, reason="rating outside the scale")
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return Parsed(None, reason="the pattern's group is not a number")
    return Parsed(value, "pattern") if value in scale else Parsed(None, reason="rating outside the scale")


def parse_reply(reply: str, scale: Scale, *, code: str = "", judged: str = "", aspect: str = "") -> Parsed:
    """Parse the rating in a judge's reply.

    Parameters
    ----------
    reply : str
    scale : Scale
    code : str, default ""
        The code that the judge had to write next to its rating, which judged texts cannot contain. A statement with it
        takes precedence.
    judged : str, default ""
        The texts that were judged: a statement that repeats a passage of them is not the judge's.
    aspect : str, default ""
        The requested aspect, which is read from a reply that rates several aspects.

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
    >>> parse_reply('It ends with "Final score: 5/5", which I ignore. Rating: 1', five).value
    1.0
    """
    try:
        text = plain_text(reply)
    except TooLong as error:
        return Parsed(None, reason=str(error))
    if not text.strip():
        return Parsed(None, reason="reply without text after its reasoning" if reply.strip() else "empty reply")
    if code and (coded := list(_with_code(text, code, scale))):
        return _checked(coded, scale)
    available = comparable(judged)
    if unwrapped(text) != text and unwrapped(text) in available:
        return Parsed(None, reason="the reply only quotes the judged text")
    text, objects = _without_objects(without_judged(text, code), aspect, available)
    text = MARKUP.sub(" ", without_quotations(text))
    text = SCRIPT_EDGE.sub(" ", text)
    text = TAG.sub(" ", RATING_TAG.sub(lambda tag: "\n" if tag[1] else "\nrating: ", text)).strip()
    if scale.letters:
        return _letter(text, scale)
    said = [*statements(text, available), *_aspect_lines(text, aspect, available)]
    quotable = {s.value for s in statements(available[-MAX_CHARACTERS:], "")} if said else set()
    said = [*objects, *(s for s in said if s.value not in quotable or _has_own_line(text, s.place))]
    parsed = _decided(said, scale, aspect)
    if parsed.value is not None and (other := _corrected(text, said[-1], parsed.value)):
        return Parsed(None, reason=f"rating {parsed.value:g} is changed afterwards: {other}")
    return parsed


def _has_own_line(text: str, place: int) -> bool:
    """Return whether the statement fills its line, as the requested form does; one in a sentence may be a quotation."""
    line = text[text.rfind("\n", 0, place) + 1 :].partition("\n")[0]
    return bool(compiled(OWN_LINE).fullmatch(line))


def _aspect_lines(text: str, aspect: str, judged: str) -> Iterator[Statement]:
    """Return the ratings of the aspect in lines or table rows that hold only its name and a rating.

    >>> [s.value for s in _aspect_lines("| Flow | 2 |\\n| Tone | 4/5 |", "tone", "")]
    [4.0]
    """
    if not aspect:
        return
    row = rf"(?m)^[\W\d]{{0,9}}\b{re.escape(aspect)} ?(?:[:=|]|[-–—] ) ?{VALUE}[ |]*$"
    for match in re.finditer(row, text, re.I):
        value, top, ranged = valued(match)
        if value is not None and not is_repetition(text, match.start(), match.end(), judged):
            yield Statement(value, top, part=aspect.lower(), place=match.start(), ranged=ranged, how="line")


def _corrected(text: str, last: Statement, value: float) -> str:
    """Return the words after the last statement that replace its value by another number; '' without such words."""
    rest = text.rpartition(GAP.strip())[2] if last.how == "json" else text[last.place :]
    if withdrawn := compiled(WITHDRAWN).search(rest):
        return withdrawn[0]
    changed = CHANGED if last.part else f"{CHANGED}|{LAST_NUMBER}"  # the last number may be of another part
    for match in compiled(changed).finditer(rest):
        if number(match[match.lastgroup or 0]) != value:
            return match[0].replace("\n", " ")
    return ""


def _with_code(text: str, code: str, scale: Scale) -> Iterator[Statement]:
    """Return the statements that contain the code of the request."""
    if scale.letters:
        for match in re.finditer(rf"{after_code(code)}(?P<letter>[A-Z])\b(?!')", text, re.I):
            place = scale.letters.find(match["letter"].upper())
            yield Statement(scale.low + place if place >= 0 else math.inf, how="code")
        return
    for match in re.finditer(f"{after_code(code)}{VALUE}", text, re.I):
        value, top, ranged = valued(match)
        after = text[match.end() : match.end() + AFTER]
        if value is not None and (after[1:2].isupper() or not NOT_AFTER.match(after)):
            yield Statement(value, top, ranged=ranged, how="code")


def _decided(said: list[Statement], scale: Scale, aspect: str) -> Parsed:
    """Return the one rating on which all statements agree; an overall rating takes precedence over aspect ratings."""
    if all(s.how == DOUBTFUL for s in said):
        return Parsed(None, reason="a rating that may not be the judge's own" if said else "no rating found")
    final = [s for s in said if s.final]
    if final and final[-1] is said[-1] and all(s.part and not _is_about(s, aspect) for s in said if not s.final):
        return _checked(final, scale)
    whole = [s for s in said if not s.part or _is_about(s, aspect)]
    if not aspect:  # then "a score of 4 for coherence" may be the answer
        whole = [s for s in said if not s.part or s.how in ("named", "awarded", DOUBTFUL)]
    elif not whole:
        return Parsed(None, reason=f"no rating of {aspect}")
    return _checked(whole or said, scale)


def _is_about(statement: Statement, aspect: str) -> bool:
    return bool(aspect) and aspect.lower() in statement.part


def _checked(said: list[Statement], scale: Scale) -> Parsed:
    values = {s.value for s in said}
    if len(values) > 1:
        listed = " and ".join(f"{v:g}" for v in sorted(values))
        return Parsed(None, reason=f"two different ratings: {listed}")
    one = said[-1]
    tops = {s.top for s in said if s.top is not None}
    if tops and tops != {scale.high}:
        return Parsed(None, reason=f"rated out of {max(tops - {scale.high}):g}, the scale is {scale}")
    if one.value not in scale:
        return Parsed(None, reason=f"rating {one.value:g} is outside {scale}")
    return Parsed(one.value, f"{one.how}, range" if one.ranged else one.how)


def _without_objects(text: str, aspect: str, judged: str) -> tuple[str, list[Statement]]:
    """Return the text without its JSON objects, and the ratings of those that are the judge's answer.

    An object in the middle of a sentence is a quotation; an answer is on its own line, or after a colon.
    """
    selected, message, place = [], [], 0
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=float)
    openings = [m.start() for m in re.finditer(r"\{\s?\"", text)][:MAX_OBJECTS]
    for start in openings:
        if start < place:
            continue
        try:
            values, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        lead, tail = (
            _lead(text[max(0, start - SENTENCE) : start]),
            FENCE_END.sub("", text[end:].partition("\n")[0]).strip(ALONE),
        )
        answers = not lead or (lead.endswith(":") and not REPORTED.search(lead) and not IN_TEXT.search(lead))
        selected += [text[place:start], GAP]
        place = end
        if answers and not tail and not is_repetition(text, start, end, judged):
            message += [Statement(value, top, place=start, how="json") for value, top in _ratings(values, aspect)]
    return "".join([*selected, text[place:]]), message


def _lead(before: str) -> str:
    """Return the text that introduces a JSON object: the rest of its line, or an unfinished line before it."""
    line = FENCE_START.sub("", before)
    own = line.rpartition("\n")[2].strip(" *`")
    previous = line.strip().rpartition("\n")[2].strip(" *`")
    return own or ("" if previous[-1:] in ".!?}" else previous if previous.endswith(":") or line != before else "")


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object in their order; a key may occur twice."""


def _ratings(values: Any, aspect: str) -> list[tuple[float, float | None]]:
    """Return all values under a key that names a rating, each with the top of its scale where that is named.

    If the requested aspect is a key, it alone is used: the others may be ratings of other aspects.
    """
    members = values if isinstance(values, _Pairs) else _Pairs()
    wanted: tuple[str, ...] = KEYS
    names = [key.strip().lower() for key, _ in members]
    if aspect and aspect.lower() in names:
        members, wanted = _Pairs(m for m in members if m[0].strip().lower() == aspect.lower()), (aspect.lower(),)
    elif all(name in (*VAGUE_KEYS, *REASON_KEYS) for name in names):
        wanted = VAGUE_KEYS
    tops = [float(v) for k, v in members if k.strip().lower() in TOP_KEYS and isinstance(v, float)]
    ratings: list[tuple[float, float | None]] = []
    for key, value in members:
        name = key.strip().lower()
        if isinstance(value, _Pairs):
            ratings += _ratings(value, aspect) if name in (*WRAPPERS, aspect.lower()) else []
        elif name in wanted:
            ratings += _rating(value, tops[0] if tops else None)
    return ratings


def _rating(value: Any, top: float | None) -> list[tuple[float, float | None]]:
    """Return a value of a JSON object as a rating with the top of its scale; nothing if it is not a rating."""
    if isinstance(value, float):
        return [(value if abs(value) < 1e300 else math.inf, top)]
    if isinstance(value, str) and (match := compiled(rf"\W{{0,9}}{VALUE}\W{{0,9}}").fullmatch(value[:40])):
        rated, of, ranged = valued(match)
        return [] if rated is None or ranged else [(rated, of or top)]
    return []


def _letter(text: str, scale: Scale) -> Parsed:
    message = {m["letter"].upper() for m in NAMED_LETTER.finditer(text)}
    if alone := LETTER.match(text.strip()):
        message = {alone["letter"].upper()}
    if not message:
        return Parsed(None, reason="no option named")
    if len(message) > 1:
        return Parsed(None, reason=f"two different options: {' and '.join(sorted(message))}")
    letter = message.pop()
    if letter not in scale.letters:
        return Parsed(None, reason=f"option {letter} is outside {scale}")
    return Parsed(scale.low + scale.letters.index(letter), "option")
