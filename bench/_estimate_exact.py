"""What intervals from few counts can reach at all: exact coverage, without draws.

The judge gives verdicts. Of n labeled rows a pass that the judge failed, b fail that it passed, and PPI is the judge's
share plus (a − b) / n. Intervals rest on the two counts; everything they may be is searched here, with the judge's share
taken as known.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST = 9  # errors of one kind that are looked at; more are taken as held where that helps and missed where it helps
FLOOR = 0.93
SECONDS = 120.0  # of a search


class Least(NamedTuple):
    """The smallest coverage in a cell that leaves at least `FLOOR` in every other; `exact`: the search was finished."""

    coverage: float
    exact: bool


def count_coverage(n: int, p: float) -> float:
    """Of the interval of a share from n labels drawn at random, summed over all counts.

    >>> round(count_coverage(100, 0.05), 4)
    0.9659
    """
    from scipy.stats import binom

    from nlgauge.stats.agreement.proportion import proportion_interval

    x = np.arange(n + 1)
    low, high = proportion_interval(x, n, one_tail=True)
    return float(binom.pmf(x, n, p)[(low <= p) & (p <= high)].sum())


def error_counts(n: int, missed: float, let_pass: float) -> Floats:
    """Probability of a passes that the judge failed and b fails that it passed, a and b up to MOST."""
    from scipy.special import gammaln, xlogy

    a, b = np.meshgrid(np.arange(MOST + 1), np.arange(MOST + 1), indexing="ij")
    rest = n - a - b
    log = gammaln(n + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(np.maximum(rest, 0) + 1)
    log = log + xlogy(a, missed) + xlogy(b, let_pass) + xlogy(np.maximum(rest, 0), 1 - missed - let_pass)
    return np.where(rest >= 0, np.exp(log), 0.0)


@lru_cache(maxsize=64)
def least_coverage(n: int, p: float, recall: float) -> Least:
    """Over all intervals whose ends rise with a and fall with b and that cover FLOOR wherever the judge's errors shift
    its share by as much as here: the least coverage where p of the rows pass and both recalls are `recall`."""
    missed, let_pass = p * (1 - recall), (1 - p) * (1 - recall)
    shift = missed - let_pass
    # Other errors of both kinds with the same difference, up to a recall of about .8.
    more = np.concatenate([np.linspace(0, 0.03, 13), np.linspace(0.035, 0.12, 18)]) + max(-shift, 0.0)
    return _search(error_counts(n, missed, let_pass), [error_counts(n, let + shift, let) for let in more])


@lru_cache(maxsize=64)
def least_corrected(each: int, recall: float) -> Least:
    """The same for the share corrected for both error rates (Rogan and Gladen), `each` labels of each verdict, where
    the judge and people pass half of the rows: errors of both kinds are equally frequent, and how frequent is open."""
    from scipy.stats import binom

    count = np.arange(MOST + 1)

    def chances(error: float) -> Floats:
        one = binom.pmf(count, each, error)
        return np.outer(one, one)

    return _search(chances(1 - recall), [chances(float(e)) for e in np.linspace(0, 0.25, 51)])


def _search(target: Floats, worlds: list[Floats]) -> Least:
    """Which counts hold the truth, the same in all `worlds`, is a choice of two sets, one for each end; the search is
    over all such sets (integer linear program), not over a formula for intervals. Fewer worlds are asked for than there
    are, and counts above MOST are taken as the searcher likes, so the least coverage of real intervals is at least as
    large."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_matrix

    cells = (MOST + 1) ** 2
    at = np.arange(cells).reshape(MOST + 1, MOST + 1)
    # Variables: u (the upper end reaches the truth), l (the lower end does), both (held).
    rows = []
    lower: list[float] = []
    upper: list[float] = []

    def ask(terms: list[tuple[int, float]], low: float, high: float) -> None:
        rows.append(terms)
        lower.append(low)
        upper.append(high)

    for a in range(MOST + 1):
        for b in range(MOST + 1):
            u, low_end, both = at[a, b], cells + at[a, b], 2 * cells + at[a, b]
            if a < MOST:  # one more missed pass raises both ends
                ask([(u, 1), (at[a + 1, b], -1)], -1, 0)
                ask([(low_end, -1), (cells + at[a + 1, b], 1)], -1, 0)
            if b < MOST:
                ask([(u, -1), (at[a, b + 1], 1)], -1, 0)
                ask([(low_end, 1), (cells + at[a, b + 1], -1)], -1, 0)
            ask([(u, 1), (low_end, 1), (both, -1)], 1, 1)  # an interval has its lower end below its upper one
    for chance in worlds:
        beyond = 1 - chance.sum()
        ask([(2 * cells + k, float(c)) for k, c in enumerate(chance.ravel()) if c > 0], FLOOR - beyond, np.inf)
    matrix = lil_matrix((len(rows), 3 * cells))
    for k, terms in enumerate(rows):
        for place, weight in terms:
            matrix[k, place] = weight
    cost = np.concatenate([np.zeros(2 * cells), target.ravel()])
    found = milp(
        cost,
        integrality=np.ones(3 * cells),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), np.array(lower), np.array(upper)),
        options={"time_limit": SECONDS},
    )
    bound = found.mip_dual_bound if found.mip_dual_bound is not None else 0.0
    return Least(float(bound if found.status != 0 else found.fun), found.status == 0)
