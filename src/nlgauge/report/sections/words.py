"""Formatting of numbers and lists for the answers."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.number import count, interval, missing, number, percent, sentence, some
from nlgauge.table import Table

__all__ = ["ci", "count", "missing", "name_of", "percent", "sentence", "some", "two"]


def two(value: float | None) -> str:
    """
    >>> two(0.523), two(-0.1), two(1.0), two(None)
    ('0.52', '-0.10', '1.00', '–')
    """
    return number(value, 2)


def ci(value: float | None, low: float | None, high: float | None) -> str:
    """Return a value with its confidence interval, as papers print it.

    >>> ci(0.638, 0.47, 0.771), ci(0.5, None, None)
    ('0.64 [0.47, 0.77]', '0.50')
    """
    return interval(value, low, high, 2)


def name_of(table: Table, by: Sequence[str]) -> str:
    """Return the group and the aspect that all rows of a table share."""
    if not table.rows:
        return ""
    first = table.rows[0]
    named = [c for c in ("data", *by, "aspect") if c in first]
    return ", ".join(str(first[c]) for c in named if not missing(first[c]) and len({str(r.get(c)) for r in table}) == 1)
