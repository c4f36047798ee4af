"""Types that modules hand to each other: arrays, names, progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Singles = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Ids = np.ndarray[Any, np.dtype[np.int32]]
Codes = np.ndarray[Any, np.dtype[np.uint32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Names = str | Sequence[str] | None  # one name, several, or all there are
Steps = Callable[[int, int], None]  # steps done, of how many
Progress = Callable[[str, int, int], None]  # of what, steps done, of how many


class Bounds(NamedTuple):
    """The smallest and the largest value of a number, as `Annotated[float, Bounds(0, 1)]`."""

    low: float | None = None
    high: float | None = None
