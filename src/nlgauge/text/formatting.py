"""How an answer is laid out: its length in words, list items, headings and bold words in Markdown."""

from __future__ import annotations

import re

FEATURES = {
    "length": re.compile(r"\S+"),
    "lists": re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)])[ \t]+\S", re.M),
    "headers": re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+\S", re.M),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f300-\U0001faff]")  # signs and pictures, not letters or flags


def format_counts(text: str) -> list[int]:
    """Count the words, list items, headers and bold words of a text.

    >>> format_counts("# Plan\\n- **one** step\\n2. two")
    [7, 2, 1, 1]
    """
    return [sum(1 for _ in pattern.finditer(text)) for pattern in FEATURES.values()]
