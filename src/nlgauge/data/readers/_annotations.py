"""Answers of annotators and rows of fields as a Dataset, for the readers of annotation tools.

A tool's export has rows (a text and what belongs to it) and answers (row, question, annotator, value). Which
field is the system, the input or the output is found as in a plain table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.records import Record, option_numbers, shown
from nlgauge.data.tables.build import build
from nlgauge.data.tables.columns import Roles, find_roles
from nlgauge.data.tables.keys import with_input
from nlgauge.data.tables.raw import RawTable, Where, from_object
from nlgauge.data.tables.values import numbers
from nlgauge.errors import DataError

NOBODY = "\0nobody"  # cannot be a name
GRADE = re.compile(r"^\s*([-+]?\d+(?:\.\d+)?)\s*(?:[-–—:.)(=].*|/\s*\d+|stars?|points?)?\s*$", re.I | re.S)


class Rating(NamedTuple):
    """One rating of the output in one row; `rater` is None for an average or an unknown annotator."""

    row: int
    aspect: str
    rater: str | None
    value: float


class CollectedAnswers:
    """Collect raw answers; labels become ratings only by a mapping or if they begin with a number."""

    def __init__(self, values: Mapping[str, Any] | str | None = None, ignore: Iterable[str] | str = ()) -> None:
        self.values = option_numbers("values", values)
        self.ignore = set(ignore.split(",") if isinstance(ignore, str) else ignore)
        self.found: dict[str, list[tuple[int, str, str | None, Any]]] = {}

    def add(self, row: int, where: str, question: str, rater: str | None, value: Any) -> None:
        """Add one answer, unless it is empty or its question is ignored."""
        if value is not None and question not in self.ignore:
            self.found.setdefault(question, []).append((row, where, rater, value))

    def ratings(self, source: str) -> tuple[list[Rating], list[str]]:
        """Return the ratings, and notes on questions that were answered in labels only.

        Words among numbers are an error, and so is a file in which nothing but words was answered.
        """
        ratings: list[Rating] = []
        words: list[tuple[str, str, Any]] = []
        for question, given in self.found.items():
            graded = [(answer, self.grade(answer[3])) for answer in given]
            wrong = next((answer for answer, grade in graded if grade is None), None)
            if wrong is None:
                ratings += [Rating(row, question, rater, grade or 0.0) for (row, _, rater, _), grade in graded]
            elif any(grade is not None for _, grade in graded):
                raise DataError(
                    f"{wrong[1]}: '{question}' was answered {shown(wrong[3])} here, elsewhere with numbers; map "
                    f"the label to a number (values='{_word(wrong[3])}=1'), or leave the question out "
                    f"(ignore='{question}')."
                )
            else:
                words.append((question, wrong[1], wrong[3]))
        if words and not ratings:
            question, where, value = words[0]
            raise DataError(
                f"{where}: '{question}' was answered {shown(value)}, like all "
                f"answers in {source}; map labels to numbers, e.g. values='{_word(value)}=1,…'."
            )
        notes = [
            f"question '{question}' was answered in labels (e.g. {shown(value)}): not read; "
            f"values='{_word(value)}=1,…' maps them to numbers"
            for question, _, value in words
        ]
        return ratings, notes

    def grade(self, value: Any) -> float | None:
        """Convert 4, '4', '4 - good' and mapped labels to a number; other values become None."""
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, bool | list | dict):
            return None
        if str(value).strip().lower() in self.values:
            return self.values[str(value).strip().lower()]
        match = GRADE.match(str(value))
        return float(match[1]) if match else None


def _word(value: Any) -> str:
    return str(value[0] if isinstance(value, list) and value else value)[:30]


def numbered(path: Path, rows: Iterable[Record | int], word: str = "record") -> Where:
    """Return the location of rows: each is a record, or the number of a line."""
    numbers = [row if isinstance(row, int) else row.number for row in rows]
    return Where(str(path), word, numbers.__getitem__)


def dataset_of(
    where: Where,
    rows: Sequence[Mapping[str, Any]],
    *,
    ratings: Sequence[Rating] = (),
    columns: Mapping[str, str | None] | None = None,
    human: Mapping[str, str] | None = None,
    metrics: Mapping[str, str] | None = None,
    persons: bool = False,
    notes: Iterable[str] = (),
) -> Dataset:
    """Return rows and ratings as a Dataset; `where` names rows in error messages (`numbered`)."""
    table = from_object([{key: _spoken(value) for key, value in row.items()} for row in rows])
    table = RawTable(table.frame, where)
    frame = table.frame
    present: dict[str, str | None] = {role: c for role, c in (columns or {}).items() if c in frame.columns}
    present |= dict.fromkeys(("rater", "aspect", "metric"))  # a field 'user' is not the annotator
    roles = with_input(table, find_roles(table, present, human, metrics))
    if ratings:
        table, roles = _with_ratings(table, roles, ratings)
    data = build(table, roles, Path(where.source).name)
    rated = _nobody(data.ratings)
    known_raters = rated["rater"].null_count() < rated.height
    return replace(data, ratings=rated, persons=persons and known_raters, notes=(*data.notes, *notes))


def _with_ratings(table: RawTable, roles: Roles, ratings: Sequence[Rating]) -> tuple[RawTable, Roles]:
    """Return one row per row and annotator, with a column per aspect."""
    averages = [
        Rating(row, aspect, rater, value)
        for aspect, pairs in roles.human.items()
        for rater, column in pairs
        for row, value in enumerate(numbers(table, column))
        if value is not None
    ]
    cells: dict[tuple[int, str, int], dict[str, float]] = {}
    for row, aspect, rater, value in [*averages, *ratings]:
        again = 0
        while aspect in cells.setdefault((row, rater or NOBODY, again), {}):
            again += 1  # rated twice by the same annotator: `build` averages them with a note
        cells[row, rater or NOBODY, again][aspect] = value
    rated = {row for row, _, _ in cells}
    cells |= {(row, NOBODY, 0): {} for row in range(table.frame.height) if row not in rated}
    keys = sorted(cells, key=lambda key: key[0])
    rows = [row for row, _, _ in keys]
    aspects = dict.fromkeys(aspect for cell in cells.values() for aspect in cell)
    columns = {aspect: f"__rating_{i}__" for i, aspect in enumerate(aspects)}
    frame = table.frame[rows].with_columns(
        pl.Series("__rater__", [rater for _, rater, _ in keys], pl.String),
        *(pl.Series(name, [cells[key].get(aspect) for key in keys], pl.Float64) for aspect, name in columns.items()),
    )
    where = replace(table.where, line_of=lambda i: table.where.line_of(rows[i]))
    human = {aspect: ((None, column),) for aspect, column in columns.items()}
    return RawTable(frame, where), replace(roles, rater="__rater__", human=human)


def _nobody(ratings: pl.DataFrame) -> pl.DataFrame:
    """Remove the annotator of ratings by unknown annotators, and use averages only where individual ratings are
    missing.
    """
    ratings = ratings.with_columns(pl.col("rater").replace(NOBODY, None))
    single = pl.col("rater").is_not_null()
    return ratings.filter(single | ~single.any().over("system", "input", "aspect"))


def _spoken(value: Any) -> Any:
    """Return a dialogue (a list of turns) as a text with one line per turn."""
    if not isinstance(value, list) or not any(isinstance(turn, dict) for turn in value):
        return value
    return [turn_text(turn) for turn in value]


def turn_text(turn: Any) -> str:
    """Return one turn of a dialogue as text: {"author": "A", "text": "Hi"} is 'A: Hi'; other values stay JSON."""
    if not isinstance(turn, dict):
        return str(turn)
    text = next((turn[k] for k in ("text", "content", "utterance") if isinstance(turn.get(k), str)), None)
    who = next((turn[k] for k in ("author", "role", "speaker", "from") if turn.get(k)), None)
    if text is None:
        return json.dumps(turn, ensure_ascii=False, default=str)
    return f"{who}: {text}" if who else str(text)
