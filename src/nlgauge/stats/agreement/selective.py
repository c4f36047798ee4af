"""Selective judging: from which score on a judge may decide alone, with a guaranteed error rate for finite samples.

Learn then Test (Angelopoulos et al. 2021) with one fixed sequence of tests, from the highest score down, as in Trust or
Escalate (Jung et al. 2025). Rows are independent (exact binomial p-values) or come in clusters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError, NlgaugeError
from nlgauge.types import Array, Ints

# The sequence starts at a size that still allows this many errors. A higher number costs more labels, but prevents one
# unlucky label from rejecting a good judge. It depends only on the number of labels: the first test has 4 (12) times
# the smallest possible size, which was chosen by the share of decided outputs in simulations.
TOLERATED = ((12.0, 2), (4.0, 1), (0.0, 0))
# Fractions of the largest bet against "the error rate is above the limit", and the stake on each.
BETS = np.array([0.98, 0.8, 0.6, 0.45, 0.3, 0.2, 0.12, 0.07, 0.03])
STAKES = np.array([0.4, *[0.075] * 8])
BETTING_FROM = (
    4.0  # clusters, in smallest possible first tests, from which bets on all rows decide more than single rows
)
MOST_ERRORS = 2000  # above which a rate counts as not below the limit
Test = Literal["binomial", "betting", "one row per cluster"]


class SelectiveRule(NamedTuple):
    """A judge's rule for one verdict: rows that score above `above` are decided.

    above: NaN if there is no rule, minus infinity if every row may be decided; first: lowest score that was decided;
    n, wrong: number of tested labeled rows that it decides, and number of errors among them; p: p-value of "the error
    rate is above the limit"; test: the test that was used; start: decided units (rows, or clusters in full) of the
    first test; strictest: threshold of the first test. The guarantee holds simultaneously for all thresholds from
    `above` to `strictest`.
    """

    above: float
    first: float
    n: int
    wrong: int
    p: float
    test: Test
    start: int
    strictest: float

    @property
    def holds(self) -> bool:
        """Whether the judge may decide some rows."""
        return self.n > 0


@lru_cache(maxsize=4096)
def labels_without_error(error: float, delta: float, errors: int = 0) -> int:
    """Return the number of decided labels needed to show an error rate of at most `error`, given the number of errors.

    Parameters
    ----------
    error : float
        Limit of the error rate.
    delta : float
        Probability with which the limit may be exceeded.
    errors : int, default 0
        Number of errors among the decided labels.

    Returns
    -------
    int
        The smallest n with P(Binomial(n, error) <= errors) <= delta.

    Examples
    --------
    >>> labels_without_error(0.05, 0.1), labels_without_error(0.05, 0.05), labels_without_error(0.05, 0.05, 1)
    (45, 59, 93)
    """
    from scipy.special import bdtr

    _check_rates(error, delta)
    low, high = errors, errors + 1
    while bdtr(errors, high, error) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(errors, middle, error) > delta else (low, middle)
    return high


def labels_for_rule(rate: float, error: float, delta: float, power: float = 0.8) -> float:
    """Return the number of decided labels needed to show that the error rate is below a limit, given the true rate.

    Parameters
    ----------
    rate : float
        True error rate of the decided rows.
    error, delta : float
        Limit of the error rate, and the probability with which it may be exceeded.
    power : float, default 0.8
        Power of the test.

    Returns
    -------
    float
        Approximate minimum number of decided labels; infinity if the rate is not below the limit.

    Examples
    --------
    >>> labels_for_rule(0.01, 0.05, 0.05), labels_for_rule(0.05, 0.05, 0.05)
    (124.0, inf)
    """
    from scipy.special import bdtr

    _check_rates(error, delta)
    if not rate < error:
        return math.inf
    errors, allowed = 0, labels_without_error(error, delta)
    while bdtr(errors, allowed, rate) < power:
        errors += max(1, errors // 20)
        if errors > MOST_ERRORS:
            return math.inf
        allowed = labels_without_error(error, delta, errors)
    return float(allowed)


def selective_rule(
    score: ArrayLike,
    wrong: ArrayLike,
    *,
    error: float = 0.05,
    delta: float = 0.1,
    clusters: Sequence[object] | None = None,
    seed: int = 0,
) -> SelectiveRule:
    """Find the score above which a judge may give a verdict alone, within an error limit.

    Parameters
    ----------
    score : array
        Confidence of each labeled row; higher means more confident.
    wrong : array of bool
        Whether the verdict would be wrong for this row.
    error : float, default 0.05
        Limit of the error rate among the decided rows.
    delta : float, default 0.1
        Probability with which the limit may be exceeded.
    clusters : sequence, optional
        Cluster of each row, such as its conversation; clusters are independent, but rows of the same cluster are not.
    seed : int, default 0
        Which row of a cluster is used, where one is.

    Returns
    -------
    SelectiveRule

    Notes
    -----
    For the rule "decide where the score is above t", R(t) is the probability that a decided row is wrong. Thresholds
    are tested from the highest down, each at level delta, until the first test that does not reject R(t) > error; the
    last rejected one is taken (fixed-sequence testing). A test of n rows with k errors has
    p = P(Binomial(n, error) <= k). With probability 1 - delta, R of the rule is at most `error`, whatever the judge and
    the share of failures.

    The first test stands where a fixed number of rows is decided. This choice by the scores costs nothing where scores
    do not tie: let b be the first threshold at or below the start with R above the limit. If b is the start, the rows
    above it are independent draws with error rate R(b). Otherwise R(b) equals the limit, and so does the error rate of
    the rows on both sides of every earlier threshold where R crosses it; given the numbers of rows, errors above b are
    binomial with this rate. Rows of equal score are decided together, as one step.

    With clusters, R(t) is the error rate of a decided row of a randomly chosen cluster. With few clusters, one row of
    each is drawn and tested as above. With many, the test is a bet on cluster means: X = (errors - error * decided
    rows) / rows of the cluster has a mean of at least 0 under the null hypothesis, so a weighted mean over bets b of
    prod(1 - b X) is an e-value, and p is its inverse (Waudby-Smith and Ramdas 2024). The number of clusters alone
    chooses.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan and Lei (2021), Learn then Test: calibrating predictive algorithms to achieve
    risk control. Jung, Brahman and Choi (2025), Trust or Escalate: LLM judges with provable guarantees for human
    agreement. Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting.

    Examples
    --------
    >>> import numpy as np
    >>> rule = selective_rule(np.arange(200), np.arange(200) < 80, error=0.05, delta=0.1)
    >>> rule.n, rule.wrong, rule.above
    (122, 2, 77.0)
    """
    _check_rates(error, delta)
    x, bad = np.asarray(score, np.float64), np.asarray(wrong, bool)
    if x.shape != bad.shape or x.ndim != 1:
        raise DataError(f"scores and errors must be of the same rows; found {x.shape} and {bad.shape}")
    if not np.isfinite(x).all():
        raise DataError("scores must be finite numbers")
    test, code = _design(len(x), clusters, error, delta)
    if test == "one row per cluster":
        rows = _one_each(code, seed)
        x, bad, code = x[rows], bad[rows], code[rows]
    order = np.argsort(-x, kind="stable")
    x, bad, code = x[order], bad[order], code[order]
    ends = np.flatnonzero(np.append(x[1:] != x[:-1], True)) if len(x) else np.zeros(0, np.int64)
    errors, decided = np.cumsum(bad), np.arange(1.0, len(x) + 1)
    start = _first_test(len(np.unique(code)), error, delta, betting=test == "betting")
    if test == "betting":
        p, decided = _betting_p(bad, code, error), np.cumsum(1 / np.bincount(code)[code])
    else:
        p = _binomial_p(errors, decided, error)
    tested = decided[ends] >= start - 1e-9
    failed = tested & (p[ends] > delta)
    last = int(failed.argmax() if failed.any() else len(ends)) - 1
    if last < 0 or not tested[last]:
        return SelectiveRule(np.nan, np.nan, 0, 0, np.nan, test, start, np.nan)
    stop, opened = int(ends[last]), int(ends[tested.argmax()])
    above, strictest = (float(x[k + 1]) if k + 1 < len(x) else -np.inf for k in (stop, opened))
    return SelectiveRule(above, float(x[stop]), stop + 1, int(errors[stop]), float(p[stop]), test, start, strictest)


def both_thresholds(
    score: ArrayLike, passed: ArrayLike, passing: SelectiveRule, failing: SelectiveRule
) -> tuple[float | None, float | None]:
    """Return the score above which a judge may pass and the score below which it may fail, from both rules.

    Parameters
    ----------
    score : array
        Score of each labeled row: higher is better.
    passed : array of bool
        Human verdicts.
    passing, failing : SelectiveRule
        Rules of `selective_rule(score, ~passed)` and `selective_rule(-score, passed)`.

    Returns
    -------
    tuple
        `pass_above` and `fail_below`; None if the judge may not give this verdict.

    Notes
    -----
    The two rules of a good judge may overlap. They are then separated by a single threshold, the one with the fewest
    errors on the labels among the thresholds at which both guarantees hold; if there is none, the rule with more rows
    is used.

    Examples
    --------
    >>> import numpy as np
    >>> score, passed = np.arange(200.0), np.arange(200) >= 100
    >>> both_thresholds(score, passed, selective_rule(score, ~passed), selective_rule(-score, passed))
    (99.5, 99.5)
    """
    above = passing.above if passing.holds else None
    below = -failing.above if failing.holds else None
    if above is None or below is None or below <= above:
        return above, below
    x, good = np.asarray(score, np.float64), np.asarray(passed, bool)
    values = np.unique(x)
    cuts = (values[1:] + values[:-1]) / 2
    low, high = max(above, -failing.strictest), min(below, passing.strictest)
    cuts = cuts[(cuts >= low) & (cuts <= high)]
    if not len(cuts):
        return (above, None) if passing.n >= failing.n else (None, below)
    wrong = [int((~good & (x > cut)).sum() + (good & (x < cut)).sum()) for cut in cuts]
    best = float(cuts[int(np.argmin(wrong))])
    return best, best


def _check_rates(error: float, delta: float) -> None:
    if not 0 < error < 1 or not 0 < delta < 1:
        raise NlgaugeError(f"the error limit and delta must lie between 0 and 1; found {error:g} and {delta:g}.")


def _design(n: int, clusters: Sequence[object] | None, error: float, delta: float) -> tuple[Test, Ints]:
    """Choose the test by the number of clusters; and number the cluster of each row."""
    if clusters is None:
        return "binomial", np.arange(n)
    code = np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1).astype(np.int64)
    count = len(np.unique(code))
    if count == n:
        return "binomial", code
    many = count >= BETTING_FROM * labels_without_error(error, delta)
    return ("betting" if many else "one row per cluster"), code


def _one_each(code: Ints, seed: int) -> Ints:
    """Draw one row of each cluster; rows must come in canonical order, so that the draw depends on content only."""
    order = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(code))
    return np.sort(order[np.unique(code[order], return_index=True)[1]])


def _binomial_p(errors: Ints, n: Array, error: float) -> Array:
    from scipy.special import bdtr

    return np.asarray(bdtr(errors.astype(np.float64), n.astype(np.int64), error))


def _betting_p(bad: np.ndarray, code: Ints, error: float) -> Array:
    """Compute, after each row in order of the score, the p-value of the null hypothesis that decided rows are wrong
    more often than `error`.
    """
    order = np.argsort(code, kind="stable")  # rows of a cluster next to each other, most confident first
    after = np.cumsum((bad[order] - error) / np.bincount(code)[code[order]])
    first = np.flatnonzero(np.append(True, np.diff(code[order]) > 0))
    spent = np.concatenate([[0.0], after])[first]
    after -= np.repeat(spent, np.diff(np.append(first, len(bad))))
    before = np.concatenate([[0.0], after[:-1]])
    before[first] = 0.0
    bets = BETS[:, None] / (1 - error)
    gained = np.empty((len(BETS), len(bad)))
    gained[:, order] = np.log1p(-bets * after) - np.log1p(-bets * before)
    capital = STAKES @ np.exp(np.minimum(np.cumsum(gained, axis=1), 700.0))
    return np.asarray(1 / np.maximum(capital, 1.0))


def _first_test(units: int, error: float, delta: float, *, betting: bool) -> int:
    """Return the size of the first test: units that must be decided."""
    least = labels_without_error(error, delta)
    tolerated = next(errors for ratio, errors in TOLERATED if units >= ratio * least)
    size = labels_without_error(error, delta, tolerated)
    if not betting:
        return size
    alone = np.log(1 / (delta * STAKES[0])) / np.log1p(BETS[0] * error / (1 - error))
    return int(np.ceil(alone * size / least))
