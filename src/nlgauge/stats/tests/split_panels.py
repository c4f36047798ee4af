"""Correlations over the outputs of one or two parts of a panel, and tests whether the parts differ (Novikova et al.
2017).

Outputs of one system resemble each other, and so do outputs of one input. Tests with `outputs="clustered"` account for
systems and inputs where several systems share inputs; `"independent"` treats outputs as independent, as the paper does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.tests.fisher import fisher_test
from nlgauge.stats.tests.independent_parts import dealt_tests
from nlgauge.stats.tests.part_tests import METHOD as PART_WORDS
from nlgauge.stats.tests.part_tests import part_tests
from nlgauge.stats.tests.row_column_permutation import METHOD as SHUFFLED
from nlgauge.stats.tests.row_column_permutation import clustered, related_tests
from nlgauge.stats.tests.zero_correlation import zero_test
from nlgauge.types import Array, Mask

_FISHER = (
    "Fisher's z test for two independent correlations (variances of Bonett and Wright), two-sided, outputs "
    "taken as independent"
)
Outputs = Literal["clustered", "independent"]
DRAWS = 999  # permutations for a significance star


def single(measure: str | Measure, who: str) -> Measure:
    """Return a measure that is a single correlation over outputs, as the tests of parts require.

    Parameters
    ----------
    measure : Measure or str
        global/pearson, global/spearman or global/kendall.
    who : str
        Name of the calling analysis, for the error message.

    Returns
    -------
    Measure
    """
    chosen = measure if isinstance(measure, Measure) else Measure.parse(measure)
    if chosen.grouping != "global" or chosen.coefficient not in ("pearson", "spearman", "kendall"):
        raise NlgaugeError(
            f"{who}: {chosen} is not a single correlation over outputs; use global/pearson, global/spearman or "
            "global/kendall."
        )
    return chosen


@dataclass(frozen=True)
class Correlation:
    """One correlation: value, number of points, p-value of a zero correlation; NaN with its reason."""

    value: float
    n: int
    p: float
    reason: str | None


def correlations(
    stacked: Array, human: Array, measure: Measure, outputs: Outputs = "clustered", seed: int = 0
) -> list[Correlation]:
    """Correlate every metric with the ratings over all outputs, and test whether the correlation is zero.

    Parameters
    ----------
    stacked : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing.
    human : array of N × M
        Ratings.
    measure : Measure
        As `single` returns it.
    outputs : {'clustered', 'independent'}
        Permute whole systems and inputs if several systems share inputs, or treat outputs as independent.
    seed : int, default 0
        Seed of the permutations.

    Returns
    -------
    list of Correlation
        `value`, number of outputs `n`, `p` of the test that it is zero, and a `reason` if there is no value.

    Notes
    -----
    Independent outputs are tested as Novikova et al. (2017) do: Student's t for Pearson's and Spearman's correlation,
    the normal approximation for Kendall's. The p-value of shuffles is (count + 1) / (draws + 1).
    """
    result = evaluate(stacked, human, [measure])
    there = np.isfinite(stacked) & np.isfinite(human)
    n = there.sum(axis=(1, 2))
    if outputs == "clustered" and clustered(stacked, human):
        p = related_tests(stacked, human, ranks=measure.coefficient != "pearson", draws=DRAWS, seed=seed)
        p = np.where(np.isnan(result.value[:, 0]), np.nan, p)
    else:
        p = zero_test(result.value[:, 0], n, measure.coefficient)
    return [
        Correlation(float(result.value[k, 0]), int(n[k]), float(p[k]), result.reason[k, 0]) for k in range(len(stacked))
    ]


def star_words(level: float, outputs: Outputs, seed: int = 0) -> str:
    """Describe the meaning of a significance star and the test behind it.

    Parameters
    ----------
    level : float
        p-values below it get a star.
    outputs : {'clustered', 'independent'}
    seed : int, default 0

    Returns
    -------
    str
    """
    independent = "t distribution, outputs taken as independent"
    how = independent
    if outputs == "clustered":
        how = f"{SHUFFLED}, {DRAWS} draws, seed {seed}; for one system, or inputs that few systems share: {independent}"
    return f"* p < {level:g} for a correlation of zero with the ratings ({how}; no correction)"


class Halves(NamedTuple):
    """Two parts of one panel.

    Attributes
    ----------
    scores : array of K × N × M
        Scores of K metrics, systems × inputs.
    human : array of N × M
        Ratings.
    one, two : array of N × M
        Masks of the two parts.
    """

    scores: Array
    human: Array
    one: Mask
    two: Mask

    @property
    def clustered(self) -> bool:
        """Return whether outputs share systems or inputs, so that they are not independent."""
        return clustered(self.scores, self.human)


def difference_words(outputs: Outputs) -> str:
    """Describe the test of `compared` for a difference between two parts, and its assumptions.

    Parameters
    ----------
    outputs : {'clustered', 'independent'}

    Returns
    -------
    str
    """
    if outputs == "independent":
        return _FISHER
    return f"{PART_WORDS}; for one system, or inputs that few systems share: {_FISHER}"


def check_words(draws: int, seed: int) -> str:
    """Describe the permutation check of a test.

    Parameters
    ----------
    draws, seed : int

    Returns
    -------
    str
        Empty without draws.
    """
    return (
        f" p check: outputs, taken as independent, reassigned at random, {draws} draws, seed {seed}." if draws else ""
    )


def differ(
    one: Sequence[Correlation], two: Sequence[Correlation], measure: Measure, halves: Halves, outputs: Outputs
) -> list[float]:
    """Compute p-values that each metric's correlation is equal in two parts, without sign (.3 equals -.3).

    Fisher's z test is used where the outputs are (or are treated as) independent.
    """
    if outputs == "clustered" and halves.clustered:
        return part_tests(halves.scores, halves.human, halves.one, halves.two, measure).tolist()  # type: ignore[no-any-return]
    r1, n1, r2, n2 = (
        np.array(v, np.float64) for part in (one, two) for v in ([abs(f.value) for f in part], [f.n for f in part])
    )
    return [float(p) for p in fisher_test(r1, n1, r2, n2, coefficient=measure.coefficient)]


def checked(
    halves: Halves,
    found: tuple[Sequence[Correlation], Sequence[Correlation]],
    measure: Measure,
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """Compute the permutation check of `differ` for every metric; NaN for Kendall and without draws."""
    if measure.coefficient == "kendall" or draws < 1:
        return np.full(len(halves.scores), np.nan)
    x = halves.scores.reshape(len(halves.scores), -1).copy()
    one, two = halves.one.ravel(), halves.two.ravel()
    # Signs are ignored: scores with a negative correlation in a part are negated there.
    for mask, values in zip((one, two), found, strict=True):
        x[np.ix_(np.array([v.value < 0 for v in values]), mask)] *= -1
    return dealt_tests(x, halves.human.ravel(), one, two, ranks=measure.coefficient == "spearman", draws=draws, rng=rng)


class Compared(NamedTuple):
    """The correlations of every metric in two parts of a panel, p-values of equality, and the permutation check."""

    one: list[Correlation]
    two: list[Correlation]
    p: list[float]
    check: list[float]


def compared(halves: Halves, measure: Measure, outputs: Outputs, draws: int, seed: int) -> Compared:
    """Correlate every metric with the ratings in two parts, and test whether the correlations are equal.

    Parameters
    ----------
    halves : Halves
    measure : Measure
        As `single` returns it.
    outputs : {'clustered', 'independent'}
    draws : int
        Of the permutation check; 0 for none.
    seed : int

    Returns
    -------
    Compared
        `one` and `two` (Correlation of every metric in each part), `p` of the test that their absolute values are
        equal, and `check`, the p-value of a permutation of outputs between the two parts (NaN without draws).

    Notes
    -----
    For independent outputs Fisher's z test of two correlations, with the variances of Bonett and Wright (2000).
    """
    one, two = (
        correlations(halves.scores, np.where(mask, halves.human, np.nan), measure, outputs, seed)
        for mask in (halves.one, halves.two)
    )
    # One seed for all: a result does not depend on the other metrics or on their order.
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    check = checked(halves, (one, two), measure, draws, rng).tolist()
    return Compared(one, two, differ(one, two, measure, halves, outputs), check)
