"""The Porter stemmer (Porter 1980) with the additions that nltk makes by default and rouge_score therefore uses.

The additions: a few irregular forms; words of one or two letters stay; -ies and -ied become -ie in words of four
letters; y becomes i after a consonant that is not the whole stem; -alli is tried first; -bli, -fulli, -logi.
"""

from __future__ import annotations

IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "inning": "inning",
    "innings": "inning", "outing": "outing", "outings": "outing", "canning": "canning", "cannings": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip

# Suffix and replacement; the first suffix that fits decides, and acts when the stem before it is long enough.
STEP_2 = [
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"), ("logi", "log"),
]  # fmt: skip
STEP_3 = [
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
]  # fmt: skip
STEP_4 = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
]  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> [stem(w) for w in ("relational", "hopping", "flies", "dies", "happily")]
    ['relat', 'hop', 'fli', 'die', 'happili']
    """
    lower = word.lower()
    if lower in IRREGULAR:
        return IRREGULAR[lower]
    if len(word) <= 2:
        return lower
    result = _step_1c(_step_1b(_step_1a(lower)))
    result = _step_2(result)
    result = _replace(result, STEP_3)
    return _step_5(_step_4(result))


def _shape(part: str) -> str:
    """Map the letters to consonants (c) and vowels (v); y is a consonant at the start and after a vowel."""
    shape = ""
    for letter in part:
        vowel = letter in "aeiou" or (letter == "y" and shape != "" and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(part: str) -> int:
    return _shape(part).count("vc")


def _ends_cvc(part: str) -> bool:
    shape = _shape(part)
    return (shape.endswith("cvc") and part[-1] not in "wxy") or shape == "vc"


def _step_1a(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        part = word.removesuffix(suffix)
        if part != word and "v" in _shape(part):
            break
    else:
        return word
    if part.endswith(("at", "bl", "iz")):
        return part + "e"
    if len(part) >= 2 and part[-1] == part[-2] and _shape(part)[-1] == "c":
        return part if part[-1] in "lsz" else part[:-1]
    return part + "e" if _measure(part) == 1 and _ends_cvc(part) else part


def _step_1c(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    return _replace(word, STEP_2)


def _replace(word: str, rules: list[tuple[str, str]]) -> str:
    for suffix, instead in rules:
        if word.endswith(suffix):
            part = word[: -len(suffix)]
            # the l of -logi counts as stem, so that geo- and theo- are long enough
            return part + instead if _measure(word[:-3] if suffix == "logi" else part) > 0 else word
    return word


def _step_4(word: str) -> str:
    for suffix in STEP_4:
        if word.endswith(suffix):
            part = word[: -len(suffix)]
            return part if _measure(part) > 1 and (suffix != "ion" or part[-1] in "st") else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        part = word[:-1]
        measure = _measure(part)
        if measure > 1 or (measure == 1 and not _ends_cvc(part)):
            word = part
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
