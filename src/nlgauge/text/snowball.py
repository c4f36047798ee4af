"""The English Snowball stemmer ("Porter2", Porter 2001), in the version that METEOR carries.

Its rules look for the longest suffix of a list; the rule acts if the suffix lies in region R1 or R2, which begin after
the first and the second consonant that follows a vowel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WHOLE = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl", "gently": "gentl",
    "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
}  # fmt: skip
STAY = {"sky", "news", "howe", "atlas", "cosmos", "bias", "andes"}
STAY_AFTER_PLURAL = {"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}
VOWELS = "aeiouy"  # Y is a consonant
REGION = re.compile(r"[aeiouy][^aeiouy]")
DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")

STEP_2 = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize", "ization": "ize",
    "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al", "fulness": "ful",
    "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble", "ogi": "og",
    "fulli": "ful", "lessli": "less", "li": "",
}  # fmt: skip
STEP_3 = {
    "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ful": "",
    "ness": "", "ative": "",
}  # fmt: skip
STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti", "ous", "ive",
    "ize", "ion",
)  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of an English word by the rules of Snowball (Porter 2).

    Parameters
    ----------
    word : str
        In lower case.

    Returns
    -------
    str

    Examples
    --------
    >>> [stem(w) for w in ("generously", "skies", "hopping", "happily", "communism")]
    ['generous', 'sky', 'hop', 'happili', 'communism']
    """
    if word in WHOLE:
        return WHOLE[word]
    if len(word) < 3 or word in STAY:
        return word
    word = _mark_consonant_y(word.removeprefix("'"))
    r1, r2 = _regions(word)
    for suffix in ("'s'", "'s", "'"):
        if word.endswith(suffix):
            word = word[: -len(suffix)]
            break
    word = _step_1a(word)
    if word in STAY_AFTER_PLURAL:
        return word
    word = _step_1c(_step_1b(word, r1))
    word = _step_3(_step_2(word, r1), r1, r2)
    word = _step_5(_step_4(word, r2), r1, r2)
    return word.replace("Y", "y")


def _mark_consonant_y(word: str) -> str:
    """Mark a y at the start or after a vowel as Y."""
    marked = ""
    for i, letter in enumerate(word):
        marked += "Y" if letter == "y" and (i == 0 or marked[-1] in VOWELS) else letter
    return marked


def _regions(word: str) -> tuple[int, int]:
    first = re.match("gener|commun|arsen", word) or REGION.search(word)
    r1 = first.end() if first else len(word)
    second = REGION.search(word, r1)
    return r1, second.end() if second else len(word)


def _longest(word: str, suffixes: Iterable[str]) -> str:
    result = ""
    for suffix in suffixes:
        if len(suffix) > len(result) and word.endswith(suffix):
            result = suffix
    return result


def _has_vowel(part: str) -> bool:
    return any(letter in VOWELS for letter in part)


def _ends_short(word: str) -> bool:
    """Return whether a word ends in a short syllable.

    This is a vowel between consonants, the last of which is not w, x or Y, or a word of one vowel and one consonant.
    """
    if len(word) == 2:
        return word[0] in VOWELS and word[1] not in VOWELS
    return len(word) > 2 and word[-3] not in VOWELS and word[-2] in VOWELS and word[-1] not in VOWELS + "wxY"


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, r1: int) -> str:
    suffix = _longest(word, ("eed", "eedly", "ed", "edly", "ing", "ingly"))
    part = word[: len(word) - len(suffix)]
    if suffix in ("eed", "eedly"):
        return part + "ee" if len(part) >= r1 else word
    if not suffix or not _has_vowel(part):
        return word
    if part.endswith(("at", "bl", "iz")):
        return part + "e"
    if part.endswith(DOUBLES):
        return part[:-1]
    return part + "e" if r1 >= len(part) and _ends_short(part) else part


def _step_1c(word: str) -> str:
    if word.endswith(("y", "Y")) and len(word) > 2 and word[-2] not in VOWELS:
        return word[:-1] + "i"
    return word


def _step_2(word: str, r1: int) -> str:
    suffix = _longest(word, STEP_2)
    part = word[: len(word) - len(suffix)]
    if not suffix or len(part) < r1:
        return word
    if (suffix == "ogi" and not part.endswith("l")) or (suffix == "li" and part[-1:] not in tuple("cdeghkmnrt")):
        return word
    return part + STEP_2[suffix]


def _step_3(word: str, r1: int, r2: int) -> str:
    suffix = _longest(word, STEP_3)
    part = word[: len(word) - len(suffix)]
    if not suffix or len(part) < (r2 if suffix == "ative" else r1):
        return word
    return part + STEP_3[suffix]


def _step_4(word: str, r2: int) -> str:
    suffix = _longest(word, STEP_4)
    part = word[: len(word) - len(suffix)]
    if not suffix or len(part) < r2 or (suffix == "ion" and part[-1:] not in ("s", "t")):
        return word
    return part


def _step_5(word: str, r1: int, r2: int) -> str:
    part = word[:-1]
    if word.endswith("e") and (len(part) >= r2 or (len(part) >= r1 and not _ends_short(part))):
        return part
    return part if word.endswith("ll") and len(part) >= r2 else word
