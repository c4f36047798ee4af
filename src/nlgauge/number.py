"""Formatting of numbers, intervals, p-values, lists and titles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def missing(value: Any) -> bool:
    """Return whether a cell has no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: float | None, decimals: int = 3, *, missing: str = "–", sign: bool = False) -> str:
    """Format a number with a fixed number of decimals.

    Parameters
    ----------
    value : float or None
    decimals : int, default 3
    missing : str, default '–'
        What stands for None and NaN.
    sign : bool, default False
        Print the sign of a positive number too.

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.5234), number(-0.1, 2), number(1.0, 2), number(10.5, 1), number(0.25, 2, sign=True), number(None)
    ('0.523', '-0.10', '1.00', '10.5', '+0.25', '–')
    """
    if value is None or math.isnan(value):
        return missing
    return f"{value:{'+' if sign else ''}.{decimals}f}"


def p_value(p: float, decimals: int = 3) -> str:
    """Format a p-value without the zero before the point; one that would print as 0 is given as an upper bound.

    >>> p_value(0.0312), p_value(0.0002), p_value(0.0002, 4), p_value(1.0)
    ('.031', '<.001', '.0002', '1.000')
    """
    least = 10.0**-decimals
    below = 0 <= p < least / 2
    return ("<" if below else "") + number(least if below else p, decimals).removeprefix("0")


def p_text(p: float) -> str:
    """Format a p-value with its name.

    >>> p_text(0.0312), p_text(0.0002)
    ('p = .031', 'p < .001')
    """
    return f"p < {p_value(p)[1:]}" if p_value(p).startswith("<") else f"p = {p_value(p)}"


def is_p(column: str) -> bool:
    """Return whether a column contains p-values, such as `p` or `p_corrected`."""
    return column == "p" or column.startswith("p_")


def interval(value: float | None, low: float | None, high: float | None, decimals: int = 3) -> str:
    """Format a value with its interval, where there is one.

    Parameters
    ----------
    value, low, high : float or None
    decimals : int, default 3

    Returns
    -------
    str

    Examples
    --------
    >>> interval(0.523, 0.47, 0.57, 2), interval(0.523, None, None)
    ('0.52 [0.47, 0.57]', '0.523')
    """
    if low is None or math.isnan(low):
        return number(value, decimals)
    return f"{number(value, decimals)} [{number(low, decimals)}, {number(high, decimals)}]"


def row_interval(row: Mapping[str, Any], decimals: int = 2) -> str:
    """Return the value of a row with its interval, as the cells of tables show it.

    >>> row_interval({"value": 0.523, "low": 0.47, "high": 0.57})
    '0.52 [0.47, 0.57]'
    """
    return interval(row["value"], row.get("low"), row.get("high"), decimals)


def starred(value: float, p: float, level: float) -> str:
    """Format a value with a star where it is significant.

    Parameters
    ----------
    value, p, level : float

    Returns
    -------
    str

    Examples
    --------
    >>> starred(-0.21, 0.01, 0.05), starred(0.3, 0.2, 0.05), starred(math.nan, math.nan, 0.05)
    ('-0.21*', '0.30', '–')
    """
    return number(value, 2) + ("*" if p < level else "")


def percent(share: float, decimals: int = 0) -> str:
    """Format a share in percent.

    Parameters
    ----------
    share : float
    decimals : int, default 0

    Returns
    -------
    str

    Examples
    --------
    >>> percent(0.257), percent(0.0512, 1)
    ('26%', '5.1%')
    """
    return f"{100 * share:.{decimals}f}%"


def share_text(row: Mapping[str, Any]) -> str:
    """Format a share with its interval and, if there are, counts; with a decimal near 0% and 100%.

    >>> share_text({"value": 37 / 62, "low": 0.47, "high": 0.71, "hits": 37, "n": 62})
    '60% [47%, 71%] (37 of 62)'
    >>> share_text({"value": 0.0031, "low": None}), share_text({"value": 0.9991, "low": None})
    ('0.3%', '99.9%')
    """
    if missing(row["value"]):
        return "–"
    ends = () if missing(row["low"]) else (row["low"], row["high"])
    value, *limits = (percent(x, 1 if 0 < abs(x) < 0.01 or 0.99 < x < 1 else 0) for x in (row["value"], *ends))
    counts = "" if row.get("hits") is None else f" ({row['hits']:,} of {row['n']:,})"
    return f"{value} [{', '.join(limits)}]{counts}" if limits else value + counts


def sentence(text: str) -> str:
    """Capitalize the first letter of a sentence; not for names, which stay as they are written."""
    return text[:1].upper() + text[1:]


def count(n: int, word: str) -> str:
    """Format a number with its noun.

    >>> count(1, "output"), count(1200, "output")
    ('1 output', '1,200 outputs')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def either(words: Sequence[str]) -> str:
    """Join alternatives.

    >>> either(["a"]), either(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def some(names: Sequence[str], most: int = 3) -> str:
    """Join names; of more than `most`, the first ones and the number of the others.

    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) <= most:
        return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    return f"{', '.join(names[:most])} and {len(names) - most} more"


class Title(str):
    """A title that begins with the name of its data set; `data` is that name, and `topic` what follows.

    >>> title = Title("example", "agreement between metrics")
    >>> print(title, title.topic, sep="; ")
    example: agreement between metrics; agreement between metrics
    """

    __slots__ = ("data", "topic")
    data: str
    topic: str

    def __new__(cls, data: str, topic: str = "") -> Title:  # copies are made of the whole, and then get the parts
        title = super().__new__(cls, f"{data}: {topic}" if topic else data)
        title.data, title.topic = data, topic
        return title
