"""A judge's scale: `1-5`, `0-100`, `A-E`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nlgauge.errors import NlgaugeError

NUMBERS = re.compile(r"^\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(-?\d+(?:\.\d+)?)\s*$")
LETTERS = re.compile(r"^\s*([A-Z])\s*(?:-|–|to)\s*([A-Z])\s*$")


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`. With `letters` the first option is worth `low` (A = 1), as in multiple choice."""

    low: float
    high: float
    letters: str = ""

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Parse a scale such as '1-5' or 'A-E'.

        >>> Scale.parse("1-5"), str(Scale.parse("0-100")), Scale.parse("A-E").high
        (Scale(low=1.0, high=5.0, letters=''), '0-100', 5.0)
        """
        if match := NUMBERS.match(text):
            low, high = float(match[1]), float(match[2])
            if low < high:
                return cls(low, high)
        elif (match := LETTERS.match(text)) and match[1] < match[2]:
            letters = "".join(chr(c) for c in range(ord(match[1]), ord(match[2]) + 1))
            return cls(1.0, float(len(letters)), letters)
        raise NlgaugeError(f"scale '{text}': write the lowest and the highest rating as in 1-5, 0-100 or A-E.")

    def __str__(self) -> str:
        return f"{self.letters[0]}-{self.letters[-1]}" if self.letters else f"{self.low:g}-{self.high:g}"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def top(self) -> str:
        """The highest rating in the notation of the scale."""
        return self.letters[-1] if self.letters else f"{self.high:g}"

    def points(self) -> list[int]:
        """Return the ratings that are whole numbers; empty if the ends are not whole numbers or too far apart to list
        all ratings.
        """
        if self.high - self.low > 1000 or self.low != int(self.low) or self.high != int(self.high):
            return []
        return list(range(int(self.low), int(self.high) + 1))
