"""Words as METEOR 1.5 splits them when it is run with `-norm`, as pycocoevalcap, nlg-eval and SummEval's toolkit do.

Its rules, in their order: every mark stands alone, but for dots, commas, dashes and quotes; several dots stay together;
a comma stays inside a number; single and double quotes and dashes have one form each; a dash inside a word is a blank;
's and its like are split off; the dots of U.S. go; a dot stays at a known abbreviation and before a word in lower case.
Applied to the text as it is written, before it is lower-cased. Its list of abbreviations is part of its program; ours
is short. Measured against the Java program: tests/parity/test_metrics_tokens.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LETTER = "A-Za-zÀ-ÖØ-öø-žŸЀ-ԧ"
DOTS = "\ue000"  # a run of dots while single ones are looked at
RULES = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (rf"([^0-9{LETTER}\s.'`,\-‘’{DOTS}])", r" \1 "),
        (r"(\D),(\D)", r"\1 , \2"),
        (r"(\d),(\D)", r"\1 , \2"),
        (r"(\D),(\d)", r"\1 , \2"),
        (r"[`‘’]", "'"),
        (r"[“”]|''", ' " '),
        (r"–|--", "-"),
        (rf"([0-9{LETTER}.])-([0-9{LETTER}])", r"\1 \2"),
        (rf"([^{LETTER}])'([^{LETTER}])", r"\1 ' \2"),
        (rf"([^0-9{LETTER}])'([{LETTER}])", r"\1 ' \2"),
        (rf"([{LETTER}])'([^{LETTER}])", r"\1 ' \2"),
        (rf"([{LETTER}])'([{LETTER}])", r"\1 '\2"),
        (r"(\d)'(s)", r"\1 '\2"),
    )
)
# Titles before a name, and initials.
ABBREVIATIONS = frozenset(
    "Capt Col Dr Gen Gov Hon Lt Maj Messrs Mr Mrs Ms Prof Rep Rev Sen Sgt St v vs".split()
) | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
BEFORE_NUMBERS = frozenset(("No", "Nos", "pp"))
SEVERAL = re.compile(r"\.{2,}")


def normalised(text: str) -> str:
    """The words with a blank between.

    >>> normalised("It's Mr. X's U.S.-based firm, no. 5...")
    "It 's Mr. X 's US based firm , no . 5 ..."
    """
    runs = SEVERAL.findall(text)
    text = f" {SEVERAL.sub(f' {DOTS} ', text)} "
    for pattern, put in RULES:
        text = pattern.sub(put, text)
    words = text.split()
    left = iter(runs)
    return " ".join(next(left) if w == DOTS else w for i, word in enumerate(words) for w in _split(word, words, i))


def _split(word: str, words: list[str], i: int) -> Iterator[str]:
    """A word whose dot may end a sentence."""
    stem = word[:-1]
    if not stem or not word.endswith("."):
        yield word
        return
    after = words[i + 1] if i + 1 < len(words) else ""
    if "." in stem and re.search(f"[{LETTER}]", stem):
        yield word.replace(".", "")
    elif stem in ABBREVIATIONS or re.match("[a-z]", after) or (stem in BEFORE_NUMBERS and re.match("[0-9]", after)):
        yield word
    else:
        yield from (stem, ".")
