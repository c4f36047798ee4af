"""Rater rows: the observation of Nimah et al. (2023) is a single rating, for which the metric's score is repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import percent
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.ranking.quality_levels import NONE, Bins, Levels, Scale, quality_levels
from nlgauge.stats.tests.ks import ks_permutation
from nlgauge.stats.tests.row_column_permutation import METHOD as SHUFFLED
from nlgauge.stats.tests.row_column_permutation import clustered, ks_shuffled, ks_swapped
from nlgauge.types import Array, Ints, Mask

Unit = Literal["rater", "output"]
KSTests = dict[str, tuple[float, float]]  # name -> KS, p
Scales = Scale | Mapping[str, Scale] | None
OVERALL = "Overall"
OTHER_RATERS = "other raters"
CONTRASTS = {"Lo-Hi": (0, 2), "Lo-Mod": (0, 1), "Hi-Mod": (2, 1)}


@dataclass(frozen=True)
class RaterRows:
    """One row per rater and output that has any rating (nimah2023), or one per output.

    Attributes
    ----------
    panel : Panel
        Where the rows come from.
    unit : {'rater', 'output'}
        What a row is.
    cell : array of rows
        The place of the output in the flat systems × inputs.
    human : dict
        Aspect -> rating in each row, NaN where there is none.
    scores : array of metrics × cells
        Oriented so that higher is better.
    slot : array of rows
        The place of the rater whose rating it is.
    """

    panel: Panel
    unit: Unit
    cell: Ints
    human: dict[str, Array]
    scores: Array
    slot: Ints

    @classmethod
    def of(cls, choice: Choice, unit: Unit = "rater", overall: bool = False) -> RaterRows:
        """Make the rows of a data set with the requested aspects and metrics.

        Parameters
        ----------
        choice : Choice
        unit : {'rater', 'output'}, default 'rater'
            One row per annotator if annotator IDs are known, else one per output.
        overall : bool, default False
            Add the mean of the aspects as one more aspect.
        """
        return rated_rows(chosen_panel(choice, overall), unit)

    @property
    def system(self) -> Ints:
        """Return the number of the system of each row."""
        return self.cell // self.panel.n_inputs

    def weights(self, chosen: Mask) -> Array:
        """Count the chosen rows of each cell."""
        return np.bincount(self.cell[chosen], minlength=self.scores.shape[1]).astype(np.float64)

    def levels(self, aspect: str, bins: Bins = "thirds", scale: Scales = None) -> Levels:
        """Cut the ratings of an aspect into low, moderate and high."""
        own = scale.get(aspect) if isinstance(scale, Mapping) else scale
        return quality_levels(self.human[aspect], bins, own)

    def require_two_aspects(self) -> None:
        """Raise an error where fewer than two aspects are rated."""
        if len(self.human) < 2:
            raise NeedsMissing(
                f"requires at least 2 aspects; found {len(self.human)} ({', '.join(self.human)}).",
                code="too_few_aspects",
            )

    def description(self, scores: bool = True) -> str:
        """Describe an observation, for method sentences; `scores`: metric scores are used too."""
        if self.unit != "rater" or not self.panel.raters:
            return "one observation per output"
        return f"one observation per rating{', the metric score repeated' if scores else ''}"

    def level_words(self, bins: Bins = "thirds", scale: Scales = None) -> str:
        """Describe how each aspect is divided into levels."""
        words = {aspect: self.levels(aspect, bins, scale).words for aspect in self.human}
        if len(set(words.values())) == 1:
            words = {"all": next(iter(words.values()))}
        return "; ".join(f"{aspect}: {cut}" for aspect, cut in words.items())

    def unanimous(self, bins: Bins = "thirds", scale: Scales = None) -> tuple[Mask, Mask]:
        """Return the rows in which all aspects are at the same level, and the other rows with all aspects rated."""
        levels = np.stack([self.levels(aspect, bins, scale).level for aspect in self.human])
        rated = (levels != NONE).all(axis=0)
        same = rated & (levels == levels[0]).all(axis=0)
        return same, rated & ~same

    def unanimity_words(self, bins: Bins = "thirds", scale: Scales = None) -> str:
        """State in how many observations all aspects are at the same level."""
        same, mixed = self.unanimous(bins, scale)
        first = self.levels(next(iter(self.human)), bins, scale)
        alike, low, high = (int(mask.sum()) for mask in (same, same & first.low, same & first.high))
        n = alike + int(mixed.sum())
        share = percent(alike / n) if n else "–"
        return (
            f"all {len(self.human)} aspects are at the same level in {alike} of {n} observations ({share}); low on "
            "all: "
            f"{low}, high on all: {high}."
        )

    @property
    def crossed(self) -> bool:
        """Return whether systems and inputs are crossed, so that outputs are not independent (or there is one "
        "system)."""
        rated = self._cube(np.ones(len(self.cell)))[0].max(axis=0)
        return self.panel.n_systems == 1 or clustered(self.scores.reshape(len(self.scores), *rated.shape), rated)

    @property
    def words(self) -> str:
        """Describe the permutation test of `ks` and `human_ks`."""
        if self.crossed:
            return f"{SHUFFLED}, ratings of an output together"
        return (
            "scores permuted over the outputs, ratings of an output together; outputs are assumed to be independent, "
            "since few inputs have several systems"
        )

    def ks(self, one: Mask, two: Mask, draws: int, seed: int) -> KSTests:
        """Return KS and p of every metric between two sets of rows; analyses of one panel share the result."""
        if not self.panel.metrics:
            return {}
        key = ("ks", self.unit, one.tobytes(), two.tobytes(), draws, seed)
        return self.panel.once(key, lambda: self._ks(one, two, draws, seed))

    def _ks(self, one: Mask, two: Mask, draws: int, seed: int) -> KSTests:
        low, high = self.weights(one), self.weights(two)
        if self.crossed:
            grid = (1, self.panel.n_systems, self.panel.n_inputs)
            tests = ks_shuffled(
                self.scores.reshape(len(self.scores), *grid),
                low.reshape(grid),
                high.reshape(grid),
                draws=draws,
                seed=seed,
            )
        else:
            tests = ks_permutation(self.scores, low, high, draws=draws, seed=seed)
        return _named(self.panel.names, tests)

    def human_ks(self, one: Mask, two: Mask, values: Mapping[str, Array], draws: int, seed: int) -> KSTests:
        """Return KS and p of human ratings, one per row, between two sets of rows."""
        if not values:
            return {}
        stacked, low, high = np.stack(list(values.values())), one.astype(np.float64), two.astype(np.float64)
        if self.crossed:
            low, high = np.nan_to_num(self._cube(low)[0]), np.nan_to_num(self._cube(high)[0])
            tests = ks_shuffled(self._cube(*stacked), low, high, draws=draws, seed=seed)
        else:
            tests = ks_permutation(stacked, low, high, draws=draws, seed=seed)
        return _named([human_name(a) for a in values], tests)

    def ks_systems(self, pair: tuple[int, int], draws: int, seed: int) -> KSTests:
        """Return KS and p between two systems, of every metric and human aspect; outputs of an input are swapped.

        Analyses of one panel share the result.
        """
        key = ("ks_systems", self.unit, pair, draws, seed)
        return self.panel.once(key, lambda: self._ks_systems(pair, draws, seed))

    def _ks_systems(self, pair: tuple[int, int], draws: int, seed: int) -> KSTests:
        grid, both = (1, self.panel.n_systems, self.panel.n_inputs), list(pair)
        weights = self.weights(np.ones(len(self.cell), bool)).reshape(grid)[:, both]
        scores = self.scores.reshape(len(self.scores), *grid)[:, :, both]
        people = self._cube(*self.human.values())[:, :, both]
        rated = np.nan_to_num(self._cube(np.ones(len(self.cell)))[0])[:, both]
        return {
            **_named(self.panel.names, ks_swapped(scores, weights, draws=draws, seed=seed)),
            **_named([human_name(a) for a in self.human], ks_swapped(people, rated, draws=draws, seed=seed)),
        }

    def _cube(self, *values: Array) -> Array:
        """Return values of the rows as … × annotators × systems × inputs, NaN without a row."""
        slots = int(self.slot.max(initial=0)) + 1
        cube = np.full((len(values), slots, self.scores.shape[1]), np.nan)
        for k, each in enumerate(values):
            cube[k, self.slot, self.cell] = each
        return cube.reshape(len(values), slots, self.panel.n_systems, self.panel.n_inputs)

    def others(self, aspect: str) -> Array | None:
        """Return the mean rating of each row's output by the other annotators; None if no output has several."""
        values = self.human[aspect]
        rated = ~np.isnan(values)
        n = np.bincount(self.cell[rated], minlength=self.scores.shape[1])[self.cell]
        total = np.bincount(self.cell[rated], weights=values[rated], minlength=self.scores.shape[1])[self.cell]
        shared = rated & (n > 1)
        if not shared.any():
            return None
        size = _largest(values, self.cell, self.scores.shape[1])[self.cell]
        return snap(np.where(shared, (total - np.nan_to_num(values)) / np.maximum(n - 1, 1), np.nan), scale=size)

    def system_means(self) -> dict[str, Array]:
        """Return the mean rating of every system on every aspect, with exact ties."""
        return {aspect: _means(values, self.system, self.panel.n_systems) for aspect, values in self.human.items()}

    def metric_means(self) -> dict[str, Array]:
        """Return the mean score of every system by every metric over the rated rows, oriented."""
        return {
            name: _means(self.scores[k][self.cell], self.system, self.panel.n_systems)
            for k, name in enumerate(self.panel.metrics)
        }


def rated_rows(panel: Panel, unit: Unit = "rater") -> RaterRows:
    """Return the rows of a panel: one per annotator (if annotator IDs are known), or one per output."""
    grid = (panel.n_systems, panel.n_inputs)
    slots = max((len(cube) for cube in panel.raters.values()), default=0) if unit == "rater" else 0
    cubes = {}
    for aspect, mean in panel.humans.items():
        cube = np.full((slots + 1, *grid), np.nan)
        if unit == "rater" and aspect in panel.raters:
            cube[:slots] = panel.raters[aspect]
        alone = np.isnan(cube).all(axis=0)
        cube[slots][alone] = mean[alone]  # averages and single ratings have no annotator
        cubes[aspect] = cube.reshape(slots + 1, -1)
    rated = np.logical_or.reduce([~np.isnan(cube) for cube in cubes.values()])
    scores = panel.oriented().reshape(len(panel.metrics), -1) if panel.metrics else np.empty((0, grid[0] * grid[1]))
    slot, cell = np.nonzero(rated)
    return RaterRows(panel, unit, cell, {a: cube[rated] for a, cube in cubes.items()}, scores, slot)


def chosen_panel(choice: Choice, overall: bool = False) -> Panel:
    """Return a panel with the requested aspects only (all by default)."""
    names = choice.wanted
    panel = choice.panel(names[0] if names else None, canonical=True)
    humans = {a: panel.humans[a] for a in names if a in panel.humans}
    if list(humans) != list(panel.humans):  # the same panel where nothing is left out, which has its cached results
        panel = replace(panel, humans=humans, raters={a: r for a, r in panel.raters.items() if a in humans})
    return with_overall(panel) if overall else panel


def with_overall(panel: Panel) -> Panel:
    """Add the mean of the aspects as one more aspect (Nimah et al. 2023, summarization sets)."""
    if any(name.lower() == OVERALL.lower() for name in panel.humans):
        return panel
    cubes = [panel.raters[a] for a in panel.humans if a in panel.raters]
    raters = {**panel.raters, OVERALL: _mean_of(cubes)} if len(cubes) == len(panel.humans) else panel.raters
    mean = _mean_of(list(panel.humans.values()))
    return replace(panel, humans={**panel.humans, OVERALL: mean}, raters=raters)


def _named(names: Sequence[str], tests: tuple[Array, Array]) -> KSTests:
    return {name: (float(d), float(p)) for name, d, p in zip(names, *tests, strict=True)}


def human_name(aspect: str) -> str:
    """Return the name of a human aspect in a list of metrics."""
    return f"human: {aspect}"


def _mean_of(parts: list[Array]) -> Array:
    stacked: Any = np.stack(parts)
    rated = ~np.isnan(stacked).all(axis=0)
    mean = np.full(rated.shape, np.nan)
    mean[rated] = np.nanmean(stacked[:, rated], axis=0)
    return snap(mean, scale=largest(stacked, axis=0))


def _means(values: Array, system: Ints, systems: int) -> Array:
    rated = ~np.isnan(values)
    n = np.bincount(system[rated], minlength=systems)
    total = np.bincount(system[rated], weights=values[rated], minlength=systems)
    return snap(np.where(n > 0, total / np.maximum(n, 1), np.nan), scale=_largest(values, system, systems))


def _largest(values: Array, group: Ints, groups: int) -> Array:
    """Return the largest absolute value of each group, to which rounding errors of its mean are relative."""
    size = np.zeros(groups)
    np.maximum.at(size, group, np.nan_to_num(np.abs(values)))
    return size
