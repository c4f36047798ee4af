"""Error spans: characters of an output (or of its source) that an annotator marked, with severity.

A row of `Dataset.spans` is one mark. Without `start` it has no place: with a severity it is an error that was named and
not marked, without one it says that the rater looked at the output and found no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.records import Record, shown
from nlgauge.errors import DataError

TAG = re.compile(r"</?v>")
Side = Literal["output", "source"]
NO_SEVERITY = "unknown"  # of an error without a given severity


class Span(NamedTuple):
    """One error span of one annotator, in the order of the columns of `Dataset.spans`; characters from 0, `end` not
    included.
    """

    system: str
    input: str
    rater: str
    side: Side = "output"
    start: int | None = None
    end: int | None = None
    severity: str | None = None
    category: str | None = None


def frame_of(spans: Iterable[Span]) -> pl.DataFrame:
    """Return spans as a frame with the columns of a Dataset."""
    return pl.DataFrame(list(spans), schema=Dataset.SPANS, orient="row")


def untagged(text: str) -> tuple[str, list[tuple[int, int]] | None]:
    """Return the text without <v>…</v>, and the spans between the tags; None if the tags do not pair.

    >>> untagged("Es <v>regnen</v>.")
    ('Es regnen.', [(3, 9)])
    >>> untagged("Es <v>regnen."), untagged("It rains.")
    (('Es regnen.', None), ('It rains.', []))
    """
    plain = TAG.sub("", text)
    spans: list[tuple[int, int]] = []
    opened, removed = None, 0
    for tag in TAG.finditer(text):
        position = tag.start() - removed
        removed += len(tag[0])
        if tag[0] == "<v>" and opened is None:
            opened = position
        elif tag[0] == "</v>" and opened is not None:
            spans.append((opened, position))
            opened = None
        else:
            return plain, None
    return plain, spans if opened is None else None


def place_of(span: Record, text: object) -> tuple[int | None, int | None]:
    """Return start and end, which must be inside the text; both None for an error without a position."""
    start, end = span.maybe("start"), span.maybe("end")
    if start is None and end is None:
        return None, None
    for name, value in (("start", start), ("end", end)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise DataError(f"{span.where}, key '{name}': found {shown(value)}, expected a whole number of characters.")
    if not 0 <= start <= end:
        raise DataError(f"{span.where}: a span from {start} to {end}; expected 0 ≤ start ≤ end.")
    if isinstance(text, str) and end > len(text):
        raise DataError(f"{span.where}: a span ends at {end}, its text has {len(text)} characters.")
    return start, end


def error_spans(key: tuple[str, str], rater: str, errors: list[Record], texts: Mapping[Side, str]) -> list[Span]:
    """Return the errors that one annotator marked in one output, as mt-metrics-eval writes them."""
    rows = []
    for error in errors:
        side: Side = "source" if error.maybe("is_source_error", bool) else "output"
        place = place_of(error, texts.get(side))
        severity, category = error.maybe("severity", str), error.maybe("category", str)
        rows.append(Span(*key, rater, side, *place, plain_severity(severity or NO_SEVERITY), category))
    return rows or [Span(*key, rater)]


def plain_severity(word: str) -> str:
    """Normalize the name of a severity, because case, blanks and punctuation differ between the years.

    >>> plain_severity("No error"), plain_severity("Major!")
    ('no-error', 'major')
    """
    return word.strip().rstrip("!").lower().replace("_", "-").replace("no error", "no-error")
