"""A rating from a judge's reply: strict about what is a rating, and about whose it is.

Reasoning blocks, quotations and passages that repeat the judged text are not read (`own_words`). What is left must hold
one unambiguous statement: the requested form with its code, a JSON object, or a phrase that names itself the rating
("Rating: 4", "earning a 3 out of 5", "Three stars."). Statements that disagree, a rating outside the scale or out of
another top, a rating that is only reported ("it asks for a 5"), a refusal: no value, and the reason says which. Numbers of
the analysis ("paragraph (2)", "3 out of 5 facts", "the 2015 election") are never taken.

Every number is looked at with a window of fixed length around it, so the time grows with the length of the reply.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.own_words import GAP, TooLong, comparable, is_repetition, plain_text, without_quotations
from nlgauge.metrics.judge.scale import Scale

NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
}  # fmt: skip
KEYS = ("rating", "score", "final_score", "final score", "overall", "grade", "value", "answer", "final_rating")
MAX_NUMBERS = 400  # numbers of a reply that are looked at
MAX_TAIL = 40  # characters after a number that is the last sentence
MAX_OBJECTS = 50  # JSON objects of a reply that are looked at
BEFORE = 140  # characters before a number that are looked at
AFTER = 90  # characters after it
ALONE = " \n\t.,;:!?*\"'`()[]{}#_-–—=>$"  # what may stand around a number that is the whole reply
SENTENCE = 200  # characters before a statement in which its sentence begins

NUMBER = (
    r"(?:(?<![\w.$£€,])-?\d+(?:\.\d+|,\d{1,2}(?!\d))?(?![,.]?\d|%|st\b|nd\b|rd\b|th\b)|\b(?:"
    + "|".join(NUMBER_WORDS)
    + r")\b(?:[ -]and[ -]a[ -]half)?)"
)
VALUE = (
    rf"(?P<value>{NUMBER})(?:\s?(?:-|–|to|or)\s?(?P<end>{NUMBER}))?"
    rf"(?:\s?\(?\s?(?P<slash>/|⁄|out of|von|sur|su|de|из|of)\s?(?:an? (?:possible|total of) )?(?P<top>{NUMBER}))?"
)
NOUN = r"(?:ratings?|scores?|grades?|marks?)"
# Words for a rating in other languages; after them a colon or an equals sign is asked for.
FOREIGN = (
    r"bewertung|gesamtbewertung|wertung|note|punktzahl|puntuación|calificación|valoración|nota|pontuação|avaliação|"
    r"évaluation|notation|punteggio|valutazione|voto|beoordeling|cijfer|ocena|оценка|рейтинг|балл|betyg|karakter|puan|"
    r"评分|得分|总分|總分|총점|分数|评级|評分|分數|評価|スコア|点数|평점|점수|평가|등급|التقييم|الدرجة|रेटिंग|अंक"
)
KIND = (
    r"(?:perfect|solid|low|high|final|full|relatively|overall|mere|total|strong|good|middling|about|around|only|just|an?|"
    r"the)\s"
)
ASPECT = (
    r"(?:coheren\w*|consisten\w*|fluen\w*|relevan\w*|\w+ness|\w+ity|\w+acy|grammar|style|content|structure|quality|"
    r"coverage|tone|engagement|faithfulness|organi[sz]ation|flow|overall|adequacy|empathy|surprise|humou?r|usefulness)"
)
# "Final score (1-5): 4/5", "Rating of 3", "score is a 2"; a scale in brackets belongs to the name.
NAMED = re.compile(
    rf"(?P<final>\b(?:final|overall|total)\s(?:[a-z]+\s)?)?(?P<aspect>\b{ASPECT}\s)?\b{NOUN}\b"
    rf"(?P<part>\s(?:for|on|in)\s(?:the\s)?(?:[\w-]+\s){{0,4}}?[\w-]+)?"
    rf"(?:\s?\([^()]{{0,30}}\))?(?:\s?[:=]\s?|\s(?:is|of|was|would\sbe|as|at)\s?:?\s|\s[-–]\s|\s?\(|\s)"
    rf"(?:\W{{0,3}}\b{KIND}){{0,4}}[^\w/]{{0,3}}\Z", re.I
)  # fmt: skip
FOREIGN_NAMED = re.compile(
    rf"(?:(?:{FOREIGN})(?:\sfinale?|\sglobale?|\stotale?)?|(?:\A|\n)\W{{0,4}}(?:final\s)?(?:answer|verdict))"
    rf"(?:\s?\([^()]{{0,30}}\))?\s?(?:[:=]|是|为|為|は|[–—]|(?:est\s)?de\s|di\s|es\s|ist\s|è\s|é\s)\s?[^\w/]{{0,3}}\Z", re.I
)  # fmt: skip
# "I would score it a 4", "earning a 3", "making it a 4 out of 5", "scoring a perfect fluency of 5", "the summary is a 4
# because"
AWARD = (
    r"(?:scor(?:e|es|ed|ing)|rat(?:e|es|ed|ing)|giv(?:e|es|en|ing)|earn(?:s|ed|ing)?|receiv(?:e|es|ed|ing)|"
    r"deserv(?:e|es|ing)|get(?:s|ting)?|award(?:s|ed|ing)?|assign(?:s|ed|ing)?|warrant(?:s|ing)?|merit(?:s|ing)?|mak(?:e|es|ing))"
)
AWARDED = re.compile(
    rf"\b(?:(?P<verb>{AWARD})\s(?:(?:it|this|the|its|summary|response|text|output|itself|that|for|in|of|terms|as|with|"
    rf"article|respect|to|between|and|\w+'s|\w+ness|\w+ency|\w+ence|\w+ance)\s){{0,12}}?(?:{KIND}){{0,4}}"
    rf"(?:(?:\w+\s)?{NOUN}\sof\s|\w+\sof\s|at\s)?(?:{KIND}){{0,4}}|(?:summary|response|text|output|it|this)\sis\san?\s(?:{KIND}){{0,2}})\Z",
    re.I,
)
# Who has a rating: "the summary receives a 4", but not "the hotel was rated 4 stars" or "the film has a rating of 5".
OWNER = re.compile(r"\b(?:summary|text|output|response|translation|story|answer|rewriting|it|this|i|i'd|we|would|should)\b", re.I)
PASSIVE = re.compile(r"\b(?:was|were|been|are|got)\s(?:\w+\s)?\Z", re.I)
HAS = re.compile(r"\b(?:has|had|have|given|got|won|received|holds?|awarded)\s(?:an?|the)\s\Z", re.I)
# What may follow a rating: not a noun ("scored two goals", "a 4-bedroom house", "3 out of 5 facts").
NOT_AFTER = re.compile(
    r"(?:[-–]\w|[ \t](?:would|means|indicates|represents|corresponds|being)\b|[ \t](?!(?:out|for|in|on|because|as|due|since|stars?|points?|based|overall|with|and|but|to|"
    r"reason|the|this|it|which|while|is|if|from|given|i|here|according|when|at|by|that|or|however|punkten?|"
    r"sterne?|étoiles?|puntos|estrellas)\b)[^\W\d_]|[ \t]of (?!5\b|10\b|100\b))"
)
FEW_AFTER = re.compile(r"(?:\W{0,4}(?:\n|\Z)|[.,;!)\]]|\s(?:for|in terms|on|because|as|due|since|with|stars?|points?|based|overall)\b)")
FENCE_START = re.compile(r"(?:```|~~~)\s?(?:json)?\s*\Z", re.I)
NOT_BEFORE = re.compile(r"\b(?:between|from|least|most|than|until|above|below|under|over)\s\Z", re.I)
LISTED = re.compile(r"[.)] ?[^\W\d_]")  # "1. Grammar": the number of a list
# What would have to happen for another rating is not the rating: "to reach a perfect 5/5".
IFONLY = re.compile(
    r"\b(?:to\s(?:\w+\s)?(?:reach|achieve|elevate|get|earn|attain|deserve|receive|be|raise|bring|improve|increase|make|warrant)|would\s(?:have|make)|could\shave|"
    r"could\sbe|might\shave|rather\sthan|instead\sof|from\s(?:achieving|reaching|being|earning|getting|scoring|receiving)|on\sa\sscale|not\san?|short\sof|than\san?|would\srequire|closer\sto|(?:do|does|did)(?:n't|\snot)\s(?:\w+\s)?(?:get|earn|receive|deserve|reach|score|give|warrant|merit|achieve)|only\sreason)\b[^.,\n:;]{0,60}\Z",
    re.I,
)
# A rating that somebody else gives or asks for: "it claims an overall rating of 5", "ignoring the request for a 5".
REPORTED = re.compile(
    r"\b(?:says?|said|saying|claim(?:s|ed|ing)?|mention(?:s|ed|ing)?|stat(?:es|ed|ing)|asks?|asked|asking|demand\w*|request\w*|instruct\w*|tells?|"
    r"telling|told|orders?|commands?|urg(?:es|ed|ing)|insist\w*|contains?|containing|includ(?:es|ed|ing)|ends? (?:with|in)|"
    r"ending with|begins? with|starts? with|reads|writes?|wrote|written|declar\w*|announc\w*|propos\w*|suggest\w*|wants?|"
    r"tr(?:y|ies|ying) to|attempt\w*|manipulat\w*|inject\w*|embedded|hidden|prompts?|ignor\w*|disregard\w*|despite|"
    r"refus\w*|reject\w*|pretend\w*|demanding|quot\w*|(?:will|would|do|can|should|could)(?:\snot|n't)\s(?:give|rate|assign|score|award)|"
    r"cannot (?:give|rate|assign|score|award)|(?:the|its) (?:author|writer))\b(?P<rest>[^\n]*)\Z", re.I
)  # fmt: skip
OWN = re.compile(
    r"(?:\b|(?=,))(?:resulting|indicating|therefore|thus|hence|earning|receiving|deserving|scoring|, giving|making it|leading to|so|"
    r", with an? (?:\w+ )?(?:score|rating)|i(?: would|'d)? (?:give|rate|score|assign|award)|my)\b", re.I
)  # fmt: skip
DISOWNED = re.compile(
    r"[\s)\].,;–—-]{0,4}(?:which|that|this|an?|but|as)\b[^.\n]{0,50}\b(?:ignor\w*|disregard\w*|instruct\w*|attempt\w*|"
    r"manipulat\w*|inject\w*|demand\w*|request\w*|false|wrong|untrue|not (?:my|follow|agree|true))\b", re.I
)  # fmt: skip
SENTENCE_START = re.compile(r"[.!?;](?:\s|\Z)|\n")
# "… on the sentence level. 5": a last sentence that is nothing but a number
CLAUSE = re.compile(r"(?:[.!?;)\n]\s?|\A\W*|\b(?:as|this is|that is|summary is|text is|a|so|[-–—])\s)\Z", re.I)
LABEL = re.compile(rf"(?:\A|\n|[.;!?]\s)[-•\d.) ]{{0,6}}(?P<name>(?:\w+\s){{0,3}}{ASPECT}(?:\s\w+)?)\s?[:=]\s?\W{{0,3}}\Z", re.I)
STARS = re.compile(r"[ -]stars?\b|\s?[分点점](?!中)", re.I)
LINE_START = re.compile(r"(?:\A|\n)\W{0,9}\Z")
SENTENCE_END = re.compile(r"[.!?)\n]\s?\Z")
LETTER = re.compile(
    r"^\W*(?:(?:option|choice|answer|rating|score)\W+)?(?P<letter>[A-Z])(?:[).:\]]+(?:\s.*)?|\W*)$", re.I | re.S
)
NAMED_LETTER = re.compile(r"\b(?:option|choice|answer|rating|score)\s?(?:is|:)\s?[^\w\n]{0,8}(?P<letter>[A-Z])\b(?!'|\s?(?:or|and|/|-)\s?[A-Z]\b)", re.I)
MARKUP = re.compile(r"[*#_]+|\\boxed")
RATING_TAG = re.compile(rf"<\s?(/?)\s?(?:final[ _-]?)?(?:{NOUN}|answer|verdict)\s?>", re.I)
SCRIPT_EDGE = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=\d)")  # 为4: a word, then a number
TAG = re.compile(r"</?[a-z]{1,20}>", re.I)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when the first reply is read."""
    return re.compile(pattern, re.I)


@dataclass(frozen=True)
class Parsed:
    """The rating, or None with the reason; `how` names the rule that found it, `note` says what is unusual about it."""

    value: float | None
    how: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Statement:
    """A rating that a reply states.

    `top`: the end of the scale that it names; `final`: it calls itself final or overall; `part`: it is about one aspect
    of several; `place`: where it stands.
    """

    value: float
    top: float | None = None
    final: bool = False
    part: str = ""
    place: int = 0
    ranged: bool = False
    how: str = ""


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


def parse_reply(reply: str, scale: Scale, *, code: str = "", judged: str = "", aspect: str = "") -> Parsed:
    """Read the rating that a judge's reply gives.

    Parameters
    ----------
    reply : str
    scale : Scale
    code : str, default ""
        What the judge had to write next to its rating, and no text that is judged can know. A statement with it counts
        alone.
    judged : str, default ""
        The texts that were judged: a statement that repeats a passage of them is not the judge's.
    aspect : str, default ""
        The aspect that was asked for, of which a reply that rates several aspects is read.

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
    text, objects = _without_objects(text)
    text = MARKUP.sub(" ", without_quotations(text))
    text = SCRIPT_EDGE.sub(" ", text)
    text = TAG.sub(" ", RATING_TAG.sub(lambda tag: "\n" if tag[1] else "\nrating: ", text)).strip()
    if scale.letters:
        return _letter(text, scale)
    known = comparable(judged)
    return _decided(objects + list(_statements(text, known)), scale, aspect)


def number(text: str) -> float:
    """
    >>> number("4.5"), number("Three"), number("three and a half")
    (4.5, 3.0, 3.5)
    """
    word = text.strip().lower().replace(",", ".")
    half = 0.5 if "half" in word else 0.0
    first = re.split(r"[ -]", word)[0] if not re.match(r"-?\d", word) else word
    return float(NUMBER_WORDS.get(first, first)) + half


def _with_code(text: str, code: str, scale: Scale) -> Iterator[Statement]:
    """The statements that carry the code of the request."""
    if scale.letters:
        for match in re.finditer(rf"{re.escape(code)}[^\w\n]{{0,8}}(?P<letter>[A-Z])\b(?!')", text, re.I):
            place = scale.letters.find(match["letter"].upper())
            yield Statement(scale.low + place if place >= 0 else math.inf, how="code")
        return
    for match in re.finditer(rf"{re.escape(code)}[^\w\n-]{{0,8}}{VALUE}", text, re.I):
        value, top, ranged = _valued(match)
        if value is not None:
            yield Statement(value, top, ranged=ranged, how="code")


def _valued(match: re.Match[str]) -> tuple[float | None, float | None, bool]:
    """The value, the top of the scale that is named, and whether a range was given; no value for a match's score."""
    value = number(match["value"])
    end, top = (number(match[g]) if match[g] else None for g in ("end", "top"))
    if end is None:
        return value, top, False
    if end <= value or end - value > 1:
        return None, top, True  # 2-1 is the score of a match, 1-5 a scale; a rating's range is 3-4
    return (value + end) / 2, top, True


def _statements(text: str, judged: str) -> Iterator[Statement]:
    """Every number of the text that a phrase makes a rating."""
    for count, match in enumerate(_compiled(VALUE).finditer(text)):
        if count >= MAX_NUMBERS:
            return
        value, top, ranged = _valued(match)
        if value is None:
            continue
        found = _phrase(text, match)
        if found is None:
            continue
        how, first, final, part = found
        if is_repetition(text, first, match.end(), judged) or _reported(text, first, match.end()):
            continue
        yield Statement(value, top, final, part, first, ranged, how)


def _phrase(text: str, match: re.Match[str]) -> tuple[str, int, bool, str] | None:
    """Which phrase makes this number a rating: its name, its beginning, whether it is final, and the aspect."""
    start, end = match.span()
    edge = max(0, start - BEFORE)
    before, after = text[edge:start], text[end : end + AFTER]
    if start <= MAX_TAIL and len(text) - end <= MAX_TAIL and not text[:start].strip(ALONE) and not text[end:].strip(ALONE):
        return "alone", start, False, ""
    if IFONLY.search(before) or NOT_BEFORE.search(before) or NOT_AFTER.match(after) or (before[-1:] == "\n" and LISTED.match(after)):
        return None
    if (named := NAMED.search(before)) and (
        not HAS.search(before[: named.start()]) or _is_own(before[: named.start()], "has")
    ):
        part = (named["aspect"] or named["part"] or _for_aspect(after)).strip().lower()
        return "named", edge + named.start(), bool(named["final"]), part
    if named := FOREIGN_NAMED.search(before):
        return "named", edge + named.start(), False, ""
    if label := LABEL.search(before):
        name = label["name"].lower()
        return "line", edge + label.start("name"), "overall" in name, name
    indefinite = match["value"].lower() == "one" and not match["top"]  # "I cannot give one"
    if not indefinite and (award := AWARDED.search(before)) and _is_own(before[: award.start()], award["verb"] or ""):
        return "awarded", edge + award.start(), False, _for_aspect(after)
    return _bare(text, match)


def _is_own(before: str, verb: str) -> bool:
    """Whether the judge awards what follows, rather than telling what others were awarded."""
    if not verb or verb.lower().endswith("ing"):
        return True
    clause = SENTENCE_START.split(before)[-1]
    if PASSIVE.search(before) or (verb == "has" and re.search(r"\b(?:was|were|been|is)\s\w+\s(?:an?|the)\s\Z", before)):
        return bool(re.search(r"\b(?:summary|text|output|response|translation)\b", clause, re.I))
    return bool(OWNER.search(clause)) if clause.strip(ALONE) else not verb.lower().endswith(("ed", "en"))


def _bare(text: str, match: re.Match[str]) -> tuple[str, int, bool, str] | None:
    """A number without a word for it: stars, a fraction of the scale, a last sentence that is nothing else."""
    start, end = match.span()
    before, after = text[max(0, start - BEFORE) : start], text[end : end + AFTER]
    if STARS.match(after) and LINE_START.search(before):
        return "stars", start, False, ""
    part = _for_aspect(after)
    if match["top"] and match["slash"] != "of" and FEW_AFTER.match(after):
        if CLAUSE.search(before) or (part and before.endswith((", ", "and "))):
            return "fraction", start, False, part
    if part and before.endswith((" a ", "and ")):
        return "awarded", start, False, part
    if SENTENCE_END.search(before) and not text[end : end + MAX_TAIL].strip(ALONE) and len(text) - end < MAX_TAIL:
        previous = int(min(max(number(match["value"]), 1.0), 1e6)) - 1
        listed = before.endswith(":\n") or re.search(rf"(?:\A|\n)\W{{0,3}}{previous}[.)]", text[:start])
        return None if listed else ("ending", start, False, "")
    return None


def _for_aspect(after: str) -> str:
    """The aspect of "4/5 for coherence"; '' where none is named."""
    match = re.match(rf"\W{{0,3}}(?:stars |points )?(?:for|in|on) (?:\w+ ){{0,2}}(?P<name>{ASPECT})\b", after, re.I)
    return match["name"].lower() if match else ""


def _reported(text: str, first: int, end: int) -> bool:
    """Whether the sentence says that somebody else gives this rating, or that it is not to be followed."""
    prefix = text[max(0, first - SENTENCE) : first]
    starts = [m.end() for m in SENTENCE_START.finditer(prefix)]
    sentence = prefix[starts[-1] :] if starts else prefix
    reported = REPORTED.search(sentence)
    if reported and not OWN.search(reported["rest"] + text[first:end]):
        return True
    rest = text[end : end + AFTER]
    if not sentence.strip(ALONE):
        rest = re.split(r"[.\n]", rest, maxsplit=1)[0]
    return bool(DISOWNED.match(rest))


def _decided(said: list[Statement], scale: Scale, aspect: str) -> Parsed:
    """The one rating that all statements agree on; ratings of single aspects yield to one of the whole."""
    if not said:
        return Parsed(None, reason="no rating found")
    final = [s for s in said if s.final]
    if final and final[-1] is said[-1] and all(s.part and not _is_about(s, aspect) for s in said if not s.final):
        return _checked(final, scale)
    whole = [s for s in said if not s.part or _is_about(s, aspect)]
    if not aspect:  # then "a score of 4 for coherence" may be the answer
        whole = [s for s in said if not s.part or s.how in ("named", "awarded")]
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


def _without_objects(text: str) -> tuple[str, list[Statement]]:
    """The text without its JSON objects, and the ratings of those that are the judge's answer.

    An object in the middle of a sentence is a quotation; the answer stands on a line of its own, or after a colon.
    """
    kept, said, place = [], [], 0
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=float)
    openings = [m.start() for m in re.finditer(r"\{\s?\"", text)][:MAX_OBJECTS]
    for start in openings:
        if start < place:
            continue
        try:
            values, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        lead, tail = _lead(text[max(0, start - SENTENCE) : start]), text[end:].partition("\n")[0].strip(ALONE)
        answers = not lead or (lead.endswith(":") and not REPORTED.search(lead))
        kept += [text[place:start], GAP]
        place = end
        if answers and not tail:
            said += [Statement(value, place=start, how="json") for value in _ratings(values)]
    return "".join([*kept, text[place:]]), said


def _lead(before: str) -> str:
    """What introduces a JSON object: the rest of its line, or an unfinished line before it; '' for none."""
    line = FENCE_START.sub("", before)
    own = line.rpartition("\n")[2].strip(" *`")
    previous = line.strip().rpartition("\n")[2].strip(" *`")
    return own or ("" if previous[-1:] in ".!?}" else previous if previous.endswith(":") or line != before else "")


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, as they stand: a key may occur twice."""


def _ratings(values: Any) -> list[float]:
    """All values under a key that names a rating."""
    ratings = []
    for key, value in values if isinstance(values, _Pairs) else []:
        if isinstance(value, _Pairs):
            ratings += _ratings(value)
        elif key.strip().lower() not in KEYS or isinstance(value, bool):
            continue
        elif isinstance(value, float | int):
            ratings.append(float(value) if abs(value) < 1e300 else math.inf)
        elif isinstance(value, str) and (match := _compiled(rf"\W{{0,9}}{VALUE}\W{{0,9}}").fullmatch(value[:40])):
            rated = _valued(match)[0]
            ratings += [] if rated is None or match["end"] else [rated]
    return ratings


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
