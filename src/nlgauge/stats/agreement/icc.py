"""Intraclass correlation: the share of the variance of ratings that is between units rather than between annotators.

Six forms from the mean squares of the analysis of variance (Shrout and Fleiss 1979; McGraw and Wong 1996): one-way
ICC(1), two-way absolute agreement ICC(A,1) (ICC2 of Shrout and Fleiss), two-way consistency ICC(C,1) (ICC3), each for a
single rating and, with k, for the mean of k annotators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri, stdtrit

from nlgauge.stats.agreement.classes import too_few_clusters
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.stats.agreement.two_by_two import CLUSTERS
from nlgauge.types import Array, Ints, Mask

FORMS = ("ICC(1)", "ICC(A,1)", "ICC(C,1)", "ICC(k)", "ICC(A,k)", "ICC(C,k)")
TAIL = 0.975  # for 95% intervals
MAX_GROUPS = 400  # left out in turn; of more clusters, neighbors are left out together

NO_DIFFERENCE = "no confidence interval: the ratings of an output never differ"
_ANONYMOUS = "raters have no identity"


@dataclass(frozen=True, slots=True)
class IccForm:
    """One form: value, F test against 0, confidence interval; NaN with the reason where it is undefined."""

    name: str
    value: float
    f: float = np.nan
    df1: float = np.nan
    df2: float = np.nan
    p: float = np.nan
    low: float = np.nan
    high: float = np.nan
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Icc:
    """All six forms for one set of ratings, and the units that were left out."""

    forms: dict[str, IccForm]
    units: int
    dropped_units: int
    raters: float
    method: str

    def __getitem__(self, name: str) -> IccForm:
        return self.forms[name]


def icc(
    ratings: ArrayLike,
    *,
    persons: bool = True,
    unequal: bool = False,
    anonymous: str = _ANONYMOUS,
    clusters: ArrayLike | None = None,
) -> Icc:
    """Compute the six intraclass correlations of annotators.

    Parameters
    ----------
    ratings : array of annotators × units
        Or annotators × systems × inputs; NaN where missing.
    persons : bool, default True
        False means that a row is not the same annotator for all units, so that the two-way forms are undefined.
    unequal : bool, default False
        Compute the one-way forms from all rated units, with the average number of raters k0 in place of k.
    anonymous : str, optional
        Reason why a row is not a single annotator.
    clusters : array of int, optional
        Cluster of each unit: trials of one input or texts about one document are not independent. The intervals then
        come from a jackknife over clusters, for these annotators, and there is no F test.

    Returns
    -------
    Icc
        `icc(x)["ICC(A,1)"]` has `value`, F test, 95% interval, and the reason where it does not exist; `units`,
        `dropped_units` (units that lack an annotator are left out) and `method`.

    Notes
    -----
    Shrout and Fleiss (1979) and McGraw and Wong (1996); intervals from F distributions. Jackknife intervals are
    Student's on the scale log F = -log(1 - ICC(k)), on which ICC(1) and ICC(k) have the same value.

    Examples
    --------
    >>> shrout_fleiss = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> result = icc(shrout_fleiss)
    >>> [round(result[name].value, 2) for name in ("ICC(1)", "ICC(A,1)", "ICC(C,1)", "ICC(k)")]
    [0.17, 0.29, 0.71, 0.44]
    """
    table = as_units(ratings)
    given = ~np.isnan(table)
    # No form depends on the unit of measurement; scaling by a power of two is exact and prevents overflow.
    table = np.ldexp(table, -int(np.frexp(np.abs(table[given]).max(initial=0.0))[1]))
    complete = given.all(axis=0)
    one_way_units = given.any(axis=0) if unequal else complete
    one_way = _one_way(table[:, one_way_units], given[:, one_way_units])
    if persons:
        two_way = _two_way(table[:, complete])
    else:
        two_way = _missing(
            ("ICC(A,1)", "ICC(C,1)", "ICC(A,k)", "ICC(C,k)"), f"{anonymous}: only the one-way form is defined"
        )
    forms = {form.name: form for form in (*one_way, *two_way)}
    units = int(one_way_units.sum())
    raters = _k0(given[:, one_way_units].sum(axis=0).astype(np.float64)) if units > 1 else np.nan
    method = _method(
        "" if persons else anonymous, unequal, f"{units} of {table.shape[1]} units, {raters:.4g} raters per unit"
    )
    result = Icc({name: forms[name] for name in FORMS}, units, table.shape[1] - units, raters, method)
    if clusters is None:
        return replace(result, method=f"{method}, 95% F intervals")
    used, code = table[:, one_way_units], np.asarray(clusters)[one_way_units]
    return _over_clusters(result, used, code, persons=persons, unequal=unequal)


def _over_clusters(whole: Icc, table: Array, clusters: Ints, *, persons: bool, unequal: bool) -> Icc:
    """Replace the F intervals by those of a jackknife over clusters of units."""
    code = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    many = int(code.max(initial=-1)) + 1
    code //= max(1, -(-many // MAX_GROUPS))
    groups = int(code.max(initial=-1)) + 1
    reason = "" if many >= CLUSTERS else too_few_clusters(many)
    left = [icc(table[:, code != g], persons=persons, unequal=unequal) for g in range(0 if reason else groups)]
    forms = {}
    for name, form in whole.forms.items():
        limits, why = (np.nan, np.nan), reason
        if not why:
            average = name.replace("1)", "k)")
            logs = np.array([_log_f(each[average].value) for each in (whole, *left)])
            limits, why = _jackknife_limits(logs, name, whole.raters)
        known = replace(form, f=np.nan, df1=np.nan, df2=np.nan, p=np.nan, low=limits[0], high=limits[1])
        forms[name] = known if form.reason else replace(known, reason=why)
    return replace(whole, forms=forms, method=f"{whole.method}, 95% jackknife intervals over {many} clusters")


def _log_f(average: float) -> float:
    return -float(np.log1p(-average)) if average < 1.0 else np.inf


def _jackknife_limits(logs: Array, name: str, raters: float) -> tuple[tuple[float, float], str]:
    """Return the limits of a form from log F of all units and without each group of clusters."""
    left, groups = logs[1:], len(logs) - 1
    if not np.isfinite(logs).all():
        differ = bool(np.isfinite(logs[0]))
        return (np.nan, np.nan), "it hangs on one output" if differ else NO_DIFFERENCE
    # C / (C - 2): as in Fisher's variance of an intraclass correlation of C units.
    variance = (groups - 1) / (groups - 2) * ((left - left.mean()) ** 2).sum()
    half = float(stdtrit(groups - 1, TAIL) * np.sqrt(variance))
    f_low, f_high = (float(np.exp(logs[0] + side)) for side in (-half, half))
    if name.endswith("k)"):
        return (_average(f_low, 1.0), _average(f_high, 1.0)), ""
    return (_single(f_low, 1.0, raters), _single(f_high, 1.0, raters)), ""


def _one_way(table: Array, given: Mask) -> list[IccForm]:
    names = ("ICC(1)", "ICC(k)")
    counts = given.sum(axis=0).astype(np.float64)
    n, total = counts.size, float(counts.sum())
    if n < 2 or total <= n:
        return _missing(names, _too_few(n, table.shape[0]))
    centered = np.where(given, table - table[given].mean(), 0.0)
    unit_means = centered.sum(axis=0) / counts
    within = np.where(given, centered - unit_means, 0.0)
    grand = float(centered.sum() / total)
    between_ss = _square_sum(np.sqrt(counts) * (unit_means - grand), table, given)
    within_ss = _square_sum(within, table, given)
    if between_ss == 0.0 and within_ss == 0.0:
        return _missing(names, "no variance: all ratings are equal")
    msb, msw = between_ss / (n - 1), within_ss / (total - n)
    k = _k0(counts)
    f, df1, df2 = _ratio(msb, msw), n - 1.0, total - n
    p = float(fdtrc(df1, df2, f))
    f_low, f_high = _f_limits(f, df1, df2)
    single = IccForm("ICC(1)", _single(msb, msw, k), f, df1, df2, p, _single(f_low, 1.0, k), _single(f_high, 1.0, k))
    low, high = _average(f_low, 1.0), _average(f_high, 1.0)
    reason = "" if msb > 0.0 else "no variance between units"
    return [single, IccForm("ICC(k)", _average(msb, msw), f, df1, df2, p, low, high, reason)]


def _two_way(table: Array) -> list[IccForm]:
    names = ("ICC(A,1)", "ICC(C,1)", "ICC(A,k)", "ICC(C,k)")
    k, n = table.shape
    if n < 2 or k < 2:
        return _missing(names, _too_few(n, k))
    given = np.ones_like(table, dtype=np.bool_)
    centered = table - table.mean()
    unit_effect, rater_effect = centered.mean(axis=0), centered.mean(axis=1)
    residual = centered - unit_effect - rater_effect[:, None]
    msb = k * _square_sum(unit_effect, table, given) / (n - 1)
    msj = n * _square_sum(rater_effect, table, given) / (k - 1)
    df1, df2 = n - 1.0, (n - 1.0) * (k - 1.0)
    mse = _square_sum(residual, table, given) / df2
    if msb == 0.0 and mse == 0.0:
        return _missing(names, "no variance between units: every rater rates all units alike")
    f = _ratio(msb, mse)
    p = float(fdtrc(df1, df2, f))
    f_low, f_high = _f_limits(f, df1, df2)
    reason = "" if msb > 0.0 else "no variance between units"
    agreement = _over(msb - mse, msb + (k - 1) * mse + k * (msj - mse) / n)
    total_k = msb + (msj - mse) / n
    agreement_k = (msb - mse) / total_k if total_k > 0.0 else np.nan
    low, high = _agreement_limits(agreement, msb=msb, msj=msj, mse=mse, n=n, k=k)
    low_k, high_k = _spearman_brown(low, k), _spearman_brown(high, k)
    single = (_single(msb, mse, k), _single(f_low, 1.0, k), _single(f_high, 1.0, k))
    average = (_average(msb, mse), _average(f_low, 1.0), _average(f_high, 1.0))
    return [
        _defined(IccForm("ICC(A,1)", agreement, f, df1, df2, p, low, high)),
        IccForm("ICC(C,1)", single[0], f, df1, df2, p, *single[1:]),
        _defined(IccForm("ICC(A,k)", agreement_k, f, df1, df2, p, low_k, high_k)),
        IccForm("ICC(C,k)", average[0], f, df1, df2, p, *average[1:], reason),
    ]


def _agreement_limits(value: float, *, msb: float, msj: float, mse: float, n: int, k: int) -> tuple[float, float]:
    """Compute Satterthwaite's approximation for the two-way random model (McGraw and Wong 1996, Table 7)."""
    if mse == 0.0 and msj == 0.0:
        return 1.0, 1.0
    rater_part = k * value * msj
    error_part = (n * (1.0 + (k - 1) * value) - k * value) * mse
    df = _over((rater_part + error_part) ** 2, rater_part**2 / (k - 1) + error_part**2 / ((n - 1) * (k - 1)))
    f_low, f_high = float(fdtri(n - 1, df, TAIL)), float(fdtri(df, n - 1, TAIL))
    rest = k * msj + (k * n - k - n) * mse
    low = _over(n * (msb - f_low * mse), f_low * rest + n * msb)
    high = _over(n * (f_high * msb - mse), rest + n * f_high * msb)
    return low, high


def _defined(form: IccForm) -> IccForm:
    """Return the form, or the reason why it is undefined."""
    why = "the estimate of the total variance is not positive"
    return IccForm(form.name, np.nan, reason=why) if np.isnan(form.value) else form


def _over(above: float, below: float) -> float:
    """Return numerator / denominator; NaN where the variances cancel."""
    return above / below if below else float("nan")


def _f_limits(f: float, df1: float, df2: float) -> tuple[float, float]:
    return f / float(fdtri(df1, df2, TAIL)), f * float(fdtri(df2, df1, TAIL))


def _single(between: float, within: float, k: float) -> float:
    if np.isinf(between) or within == 0.0:
        return 1.0
    return (between - within) / (between + (k - 1) * within)


def _average(between: float, within: float) -> float:
    if np.isinf(between):
        return 1.0
    return (between - within) / between if between > 0.0 else np.nan


def _spearman_brown(value: float, k: float) -> float:
    below = 1.0 + (k - 1.0) * value
    return k * value / below if below > 0.0 else -np.inf  # beyond the pole the formula changes its sign


def _ratio(between: float, within: float) -> float:
    return between / within if within > 0.0 else np.inf


def _k0(counts: Array) -> float:
    """Return the average number of annotators in the expected mean square between units; k if all counts are equal."""
    total = float(counts.sum())
    return (total - float((counts**2).sum()) / total) / (counts.size - 1)


def _square_sum(effect: Array, table: Array, given: Mask) -> float:
    """Return the sum of squares, exactly 0 where only rounding errors of equal ratings remain."""
    scale = float(np.abs(table[given]).max()) if given.any() else 0.0
    total = float((effect**2).sum())
    return 0.0 if total <= effect.size * table.size * (4 * np.finfo(np.float64).eps * scale) ** 2 else total


def _missing(names: tuple[str, ...], reason: str) -> list[IccForm]:
    return [IccForm(name, np.nan, reason=reason) for name in names]


def _too_few(units: int, raters: int) -> str:
    if raters < 2:
        return "fewer than two raters"
    return f"{units} units rated by all {raters} raters, at least two needed (unequal=True uses the others)"


def _method(anonymous: str, unequal: bool, sizes: str) -> str:
    who = f"{anonymous}, one-way form only" if anonymous else "raters are persons"
    rule = "one-way from all rated units with k0" if unequal else "units rated by all raters"
    return f"ANOVA mean squares, {rule} ({sizes}), {who}"
