"""Types and names that modules of several papers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from nlgauge.stats import Measure

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Steps = Callable[[int, int], None]  # steps done, of how many
Named = str | Measure
Families = Mapping[str, str | Sequence[str]]  # {column: family} or {family: [columns]}
Outputs = Literal["clustered", "independent"]
RowUnit = Literal["rater", "output"]
Bins = str | tuple[float, float]
Scales = tuple[float, float] | Mapping[str, tuple[float, float]] | None
KEY = ("system", "input")  # what names an output
