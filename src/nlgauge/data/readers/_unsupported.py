"""Files of known tools that are not tables of outputs, and what to provide instead.

If they were read as plain tables, the hints would be misleading, or a program's scores would be taken for human
ratings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from nlgauge.data.peek import Peek

TABLE = (
    "write a table with one row per output: its text, one column per metric or judge, and human ratings in columns "
    "called human_NAME"
)
SCORE_FILE = re.compile(r"\.(sys|seg|doc|domain)\.score(\.gz)?$")
SCORE_LINE = re.compile(r"[^\s,;]+[\t ](None|nan|[+-]?\d+(\.\d*)?(e[+-]?\d+)?)", re.I)


class Unsupported(NamedTuple):
    """An unsupported kind of file: how to recognize it, its description, and advice."""

    is_one: Callable[[Peek, set[str]], bool]
    name: str
    remedy: str


def _has(*names: str) -> Callable[[Peek, set[str]], bool]:
    return lambda peek, fields: set(names) <= fields


def _is_score_file(peek: Peek, fields: set[str]) -> bool:
    """Return whether each line contains a system and a number, without a header."""
    lines = peek.text.splitlines()
    return len(lines) > 1 and (
        bool(SCORE_FILE.search(peek.path.name)) or all(map(SCORE_LINE.fullmatch, lines[:-1] or lines))
    )


KINDS = (
    Unsupported(
        _is_score_file,
        "a score file of the WMT metrics task (a system and its score per line), without outputs or inputs",
        "give the folder of the language pair, such as wmt23/en-de, which has the scores of all segments",
    ),
    Unsupported(
        _has("Named Scores", "Grader Reason"),
        "the CSV export of promptfoo, which does not name the judges",
        "write the results with `promptfoo eval -o FILE.json`, which can be read",
    ),
    Unsupported(
        _has("question_id", "judge", "user_prompt", "judgment", "score"),
        "a list of MT-Bench judgments: grades of a model (`judge`), without the outputs",
        "declare the grade as a metric, or " + TABLE,
    ),
)


def unsupported(peek: Peek) -> str:
    """Return the kind of a file and advice, if the file is known not to be a table of outputs; else ''."""
    if peek.kind not in ("json", "text"):
        return ""
    fields = peek.keys if peek.kind == "json" else set(peek.columns)
    kind = next((kind for kind in KINDS if kind.is_one(peek, fields)), None)
    return f"is {kind.name}; {kind.remedy}." if kind else ""
