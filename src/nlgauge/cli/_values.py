"""Parsing of command-line values: lists, numbers, mappings, and files that contain them (@file.json)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.records import parse_json
from nlgauge.data.tables.separated import text_rows
from nlgauge.errors import NlgaugeError
from nlgauge.registry import names_code

WORDS = {"true": "True", "false": "False", "none": "None"}  # as JSON and shells spell them


def split_names(values: Sequence[str]) -> list[str] | Any:
    """Return `--aspect a,b --aspect c` as [a, b, c]; commas in brackets belong to a spec.

    >>> split_names(["bleu(order=2,smooth='exp'),ter", "chrf"])
    ["bleu(order=2,smooth='exp')", 'ter', 'chrf']
    """
    if len(values) == 1 and values[0].startswith("@"):
        return from_file(Path(values[0][1:]))
    names = []
    for value in values:
        depth, name = 0, ""
        for sign in value:
            depth += (sign in "([") - (sign in ")]")
            if sign == "," and depth == 0:
                names.append(name.strip())
                name = ""
            else:
                name += sign
        names.append(name.strip())
    return [name for name in names if name]


def number_list(values: Sequence[str], number: type) -> list[Any]:
    """Return comma-separated or repeated numbers.

    >>> number_list(["20,40", "80"], int)
    [20, 40, 80]
    """
    try:
        return [number(name) for name in split_names(values)]
    except ValueError:
        kind = "whole numbers, such as 20,40" if number is int else "numbers, such as 0.1,0.5"
        raise NlgaugeError(f"{','.join(values)}: write {kind}.") from None


def from_text(values: Sequence[str]) -> Any:
    """Return the value of an option that takes several kinds: a literal, a=1,b=2, the content of @file, or a word.

    >>> from_text(["(1, 5)"]), from_text(["a=1,b=x"]), from_text(["thirds"])
    ((1, 5), {'a': 1, 'b': 'x'}, 'thirds')
    """
    text = ",".join(values)
    if text.startswith("@"):
        return from_file(Path(text[1:]))
    names = split_names(values)
    if names and all("=" in name for name in names):
        pairs = [name.partition("=")[::2] for name in names]
        if twice := next((key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k])), None):
            raise NlgaugeError(f"'{text}': {twice} is named twice.")
        return {key.strip(): literal(value) for key, value in pairs}
    return literal(text)


def mapping_text(values: Sequence[str]) -> Any:
    """Return a=1,b=2 as it was typed, for a function that reads it; of @file.json, the mapping in the file."""
    text = ",".join(values)
    return from_file(Path(text[1:])) if text.startswith("@") else text


def literal(text: str) -> Any:
    """Return the Python value that the text is, or the text itself."""
    try:
        return ast.literal_eval(WORDS.get(text.strip().lower(), text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def from_file(path: Path) -> Any:
    """Return what a JSON file holds, or the rows of a CSV file."""
    text = decode(path, read_bytes(path))
    content = parse_json(str(path), text) if path.suffix.lower() == ".json" else text_rows(path)
    if names_code(text):  # an option that takes metrics would run it
        raise NlgaugeError(f"@{path}: names a Python file (….py@name); type it, as a file's word runs no code.")
    return content
