"""Change of an accuracy statistic between two judges, or two versions of one, on the same labeled rows.

Human label, old verdict and new verdict form eight cells. The change has a jackknife standard error and Student's t,
with degrees of freedom limited by the rarer class. For the error, one half is added to each cell, so that a few
discordant rows (or none) do not look like certainty. docs/gate.md has the coverage.

Several judges at once, by balanced accuracy or ROC area: `balanced_accuracy_deviations` and `roc_area_deviations`
return the deviation that each unit contributes to each value, from which any pair is compared (`compare_judges`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.curves import cluster_codes, lacking_rows, placements
from nlgauge.stats.agreement.proportion import clustering
from nlgauge.stats.agreement.two_by_two import (
    SHARES,
    Figure,
    balanced_accuracy,
    counts_by_cluster,
    f1_of_jaccard,
    kappa,
    lacking,
    mcc,
    rests_on,
    youden,
)
from nlgauge.stats.resampling.contrasts import largest_differences
from nlgauge.types import Array, Ints, Mask

ADDED = 0.5  # rows added to each cell
# Human failures, and human passes, on which two judges are assumed to differ beyond those observed. Without them
# a test of a constant judge against a coin that fails 10% rejects in .28 of data sets; with them in at most .06.
PRIOR_DISCORDANT = 0.75
FEWEST = 10  # denominator needed for the interval of a change: with fewer rows, .06 of data sets passed at the limit
VALUES: dict[str, Callable[[Array], Array]] = {
    **{name: share.value for name, share in SHARES.items()},
    "fail_f1": lambda c: f1_of_jaccard(SHARES["fail_jaccard"].value(c)),
    "pass_f1": lambda c: f1_of_jaccard(SHARES["pass_jaccard"].value(c)),
    "balanced_accuracy": balanced_accuracy,
    "youden": youden,
    "kappa": kappa,
    "mcc": mcc,
}
# Cell (4 human + 2 old + new) → cell of the human label and one of the two verdicts.
OLD = np.array([[2 * (c >> 2) + (c >> 1 & 1) == k for k in range(4)] for c in range(8)], float)
NEW = np.array([[2 * (c >> 2) + (c & 1) == k for k in range(4)] for c in range(8)], float)


def eight_cells(people: ArrayLike, old: ArrayLike, new: ArrayLike, clusters: Sequence[object] | None = None) -> Array:
    """Count the eight cells, clusters × 8 (one row per output without clusters). True is pass."""
    z, x, y = (np.asarray(a, bool).astype(np.int64) for a in (people, old, new))
    return counts_by_cluster(4 * z + 2 * x + y, 8, clusters)


def change_of(counts: Array, figure: str, *, clustered: bool = False, level: float = 0.95) -> Figure:
    """Compute the new minus the old value of a statistic, from counts clusters × 8.

    >>> counts = eight_cells([0] * 20 + [1] * 20, [0] * 18 + [1] * 22, [0] * 12 + [1] * 28)
    >>> result = change_of(counts, "fail_recall")
    >>> round(result.value, 2), round(result.low, 2), round(result.high, 2)
    (-0.3, -0.51, -0.09)
    """
    from scipy.special import stdtrit

    of = VALUES[figure]

    def difference(cells: Array) -> Array:
        return np.asarray(of(cells @ NEW) - of(cells @ OLD))

    total = counts.sum(axis=0)
    n = int(total.sum())
    value = float(difference(total)) if n else np.nan
    shares, sides = rests_on(figure), (counts @ OLD, counts @ NEW)
    reason = next(filter(None, (lacking(side, shares, clustered=clustered, fewest=FEWEST) for side in sides)), "")
    if reason or not np.isfinite(value):
        return Figure(value, n=n, reason=reason or "not defined in one of the two runs")
    more = total + ADDED
    left = difference(more - np.eye(8) * np.minimum(more, 1.0))
    mean = (more * left).sum() / more.sum()
    variance = (more.sum() - 1) / more.sum() * (more * (left - mean) ** 2).sum()
    if clustered:  # Student's t of few clusters is part of the effect
        variance *= clustering(counts, difference, lambda c: np.asarray(c.sum(axis=-1)), level).effect
    free = min(float(share.below(side.sum(axis=0))) for share in shares for side in sides) - 1
    half = float(stdtrit(free, (1 + level) / 2)) * float(np.sqrt(variance))
    return Figure(value, value - half, value + half, n=n)


class JudgeDeviations(NamedTuple):
    """Values of several judges on the same labels, and what each unit contributes to their errors.

    Parameters
    ----------
    values
        One per judge.
    deviations
        Judges × columns: a column per unit (row or cluster), then one per judge for `PRIOR_DISCORDANT`. The covariance
        of the values is `deviations @ deviations.T`; the variance of a difference of two judges is the sum of squares
        of the difference of their rows.
    df
        Degrees of freedom of Student's t for each judge: the rarer verdict's units minus 1. A pair takes the lower one.
    rows
        Labeled rows that each judge has a verdict or score for.
    reasons
        Why a judge is not tested; empty where it is.
    """

    values: Array
    deviations: Array
    df: Ints
    rows: Ints
    reasons: list[str]


def balanced_accuracy_deviations(
    human_pass: ArrayLike, judge_pass: ArrayLike, clusters: Sequence[object] | None = None
) -> JudgeDeviations:
    """Compute the balanced accuracy of each judge and the deviations of units from it.

    Parameters
    ----------
    human_pass
        Human verdict of each row, True is pass.
    judge_pass
        Judges × rows: 1 pass, 0 fail, NaN where the judge gave no verdict. A judge is evaluated on the rows it judged.
    clusters
        Cluster of each row (conversation, document); its deviations are summed.

    Notes
    -----
    Balanced accuracy is a sum of two independent means, so a failure that the judge failed deviates by
    `(1 - recall on failures) / 2 / n_failures`, and so on.

    Examples
    --------
    >>> human = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> made = balanced_accuracy_deviations(human, [[0, 0, 0, 1, 1, 1, 1, 0], [0, 1, 0, 1, 1, 1, 1, 1]])
    >>> made.values.tolist(), made.deviations.shape
    ([0.75, 0.75], (2, 10))
    """

    def right(x: Array, z: Mask) -> Array:
        return np.asarray((x > 0.5) == z, np.float64) / 2

    return _deviations(human_pass, judge_pass, clusters, right, lambda failures, passes: failures + passes)


def roc_area_deviations(
    human_pass: ArrayLike, scores: ArrayLike, clusters: Sequence[object] | None = None
) -> JudgeDeviations:
    """Compute the ROC area (AUC) of each judge's scores and the deviations of units from it.

    Parameters are those of `balanced_accuracy_deviations`, with scores (higher is better) instead of verdicts.

    Notes
    -----
    The deviation of a failure is the share of passes that score higher (ties count one half) minus the AUC, over the
    number of failures; that of a pass is the share of failures that score lower, likewise (DeLong et al. 1988).
    """

    def placed(x: Array, z: Mask) -> Array:
        share = np.empty(len(x))
        share[z], share[~z] = placements(x[z], x[~z]), 1 - placements(x[~z], x[z])
        return share

    return _deviations(human_pass, scores, clusters, placed, lambda failures, passes: passes)


def _deviations(
    human_pass: ArrayLike,
    given: ArrayLike,
    clusters: Sequence[object] | None,
    contributions: Callable[[Array, Mask], Array],
    value: Callable[[float, float], float],
) -> JudgeDeviations:
    """Compute the deviations of a value whose errors are those of two independent means, over
    failures and over passes.
    """
    z, judges = np.asarray(human_pass, bool), np.atleast_2d(np.asarray(given, np.float64))
    if z.ndim != 1 or judges.shape[1] != len(z):
        raise DataError(f"judges must have a column per human verdict; got {judges.shape} and {z.shape}")
    code = np.arange(len(z)) if clusters is None else cluster_codes(clusters)
    units, many = int(code.max(initial=-1)) + 1, len(judges)
    values, deviations = np.full(many, np.nan), np.full((many, units + many), np.nan)
    df, rows, reasons = np.zeros(many, np.int64), np.zeros(many, np.int64), []
    for k, x in enumerate(judges):
        judged = np.flatnonzero(np.isfinite(x))
        passed, unit = z[judged], code[judged]
        rows[k] = len(judged)
        reasons.append(lacking_rows(passed, None if clusters is None else unit.tolist()))
        sizes = [len(np.unique(unit[part])) for part in (~passed, passed)]
        df[k] = max(min(sizes) - 1, 0)
        if min(sizes) < 2:
            continue
        row = contributions(x[judged], passed)
        values[k] = value(float(row[~passed].mean()), float(row[passed].mean()))
        sums = np.zeros(units)
        for part, size in zip((~passed, passed), sizes, strict=True):
            centered = (row[part] - row[part].mean()) / part.sum() * np.sqrt(size / (size - 1))
            sums += np.bincount(unit[part], weights=centered, minlength=units)
        two_valued = len(np.unique(x[judged])) <= 2
        prior = sum(PRIOR_DISCORDANT / 8 / (size * (size - 1)) for size in sizes) if two_valued else 0.0
        deviations[k] = np.concatenate([sums, np.sqrt(prior) * (np.arange(many) == k)])
    return JudgeDeviations(values, deviations, df, rows, reasons)


def compare_judges(judges: JudgeDeviations, first: int, second: int, level: float = 0.95) -> Figure:
    """Compute the value of one judge minus that of another, with its interval and its two-sided p-value.

    Examples
    --------
    >>> human = [0] * 30 + [1] * 60
    >>> better, worse = [0] * 27 + [1] * 63, [0] * 15 + [1] * 75
    >>> result = compare_judges(balanced_accuracy_deviations(human, [better, worse]), 0, 1)
    >>> round(result.value, 2), round(result.low, 2), round(result.high, 2), round(result.p, 4)
    (0.2, 0.1, 0.3, 0.0003)
    """
    from scipy.special import stdtr, stdtrit

    value = float(judges.values[first] - judges.values[second])
    base = Figure(value, n=int(min(judges.rows[first], judges.rows[second])))
    if reason := judges.reasons[first] or judges.reasons[second]:
        return replace(base, reason=reason)
    error = float(np.linalg.norm(judges.deviations[first] - judges.deviations[second]))
    df = float(min(judges.df[first], judges.df[second]))
    p = 2 * float(stdtr(df, -abs(value) / error)) if error > 0 else float(value == 0)
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return replace(base, low=max(value - half, -1.0), high=min(value + half, 1.0), p=p)


def may_be_best(judges: JudgeDeviations, level: float = 0.95) -> Mask:
    """Return a confidence set for the best judge: those that no other one is significantly better than.

    The p-values of all pairs are compared with one limit, at which the largest standardized difference of judges that
    are equally good stays with probability `level`.

    Examples
    --------
    >>> human = [0] * 30 + [1] * 60
    >>> passed = [[0] * 27 + [1] * 63, [0] * 26 + [1] * 64, [0] * 10 + [1] * 80]
    >>> may_be_best(balanced_accuracy_deviations(human, passed)).tolist()
    [True, True, False]
    """
    from scipy.special import ndtr

    reach = max(float(np.quantile(largest_differences(judges.deviations), level)), 1.96)
    limit = 2 * float(ndtr(-reach))
    inside = np.isfinite(judges.values)
    for first, second in combinations(np.flatnonzero(inside).tolist(), 2):
        gap = compare_judges(judges, first, second)
        if gap.p < limit:  # False without a test (NaN)
            inside[second if gap.value > 0 else first] = False
    return inside


def compare_with_baseline(
    human_pass: ArrayLike,
    score: ArrayLike,
    baselines: ArrayLike,
    clusters: Sequence[object] | None = None,
    level: float = 0.95,
) -> Figure:
    """Compute how far the ROC area of a judge's scores exceeds that of the best baseline, with its interval.

    Parameters
    ----------
    baselines
        Baselines × rows, for example the length of each output. A baseline counts in the direction in which it does
        better, and the best one is chosen on the same labels, so the advantage is understated rather than overstated.
    """
    given = np.atleast_2d(np.asarray(baselines, np.float64))
    judges = roc_area_deviations(human_pass, np.vstack([np.asarray(score, np.float64), given, -given]), clusters)
    if not np.isfinite(judges.values[1:]).any():
        return Figure(np.nan, n=int(judges.rows[0]), reason=judges.reasons[0] or judges.reasons[1])
    return compare_judges(judges, 0, 1 + int(np.nanargmax(judges.values[1:])), level)
