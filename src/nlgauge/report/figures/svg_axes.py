"""Axes of a static figure: conversion of values to pixels, and ticks, as plotly's layout describes them."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

LETTER = 0.56  # width of a letter, in font sizes
MAX_TICKS = 6
GAP = 18  # pixels that a tick label needs beyond its width


def values_of(data: Any) -> list[Any]:
    """Return an array of a figure as a list; plotly packs NumPy arrays in base 64."""
    if isinstance(data, dict) and "bdata" in data:
        array = np.frombuffer(base64.b64decode(data["bdata"]), dtype=np.dtype(data["dtype"]))
        shape = [int(n) for n in str(data.get("shape", "")).split(",") if n.strip()]
        return list((array.reshape(shape) if shape else array).tolist())
    if data is None:
        return []
    return list(data) if isinstance(data, list | tuple | np.ndarray) else [data]


def lines_of(text: Any) -> list[str]:
    """Return a text of plotly, which may hold a few HTML tags, as plain lines.

    >>> lines_of("a &lt;b<br><span style='color:red'>c</span>")
    ['a <b', 'c']
    """
    return [html.unescape(re.sub(r"<[^>]*>", "", part)) for part in re.split(r"<br\s*/?>", str(text))]


def width_of(text: Any, size: float) -> float:
    """Return the width of a text in pixels, by its longest line."""
    return LETTER * size * max((len(line) for line in lines_of(text)), default=0)


def known(value: Any) -> bool:
    """Return whether a point has a place on a numeric axis."""
    return isinstance(value, int | float) and math.isfinite(value)


class Axis:
    """One axis: `place` turns a value into pixels once `between` is set.

    Parameters
    ----------
    name : str
        As in the layout: x, y, x2, …
    layout : dict
        Of the axis.
    """

    def __init__(self, name: str, layout: dict[str, Any]) -> None:
        self.name, self.layout = name, layout
        self.seen: list[Any] = []
        self.categories: list[str] = [str(c) for c in values_of(layout.get("categoryarray"))]
        self.low, self.high, self.start, self.end = 0.0, 1.0, 0.0, 1.0
        self.is_category = layout.get("type") == "category"
        self.is_log = layout.get("type") == "log"
        self.zero = False  # bars begin there

    @property
    def horizontal(self) -> bool:
        """Return whether it runs from left to right."""
        return self.name.startswith("x")

    @property
    def domain(self) -> tuple[float, float]:
        """Return its part of the width or height of the plot."""
        low, high = self.layout.get("domain") or (0.0, 1.0)
        return float(low), float(high)

    @property
    def size(self) -> float:
        """Return the size of its tick labels."""
        return float((self.layout.get("tickfont") or {}).get("size", 12))

    @property
    def title(self) -> str:
        """Return its title."""
        title = self.layout.get("title") or ""
        return str(title.get("text") or "") if isinstance(title, dict) else str(title)

    def see(self, values: Iterable[Any]) -> None:
        """Take in values that the axis must show."""
        self.seen += [v for v in values if v is not None]

    def settle(self) -> None:
        """Find categories and range, after all values were seen."""
        texts = [v for v in self.seen if isinstance(v, str)]
        if texts and not self.layout.get("type"):
            self.is_category = any(_number(v) is None for v in texts)
        if self.is_category:
            self.categories = list(dict.fromkeys([*self.categories, *(str(v) for v in self.seen)]))
            self.low, self.high = -0.5, max(len(self.categories), 1) - 0.5
        else:
            numbers = [v for v in (self.number(v) for v in self.seen) if known(v)]
            low, high = min(numbers, default=0.0), max(numbers, default=1.0)
            zero = self.zero or self.layout.get("rangemode") == "tozero"
            low, high = (min(low, 0.0), max(high, 0.0)) if zero and not self.is_log else (low, high)
            alike = high - low < 1e-9 * max(1.0, abs(high))  # but for rounding
            room = 0.5 if alike else 0.06 * (high - low)
            self.low = low if zero and low == 0 else low - room
            self.high = high if zero and high == 0 else high + room
        given = values_of(self.layout.get("range"))
        if len(given) == 2 and all(known(v) for v in given):
            self.low, self.high = float(given[0]), float(given[1])
        elif self.layout.get("autorange") == "reversed":
            self.low, self.high = self.high, self.low

    def number(self, value: Any) -> float:
        """Return a value as a number on the scale of the axis; NaN where it has no place."""
        if self.is_category:
            if isinstance(value, str) or value in self.categories:
                return float(self.categories.index(str(value))) if str(value) in self.categories else math.nan
            return float(value)
        number = _number(value)
        if number is None:
            return math.nan
        return math.nan if self.is_log and number <= 0 else math.log10(number) if self.is_log else number

    def between(self, start: float, end: float) -> None:
        """Set the pixels of its ends; those of a vertical axis are from the bottom to the top."""
        self.start, self.end = start, end

    def place(self, value: Any) -> float:
        """Return the pixel of a value."""
        return self.start + (self.number(value) - self.low) / ((self.high - self.low) or 1) * (self.end - self.start)

    def slot(self) -> float:
        """Return the pixels between two categories, or of one unit."""
        return abs((self.end - self.start) / ((self.high - self.low) or 1))

    def ticks(self) -> list[tuple[Any, str]]:
        """Return the values with a tick, and their labels."""
        given = values_of(self.layout.get("tickvals"))
        if given:
            texts = values_of(self.layout.get("ticktext")) or [self._written(v) for v in given]
            return [(v, str(t)) for v, t in zip(given, texts, strict=False)]
        if self.is_category:
            return [(c, c) for c in self.categories]
        low, high = sorted((self.low, self.high))
        if self.is_log:
            return [(10.0**k, f"{10**k:g}") for k in range(math.ceil(low), math.floor(high) + 1)]
        step = float(self.layout.get("dtick") or 0) or _step(high - low, self._most())
        first = math.ceil(low / step - 1e-9)
        return [(k * step, self._written(k * step, step)) for k in range(first, math.floor(high / step + 1e-9) + 1)]

    def _most(self) -> int:
        room = abs(self.end - self.start)
        asked = int(self.layout.get("nticks") or MAX_TICKS)
        return max(2, min(asked, MAX_TICKS, int(room / (5 * LETTER * self.size + GAP)) if self.horizontal else 9))

    def _written(self, value: Any, step: float = 0.0) -> str:
        form = str(self.layout.get("tickformat") or "")
        if not known(value):
            return str(value)
        if form.endswith("%"):
            return f"{100 * value:.0f}%"
        decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step else 6
        decimals += 1 if step and abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6 else 0  # 0.25
        text = f"{value:.{decimals}f}" if form != "d" else f"{value:.0f}"
        text = text.rstrip("0").rstrip(".") if "." in text and not step else text
        return text.removeprefix("-") if float(text) == 0 else text


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _step(span: float, most: int) -> float:
    """Return the smallest round step of which `most` cover the span.

    >>> _step(1.0, 6), _step(37.0, 5)
    (0.2, 10.0)
    """
    raw = (span or 1.0) / most
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * k for k in (1, 2, 2.5, 5, 10) if power * k >= raw - 1e-12)


def colors_between(scale: Sequence[Sequence[Any]], share: float) -> str:
    """Return the color of a share from 0 to 1 on plotly's scale of colors.

    >>> colors_between([[0, "#000000"], [1, "#ffffff"]], 0.5)
    '#808080'
    """
    share = min(1.0, max(0.0, share))
    stops = [(float(at), _rgb(str(color))) for at, color in scale]
    for (low, first), (high, second) in pairwise(stops):
        if share <= high:
            part = (share - low) / (high - low) if high > low else 1.0
            return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{round(c):02x}" for c in stops[-1][1])


def _rgb(color: str) -> tuple[float, float, float]:
    if color.startswith("#"):
        digits = color[1:] if len(color) == 7 else "".join(2 * c for c in color[1:])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    numbers = [float(n) for n in re.findall(r"[\d.]+", color)[:3]]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else (128.0, 128.0, 128.0)


def is_dark(color: str) -> bool:
    """Return whether white letters can be read on a color."""
    red, green, blue = _rgb(color)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140
