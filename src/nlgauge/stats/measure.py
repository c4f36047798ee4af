"""A measure is a grouping and a coefficient, written `input/kendall`; a value with a round-trip name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import DataError, NameUnknown
from nlgauge.stats.coefficients import ALIASES, COEFFICIENTS, Coefficient
from nlgauge.stats.groups import GROUPINGS, Groups, cut
from nlgauge.stats.names import check_grouping, find_coefficient
from nlgauge.stats.reasons import why_undefined

if TYPE_CHECKING:
    from nlgauge.stats.kernels import GroupStats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A value and what it rests on: outputs used, groups in the mean, groups left out; NaN has its reason."""

    value: float
    n: int
    groups: int
    dropped: int
    reason: str | None = None


@dataclass(frozen=True)
class Measure:
    """Which vectors (grouping) and what to do with two of them (coefficient).

    >>> m = Measure.parse("input/tau-b")
    >>> str(m)
    'input/kendall'
    >>> m.definition
    'Kendall\\'s tau-b over the systems of each input, averaged over inputs (also called summary level; \
mt-metrics-eval average_by="item").'
    """

    grouping: str
    coefficient: str

    def __post_init__(self) -> None:
        check_grouping(self.grouping)
        facts = find_coefficient(self.coefficient)
        if self.grouping not in facts.groupings:
            names = " or ".join(f"'{g}/{facts.name}'" for g in facts.groupings)
            raise NameUnknown(f"no measure '{self}': {facts.title.lower()} is defined as {names}.")

    @classmethod
    def parse(cls, text: str) -> Measure:
        grouping, slash, name = text.strip().lower().replace("_", "-").partition("/")
        if not slash:
            raise NameUnknown(f"no measure '{text}': write grouping/coefficient, such as 'input/kendall'.")
        return cls(grouping, ALIASES.get(name, name))

    def __str__(self) -> str:
        return f"{self.grouping}/{self.coefficient}"

    @property
    def facts(self) -> Coefficient:
        return COEFFICIENTS[self.coefficient]

    @property
    def definition(self) -> str:
        """One sentence that a user can paste into a paper."""
        return f"{self.facts.title} {GROUPINGS[self.grouping]}."

    def __call__(self, x: Floats, z: Floats, *, seed: int = 0) -> Estimate:
        """The measure of one metric (systems × inputs) against people.

        >>> x = np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 1.0]])
        >>> Measure.parse("input/kendall")(x, np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]))
        Estimate(value=1.0, n=3, groups=1, dropped=1, reason=None)
        """
        return evaluate(np.asarray(x, float)[None], z, [self], seed=seed).at(0, 0)


TWELVE: tuple[Measure, ...] = tuple(
    Measure(g, c)
    for g, c in product(("system", "input", "global", "item"), ("pearson", "spearman", "kendall"))
)


def all_measures() -> tuple[Measure, ...]:
    """Every measure there is: each coefficient with each grouping it is defined for."""
    return tuple(Measure(g, c.name) for c in COEFFICIENTS.values() for g in c.groupings)


@dataclass(frozen=True)
class Estimates:
    """Estimates of K metrics (rows) by L measures (columns), each quantity an array of its own."""

    measures: tuple[Measure, ...]
    value: Floats
    n: Ints
    groups: Ints
    dropped: Ints
    reason: NDArray[np.object_]

    def at(self, k: int, j: int) -> Estimate:
        """The estimate of metric `k` by measure `j`."""
        value, n = float(self.value[k, j]), int(self.n[k, j])
        return Estimate(value, n, int(self.groups[k, j]), int(self.dropped[k, j]), self.reason[k, j])


def evaluate(metrics: Floats, human: Floats, measures: Sequence[Measure], *, seed: int = 0) -> Estimates:
    """All measures of all metrics (K×N×M) against people (N×M) in one pass per grouping.

    A cell counts where metric and people are both finite. `seed` matters to soft pairwise accuracy only.
    """
    metrics, human = _arrays(metrics, human)
    passes = _passes(metrics, human, measures)
    shape = (len(metrics), len(measures))
    value, reason = np.full(shape, np.nan), np.full(shape, None, dtype=object)
    n, groups, dropped = (np.zeros(shape, np.int64) for _ in range(3))
    for j, measure in enumerate(measures):
        done = passes[measure.grouping]
        by_group = done.values(measure, seed)
        defined = ~np.isnan(by_group)
        groups[:, j] = defined.sum(axis=1)
        dropped[:, j] = by_group.shape[1] - groups[:, j]
        n[:, j] = np.where(defined, done.cells, 0).sum(axis=1)
        there = groups[:, j] > 0
        value[there, j] = np.where(defined, by_group, 0.0).sum(axis=1)[there] / groups[there, j]
        for k in np.flatnonzero(~there):
            reason[k, j] = why_undefined(measure.facts, done.groups, done.stats, int(k))
    return Estimates(tuple(measures), value, n, groups, dropped, reason)


def group_values(metrics: Floats, human: Floats, measure: Measure, *, seed: int = 0) -> Floats:
    """The coefficient of each group (K×G), NaN where the group is dropped; its mean is the measure's value.

    Groups are the inputs for `input`, the systems for `item`, and a single one for `global` and `system`.
    """
    metrics, human = _arrays(metrics, human)
    return _passes(metrics, human, [measure])[measure.grouping].values(measure, seed)


@dataclass(frozen=True)
class _Pass:
    """One grouping of a panel, cut and counted once for all its measures."""

    groups: Groups
    stats: GroupStats

    def values(self, measure: Measure, seed: int) -> Floats:
        facts = measure.facts
        if facts.needs == "own":
            values = facts.function(self.groups, np.random.default_rng(np.random.SeedSequence(seed)))
        else:
            values = facts.function(self.stats)
        return np.where(self.enough, values, np.nan)

    @cached_property
    def enough(self) -> NDArray[np.bool_]:
        # a mean of many correlations may hold some of two points; one correlation of two points says nothing
        least = 3 if self.groups.grouping in ("global", "system") else 2
        enough: NDArray[np.bool_] = self.stats.n >= least
        return enough

    @cached_property
    def cells(self) -> Ints:
        return self.stats.n if self.groups.cells is None else self.groups.cells


def _passes(metrics: Floats, human: Floats, measures: Sequence[Measure]) -> dict[str, _Pass]:
    passes = {}
    for grouping in {m.grouping: None for m in measures}:
        needs = {m.facts.needs for m in measures if m.grouping == grouping}
        groups = cut(metrics, human, grouping)
        asked: dict[str, Any] = {part: part in needs for part in ("pearson", "spearman", "counts")}
        passes[grouping] = _Pass(groups, groups.stats(**asked))
    return passes


def _arrays(metrics: Floats, human: Floats) -> tuple[Floats, Floats]:
    metrics, human = np.asarray(metrics, np.float64), np.asarray(human, np.float64)
    if metrics.ndim != 3 or human.ndim != 2 or metrics.shape[1:] != human.shape:
        raise DataError(
            "scores must be metrics × systems × inputs and human scores systems × inputs of the same size; "
            f"found {metrics.shape} and {human.shape}."
        )
    return metrics, human
