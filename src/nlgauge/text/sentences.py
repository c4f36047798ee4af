"""Words and sentences of English text, for readability."""

from __future__ import annotations

import re
import unicodedata

# Punctuation is removed without leaving a gap: take-out is one word, and don't keeps its apostrophe.
MARKS = re.compile(r"[^\w\s']+")
APOSTROPHES = str.maketrans("’‘ʼ＇", "''''")
SPEAKABLE = re.compile(r"[^\W_]")

ENDINGS = re.compile(r"(?:[.!?…]+|[。！？।؟])[\"'”’»)\]]*(?=\s|$|(?<=[。！？]))|\n\s*\n")
SHORT = (
    "mr mrs ms dr prof sr jr st ave blvd rd vs etc e.g i.e a.m p.m no vol fig al inc ltd co corp dept "
    "est gen col lt sgt capt rev hon gov sen rep pres jan feb mar apr jun jul aug sep sept oct nov dec "
    "u.s u.k u.n d.c ph.d approx"
)
ABBREVIATIONS = frozenset(SHORT.split())
NEXT = re.compile(r"\s*(\S)")
OPENING = "\"'“‘«(["


def words(text: str) -> list[str]:
    """Return the words without punctuation, with their case unchanged.

    >>> words("Take-out? I'm at 12 Carl St.")
    ['Takeout', "I'm", 'at', '12', 'Carl', 'St']
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(APOSTROPHES)
    clean = MARKS.sub("", text)
    result = clean.split()
    # What is left may still be apostrophes alone.
    return [w for w in result if SPEAKABLE.search(w)] if "'" in clean or "_" in clean else result


def sentences(text: str) -> list[str]:
    """Split a text into sentences.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Notes
    -----
    A sentence ends with an end mark before a space and no small letter; abbreviations and initials do not end one.

    Examples
    --------
    >>> sentences("Mr. Li left at 5 p.m. on Monday. Was it late? No.")
    ['Mr. Li left at 5 p.m. on Monday.', 'Was it late?', 'No.']
    """
    small = text == text.lower()  # then lower case is not informative
    result, start = [], 0
    for end in ENDINGS.finditer(text):
        after = NEXT.match(text, end.end())
        if after and not end[0].isspace():
            before = text[max(start, end.start() - 40) : end.start()]
            if not _ends(before, end[0], after[1], small):
                continue
        result.append(text[start : end.end()])
        start = end.end()
    result.append(text[start:])
    return [s for s in (part.strip() for part in result) if SPEAKABLE.search(s)]


def _ends(before: str, mark: str, after: str, small: bool) -> bool:
    if mark != ".":
        return not after.islower() or small
    last = before.split()[-1:]
    word = last[0].lower().lstrip(OPENING) if last else ""
    # "Carl St. The phone": it is undecidable whether an abbreviation ends its sentence, so it never does.
    if word in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and not small):
        return False
    return small or not after.islower()
