"""Small words for the answers: numbers as the tables print them, lists that do not grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.number import count, missing, percent, sentence, some
from nlgauge.table import Table

__all__ = ["ci", "count", "interval", "missing", "name_of", "percent", "sentence", "some", "two"]


def two(value: float | None) -> str:
    """
    >>> two(0.523), two(-0.1), two(1.0), two(None)
    ('0.52', '-0.10', '1.00', '–')
    """
    return "–" if missing(value) else f"{value:.2f}"


def ci(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its confidence interval, as papers print it.

    >>> ci(0.638, 0.47, 0.771), ci(0.5, None, None)
    ('0.64 [0.47, 0.77]', '0.50')
    """
    return two(value) if missing(low) or missing(high) else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def interval(row: Mapping[str, Any]) -> str:
    """Return the value of a row with its confidence interval."""
    return ci(row["value"], row.get("low"), row.get("high"))


def name_of(table: Table, by: Sequence[str]) -> str:
    """The group and the aspect that all rows of a table share."""
    if not table.rows:
        return ""
    first = table.rows[0]
    named = [c for c in ("data", *by, "aspect") if c in first]
    return ", ".join(str(first[c]) for c in named if not missing(first[c]) and len({str(r.get(c)) for r in table}) == 1)
