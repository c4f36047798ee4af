"""The human ceiling: how high can a metric correlate with ratings that are themselves noisy?

Split-half: the raters of each cell fall at random into two halves of equal size, and the two means are
correlated under the measure. Spearman-Brown steps that up to the reliability of the mean of all raters; a
metric that knew the true score would correlate with that mean at its square root, the ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nlgauge.errors import DataError
from nlgauge.stats.measure import Measure, evaluate
from nlgauge.stats.ratings import FloatArray, mean_of_raters

SplitBy = Literal["cell", "rater"]

_STEPS_UP = {
    "pearson": "",
    "spearman": "Spearman-Brown holds for Pearson; on ranks it is an approximation",
}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Per measure: correlation of halves, reliability of all raters' mean, ceiling; NaN with the reason."""

    measures: tuple[Measure, ...]
    half: FloatArray
    half_sd: FloatArray
    reliability: FloatArray
    ceiling: FloatArray
    reasons: tuple[str, ...]
    raters: float
    half_raters: float
    cells: int
    dropped_cells: int
    splits: int
    method: str


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Each rater against the mean of the others (raters × measures), and each metric against the same means
    on the cells that rater rated (raters × metrics × measures)."""

    measures: tuple[Measure, ...]
    raters: FloatArray
    metrics: FloatArray

    @property
    def closer(self) -> FloatArray:
        """Share of raters than whom the metric is closer to the rest (metrics × measures)."""
        known = ~(np.isnan(self.metrics) | np.isnan(self.raters)[:, None, :])
        wins = (self.metrics >= self.raters[:, None, :]) & known
        share = np.full(known.shape[1:], np.nan)
        np.divide(wins.sum(axis=0), known.sum(axis=0), out=share, where=known.any(axis=0))
        return share


def split_half(
    ratings: ArrayLike,
    measures: Sequence[Measure],
    rng: np.random.Generator,
    *,
    splits: int = 100,
    by: SplitBy = "cell",
) -> Ceiling:
    """Human ceiling of each measure from raters × systems × inputs.

    With an odd number of raters one sits out of each split, so both halves are equally reliable; cells with
    one rating are dropped and counted. `by="cell"` splits anew in every cell, `by="rater"` keeps a person
    in the same half everywhere.
    """
    if by not in _SPLITS:
        raise DataError(f"by must be cell or rater; found {by!r}")
    table = _cube(ratings)
    count = (~np.isnan(table)).sum(axis=0)
    usable = count >= 2
    table = np.where(usable, table, np.nan)
    chosen = tuple(measures)
    found = np.full((splits, len(chosen)), np.nan)
    sizes = np.full(splits, np.nan)
    for draw, stream in enumerate(rng.spawn(splits) if usable.any() else []):
        first, second, sizes[draw] = _SPLITS[by](table, stream)
        found[draw] = evaluate(first[None], second, chosen).value[0]
    raters, half_raters = _mean(count[usable]), _mean(sizes)
    half = np.array([_mean(column) for column in found.T])
    steps = [_step_up(m, r, raters / half_raters) for m, r in zip(chosen, half, strict=True)]
    reliability = np.array([value for value, _ in steps])
    return Ceiling(
        measures=chosen,
        half=half,
        half_sd=np.array([_sd(column) for column in found.T]),
        reliability=reliability,
        ceiling=np.sqrt(np.where(reliability >= 0.0, reliability, np.nan)),
        reasons=tuple(reason for _, reason in steps),
        raters=raters,
        half_raters=half_raters,
        cells=int(usable.sum()),
        dropped_cells=int((~usable).sum()),
        splits=splits,
        method=f"{splits} random splits by {by} into halves of {half_raters:.3g} of {raters:.3g} raters, "
        "stepped up by Spearman-Brown where the coefficient is a product-moment correlation; "
        "ceiling = square root of the reliability",
    )


def share_of_ceiling(values: ArrayLike, ceiling: Ceiling) -> FloatArray:
    """Correlations (metrics × measures) as a share of the ceiling: r / √reliability.

    This is the correction for attenuation; it may exceed 1 by chance. NaN where the measure has no ceiling.
    """
    return np.asarray(np.asarray(values, dtype=np.float64) / ceiling.ceiling)


def leave_one_out(ratings: ArrayLike, metrics: ArrayLike, measures: Sequence[Measure]) -> LeaveOneOut:
    """Is a metric closer to the raters than they are to each other, under each measure?

    `ratings` is raters × systems × inputs, `metrics` is metrics × systems × inputs.
    """
    table, scores = _cube(ratings), np.asarray(metrics, dtype=np.float64)
    if scores.ndim != 3 or scores.shape[1:] != table.shape[1:]:
        raise DataError(f"metrics {scores.shape} and ratings {table.shape} must share systems × inputs")
    chosen = tuple(measures)
    raters = np.full((len(table), len(chosen)), np.nan)
    found = np.full((len(table), len(scores), len(chosen)), np.nan)
    for left_out, own in enumerate(table):
        others = mean_of_raters(np.delete(table, left_out, axis=0))
        others = np.where(np.isnan(own), np.nan, others)
        if np.isnan(others).all():
            continue
        value = evaluate(np.concatenate([own[None], scores]), others, chosen).value
        raters[left_out], found[left_out] = value[0], value[1:]
    return LeaveOneOut(chosen, raters, found)


def _cube(ratings: ArrayLike) -> FloatArray:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 3:
        raise DataError(f"ratings must be raters × systems × inputs; found {table.ndim} dimensions")
    if len(table) < 2:
        raise DataError("a human ceiling needs at least two raters")
    return table


def _halves_by_cell(table: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float]:
    """Means of two random halves of equal size in every cell, and the mean size of a half."""
    given = ~np.isnan(table)
    key = np.where(given, rng.random(table.shape), np.inf)
    place = np.argsort(np.argsort(key, axis=0), axis=0)
    size = given.sum(axis=0) // 2
    first = mean_of_raters(np.where(place < size, table, np.nan))
    second = mean_of_raters(np.where((place >= size) & (place < 2 * size), table, np.nan))
    return first, second, float(size[size > 0].mean())


def _halves_by_rater(table: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float]:
    """Means of two random groups of persons; cells rated from one side only are missing in the other."""
    order = rng.permutation(len(table))
    middle = len(table) // 2
    first, second = table[order[:middle]], table[order[middle : 2 * middle]]
    sizes = (~np.isnan(first)).sum(axis=0), (~np.isnan(second)).sum(axis=0)
    used = (sizes[0] > 0) & (sizes[1] > 0)
    size = float((sizes[0] + sizes[1])[used].mean() / 2.0) if used.any() else np.nan
    return mean_of_raters(first), mean_of_raters(second), size


_SPLITS = {"cell": _halves_by_cell, "rater": _halves_by_rater}


def _step_up(measure: Measure, half: float, factor: float) -> tuple[float, str]:
    if measure.coefficient not in _STEPS_UP:
        return np.nan, f"Spearman-Brown does not apply to {measure.coefficient}: compare with the halves"
    if np.isnan(half):
        return np.nan, "the halves have no correlation"
    if half <= 0.0:
        return np.nan, "the halves do not agree: no reliability to build a ceiling on"
    return factor * half / (1.0 + (factor - 1.0) * half), _STEPS_UP[measure.coefficient]


def _mean(values: NDArray[Any]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def _sd(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) if known.size > 1 else np.nan
