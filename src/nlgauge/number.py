"""One formatter of numbers: as the journals print correlations, without the zero before the point.

It takes a number, never a text: a zero that is taken out of a sentence may stand in a name (bleurt-0.2, 127.0.0.1).
"""

from __future__ import annotations

import math


def number(value: float | None, decimals: int = 3, *, missing: str = "–", sign: bool = False) -> str:
    """
    >>> number(0.5234), number(-0.1, 2), number(1.0, 2), number(10.5, 1), number(0.25, 2, sign=True), number(None)
    ('.523', '-.10', '1.00', '10.5', '+.25', '–')
    """
    if value is None or math.isnan(value):
        return missing
    text = f"{value:{'+' if sign else ''}.{decimals}f}"
    whole, point, part = text.partition(".")
    return f"{whole[:-1]}.{part}" if point and whole.lstrip("+-") == "0" else text
