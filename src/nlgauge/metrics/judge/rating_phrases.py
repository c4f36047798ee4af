"""Phrases that make a number a rating: "Rating: 4", "earning a 3 out of 5", "4/5", "three stars".

Every number is examined in a window of fixed length, so the time is linear in the length of the text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nlgauge.metrics.judge.own_words import is_repetition

# A change of mind, with the number that follows it: the rating before it is withdrawn.
CORRECTION = (
    r"\b(?:actually|correction|corrected|make that|on (?:second|further|closer) \w+|on reflection|wait|scratch that|"
    r"i mean|or rather|then again|hence|leav(?:es|ing)|after \w*(?:check|consider|read|review|reflect)\w*|"
    r"revis\w*|reconsider\w*|chang(?:e|ed|ing)|"
    r"updat\w*|lower(?:ed|ing)?|rais(?:e|ed|ing)|instead(?! of)|no(?=,)|sorry|should (?:be|have been)|oops|hmm+|edit|"
    r"eigentlich|korrektur|doch|en realidad|mejor dicho|corrección|correção|na verdade|en fait|plutôt|anzi|correzione|"
    r"на самом деле|исправ\w*)\b|其实|更正|修正|实际上|訂正|いや|아니"
)
# Text that withdraws the rating before it, or says that it is a copy.
WITHDRAWN = (
    r"\b(?:scrap (?:that|it)|nice try|withdr[ae]w\w*|retract\w*|take (?:it|that|this|the rating) back|"
    r"not my (?:final |actual |own )?(?:rating|score)|"
    r"disregard (?:this|that|my|the above)|i (?:abstain|decline|refuse|give no|"
    r"do not give|don't give|will not rate|won't rate)|"
    r"(?:is|was|are|were) (?:only |just )?(?:copied|quoted|pasted|taken) from|"
    r"no rating (?:is |was )?(?:given|possible))\b"
)
PARTY = (
    r"(?:text|author|writer|output|summary|candidate|response|article|document|source|prompt|translation|story|instruction|"
    r"injection|user|system)"
)
NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10,
}  # fmt: skip
DOUBTFUL = "doubtful"  # `how` of a named rating that may be somebody else's: it can only contradict
MAX_NUMBERS = 400  # maximum numbers of a reply that are examined
MAX_TAIL = 40  # characters after a number that is the last sentence
BEFORE = 140  # characters before a number that are examined
AFTER = 90  # characters after it
SENTENCE = 200  # characters before a statement in which its sentence begins
ALONE = " \n\t.,;:!?*\"'`()[]{}#_-–—=>$"  # characters allowed around a number that is the whole reply

NUMBER = (
    r"(?:(?<![\w.$£€,])-?\d+(?:\.\d+|,\d{1,2}(?!\d))?(?![,.]?\d|%|[a-z])|\b(?:"
    + "|".join(NUMBER_WORDS)
    + r")\b(?:[ -]and[ -]a[ -]half)?)"
)
VALUE = (
    rf"(?P<value>{NUMBER})(?:\s?(?:-|–|to|or)\s?(?P<end>{NUMBER}))?"
    rf"(?:\s?\(?\s?(?P<slash>/|⁄|out of|von|sur|su|de|из|з|z|av|din|dari|من|of)\s?"
    rf"(?:an? (?:possible|total of) )?(?P<top>{NUMBER}))?"
)
CHANGED = (
    rf"(?:{CORRECTION})[^\n\d\"“]{{0,60}}?(?P<new>{NUMBER})(?=[.;!)]|\W{{0,3}}(?:\n|\Z)| ?/|, (?:or|because|as|not)\b|"
    r" (?:out of|of|stars?|points?|is|seems|would|fits|because|as|for|since|due|instead|or|oder|ou)\b)"
)
# A sentence that ends with a number as a rating does: "I now think 2."
LAST_NUMBER = (
    r"(?<!confidence)(?<!certainty)(?::|\b(?:think|say|now|perhaps|maybe|like))\s"
    rf"(?P<last>{NUMBER})(?=\W{{0,3}}(?:\n|\Z))"
)
NOUN = r"(?:ratings?|scores?|grades?|marks?)"
# Words for a rating in other languages; they must be followed by a colon or an equals sign.
FOREIGN = (
    r"bewertung|gesamtbewertung|wertung|note|punktzahl|puntuación|calificación|valoración|nota|pontuação|avaliação|"
    r"évaluation|notation|punteggio|valutazione|voto|beoordeling|cijfer|ocena|оценка|рейтинг|балл|betyg|karakter|puan|"
    r"оцінка|hodnocení|skor|arvosana|βαθμολογία|értékelés|notă|điểm|ציון|"
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
    rf"(?:\W{{0,3}}\b{KIND}){{0,4}}[^\w/]{{0,3}}\Z",
    re.I,
)
FOREIGN_NAMED = re.compile(
    rf"(?:(?:{FOREIGN})(?:\sfinale?|\sglobale?|\stotale?)?|(?:\A|\n)\W{{0,4}}(?:final\s)?(?:answer|verdict))"
    rf"(?:\s?\([^()]{{0,30}}\))?\s?(?:[:=]|是|为|為|は|[–—]|(?:est\s)?de\s|di\s|es\s|ist\s|è\s|é\s)"
    rf"\s?[^\w/]{{0,3}}\Z",
    re.I,
)
# Text that may precede such a word in its sentence; after any other text ("el texto pide una puntuación de 5") somebody
# else may give the rating.
FOREIGN_OWN = re.compile(
    r"(?:\A|[.!?;।)\]，。、；！？」』”]|(?<![:：])\n|\ufffc)[^\w\n]*(?:(?:mein\w*|meine|die|der|das|mi|la|el|ma|mon|sa|il|mio|mia|o|a|minha|meu|"
    r"ich|vergebe|gebe|eine|j['’]attribue|je|lui|donne|mets|attribue|une|una|le|doy|dou|uma?|ik|geef|i|final\w*|finale?|endgültige|gesamt\w*|total\w*|glob\w+|overall|my|moja|моя|итоговая|общая|"
    r"最终|最終|总|總|总体|整体|综合|我的|我给出的|私の|最終的な|全体|나의|제|최종|전체|nihai|genel|min|mijn|de|slutlig\w*)[\s的]*){0,4}\Z",
    re.I,
)
# Numbers under these names are no rating of the text: "the BLEU score is 4", "Arsenal's score: 3".
OTHERS_SCORE = re.compile(
    r"(?:\b(?:reading|readability|flesch|bleu|rouge|meteor|bertscore|chrf|f1|z|t|iq|apgar|credit|test|exam|game|match|box|"
    r"half-?time|imdb|film|movie|hotel|restaurant|book|product|user|users|customer|guest|viewer|critic|mpaa|star|"
    r"school|max(?:imum)?|min(?:imum)?|possible|highest|lowest|best|worst|top|passing|reference|expected|target|gold|human|"
    r"baseline|average|mean|median|previous|earlier|example|format|text|candidate|input|confidence|certainty)|"
    r"\b(?!(?:it|here|that|text|summary|output|response|translation|answer|story|article)['’]s)\w+['’]s?(?:\s\w+){0,2})[\s:]+\Z",
    re.I,
)
BARE_NOUN = re.compile(rf"\A(?:{NOUN})\s\W{{0,3}}\Z", re.I)  # "score 2" without a colon, at the beginning of a clause
CLAUSE_START = re.compile(r"(?:\A|[^\w\s]\s?|\n|\b(?:my|the|an?|this|with|of|and)\s)\Z", re.I)
WAS = re.compile(r"\bwas\W*\Z", re.I)  # "the final score was 3" tells of a match
MINE = re.compile(r"\b(?:my|our|the (?:summary|text|output|response|translation)['’]s)\s\Z", re.I)
# "I would score it a 4", "earning a 3", "making it a 4 out of 5", "scoring a perfect fluency of 5", "the summary is a 4
# because"
AWARD = (
    r"(?:scor(?:e|es|ed|ing)|rat(?:e|es|ed|ing(?!\sof\b))|giv(?:e|es|en|ing)|earn(?:s|ed|ing)?|receiv(?:e|es|ed|ing)|"
    r"deserv(?:e|es|ing)|get(?:s|ting)?|award(?:s|ed|ing)?|assign(?:s|ed|ing)?|warrant(?:s|ing)?|merit(?:s|ing)?|"
    r"mak(?:e|es|ing)(?=\s(?:it|this|that|the)\b))"
)
AWARDED = re.compile(
    rf"\b(?:(?P<verb>{AWARD})\s(?:(?:it|this|the|its|summary|response|text|output|itself|that|for|in|of|terms|as|with|"
    rf"article|respect|to|between|and|\w+'s|\w+ness|\w+ency|\w+ence|\w+ance)\s){{0,12}}?(?:{KIND}){{0,4}}"
    rf"(?:(?:\w+\s)?{NOUN}\sof\s|\w+\sof\s|at\s)?(?:{KIND}){{0,4}}|"
    rf"(?:summary|response|text|output|it|this)\sis\san?\s(?:{KIND}){{0,2}})\Z",
    re.I,
)
# The words of a sentence after which "a rating of 4" or "score: 4" is the judge's own.
OWN_LEAD = re.compile(
    rf"\W*(?:(?:my|our|the|an?|this|that|it|its|here|s|is|so|thus|therefore|hence|overall|final|total|and|but|resulting|"
    rf"in|to|sum|up|conclude|conclusion|summary|given|considering|everything|above|all|things|considered|accordingly|"
    rf"consequently|as|result|based|on|these|for|reasons?|evaluation|assessment|verdict|answer|judge?ment|i|me|would|"
    rf"assign|say|with|step|{ASPECT})\b\W*){{0,9}}",
    re.I,
)
CONCLUDING = re.compile(
    rf"\b(?:therefore|thus|hence|so),?(?:\s(?:the|an?|my|overall|final|{ASPECT}))*\s\Z|"
    rf"\A\W*(?:based on|given|considering|due to)\b[^\n]{{1,160}}, "
    rf"(?:(?:the|an?|my|overall|final|{ASPECT})\s){{0,3}}\Z|"
    r"\A\W*(?:the |this )?(?:provided )?(?:summary|text|output|response|translation) "
    r"(?:is (?:\w+ ){0,3}\w+(?:, | \()|has an? (?:\w+ )?)\Z|"
    rf"\A\W*the (?:summary|text|output|response|translation) (?:is|accurately|effectively)\s[^.;:\n]{{30,300}}, "
    rf"(?:{ASPECT} )?\Z|"
    rf"\b(?:indicating|suggesting|reflecting|earning|deserving|warranting|resulting in|leading to|making (?:it|this))\b"
    rf"[^.;:\n]{{0,60}}\s\Z",
    re.I,
)
AWARDING = re.compile(
    rf"\b(?:(?P<verb>{AWARD}|justif(?:y|ies|ied|ying)|lead(?:s|ing)|result(?:s|ed|ing)|settl(?:e|ed|ing))\s|(?:with|at|to|is|hence|so|therefore|thus)\s)(?:(?:it|this|the|its|an?|summary|"
    rf"response|text|output|in|on|to|for|with|my|at|{ASPECT}|perfect|solid|low|high|final|overall|total|strong|good)\s){{0,9}}\Z",
    re.I,
)
# The subject of a rating: "the summary receives a 4", but not "the hotel was rated 4 stars".
OWNER = re.compile(
    r"\b(?:summary|text|output|response|translation|story|answer|rewriting|it|this|i|i'd|we|would|should)\b", re.I
)
PASSIVE = re.compile(r"\b(?:was|were|been|are|got)\s(?:\w+\s)?\Z", re.I)
HAS = re.compile(r"\b(?:has|had|have|given|got|won|received|holds?|awarded)\s(?:an?|the)\s\Z", re.I)
# Text that may not follow a rating, such as a noun ("scored two goals", "a 4-bedroom house", "3 out of 5 facts").
NOT_AFTER = re.compile(
    r"(?:[-–]\w|:\d|\s?[=?]|[ \t]?(?:[|,&+→]|[-=]>)?[ \t]?\[?\d|,?[ \t](?:maybe|perhaps|possibly|or)(?: an?)? \d|"
    r",[ \t]\w+ \d(?=[,.;]|\W{0,3}\Z)|[ \t]is (?!(?:my|mine|given|gave|appropriate|fair|warranted|justified|deserved|"
    r"assigned|awarded|reasonable|suitable|"
    r"fitting|right|correct|adequate|apt|best|because|due|as|since|therefore|the (?:right|most|best|fair)\w*)\b)|"
    r"\s\([^()\n]{0,20}\)\s?(?:to|-|–)\s?\d|"
    r"[个個つ개件条處处]|[ \t](?:would|means|indicates|represents|corresponds|being)\b|"
    r"[ \t](?!(?:out|for|in|on|because|as|due|since|stars?|points?|based|overall|with|and|but|to|"
    r"reason|the|this|it|which|while|is|if|from|given|i|here|according|that|or|however|punkten?|"
    r"sterne?|étoiles?|puntos|estrellas)\b)[^\W\d_]|[ \t]of (?!5\b|10\b|100\b))"
)
FEW_AFTER = re.compile(
    r"(?:\W{0,4}(?:\n|\Z)|[.,;!)\]]|\s(?:for|in terms|on|because|as|due|since|with|stars?|points?|based|overall)\b)"
)
NOT_BEFORE = re.compile(r"\b(?:between|from|least|most|than|until|above|below|under|over)\s\Z", re.I)
LISTED = re.compile(r"[.)] ?[^\W\d_]")  # "1. Grammar": the number of a list
# A hypothetical rating is not the rating: "to reach a perfect 5/5".
IFONLY = re.compile(
    r"\b(?:to\s(?:\w+\s)?(?:reach|achieve|elevate|get|earn|attain|deserve|receive|be|raise|bring|improve|increase|make|"
    r"warrant)|would\s(?:have|make)|(?:could|might|may)\s(?:\w+\s)?(?:have|be|give|rate|score|assign|award|deserve|get|earn|receive)|rather\sthan|instead\sof|"
    r"from\s(?:achieving|reaching|being|earning|getting|scoring|receiving)|on\sa\sscale|not\san?|short\sof|than\san?|"
    r"would\srequire|(?:if|(?:(?<![\s\S])|(?<=[.;\n]\s)|(?<=\n))(?:had|were))\b(?!\si\s(?:were|had)\sto\b)[^.;\n]{1,100}\bwould|closer\sto|(?:do|does|did)(?:n't|\snot)\s(?:\w+\s)?(?:get|earn|receive|deserve|reach|score|give|"
    r"warrant|merit|achieve)|only\sreason)\b[^.,\n:;]{0,60}\Z",
    re.I,
)
# A rating attributed to or requested by someone else: "it claims a rating of 5", "ignoring the request for a 5".
REPORTED = re.compile(
    r"\b(?:says?|said|saying|claim(?:s|ed|ing)?|mention(?:s|ed|ing)?|stat(?:es|ed|ing)|"
    r"asks?|asked|asking|demand\w*|request\w*|instruct\w*|tells?|telling|told|orders?|commands?|urg(?:es|ed|ing)|"
    r"insist\w*|contains?|containing|includ(?:es|ed|ing)|ends? (?:with|in)|"
    r"ending with|begins? with|starts? with|reads|writes?|wrote|written|declar\w*|announc\w*|propos\w*|"
    r"suggest\w*|wants?|"
    r"tr(?:y|ies|ying) to|attempt\w*|manipulat\w*|inject\w*|embedded|hidden|prompts?|ignor\w*|disregard\w*|despite|"
    r"refus\w*|reject\w*|pretend\w*|quot\w*|put|adds?|added|adding|plant\w*|plac(?:es|ed|ing)|insert\w*|append\w*|"
    r"slip(?:s|ped)|appears?|appearing|override|"
    r"(?:most|many|some|other|another|all|every)\s(?:people|persons?|readers?|judges?|raters?|reviewers?|critics?|users?|annotators?)|"
    r"(?<!\bi )(?:would|should|might|could|must) (?:answer|say|reply|output|respond|write|print)|"
    r"(?:will|would|do|can|should|could)(?:\snot|n't)\s(?:give|rate|assign|score|award)|"
    r"cannot (?:give|rate|assign|score|award)|(?:the|its) (?:author|writer))\b(?P<rest>[^\n]*)\Z",
    re.I,
)
OWN = re.compile(
    r"(?:\b|(?=,))(?:resulting|indicating|therefore|thus|hence|earning|receiving|deserving|scoring|, giving|"
    r"making it|leading to|so|and (?:is )?(?:therefore )?(?:receives|given|it scores)|"
    r", with an? (?:\w+ )?(?:score|rating)|"
    r"i(?: would|'d)? (?:give|rate|score|assign|award)|my)\b",
    re.I,
)
DISOWNED = re.compile(
    r"(?:[^.\n]{0,40}\.)?[\s)\].,;–—-]{0,4}(?:(?:which|that|this|it|an?|but|as|i)\b[^.\n]{0,50})?\b(?:ignor\w*|disregard\w*|instruct\w*|attempt\w*|"
    r"manipulat\w*|inject\w*|demand\w*|request\w*|false|wrong|untrue|(?:not|won't) (?:my|follow|agree|true|comply)|"
    r"(?:appears?|stands|written|found) (?:in|at) the (?:end of the )?(?:text|summary|output|response|source))\b",
    re.I,
)
# "Rating: 5, says the output", "Final score: 5/5, the summary boasts."
ATTRIBUTED = re.compile(
    r"\W{0,3}(?:copied|quoted|pasted|taken) from\b|"
    r"\W{0,3}[,)–—-] (?:(?:according to|as per)\s(?:the|its|it|this|that)\b|"
    r"(?:it|he|she) \w+s\W{0,3}(?:\n|\Z|[.;!?])|(?:that|this|which|it) (?:is|was) (?:how|what|where|why)\b|"
    rf"\w+(?:s|ed|id|ote)? (?:the|its|this|that) (?:\w+ )?{PARTY}\W{{0,3}}(?:\n|\Z|[.;!?])|"
    r"(?:the|its|his|her|their|this|that) (?:\w+ ){1,2}\w+(?:s|ed)\W{0,3}(?:\n|\Z|[.;!?]))|"
    rf"\W{{0,4}}[^.\n]{{0,40}}\b{PARTY} "
    r"(?:tells?|told|asks?|asked|demand|request|instruct|order|command|insist|want|beg|urge|"
    r"dictate)(?:s|ed)?\b",
    re.I,
)
SENTENCE_START = re.compile(r"[.!?;](?:\s|\Z)|[\n。]")
# "… on the sentence level. 5": a last sentence that is only a number
CLAUSE = re.compile(
    rf"(?:[.!?;)\n]\s?|\A\W*|\b(?:(?:as|(?:this|that|summary|text|{ASPECT}) is)(?: an?)?|so|[-–—])\s)\Z", re.I
)
# "Quality issues: 3" counts something, "Severity: 3" is about an error.
NOT_COUNTED = (
    r"(?<!severity)(?<!priority)(?<!quantity)(?<!majority)(?<!minority)(?<!probability)(?<!\bcity)(?<!witness)(?<!illness)(?<!difficulty)(?<!certainty)"
    r"(?!\s(?:issues?|errors?|problems?|mistakes?|faults?|violations?|breaks?|gaps?|points?|facts?|claims?|sentences?|words?))"
)
LABEL = re.compile(
    rf"(?:\A|\n|[.;!?]\s)[-•\d.) ]{{0,6}}(?P<name>(?:\w+\s){{0,3}}{ASPECT}{NOT_COUNTED}(?:\s\w+)?)"
    r"\s?[:=]\s?\W{0,3}\Z",
    re.I,
)
STARS = re.compile(r"[ -]stars?\b|\s?[分点점](?!中)", re.I)
STARS_END = re.compile(
    r"[ -]?(?:stars?|[分点점])(?:\W{0,4}(?:\n|\Z)|\s?[^\w\s]|\s(?:because|for|as|out|since|due|on|in)\b)", re.I
)
REPEATED_VALUE = re.compile(r"\s?\(\s?(\d{1,3}(?:\.\d{1,2})?)\s?\)")
LINE_START = re.compile(r"(?:\A|\n)\W{0,9}\Z")
SENTENCE_END = re.compile(r"[.!?)\n]\s?\Z")


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when the first reply is read."""
    return re.compile(pattern, re.I)


@dataclass(frozen=True)
class Statement:
    """A rating stated in a reply.

    `top`: the end of the scale that it names; `final`: it is called final or overall; `part`: it is about one of
    several aspects; `place`: its position.
    """

    value: float
    top: float | None = None
    final: bool = False
    part: str = ""
    place: int = 0
    ranged: bool = False
    how: str = ""


def number(text: str) -> float:
    """Convert a number in digits or words to a float.

    >>> number("4.5"), number("Three"), number("three and a half")
    (4.5, 3.0, 3.5)
    """
    word = text.strip().lower().replace(",", ".")
    half = 0.5 if "half" in word else 0.0
    first = re.split(r"[ -]", word)[0] if not re.match(r"-?\d", word) else word
    return float(NUMBER_WORDS.get(first, first)) + half


def valued(match: re.Match[str]) -> tuple[float | None, float | None, bool]:
    """Return the value, the named top of the scale, and whether a range was given; no value for the score of a
    match.
    """
    value = number(match["value"])
    end, top = (number(match[g]) if match[g] else None for g in ("end", "top"))
    if end is None:
        return value, top, False
    if end <= value or end - value > 1:
        return None, top, True  # 2-1 is the score of a match, 1-5 a scale; a rating's range is 3-4
    return (value + end) / 2, top, True


def statements(text: str, judged: str) -> Iterator[Statement]:
    """Return every number of the text that is a rating by its phrase."""
    for count, match in enumerate(compiled(VALUE).finditer(text)):
        if count >= MAX_NUMBERS:
            return
        value, top, ranged = valued(match)
        if value is None:
            continue
        again = REPEATED_VALUE.match(text, match.end())  # "five (5)"
        result = None if again and number(again[1]) != value else _phrase(text, match)
        if result is None:
            continue
        how, first, final, part = result
        if is_repetition(text, first, match.end(), judged) or is_reported(text, first, match.end()):
            continue
        yield Statement(value, top, final, part, first, ranged, how)


def _phrase(text: str, match: re.Match[str]) -> tuple[str, int, bool, str] | None:
    """Return the phrase that makes this number a rating: name, beginning, whether it is final, and aspect."""
    start, end = match.span()
    edge = max(0, start - BEFORE)
    before, after = text[edge:start], text[end : end + AFTER]
    earlier = text[max(0, edge - SENTENCE) : edge]
    if (
        start <= MAX_TAIL
        and len(text) - end <= MAX_TAIL
        and not text[:start].strip(ALONE)
        and not text[end:].strip(ALONE)
    ):
        return "alone", start, False, ""
    if (
        IFONLY.search(before)
        or NOT_BEFORE.search(before)
        or NOT_AFTER.match(after)
        or (before[-1:] == "\n" and LISTED.match(after))
    ):
        return None
    doubtful = None
    if (
        (named := NAMED.search(before))
        and not OTHERS_SCORE.search(before[: named.start()])
        and not (BARE_NOUN.search(named[0]) and not CLAUSE_START.search(before[: named.start()]))
        and not (WAS.search(named[0]) and not MINE.search(before[: named.start()]))
    ):
        part = (named["aspect"] or named["part"] or _for_aspect(after)).strip().lower()
        if _is_stated(earlier + before[: named.start()]):
            return "named", edge + named.start(), bool(named["final"]), part
        doubtful = DOUBTFUL, edge + named.start(), bool(named["final"]), part
    elif (foreign := FOREIGN_NAMED.search(before)) and FOREIGN_OWN.search(earlier + before[: foreign.start()]):
        return "named", edge + foreign.start(), False, ""
    elif label := LABEL.search(before):
        name = label["name"].lower()
        return "line", edge + label.start("name"), "overall" in name, name
    indefinite = match["value"].lower() == "one" and not match["top"]  # "I cannot give one"
    if (
        not indefinite
        and (award := AWARDED.search(before))
        and _is_own(earlier + before[: award.start()], award["verb"] or "")
    ):
        return "awarded", edge + award.start(), False, _for_aspect(after)
    return doubtful or _bare(text, match)


def _is_stated(before: str) -> bool:
    """Return whether the words of the sentence before a named rating leave no doubt that the judge gives it."""
    clause = SENTENCE_START.split(before)[-1]
    if OWN_LEAD.fullmatch(clause) or CONCLUDING.search(clause):
        return True
    award = AWARDING.search(before)
    return award is not None and _is_own(before[: award.start()], award["verb"] or "")


def _is_own(before: str, verb: str) -> bool:
    """Return whether the judge awards the rating itself, rather than reporting one."""
    if not verb or verb.lower().endswith("ing"):
        return True
    clause = SENTENCE_START.split(before)[-1].rpartition(":")[2]
    if PASSIVE.search(before) or (verb == "has" and re.search(r"\b(?:was|were|been|is)\s\w+\s(?:an?|the)\s\Z", before)):
        return bool(re.search(r"\b(?:summary|text|output|response|translation)\b", clause, re.I))
    return bool(OWNER.search(clause)) if clause.strip(ALONE) else not verb.lower().endswith(("ed", "en"))


def _bare(text: str, match: re.Match[str]) -> tuple[str, int, bool, str] | None:
    """Return a number without a rating word: stars, a fraction of the scale, or a last sentence that is only a
    number.
    """
    start, end = match.span()
    before, after = text[max(0, start - BEFORE) : start], text[end : end + AFTER]
    if STARS.match(after) and STARS_END.match(after) and LINE_START.search(before):
        return "stars", start, False, ""
    part = _for_aspect(after)
    begins = CLAUSE.search(before) or (part and before.endswith((", ", "and ")))
    if match["top"] and match["slash"] != "of" and begins and FEW_AFTER.match(after):
        return "fraction", start, False, part
    if part and before.endswith((" a ", "and ")):
        return "awarded", start, False, part
    if SENTENCE_END.search(before) and not text[end : end + MAX_TAIL].strip(ALONE) and len(text) - end < MAX_TAIL:
        previous = int(min(max(number(match["value"]), 1.0), 1e6)) - 1
        listed = before.endswith(":\n") or re.search(rf"(?:\A|\n)\W{{0,3}}{previous}[.)]", text[:start])
        listed = listed or re.search(r"\n\W{0,3}\d\W{0,3}\n", text[:start])  # one number for each of several headings
        return None if listed else ("ending", start, False, "")
    return None


def _for_aspect(after: str) -> str:
    """Return the aspect of "4/5 for coherence"; '' without one."""
    match = re.match(rf"\W{{0,3}}(?:stars |points )?(?:for|in|on) (?:\w+ ){{0,2}}(?P<name>{ASPECT})\b", after, re.I)
    return match["name"].lower() if match else ""


def is_reported(text: str, first: int, end: int) -> bool:
    """Return whether the sentence attributes this rating to someone else, or rejects it."""
    prefix = text[max(0, first - SENTENCE) : first]
    lead = prefix.rstrip(ALONE.replace(":", ""))
    if lead.endswith(":") and "\n" in prefix[len(lead) :]:  # a line that introduces the next one
        prefix = lead
    starts = [m.end() for m in SENTENCE_START.finditer(prefix)]
    sentence = prefix[starts[-1] :] if starts else prefix
    reported = REPORTED.search(sentence)
    if reported and not OWN.search(reported["rest"] + text[first:end]):
        return True
    rest = text[end : end + AFTER]
    if ATTRIBUTED.match(rest):
        return True
    if not sentence.strip(ALONE):
        rest = re.split(r"[.\n]", rest, maxsplit=1)[0]
    return bool(DISOWNED.match(rest))
