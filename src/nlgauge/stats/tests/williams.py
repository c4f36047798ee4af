"""Williams' test: do two metrics, on the same outputs, correlate differently with the same human ratings?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from nlgauge.errors import NlgaugeError
from nlgauge.stats.correlation.evaluate_groups import all_pairs, arrays, plan_measures
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.tests.permutation import PairTests
from nlgauge.types import Array, Mask, Steps


def williams_test(
    r1: ArrayLike,
    r2: ArrayLike,
    r12: ArrayLike,
    n: ArrayLike,
    *,
    alternative: str = "two-sided",
    absolute: bool = False,
) -> Array:
    """Test whether two metrics correlate differently with the same ratings (Williams' test).

    Parameters
    ----------
    r1, r2 : array
        Correlations of metric 1 and of metric 2 with the ratings.
    r12 : array
        Correlation of the two metrics with each other.
    n : array
        Number of points in one correlation.
    alternative : {'two-sided', 'greater', 'less'}
        'greater': metric 1 is better.
    absolute : bool, default False
        Use absolute values of the correlations, as nlpstats and the WMT scripts do.

    Returns
    -------
    array
        p-values. Equal correlations have p = 1 (one-sided 0.5). NaN for fewer than four points, and for three
        correlations that are jointly impossible, which occurs with averaged and rank correlations.

    Notes
    -----
    Student's t with n − 3 degrees of freedom of (r1 − r2) √((n − 1)(1 + r12) / (2 (n − 1)/(n − 3) D + r̄² (1 − r12)³)),
    where D = 1 − r1² − r2² − r12² + 2 r1 r2 r12 and r̄ is the mean of r1 and r2 (Williams 1959; Graham and Baldwin
    2014).

    Examples
    --------
    >>> round(float(williams_test(0.6, 0.4, 0.7, 50)), 4)
    0.0325
    """
    a, b, c, points = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (r1, r2, r12, n)))
    if absolute:
        a, b, c = np.abs(a), np.abs(b), np.abs(c)
    free = points - 3
    with np.errstate(divide="ignore", invalid="ignore"):
        det = 1 - a**2 - b**2 - c**2 + 2 * a * b * c
        below = 2 * (points - 1) / free * det + ((a + b) / 2) ** 2 * (1 - c) ** 3
        t = (a - b) * np.sqrt((points - 1) * (1 + c) / below)
    t = np.where(np.abs(a - b) < 1e-12, np.where(np.isnan(a - b), np.nan, 0.0), t)
    t = np.where(free > 0, t, np.nan)
    if alternative == "two-sided":
        return np.asarray(2 * stdtr(free, -np.abs(t)))
    if alternative not in ("greater", "less"):
        raise NlgaugeError(f"the alternative must be two-sided, greater or less; found {alternative!r}")
    return np.asarray(stdtr(free, -t if alternative == "greater" else t))


def williams_pairs(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    alternative: str = "two-sided",
    absolute: bool = False,
    progress: Steps | None = None,
) -> PairTests:
    """Apply Williams' test to all pairs of K metrics (K×N×M) under every measure, over outputs with a rating and both
    scores.

    n is the number of points in one correlation: systems for system and input level (as nlpstats; the largest number of
    any input), inputs for item level, outputs for global. The test assumes independent points and a single correlation,
    so for the averaged levels it is a convention of the field and not a theorem.
    """
    metrics, human = arrays(x, z)
    want, chosen = plan_measures(measures).measures, all_pairs(len(metrics))
    there = np.isfinite(metrics) & np.isfinite(human)
    results: dict[bytes, tuple[Array, Array]] = {}
    shape = (len(chosen), len(want))
    difference, p, cells = np.empty(shape), np.empty(shape), np.empty(len(chosen), np.int64)
    for index, (i, j) in enumerate(chosen):
        shared = there[i] & there[j]
        key = shared.tobytes()
        if (
            key not in results and (there == shared).all()
        ):  # no metric has additional missing values: all metrics at once
            results[key] = (
                evaluate(metrics, human, want).value,
                np.stack([evaluate(metrics, m, want).value for m in metrics]),
            )
        if key in results:
            people, others = results[key]
            r1, r2, r12 = people[i], people[j], others[i, j]
        else:
            both = np.where(shared, metrics[[i, j]], np.nan)
            r1, r2 = evaluate(both, np.where(shared, human, np.nan), want).value
            r12 = evaluate(both[:1], both[1], want).value[0]
        points = [_points(m, shared) for m in want]
        difference[index], cells[index] = r1 - r2, shared.sum()
        p[index] = williams_test(r1, r2, r12, points, alternative=alternative, absolute=absolute)
        if progress is not None:
            progress(index + 1, len(chosen))
    method = (
        f"Williams' test, {alternative}, {'absolute' if absolute else 'signed'} correlations, "
        "outputs with a human rating and scores of both metrics"
    )
    names = tuple(str(m) for m in want)
    return PairTests(names, chosen, difference, p, np.zeros(shape, np.int64), cells, 0, method)


def _points(measure: Measure, shared: Mask) -> int:
    if measure.grouping == "global":
        return int(shared.sum())
    if measure.grouping == "item":
        return int(shared.sum(axis=1).max(initial=0))
    if measure.grouping == "system":
        return int(shared.any(axis=1).sum())
    return int(shared.sum(axis=0).max(initial=0))
