"""Tokenization as in two Java programs: Stanford's PTBTokenizer 3.4.1, which pycocoevalcap calls, and METEOR 1.5.

`tokenize`: tokens in the manner of the Penn Treebank.

An approximation by a few rules: contractions are split (do n't, it 's), words with hyphens, numbers with inner points,
times, dates and common abbreviations stay whole, brackets become -lrb- -rrb-, other symbols stand alone; then the
punctuation that pycocoevalcap drops is dropped. Measured against the Java program on the real texts of the tests: see
tests/parity/test_metrics_tokens.py.

`normalized`: words as METEOR 1.5 splits them when it is run with `-norm`, as pycocoevalcap, nlg-eval and SummEval's
toolkit do. Its rules, in their order: every mark stands alone, but for dots, commas, dashes and quotes; several dots
stay together; a comma stays inside a number; single and double quotes and dashes have one form each; a dash inside a
word is a blank; 's and its like are split off; the dots of U.S. go; a dot stays at a known abbreviation and before a
word in lower case. Applied to the text as it is written, before it is lower-cased. Its list of abbreviations is part of
its program; ours is short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

DROPPED = {"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", '"', *"‘’“”–—…"}
RENAMED = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-", "£": "#"}
ABBREVIATIONS = """
    mr mrs ms dr prof st jr sr gen lt sgt capt gov sen messrs mt ft ave blvd
    vs etc inc ltd corp bros jan feb aug sept oct nov dec
""".split()
TOKEN = re.compile(
    r"""https?://\S+ | [\w.+-]+@[\w-]+(?:\.[\w-]+)+            # addresses
      | -[lr][rsc]b-                                            # brackets of text that is tokenized already
      | (?:\b[^\W\d_]\.){2,} | \b[^\W\d_]\.(?=\s+\S)            # a.m., u.s., initials
      | \b(?:"""
    + "|".join(re.escape(a) for a in ABBREVIATIONS)
    + r""")\.(?=\s+\S|,)
      | ['’](?:s|m|d|ll|re|ve|em)\b                             # after a word that was split
      | \d{1,2}:\d\d(?=[ap]m\b) | '\d\ds\b
      | \d+(?:[.,:/-]\d+)*[^\W_]*(?:-[^\W_]+)*                  # 1,000.50  10:30  5th  20-25  3-year-old
      | [.,]\d+(?:[.,]\d+)*(?!\w)
      | \w+(?:[-/.](?=\w)\w+|['’](?=\w)\w+)*                    # words with inner marks
      | \.{2,} | -{2,} | \S
    """,
    re.X,
)
CLITIC = re.compile(r"^(.+?)(n['’]t|['’](?:s|m|d|ll|re|ve))$")
TOGETHER = {
    "cannot": "can not", "gonna": "gon na", "gotta": "got ta", "wanna": "wan na", "gimme": "gim me", "lemme": "lem me",
}  # fmt: skip


def tokenize(text: str) -> list[str]:
    """Split a lower-cased text into tokens.

    >>> tokenize("it's x (5th), isn't it?")
    ['it', "'s", 'x', '-lrb-', '5th', '-rrb-', ',', 'is', "n't", 'it', '?']
    """
    return list(chain.from_iterable(map(_parts, TOKEN.findall(text))))


@lru_cache(2**16)
def _parts(token: str) -> tuple[str, ...]:
    """Split a token into its parts; results are cached, because texts repeat most of their tokens."""
    parts = CLITIC.match(token)
    if parts:
        return (*TOGETHER.get(parts[1], parts[1]).split(), parts[2].replace("’", "'"))
    if token in TOGETHER:
        return tuple(TOGETHER[token].split())
    return (RENAMED.get(token, "..." if token.startswith("..") else "--" if token.startswith("--") else token),)


def without_punctuation(text: str) -> str:
    """Join the tokens of a lower-cased text with blanks, without the punctuation that pycocoevalcap drops."""
    return " ".join(token for token in tokenize(text) if token not in DROPPED)


LETTER = "A-Za-zÀ-ÖØ-öø-žŸЀ-ԧ"
DOTS = "\ue000"  # placeholder for a run of periods while single periods are processed
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
TITLES = frozenset("Capt Col Dr Gen Gov Hon Lt Maj Messrs Mr Mrs Ms Prof Rep Rev Sen Sgt St v vs".split()) | frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)
BEFORE_NUMBERS = frozenset(("No", "Nos", "pp"))
SEVERAL = re.compile(r"\.{2,}")


def normalized(text: str) -> str:
    """Join the words of a text with blanks.

    >>> normalized("It's Mr. X's U.S.-based firm, no. 5...")
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
    """Split a word whose period may end a sentence."""
    stem = word[:-1]
    if not stem or not word.endswith("."):
        yield word
        return
    after = words[i + 1] if i + 1 < len(words) else ""
    if "." in stem and re.search(f"[{LETTER}]", stem):
        yield word.replace(".", "")
    elif stem in TITLES or re.match("[a-z]", after) or (stem in BEFORE_NUMBERS and re.match("[0-9]", after)):
        yield word
    else:
        yield from (stem, ".")
