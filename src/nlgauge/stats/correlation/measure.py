"""A measure of agreement is a grouping and a coefficient, written `input/kendall`; the name can be parsed back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import DataError, NameUnknown
from nlgauge.stats.correlation.coefficients import ALIASES, COEFFICIENTS, Coefficient, ratio
from nlgauge.stats.correlation.groups import GROUPINGS, Groups, cut
from nlgauge.stats.correlation.names import check_grouping, find_coefficient
from nlgauge.stats.correlation.reasons import why_undefined
from nlgauge.types import Array, Ints

if TYPE_CHECKING:
    from nlgauge.stats.correlation.panel_kernels import GroupStats


@dataclass(frozen=True)
class Estimate:
    """A value with the numbers of outputs, averaged groups and excluded groups, and the reason if it is NaN."""

    value: float
    n: int
    groups: int
    dropped: int
    reason: str | None = None


@dataclass(frozen=True)
class Measure:
    """A measure: a grouping (the vectors that are correlated) and a coefficient.

    >>> m = Measure.parse("input/tau-b")
    >>> str(m)
    'input/kendall'
    >>> m.definition.partition(" (also")[0]
    "Kendall's tau-b over the systems of each input, averaged over inputs"
    """

    grouping: str
    coefficient: str

    def __post_init__(self) -> None:
        check_grouping(self.grouping)
        facts = find_coefficient(self.coefficient)
        if self.grouping not in facts.groupings:
            names = " or ".join(f"'{g}/{facts.name}'" for g in facts.groupings)
            raise NameUnknown(f"no measure '{self}': {facts.label} is defined as {names}.")

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Return the measure of a name such as input/kendall; raise NameUnknown otherwise."""
        grouping, slash, name = text.strip().lower().replace("_", "-").partition("/")
        if not slash:
            raise NameUnknown(f"no measure '{text}': write grouping/coefficient, such as 'input/kendall'.")
        return cls(grouping, ALIASES.get(name, name))

    def __str__(self) -> str:
        return f"{self.grouping}/{self.coefficient}"

    @property
    def facts(self) -> Coefficient:
        """Return the description of the coefficient."""
        return COEFFICIENTS[self.coefficient]

    @property
    def definition(self) -> str:
        """One sentence that defines the measure, for a paper."""
        return f"{self.facts.title} {GROUPINGS[self.grouping]}."

    @property
    def chance(self) -> float:
        """The value for a constant metric, or for scores unrelated to the ratings."""
        return 0.5 if self.facts.share else 0.0

    def signed(self, value: Array) -> Array:
        """Map a value to the scale from -1 to 1 with chance level 0, for example pairwise accuracy to tau-14."""
        return 2 * value - 1 if self.facts.share else value

    def unsigned(self, value: Array) -> Array:
        """Invert `signed`."""
        return (1 + value) / 2 if self.facts.share else value

    def __call__(self, x: Array, z: Array, *, seed: int = 0) -> Estimate:
        """Compute the measure between one metric and the human ratings (both systems × inputs).

        >>> x = np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 1.0]])
        >>> Measure.parse("input/kendall")(x, np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]))
        Estimate(value=1.0, n=3, groups=1, dropped=1, reason=None)
        """
        return evaluate(np.asarray(x, float)[None], z, [self], seed=seed).at(0, 0)


TWELVE: tuple[Measure, ...] = tuple(
    Measure(g, c) for g, c in product(("system", "input", "global", "item"), ("pearson", "spearman", "kendall"))
)


def all_measures() -> tuple[Measure, ...]:
    """Return every measure: each coefficient with each grouping for which it is defined."""
    return tuple(Measure(g, c.name) for c in COEFFICIENTS.values() for g in c.groupings)


@dataclass(frozen=True)
class Estimates:
    """Estimates of K metrics (rows) by L measures (columns); each quantity is an array."""

    measures: tuple[Measure, ...]
    value: Array
    n: Ints
    groups: Ints
    dropped: Ints
    reason: NDArray[np.object_]

    def at(self, k: int, j: int) -> Estimate:
        """Return the estimate of metric `k` by measure `j`."""
        value, n = float(self.value[k, j]), int(self.n[k, j])
        return Estimate(value, n, int(self.groups[k, j]), int(self.dropped[k, j]), self.reason[k, j])


def evaluate(metrics: Array, human: Array, measures: Sequence[Measure], *, seed: int = 0) -> Estimates:
    """Compute all measures of all metrics.

    Parameters
    ----------
    metrics : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing.
    human : array of N × M
        Ratings.
    measures : sequence of Measure
    seed : int, default 0
        Used by soft pairwise accuracy only.

    Returns
    -------
    Estimates
        Arrays K × L: `value`, `n` (outputs), `groups` (in the mean), `dropped` groups, and the `reason` if a value is
        NaN.

    Notes
    -----
    The grouping determines which vectors are correlated (for example over the systems of each input) before averaging
    over groups; `Measure.definition` describes it. Outputs without a rating or a score are excluded.

    Examples
    --------
    >>> x = np.array([[[1.0, 2.0], [2.0, 3.0], [4.0, 1.0]]])
    >>> z = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    >>> evaluate(x, z, [Measure.parse("input/kendall")]).value.tolist()
    [[1.0]]
    """
    metrics, human = _arrays(metrics, human)
    by_grouping: dict[str, list[int]] = {}
    for j, measure in enumerate(measures):
        by_grouping.setdefault(measure.grouping, []).append(j)
    shape = (len(measures), len(metrics))
    value, reason = np.empty(shape), np.full(shape, None, dtype=object)
    n, groups, dropped = (np.empty(shape, np.int64) for _ in range(3))
    for rows in by_grouping.values():
        done = _Pass.of(metrics, human, [measures[j] for j in rows])
        together = rows[-1] - rows[0] == len(rows) - 1
        index = slice(rows[0], rows[-1] + 1) if together else rows  # a slice is faster than a list
        value[index], n[index], groups[index], dropped[index] = done.means(seed)
        for j, k in [] if groups[index].all() else np.argwhere(groups[index] == 0):
            reason[rows[j], k] = why_undefined(done.measures[j].facts, done.groups, done.stats, int(k))
    return Estimates(tuple(measures), value.T, n.T, groups.T, dropped.T, reason.T)


def group_values(metrics: Array, human: Array, measure: Measure, *, seed: int = 0) -> Array:
    """Compute the coefficient of each group (K×G), NaN where the group is dropped; the mean is the value of the
    measure.

    Groups are the inputs for `input`, the systems for `item`, and a single group for `global` and `system`.
    """
    metrics, human = _arrays(metrics, human)
    values: Array = _Pass.of(metrics, human, [measure]).values(seed)[0]
    return values


@dataclass(frozen=True)
class _Pass:
    """Measures of one grouping, for which the panel is arranged and its pairs are counted once."""

    measures: Sequence[Measure]
    groups: Groups
    stats: GroupStats

    @classmethod
    def of(cls, metrics: Array, human: Array, measures: Sequence[Measure]) -> _Pass:
        needs = {m.facts.needs for m in measures}
        groups = cut(metrics, human, measures[0].grouping)
        stats = groups.stats(pearson="pearson" in needs, spearman="spearman" in needs, counts="counts" in needs)
        return cls(measures, groups, stats)

    def values(self, seed: int) -> Array:
        """Compute measures × metrics × groups, NaN where undefined or with too few points."""
        values = np.empty((len(self.measures), *self.stats.n.shape))
        for j, measure in enumerate(self.measures):
            if measure.facts.needs == "own":
                rng = np.random.default_rng(np.random.SeedSequence(seed))
                values[j] = measure.facts.function(self.groups, rng)
            else:
                values[j] = measure.facts.function(self.stats)
        # a mean of many correlations may include some of two points; a single correlation of two points is always ±1
        least = 3 if self.groups.grouping in ("global", "system") else 2
        values[:, self.stats.n < least] = np.nan
        return values

    def means(self, seed: int) -> tuple[Array, Ints, Ints, Ints]:
        """Compute mean over groups, outputs used, groups used and groups dropped, each measures × metrics."""
        values = self.values(seed)
        defined = ~np.isnan(values)
        groups = defined.sum(axis=2)
        value = ratio(np.where(defined, values, 0.0).sum(axis=2), groups)
        cells = self.stats.n if self.groups.cells is None else self.groups.cells
        return value, (defined * cells).sum(axis=2), groups, values.shape[2] - groups


def _arrays(metrics: Array, human: Array) -> tuple[Array, Array]:
    metrics, human = np.asarray(metrics, np.float64), np.asarray(human, np.float64)
    if metrics.ndim != 3 or human.ndim != 2 or metrics.shape[1:] != human.shape:
        raise DataError(
            "scores must be metrics × systems × inputs and human scores systems × inputs of the same size; "
            f"found {metrics.shape} and {human.shape}."
        )
    return metrics, human
