"""Small words for the answers: numbers as the tables print them, lists that do not grow."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nlgauge.number import count, missing, number, percent, sentence, some
from nlgauge.number import row_interval as interval
from nlgauge.table import Table

__all__ = ["count", "interval", "missing", "name_of", "one_line", "percent", "sentence", "some", "two"]


def two(value: float | None) -> str:
    """
    >>> two(0.523), two(-0.1), two(1.0), two(None)
    ('.52', '-.10', '1.00', '–')
    """
    return number(value, 2)


def one_line(reasons: str) -> str:
    """Reasons that differ in the aspect only, said once.

    >>> one_line("d, fun: needs two raters.; d, wit: needs two raters.")
    'd, fun and wit: needs two raters.'
    """
    said: dict[tuple[str, str], list[str]] = {}
    for reason in reasons.split("; "):
        found = re.match(r"^(?P<data>.+?), (?P<aspect>[^:]+): (?P<why>.+)$", reason, re.S)
        where, why = (found["data"], found["why"]) if found else ("", reason)
        said.setdefault((where, why), []).extend([found["aspect"]] if found else [])
    return "; ".join(f"{data}, {some(aspects, 6)}: {why}" if data else why for (data, why), aspects in said.items())


def name_of(table: Table, by: Sequence[str]) -> str:
    """The group and the aspect that all rows of a table share."""
    if not table.rows:
        return ""
    first = table.rows[0]
    named = [c for c in ("data", *by, "aspect") if c in first]
    return ", ".join(str(first[c]) for c in named if not missing(first[c]) and len({str(r.get(c)) for r in table}) == 1)
