"""A judge's scores compared with human pass/fail labels: thresholds, ROC and precision-recall areas, least cost.

Higher scores are better: an output passes if its score is at least the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.proportion import Ends, proportion_interval
from nlgauge.stats.agreement.two_by_two import CLUSTERS, FEWEST, Figure
from nlgauge.types import Array, Ints, Mask

FEWEST_PRECISION = 10  # outputs of each label that an interval of an average precision or an ECE needs
PARTS = 500  # maximum number of jackknife groups; more units are assigned to this many groups
PRIOR = 20  # weight of the Hanley-McNeil variance, in outputs, relative to the observed variance
PRIOR_PRECISION = 60  # the same for the binomial variance of the average precision


class Sweep(NamedTuple):
    """Counts of the confusion matrix (as in two_by_two) at every threshold, from the lowest score to above the
    highest.
    """

    thresholds: Array
    counts: Array


def sweep(score: ArrayLike, passed: ArrayLike) -> Sweep:
    """Count the confusion matrix at every threshold; the last threshold, infinity, fails all outputs.

    >>> sweep([1, 2, 3], [False, True, True]).counts.tolist()
    [[0.0, 1.0, 0.0, 2.0], [1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 1.0, 1.0], [1.0, 0.0, 2.0, 0.0]]
    """
    x, z = checked(score, passed)
    values, code = np.unique(x, return_inverse=True)
    code = code.reshape(-1)
    below = [np.concatenate([[0], np.cumsum(np.bincount(code[part], minlength=len(values)))]) for part in (~z, z)]
    failed, selected = below
    counts = np.stack([failed, failed[-1] - failed, selected, selected[-1] - selected], axis=1)
    return Sweep(np.append(values, np.inf), counts.astype(np.float64))


def roc_area(score: ArrayLike, passed: ArrayLike) -> float:
    """Compute the area under the ROC curve: the probability that a human pass scores higher than a human fail.

    Ties count one half.

    >>> roc_area([1, 2, 2, 3], [False, True, False, True])
    0.875
    """
    x, z = checked(score, passed)
    if z.all() or not z.any():
        return np.nan
    return float(placements(x[z], x[~z]).mean())


def average_precision(score: ArrayLike, passed: ArrayLike) -> float:
    """Compute the average precision of detecting failures, from the lowest score upward.

    >>> round(average_precision([1, 2, 3, 4], [False, True, False, True]), 4)
    0.8333
    """
    x, z = checked(score, passed)
    return _precision(x, z)


def _precision(x: Array, z: Mask) -> float:
    bad = int((~z).sum())
    if not bad:
        return np.nan
    order = np.argsort(x, kind="stable")
    last = np.append(x[order][1:] != x[order][:-1], True)  # outputs with equal scores enter together
    caught, called = np.cumsum(~z[order])[last], np.flatnonzero(last) + 1
    return float((np.diff(caught, prepend=0) * caught / called).sum() / bad)


def area_figures(
    score: ArrayLike, passed: ArrayLike, clusters: Sequence[object] | None = None, *, level: float = 0.95, seed: int = 0
) -> dict[str, Figure]:
    """Compute `roc_area` and `average_precision` with confidence intervals.

    Notes
    -----
    ROC area: the score interval of Newcombe (2006, method 5) with the Hanley-McNeil variance scaled to the observed one
    (DeLong et al. 1988; Obuchowski 1997 for clusters), larger where scores of the rarer label are tied, and Student's t
    with Welch's degrees of freedom. Average precision: logit interval with the jackknife variance, at least the
    binomial one where there are few outputs. PRIOR and PRIOR_PRECISION are the weights of the model variances in
    outputs. `seed` assigns many units to the groups that are left out together.
    """
    x, z = checked(score, passed)
    n = len(x)
    area, precision = roc_area(x, z), average_precision(x, z)
    few_areas, few_precisions = lacking_rows(z, clusters), lacking_rows(z, clusters, FEWEST_PRECISION)
    none = Ends(np.nan, np.nan)
    ends = none if few_areas else _area_interval(area, x, z, clusters, level)
    about = none if few_precisions else _precision_interval(precision, x, z, clusters, level, seed)
    return {
        "roc_area": Figure(area, ends.low, ends.high, n, reason=few_areas),
        "average_precision": Figure(precision, about.low, about.high, n, reason=few_precisions),
    }


def cheapest(swept: Sweep, miss: float = 1.0, alarm: float = 1.0) -> int:
    """Return the index of the threshold of least cost.

    `miss` is the cost of passing an output that humans failed, `alarm` that of the reverse. Among equal costs, the
    highest threshold is chosen, which passes fewest outputs.
    """
    cost = miss * swept.counts[:, 1] + alarm * swept.counts[:, 2]
    return int(np.flatnonzero(cost <= cost.min() + 1e-12)[-1])


def halves(passed: ArrayLike, clusters: Sequence[object] | None = None, seed: int = 0) -> Mask:
    """Assign outputs (or whole clusters) to two random halves, failures separately, so that both halves contain some.

    Rows must be in canonical order, so that the assignment depends on the content only.
    """
    z = np.asarray(passed, bool)
    code = np.arange(len(z)) if clusters is None else cluster_codes(clusters)
    has_fail = np.bincount(code, weights=~z) > 0
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    first = np.zeros(len(has_fail), bool)
    for kind in (has_fail, ~has_fail):
        units = rng.permutation(np.flatnonzero(kind))
        first[units[: (len(units) + 1) // 2]] = True
    return np.asarray(first[code])


def checked(score: ArrayLike, passed: ArrayLike) -> tuple[Array, Mask]:
    """Return finite scores and labels of the same outputs as arrays; raise DataError otherwise."""
    x, z = np.asarray(score, np.float64), np.asarray(passed, bool)
    if x.shape != z.shape or x.ndim != 1:
        raise DataError(f"scores and verdicts must be of the same rows; found {x.shape} and {z.shape}")
    if not np.isfinite(x).all():
        raise DataError("scores must be finite numbers")
    return x, z


def cluster_codes(clusters: Sequence[object]) -> Ints:
    """Number clusters by their first row, so that their names have no effect."""
    _, first, code = np.unique(np.asarray(clusters), return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code.reshape(-1)], np.int64)


def lacking_rows(z: Mask, clusters: Sequence[object] | None, fewest: int = FEWEST) -> str:
    """Return what is missing for an interval, and about how many labels would provide it; empty if
    nothing is missing.
    """
    for part, word in ((~z, "failures"), (z, "passes")):
        result = int(part.sum())
        if result < fewest:
            about = int(np.ceil(fewest * (len(z) + 1) / (result + 0.5)))
            return (
                f"needs at least {fewest} human {word}, found {result}; about {about:,} labeled rows would contain them"
            )
        if clusters is not None and (groups := len(np.unique(np.asarray(clusters)[part]))) < CLUSTERS:
            return f"needs human {word} in at least {CLUSTERS} clusters, found {groups}"
    return ""


def placements(ones: Array, others: Array) -> Array:
    """Return the share of `others` that each of `ones` exceeds."""
    ranked = np.sort(others)
    left, right = np.searchsorted(ranked, ones, "left"), np.searchsorted(ranked, ones, "right")
    return np.asarray((left + right) / 2 / len(others))


def _area_interval(area: float, x: Array, z: Mask, clusters: Sequence[object] | None, level: float) -> Ends:
    from scipy.special import stdtrit

    good, bad = int(z.sum()), int((~z).sum())
    above, over = placements(x[z], x[~z]), 1 - placements(x[~z], x[z])
    few = min(good, bad)
    if clusters is None:
        parts = np.array([above.var(ddof=1) / good, over.var(ddof=1) / bad])
        seen = float(parts.sum())
        free = seen**2 / float((parts**2 / (np.array([good, bad]) - 1)).sum()) if seen > 0 else few - 1.0
    else:
        code = cluster_codes(clusters)
        pull = np.empty(len(x))
        pull[z], pull[~z] = (above - area) / good, (over - area) / bad
        sums = np.bincount(code, weights=pull)
        few = min(len(np.unique(code[part])) for part in (z, ~z))
        seen, free = len(sums) / (len(sums) - 1) * float((sums**2).sum()), few - 1.0
    model = _hanley(area, good, bad)
    ratio = seen / model if seen > 0 else 1.0
    # Coarse scores vary more than the model implies, which few outputs do not show: on three levels, with an area of
    # .91 and 15 failures, the interval had a coverage of .89.
    levels = np.unique(x[~z] if bad <= good else x[z], return_counts=True)[1]
    tied = float((levels * (levels - 1)).sum()) / (levels.sum() * (levels.sum() - 1))
    scale = (few * ratio + PRIOR * max(ratio, 1.0 + tied)) / (few + PRIOR)
    if clusters is not None and seen <= 0:
        scale = len(x) / few  # as if a cluster were one output
    t = float(stdtrit(free, (1 + level) / 2))

    def beyond(a: Array) -> Array:
        return np.asarray(np.abs(a - area) - t * np.sqrt(scale * _hanley(a, good, bad)))

    return Ends(_crossing(beyond, 0.0, area), _crossing(beyond, 1.0, area))


def _hanley(a: float | Array, good: int, bad: int) -> Array:
    """Compute the Hanley-McNeil variance of an area, symmetric in both classes as in Newcombe (2006)."""
    half = (good + bad) / 2 - 1
    return np.asarray(a * (1 - a) / (good * bad) * (1 + half * (1 - a) / (2 - a) + half * a / (1 + a)))


def _crossing(beyond: Callable[[Array], Array], far: float, near: float) -> float:
    """Find the end of the interval between `near` (inside) and `far` (outside)."""
    for _ in range(60):
        middle = (far + near) / 2
        if beyond(np.asarray(middle)) > 0:
            far = middle
        else:
            near = middle
    return near


def _precision_interval(
    value: float, x: Array, z: Mask, clusters: Sequence[object] | None, level: float, seed: int
) -> Ends:
    from scipy.special import expit, logit, stdtrit

    code = np.arange(len(x)) if clusters is None else cluster_codes(clusters)
    units = int(code.max()) + 1
    if units > PARTS:
        code = np.random.default_rng(np.random.SeedSequence(seed)).permutation(units)[code] % PARTS
        units = PARTS
    left = np.array([_precision(x[code != u], z[code != u]) for u in range(units)])
    seen = (units - 1) / units * float(((left - left.mean()) ** 2).sum())
    few = min(int(z.sum()), int((~z).sum()))
    bad = int((~z).sum())
    if clusters is not None:
        few, bad = (min(len(np.unique(np.asarray(clusters)[part])) for part in (z, ~z)),) * 2
    inside = float(np.clip(value, 1e-6, 1 - 1e-6))
    least = inside * (1 - inside) / bad
    variance = (bad * seen + PRIOR_PRECISION * max(seen, least)) / (bad + PRIOR_PRECISION)
    reach = float(stdtrit(few - 1, (1 + level) / 2)) * np.sqrt(variance) / (inside * (1 - inside))
    if value >= 1:  # no error observed: a share of 1
        return proportion_interval(bad, bad, level)
    return Ends(float(expit(logit(inside) - reach)), float(expit(logit(inside) + reach)))
