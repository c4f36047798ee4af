"""Small words for the answers: numbers as the tables print them, lists that do not grow."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.number import count, missing, number, percent, sentence, some
from nlgauge.number import row_interval as interval
from nlgauge.table import Table

__all__ = ["count", "interval", "missing", "name_of", "percent", "sentence", "some", "two"]


def two(value: float | None) -> str:
    """
    >>> two(0.523), two(-0.1), two(1.0), two(None)
    ('.52', '-.10', '1.00', '–')
    """
    return number(value, 2)


def name_of(table: Table, by: Sequence[str]) -> str:
    """The group and the aspect that all rows of a table share."""
    if not table.rows:
        return ""
    first = table.rows[0]
    named = [c for c in ("data", *by, "aspect") if c in first]
    return ", ".join(str(first[c]) for c in named if not missing(first[c]) and len({str(r.get(c)) for r in table}) == 1)
