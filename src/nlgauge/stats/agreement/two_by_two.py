"""Accuracy of pass/fail judges: the 2 × 2 confusion matrix, statistics derived from it, and their intervals.

Order of the cells: human fail and judge fail, human fail and judge pass, human pass and judge fail, both pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.proportion import Ends, Kind, clustering, melded_interval, proportion_interval
from nlgauge.types import Array, Ints

# Minimum number of rows for the interval of a proportion. Coverage is at least .93 from 2 rows on (exact), but with
# fewer than 5 rows the interval of a proportion of one half is wider than .8 and thus useless.
FEWEST = 5
CLUSTERS = 10  # clusters needed to generalize to others


@dataclass(frozen=True)
class Figure:
    """A value with its confidence interval; `n` rows in the denominator, of which `hits` are in the numerator of a
    share.

    `reason` says why something is missing.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    n: int = 0
    hits: int | None = None
    p: float = np.nan
    reason: str = ""

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a table row for this estimate."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n, "reason": self.reason or None}


class Share(NamedTuple):
    """A proportion: the cells in its numerator, and the cells in its denominator."""

    hits: tuple[int, ...]
    of: tuple[int, ...]
    rows: str  # the denominator in words

    def value(self, counts: Array) -> Array:
        """Compute the proportion from counts (… × 4 cells); NaN where the denominator is 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.over(counts) / self.below(counts))

    def over(self, counts: Array) -> Array:
        """Count the numerator."""
        return np.asarray(counts[..., list(self.hits)].sum(axis=-1))

    def below(self, counts: Array) -> Array:
        """Count the denominator."""
        return np.asarray(counts[..., list(self.of)].sum(axis=-1))


ALL = (0, 1, 2, 3)
SHARES = {
    "fail_recall": Share((0,), (0, 1), "human failures"),
    "pass_recall": Share((3,), (2, 3), "human passes"),
    "fail_precision": Share((0,), (0, 2), "rows that the judge failed"),
    "pass_precision": Share((3,), (1, 3), "rows that the judge passed"),
    "agreement": Share((0, 3), ALL, "rows"),
    "human_pass_rate": Share((2, 3), ALL, "rows"),
    "judge_pass": Share((1, 3), ALL, "rows"),
    "fail_jaccard": Share((0,), (0, 1, 2), "rows that humans or the judge failed"),
    "pass_jaccard": Share((3,), (1, 2, 3), "rows that humans or the judge passed"),
}
FAILED, PASSED = SHARES["fail_recall"], SHARES["pass_recall"]


def f1_of_jaccard(j: Array) -> Array:
    """Return F1 from the Jaccard index, of which it is an increasing function, so that its interval follows."""
    return np.asarray(2 * j / (1 + j))


def kappa_of(passed: Array, fail_recall: Array, pass_recall: Array) -> Array:
    """Compute Cohen's kappa from the human pass rate and the judge's two recalls."""
    judge = passed * pass_recall + (1 - passed) * (1 - fail_recall)
    gain = 2 * passed * (1 - passed) * (fail_recall + pass_recall - 1)
    return np.asarray(gain / (passed * (1 - judge) + (1 - passed) * judge))


def mcc_of(passed: Array, fail_recall: Array, pass_recall: Array) -> Array:
    """Compute the Matthews correlation coefficient from the same three proportions."""
    judge = passed * pass_recall + (1 - passed) * (1 - fail_recall)
    return np.asarray((fail_recall + pass_recall - 1) * np.sqrt(passed * (1 - passed) / (judge * (1 - judge))))


def kappa(counts: Array) -> Array:
    """Compute Cohen's kappa (1960) from counts (… × 4 cells); NaN where chance agreement is 1."""
    a, b, c, d = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d)))


def mcc(counts: Array) -> Array:
    """Compute the Matthews correlation coefficient (1975) from counts (… × 4 cells); NaN where a margin is 0."""
    a, b, c, d = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d)))


def balanced_accuracy(counts: Array) -> Array:
    """Compute the mean of recall on failures and recall on passes from counts (… × 4 cells)."""
    return np.asarray((FAILED.value(counts) + PASSED.value(counts)) / 2)


def youden(counts: Array) -> Array:
    """Compute Youden's J: recall on failures + recall on passes - 1; 0 for a random or a constant judge."""
    return np.asarray(FAILED.value(counts) + PASSED.value(counts) - 1)


def gain(counts: Array, over: str = "pass") -> Array:
    """Compute the accuracy of the judge minus that of a judge that always answers `over`."""
    better, worse = (0, 2) if over == "pass" else (3, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((counts[..., better] - counts[..., worse]) / counts.sum(axis=-1))


def cell_counts(people: ArrayLike, judge: ArrayLike, clusters: Sequence[object] | None = None) -> Array:
    """Count the four cells, clusters × 4 (one row per output without clusters). True is pass.

    >>> cell_counts([True, True, False], [True, False, False]).tolist()
    [[1.0, 0.0, 1.0, 1.0]]
    """
    z, x = np.asarray(people, bool), np.asarray(judge, bool)
    if z.shape != x.shape or z.ndim != 1:
        raise DataError(f"two verdicts must be of the same rows; found {z.shape} and {x.shape}")
    return counts_by_cluster(2 * z.astype(np.int64) + x, 4, clusters)


def counts_by_cluster(cell: Ints, cells: int, clusters: Sequence[object] | Ints | None) -> Array:
    """Count the rows of each cell (numbers from 0), clusters × cells; one row of counts without clusters."""
    names, code = np.unique(np.zeros(len(cell)) if clusters is None else np.asarray(clusters), return_inverse=True)
    counts = np.bincount(cells * code.reshape(-1) + cell, minlength=cells * max(len(names), 1))
    return counts.reshape(-1, cells).astype(np.float64)


def verdict_figures(
    people: ArrayLike,
    judge: ArrayLike,
    clusters: Sequence[object] | None = None,
    *,
    level: float = 0.95,
    kind: Kind = "lean",
) -> dict[str, Figure]:
    """Compute the accuracy statistics of a pass/fail judge compared with human labels, with confidence intervals.

    The improvement is relative to the majority class of the human labels. `clusters` is the conversation or document of
    each row.

    Notes
    -----
    Intervals of proportions are shortened Clopper-Pearson intervals, those of functions of proportions are melded
    (`nlgauge.stats.agreement.proportion`); clusters enter through their design effect.

    >>> result = verdict_figures([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1])
    >>> round(result["fail_recall"].value, 3), round(result["kappa"].value, 3)
    (0.667, 0.5)
    """
    return figures_of(cell_counts(people, judge, clusters), clustered=clusters is not None, level=level, kind=kind)


def figures_of(
    counts: Array, *, clustered: bool = False, level: float = 0.95, kind: Kind = "lean"
) -> dict[str, Figure]:
    """Compute the same from counts of the four cells, clusters × 4."""
    made = _Maker(counts, clustered, level, kind)
    result = made.shares()
    for verdict in ("fail", "pass"):
        inner = result.pop(f"{verdict}_jaccard")
        value, low, high = f1_of_jaccard(np.array([inner.value, inner.low, inner.high])).tolist()
        result[f"{verdict}_f1"] = Figure(value, low, high, n=inner.n, reason=inner.reason)
    result |= {name: made.melded(*parts) for name, parts in MELDED.items()}
    result["gain_over_always_pass"] = made.gain("pass")
    if result["human_pass_rate"].value < 0.5:
        result["gain_over_always_fail"] = made.gain("fail")
    return result


# Value from counts, value from the human pass rate and the two recalls, and the reason where it is undefined.
MELDED: dict[str, tuple[Callable[[Array], Array], Callable[..., Array], str]] = {
    "balanced_accuracy": (balanced_accuracy, lambda _, f, p: (f + p) / 2, "all human labels are equal"),
    "youden": (youden, lambda _, f, p: f + p - 1, "all human labels are equal"),
    "kappa": (kappa, kappa_of, "all labels and verdicts are equal"),
    "mcc": (mcc, mcc_of, "all human labels, or all verdicts, are equal"),
}


def figure_of(counts: Array, figure: str, *, clustered: bool = False, level: float = 0.95) -> Figure:
    """Compute one statistic, which is faster than all."""
    if figure in MELDED:
        return _Maker(counts, clustered, level, "lean").melded(*MELDED[figure])
    return figures_of(counts, clustered=clustered, level=level)[figure]


def share_figures(
    counts: Array, *, clustered: bool = False, level: float = 0.95, kind: Kind = "lean"
) -> dict[str, Figure]:
    """Compute the proportions alone, which is much faster than all statistics: for every threshold, or every slice."""
    return _Maker(counts, clustered, level, kind).shares()


def rests_on(figure: str) -> tuple[Share, ...]:
    """Return the proportions that a statistic is computed from."""
    own = SHARES.get(figure) or SHARES.get(figure.replace("_f1", "_jaccard"))
    return (own,) if own else (FAILED, PASSED)


def cost_figure(counts: Array, miss: float, alarm: float, *, clustered: bool = False, level: float = 0.95) -> Figure:
    """Compute the mean cost per row: `miss` for a human fail that the judge passes, `alarm` for the reverse."""

    def cost(c: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((miss * c[..., 1] + alarm * c[..., 2]) / c.sum(axis=-1))

    def of_shares(passed: Array, fail_recall: Array, pass_recall: Array) -> Array:
        return np.asarray(miss * (1 - passed) * (1 - fail_recall) + alarm * passed * (1 - pass_recall))

    return _Maker(counts, clustered, level, "lean").melded(cost, of_shares, "there are no rows")


def lacking(counts: Array, shares: Sequence[Share], *, clustered: bool = False, fewest: int = FEWEST) -> str:
    """Return what is missing for an interval, and about how many labels would provide it; empty if
    nothing is missing.
    """
    total = counts.sum(axis=0)
    for share in shares:
        result = int(share.below(total))
        if result < fewest:
            about = int(np.ceil(fewest * (total.sum() + 1) / (result + 0.5)))
            more = f"; about {about:,} labeled rows would contain them" if share.of != ALL else ""
            return f"needs at least {fewest} {share.rows}, found {result}{more}"
        groups = int((share.below(counts) > 0).sum())
        if clustered and groups < CLUSTERS:
            return f"needs {share.rows} in at least {CLUSTERS} clusters, found {groups}"
    return ""


class _Maker:
    """Values and intervals of the statistics of one table, with the design effects of its clusters."""

    def __init__(self, counts: Array, clustered: bool, level: float, kind: Kind) -> None:
        self.counts, self.clustered, self.level, self.kind = counts, clustered, level, kind
        self.total = counts.sum(axis=0)
        self.n = int(self.total.sum())

    def effect(self, figure: Callable[[Array], Array], *rests_on: Share) -> float:
        """Return the design effect of a statistic; 1 without clusters."""
        if not self.clustered:
            return 1.0
        return max(clustering(self.counts, figure, share.below, self.level).effect for share in rests_on)

    def lacking(self, *shares: Share) -> str:
        return lacking(self.counts, shares, clustered=self.clustered)

    def shares(self) -> dict[str, Figure]:
        """Compute all proportions with their intervals in one call."""
        result, wanted, counts = {}, [], []
        for name, share in SHARES.items():
            hits, of = float(share.over(self.total)), float(share.below(self.total))
            if not of:
                result[name] = Figure(np.nan, n=0, hits=0, reason=f"there are no {share.rows}")
                continue
            result[name] = Figure(hits / of, n=int(of), hits=int(hits), reason=self.lacking(share))
            if not result[name].reason:
                effect = self.effect(share.value, share)
                wanted.append(name)
                counts.append((hits / effect, of / effect))
        if wanted:
            x, n = np.array(counts).T
            low, high = proportion_interval(x, n, self.level, self.kind)
            for name, *ends in zip(wanted, low, high, strict=True):
                result[name] = _with(result[name], Ends(*ends))
        return result

    def melded(self, figure: Callable[[Array], Array], of_shares: Callable[..., Array], undefined: str) -> Figure:
        """Compute a function of the human pass rate and the two recalls."""
        value = float(figure(self.total))
        if np.isnan(value):
            return Figure(value, n=self.n, reason=undefined)
        base = Figure(value, n=self.n, reason=self.lacking(FAILED, PASSED))
        if base.reason:
            return base
        effect = self.effect(figure, FAILED, PASSED)
        parts = [SHARES["human_pass_rate"], FAILED, PASSED]
        shares = [(float(s.over(self.total)) / effect, float(s.below(self.total)) / effect) for s in parts]
        return _with(base, melded_interval(shares, of_shares, self.level))

    def gain(self, over: str) -> Figure:
        """Count the rows on which the judge differs from `over`, and those of them that are right; p is exact
        (McNemar).
        """
        other = SHARES["fail_precision" if over == "pass" else "pass_precision"]
        right, decided = float(other.over(self.total)), float(other.below(self.total))
        value = float(gain(self.total, over)) if self.n else np.nan
        base = Figure(value, n=self.n, reason=self.lacking(other))
        if base.reason:
            return base
        effect = self.effect(lambda counts: gain(counts, over), other)
        shares = [(decided / effect, self.n / effect), (right / effect, decided / effect)]
        ends = melded_interval(shares, lambda share, precision: share * (2 * precision - 1), self.level)
        return _with(base, ends, sign_test(right / effect, decided / effect))


def sign_test(x: float, n: float) -> float:
    """Compute the two-sided mid-P value of x of n when one half is expected (McNemar's test); counts may be fractions.

    >>> round(sign_test(2, 10), 4), sign_test(0, 0)
    (0.0654, 1.0)
    """
    from scipy.special import betainc

    at_least = float(betainc(x, n - x + 1, 0.5)) if x > 0 else 1.0
    more = float(betainc(x + 1, n - x, 0.5)) if x < n else 0.0
    upper = (at_least + more) / 2
    return min(1.0, 2 * min(upper, 1 - upper))


def _with(base: Figure, ends: Ends, p: float = np.nan) -> Figure:
    """Widen the interval to include the value, which interpolated points or fractional counts can leave just
    outside.
    """
    low, high = min(float(ends.low), base.value), max(float(ends.high), base.value)
    return Figure(base.value, low, high, base.n, base.hits, p, base.reason)
