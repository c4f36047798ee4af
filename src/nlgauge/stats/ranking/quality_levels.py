"""Quality levels: ratings grouped as low, moderate and high (Ni'mah et al. 2023, section 4.2).

The paper cuts every scale at 3: low < 3, moderate = 3, high > 3. This fits 1–5; on 0/1 or 1–3 all ratings would be low.
Here each bounded scale is cut into thirds, which is the paper's cut on 1–5; unbounded ones are cut at terciles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.types import Array, Mask

LOW, MODERATE, HIGH, NONE = 0, 1, 2, -1
LEVELS = ("low", "moderate", "high")
WIDEST, MOST_VALUES = 10, 60  # maximum number of distinct values of a rating scale
Bins = str | tuple[float, float]
Scale = tuple[float, float]


@dataclass(frozen=True)
class Levels:
    """Level of every rating (LOW, MODERATE, HIGH; NONE where missing), and the cuts in words."""

    level: NDArray[np.int8]
    words: str

    @property
    def low(self) -> Mask:
        """Mask of the low ratings."""
        return np.asarray(self.level == LOW)

    @property
    def high(self) -> Mask:
        """Mask of the high ratings."""
        return np.asarray(self.level == HIGH)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return how many ratings are low, moderate and high."""
        low, moderate, high = (int((self.level == each).sum()) for each in (LOW, MODERATE, HIGH))
        return low, moderate, high

    @property
    def present(self) -> list[int]:
        """Return the levels that have a rating."""
        return [each for each, n in enumerate(self.counts) if n]


def quality_levels(values: ArrayLike, bins: Bins = "thirds", scale: Scale | None = None) -> Levels:
    """Divide ratings into low, moderate and high ones.

    Parameters
    ----------
    values : array
        Ratings, NaN where missing.
    bins : {'thirds', 'terciles', 'paper'} or two numbers, default 'thirds'
        `thirds` of the scale (terciles if it is unbounded), `terciles` of the ratings, or the cut at 3 of the `paper`;
        with two numbers, ratings below the first are low and ratings above the second are high.
    scale : two numbers, optional
        Lowest and highest value of the scale. Default: inferred from the ratings.

    Returns
    -------
    Levels
        `level` of each rating, the masks `low` and `high`, and `words`, a description of the cut.

    Notes
    -----
    Nimah et al. (2023), section 4.2, cut at 3, which is the middle third of a scale from 1 to 5.

    Examples
    --------
    >>> quality_levels([1, 2, 3, 4, 5]).level.tolist(), quality_levels([0, 1, 1]).words
    ([0, 0, 1, 2, 2], 'low < 0.333, high > 0.667 (thirds of 0–1)')
    """
    x = np.asarray(values, np.float64)
    if not isinstance(bins, str):
        if len(bins) != 2 or not bins[0] <= bins[1]:
            raise NlgaugeError(f"bins must be two numbers (low below, high above); found {bins}")
        return _cut(x, bins[0], bins[1], "as given")
    if bins == "paper":
        return _cut(x, 3.0, 3.0, "the paper's cuts")
    if bins not in ("thirds", "terciles"):
        raise NlgaugeError(f"no bins '{bins}'; use thirds, terciles, paper or two numbers such as (2,4)")
    ends = scale or rating_scale(x)
    if bins == "thirds" and ends is not None:
        third = (ends[1] - ends[0]) / 3
        return _cut(x, ends[0] + third, ends[1] - third, f"thirds of {ends[0]:g}–{ends[1]:g}")
    return _terciles(x)


def rating_scale(values: ArrayLike) -> Scale | None:
    """Infer the lowest and highest value of a rating scale from the ratings.

    Parameters
    ----------
    values : array
        Ratings, NaN where missing.

    Returns
    -------
    two numbers or None
        None if the ratings appear to be unbounded (direct assessment, MQM, z-scores).

    Examples
    --------
    >>> rating_scale([1, 5]), rating_scale([1.5, 1.5, 4.5, 4.5]), rating_scale([0, 35, 100]), rating_scale([-1.2, 0.3])
    ((1.0, 5.0), (1.0, 5.0), None, None)
    """
    x = np.asarray(values, np.float64)
    x = x[~np.isnan(x)]
    if not len(x):
        return None
    low, high = float(np.floor(x.min())), float(np.ceil(x.max()))
    steps = len(np.unique(np.round(x, 9)))
    # Means of a few ratings repeat their values; measured quantities do not.
    stepped = bool((x == np.round(x)).all()) or (steps <= MOST_VALUES and 2 * steps <= len(x))
    return (low, high) if low < high and high - low <= WIDEST and stepped else None


def _cut(x: Array, below: float, above: float, why: str) -> Levels:
    edge = 1e-9 * max(abs(below), abs(above), 1.0)  # 1 + 4/3 and 7/3 must be the same cut
    level = np.full(x.shape, MODERATE, np.int8)
    with np.errstate(invalid="ignore"):
        level[x < below - edge] = LOW
        level[x > above + edge] = HIGH
    level[np.isnan(x)] = NONE
    return Levels(level, f"low < {below:.3g}, high > {above:.3g} ({why})")


def _terciles(x: Array) -> Levels:
    """Cut into three parts of about equal size; equal ratings stay together."""
    available = x[~np.isnan(x)]
    if not len(available):
        return Levels(np.full(x.shape, NONE, np.int8), "no ratings")
    ordered, n = np.sort(available), len(available)
    below, above = ordered[-(-n // 3) - 1], ordered[min(-(-2 * n // 3), n - 1)]
    level = np.full(x.shape, MODERATE, np.int8)
    with np.errstate(invalid="ignore"):
        if below < above:
            level[x <= below], level[x >= above] = LOW, HIGH
            words = f"low ≤ {below:.3g}, high ≥ {above:.3g} (terciles)"
        else:
            # More than a third of the ratings are equal: they are moderate, or low or high if no rating is beyond them.
            level[x < below], level[x > above] = LOW, HIGH
            words = f"low < {below:.3g}, high > {above:.3g} (terciles: over a third of the ratings are {below:.3g})"
            if not (available > above).any():
                level[x == above] = HIGH
                words = words.replace("high >", "high =")
            elif not (available < below).any():
                level[x == below] = LOW
                words = words.replace("low <", "low =")
    level[np.isnan(x)] = NONE
    return Levels(level, words)
