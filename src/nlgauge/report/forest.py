"""The axis of the first screen, for the page and the terminal: from the lowest interval (or chance) to 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

STEP = 0.25  # between two ticks


@dataclass(frozen=True)
class ForestAxis:
    """An axis that ends at 1; `low` is its other end."""

    low: float
    high: float = 1.0

    def share(self, value: float) -> float:
        """Return the place of a value as a share of the axis, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def percent(self, value: float) -> str:
        """Return the place of a value for SVG.

        >>> ForestAxis(0.5).percent(0.75)
        '50.00%'
        """
        return f"{100 * self.share(value):.2f}%"

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return values and labels of the ticks.

        >>> [text for _, text in ForestAxis(0.4).ticks]
        ['0.5', '0.75', '1']
        """
        first = math.ceil(self.low / STEP - 1e-9)
        return [(k * STEP, f"{k * STEP:g}") for k in range(first, round(self.high / STEP) + 1)]


def scale_of(values: Iterable[float | None], chance: float = 0.5) -> ForestAxis:
    """Return an axis that shows all values and chance.

    >>> scale_of([0.62, 0.38, None]).low
    0.35
    """
    low = min([chance, *(v for v in values if v is not None)])
    return ForestAxis(max(-1.0, math.floor(20 * low - 1e-9) / 20) if low < 0.5 else 0.45)
