"""Tokens in the manner of the Penn Treebank, as pycocoevalcap gets them from Stanford's PTBTokenizer (Java) 3.4.1.

An approximation by a few rules: contractions are split (do n't, it 's), words with hyphens, numbers with inner points,
times, dates and common abbreviations stay whole, brackets become -lrb- -rrb-, other symbols stand alone; then the
punctuation that pycocoevalcap drops is dropped. Measured against the Java program on the real texts of the tests: see
tests/parity/test_metrics_tokens.py.
"""

from __future__ import annotations

import re

DROPPED = {"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", '"', *"‘’“”–—…"}
RENAMED = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-", "£": "#"}
ABBREVIATIONS = """
    mr mrs ms dr prof st jr sr gen lt sgt capt gov sen messrs mt ft ave blvd
    vs etc inc ltd corp bros jan feb aug sept oct nov dec
""".split()
TOKEN = re.compile(
    r"""https?://\S+ | [\w.+-]+@[\w-]+(?:\.[\w-]+)+            # addresses
      | -[lr][rsc]b-                                            # brackets of text that is tokenised already
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
    """Tokens of a lower-cased text.

    >>> tokenize("it's x (5th), isn't it?")
    ['it', "'s", 'x', '-lrb-', '5th', '-rrb-', ',', 'is', "n't", 'it', '?']
    """
    found: list[str] = []
    for token in TOKEN.findall(text):
        parts = CLITIC.match(token)
        if parts:
            found += [*TOGETHER.get(parts[1], parts[1]).split(), parts[2].replace("’", "'")]
        elif token in TOGETHER:
            found += TOGETHER[token].split()
        else:
            found.append(
                RENAMED.get(token, "..." if token.startswith("..") else "--" if token.startswith("--") else token)
            )
    return found


def without_punctuation(text: str) -> str:
    """Tokens of a lower-cased text with a blank between, without the marks that pycocoevalcap drops."""
    return " ".join(token for token in tokenize(text) if token not in DROPPED)
