"""Parts of a data set: how they are made, the correlations in each, and whether two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from nlgauge.analyses._common import Named, measures_of
from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.tests.fisher import fisher_test
from nlgauge.stats.tests.independent_parts import dealt_tests
from nlgauge.stats.tests.part_tests import WORDS as PART_WORDS
from nlgauge.stats.tests.part_tests import part_tests
from nlgauge.stats.tests.row_column_permutation import WORDS as SHUFFLED
from nlgauge.stats.tests.row_column_permutation import clustered, related_tests
from nlgauge.stats.tests.zero_correlation import zero_test
from nlgauge.types import Array, Mask

_FISHER = (
    "Fisher's z test for two independent correlations (variances of Bonett and Wright), two-sided, outputs "
    "taken as independent"
)
Outputs = Literal["clustered", "independent"]
DRAWS = 999  # shuffles behind a star


def comparable(parts: Sequence[Choice]) -> Iterator[tuple[int, int]]:
    """Pairs of parts that differ in the last column only: two systems on one data set, not on two."""
    for i, j in combinations(range(len(parts)), 2):
        if list(parts[i].group.values())[:-1] == list(parts[j].group.values())[:-1]:
            yield i, j


def panels_of(parts: Sequence[Choice], aspect: str, lost: list[str]) -> Iterator[tuple[Choice, Panel]]:
    """Each part with its panel; what has no ratings is named in `lost`."""
    for part in parts:
        try:
            yield part, part.panel(aspect, canonical=True)
        except (NameUnknown, DataError, NeedsMissing):
            lost.append(f"{part.name}, {aspect}: no ratings")


def single(measure: Named, who: str) -> Measure:
    """A measure that is one correlation over outputs; the tests here are for those."""
    chosen = measures_of(measure)[0]
    if chosen.grouping != "global" or chosen.coefficient not in ("pearson", "spearman", "kendall"):
        raise NlgaugeError(
            f"{who}: {chosen} is no single correlation over outputs; use global/pearson, global/spearman or "
            "global/kendall."
        )
    return chosen


@dataclass(frozen=True)
class Correlation:
    """One correlation: value, points, p that it is zero; NaN with its reason."""

    value: float
    n: int
    p: float
    reason: str | None


def correlations(
    stacked: Array, human: Array, measure: Measure, outputs: Outputs = "clustered", seed: int = 0
) -> list[Correlation]:
    """Of every metric (K × N × M). p by shuffling systems and inputs where several systems share inputs, unless the
    outputs are to be taken as independent, as novikova2017 takes them."""
    found = evaluate(stacked, human, [measure])
    there = np.isfinite(stacked) & np.isfinite(human)
    n = there.sum(axis=(1, 2))
    if outputs == "clustered" and clustered(stacked, human):
        p = related_tests(stacked, human, ranks=measure.coefficient != "pearson", draws=DRAWS, seed=seed)
        p = np.where(np.isnan(found.value[:, 0]), np.nan, p)
    else:
        p = zero_test(found.value[:, 0], n, measure.coefficient)
    return [
        Correlation(float(found.value[k, 0]), int(n[k]), float(p[k]), found.reason[k, 0]) for k in range(len(stacked))
    ]


def star_words(level: float, outputs: Outputs, seed: int = 0) -> str:
    """What a star says, and what it rests on."""
    independent = "t distribution, outputs taken as independent"
    how = independent
    if outputs == "clustered":
        how = f"{SHUFFLED}, {DRAWS} draws, seed {seed}; for one system, or inputs that few systems share: {independent}"
    return f"* p < {level:g} that the metric is related to the ratings at all ({how}; no correction)"


class Halves(NamedTuple):
    """Two parts on one grid: metrics (K × N × M), ratings, and where each part is."""

    scores: Array
    human: Array
    one: Mask
    two: Mask

    @classmethod
    def of(cls, a: Panel, b: Panel) -> Halves:
        """Two panels side by side; what they share of systems and inputs is in one place."""
        systems, inputs = (list(dict.fromkeys([*p, *q])) for p, q in ((a.systems, b.systems), (a.inputs, b.inputs)))
        shape = (len(systems), len(inputs))
        scores, human = np.full((len(a.names), *shape), np.nan), np.full(shape, np.nan)
        masks = []
        for panel in (a, b):
            place = {name: k for k, name in enumerate(inputs)}
            at = np.ix_([systems.index(s) for s in panel.systems], [place[i] for i in panel.inputs])
            rated = np.isfinite(panel.human)
            mask = np.zeros(shape, bool)
            mask[at] = rated
            masks.append(mask)
            human[mask] = panel.human[rated]
            scores[:, mask] = panel.oriented()[:, rated]
        return cls(scores, human, *masks)

    @property
    def clustered(self) -> bool:
        return clustered(self.scores, self.human)


def difference_words(outputs: Outputs) -> str:
    """How `differ` tests, and what it takes for granted."""
    if outputs == "independent":
        return _FISHER
    return f"{PART_WORDS}; for one system, or inputs that few systems share: {_FISHER}"


def check_words(draws: int, seed: int) -> str:
    """What the permutation check beside a test is; nothing where there is none."""
    return f" p check: outputs, taken as independent, dealt out anew, {draws} draws, seed {seed}." if draws else ""


def differ(
    one: Sequence[Correlation], two: Sequence[Correlation], measure: Measure, halves: Halves, outputs: Outputs
) -> list[float]:
    """p for each metric that its correlation is as strong in two parts; .3 and -.3 are equally strong. Fisher's
    where the outputs are (or are to be taken as) independent."""
    if outputs == "clustered" and halves.clustered:
        return part_tests(halves.scores, halves.human, halves.one, halves.two, measure).tolist()  # type: ignore[no-any-return]
    r1, n1, r2, n2 = (
        np.array(v, np.float64) for part in (one, two) for v in ([abs(f.value) for f in part], [f.n for f in part])
    )
    return [float(p) for p in fisher_test(r1, n1, r2, n2, coefficient=measure.coefficient)]


def checked(
    halves: Halves, found: tuple[Sequence[Correlation], Sequence[Correlation]], measure: Measure, draws: int,
    rng: np.random.Generator
) -> Array:  # fmt: skip
    """The permutation check of `differ` for every metric; NaN for Kendall and without draws."""
    if measure.coefficient == "kendall" or draws < 1:
        return np.full(len(halves.scores), np.nan)
    x = halves.scores.reshape(len(halves.scores), -1).copy()
    one, two = halves.one.ravel(), halves.two.ravel()
    # Without sign: scores that fall with the ratings in a part change their sign there.
    for mask, values in zip((one, two), found, strict=True):
        x[np.ix_(np.array([v.value < 0 for v in values]), mask)] *= -1
    return dealt_tests(x, halves.human.ravel(), one, two, ranks=measure.coefficient == "spearman", draws=draws, rng=rng)


class Compared(NamedTuple):
    """The correlations of every metric in two halves of a panel, p that they are as strong, the permutation check."""

    one: list[Correlation]
    two: list[Correlation]
    p: list[float]
    check: list[float]


def compared(halves: Halves, measure: Measure, outputs: Outputs, draws: int, seed: int) -> Compared:
    one, two = (
        correlations(halves.scores, np.where(mask, halves.human, np.nan), measure, outputs, seed)
        for mask in (halves.one, halves.two)
    )
    # One seed for all: a row does not depend on what else was asked for, nor on the order.
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    check = checked(halves, (one, two), measure, draws, rng).tolist()
    return Compared(one, two, differ(one, two, measure, halves, outputs), check)
