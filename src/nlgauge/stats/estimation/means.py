"""Mean human rating over many rows of which few are labeled, with the help of a judge's score of every row.

Rows are the last axis of every array; axes before it are repetitions, so that a simulation is one call. `labels` is NaN
for unlabeled rows. The estimate is λ · mean(score of all rows) + mean(label − λ · score, labeled rows), which is PPI++
(Angelopoulos, Duchi and Zrnic 2023) written over all rows; λ = 0 uses the labels only. Labeled rows are weighted by the
inverse of their sampling probability (Hájek), strata with many labels have their own λ, and the variance is that of the
rows' influence summed by cluster, so that one formula holds for every design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.stats.agreement.proportion import proportion_interval
from nlgauge.stats.estimation.shares import OneMore, share_interval

Floats = NDArray[np.float64]
Method = Literal["labels", "judge", "ppi", "ppi++"]
METHODS = ("labels", "judge", "ppi", "ppi++")
OWN_WEIGHT = 20  # labels that each stratum needs for its own λ; otherwise all strata share one
PRIOR_FAILURES = 0.7  # shrinks a judge's variance reduction: m / (m + PRIOR_FAILURES), m ratings at the rarer end
PRIOR_FAR_RATING = 0.1  # weight of a rating at the far end of the scale that is added to the variance


@dataclass(frozen=True)
class PartlyLabeled:
    """Rows with few labels. `clusters` are codes from 0, the same in every repetition.

    labels: NaN where not labeled. score: the judge's, for every row. probability: with which each row was sampled for
    labeling, up to a factor (equal within a stratum by default). strata: a code for each row, known for all.
    """

    labels: Floats
    score: Floats | None = None
    probability: Floats | None = None
    strata: NDArray[np.int64] | None = None
    clusters: NDArray[np.int64] | None = None
    share: bool | None = None  # labels are pass (1) and fail (0), or shares of raters; None: where only 0 and 1 occur
    bounds: tuple[float, float] | None = None  # ends of the rating scale, for example 1 and 5

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Return which rows have a label."""
        return np.isfinite(self.labels)

    @property
    def two_valued(self) -> bool:
        """Return whether labels are 0 and 1 only."""
        result = self.labels[self.labeled]
        return bool(np.isin(result, (0.0, 1.0)).all())


@dataclass(frozen=True)
class MeanEstimate:
    """A mean with its interval; arrays over the repetitions, or numbers without repetitions.

    weight: λ (the mean over strata). freedom: degrees of freedom of Student's t. worth: effective sample size, the
    number of simple random labels without a judge that would give the same variance. influence: of every row on the
    value (repetitions × rows). expected: predicted label of every row, from its stratum and the judge's score.
    """

    value: Any
    se: Any
    low: Any
    high: Any
    freedom: Any
    weight: Any
    worth: Any
    influence: Floats
    expected: Floats

    @property
    def width(self) -> Any:
        """Return the width of the interval."""
        return self.high - self.low


def mean_estimate(
    sample: PartlyLabeled, method: Method = "ppi++", level: float = 0.95, *, equal_tails: bool = False
) -> MeanEstimate:
    """Estimate the mean human rating of all rows.

    `equal_tails`: each limit of a proportion misses with at most half the error rate, as needed for a limit that is
    compared with a threshold. Otherwise a limit near 0 or 1 may use the error rate of both tails where the other limit
    cannot miss, and the interval is shorter.

    >>> labels = np.array([1.0, 0, 1, 1, np.nan, np.nan, np.nan, np.nan])
    >>> score = np.array([0.9, 0.2, 0.8, 0.6, 0.9, 0.1, 0.7, 0.3])
    >>> result = mean_estimate(PartlyLabeled(labels, score))
    >>> round(float(result.value), 2), round(float(mean_estimate(PartlyLabeled(labels), "labels").value), 2)
    (0.69, 0.75)
    """
    if method not in METHODS:
        raise NlgaugeError(f"no method '{method}'; use {', '.join(METHODS)}.")
    if method == "judge":
        return _judge_only(sample, level)
    result = _rectified(sample, method)
    plain = result if method == "labels" else _rectified(sample, "labels")
    share = sample.two_valued if sample.share is None else sample.share
    if share and sample.two_valued:
        return _verdict_interval(sample, result, level, method, equal_tails)
    if bounds := (0.0, 1.0) if share else sample.bounds:
        return _bounded_interval(sample, result, plain, bounds, level)
    half = _student(result.freedom, level) * result.se
    return replace(result, low=result.value - half, high=result.value + half, worth=_worth(sample, result, plain))


def _student(freedom: Any, level: float) -> Any:
    from scipy.special import stdtrit

    return stdtrit(np.maximum(freedom, 1e-9), (1 + level) / 2)


def _judge_only(sample: PartlyLabeled, level: float) -> MeanEstimate:
    """Return the judge's own mean with the interval implied by its many rows, which is no estimate of the human
    mean.
    """
    score = _score(sample)
    n = score.shape[-1]
    value = score.mean(axis=-1)
    influence = (score - value[..., None]) / n
    se = np.sqrt(_by_cluster_variance(influence, sample.clusters))
    half = _student(np.full_like(value, n - 1), level) * se
    nothing = np.zeros_like(value)
    return MeanEstimate(value, se, value - half, value + half, nothing + n - 1, nothing + 1, nothing, influence, score)


def _score(sample: PartlyLabeled) -> Floats:
    if sample.score is None:
        raise NlgaugeError("an estimate with a judge needs a score of every row.")
    return sample.score


def _strata(sample: PartlyLabeled) -> Iterator[NDArray[np.bool_]]:
    if sample.strata is None:
        yield np.ones(sample.labels.shape, bool)
        return
    codes = np.broadcast_to(sample.strata, sample.labels.shape)
    for code in range(int(codes.max()) + 1):
        yield codes == code


def _rectified(sample: PartlyLabeled, method: Method) -> MeanEstimate:
    """Compute value, variance and degrees of freedom, before the interval."""
    labeled, rows = sample.labeled, sample.labels.shape[-1]
    y = np.where(labeled, sample.labels, 0.0)
    f = np.zeros_like(y) if method == "labels" else np.broadcast_to(_score(sample), y.shape)
    value = np.zeros(y.shape[:-1])
    influence, centres, expected = np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)
    spread, weighted, per_freedom = np.zeros_like(value), np.zeros_like(value), np.zeros_like(value)
    common, strata = _common_weight(sample, method, y, f)
    # Parameters estimated from the labels of a stratum.
    fitted = 1 + (0 if method != "ppi++" else 1 if common is None else 1 / strata)
    for part in _parts(sample, y, f):
        own_part, w, n = part.mine, part.w, part.n
        lam = _ratio(*_weight(sample, method, part)) if common is None else common
        theta = part.y_mean + lam * (part.f_all - part.f_mean)
        share = part.size / rows
        own = lam[..., None] * part.all_off + w * (part.y_off - lam[..., None] * part.f_off)
        # Residuals around parameters fitted to the same labels are too small.
        own = np.where(own_part, own * np.sqrt(n / np.maximum(n - fitted, 1))[..., None], own) / rows
        influence += own
        centres += np.where(part.inside, theta[..., None], 0.0)
        expected += lam[..., None] * part.all_off
        value += share * theta
        weighted += share * lam
        square = np.where(own_part, own**2, 0.0).sum(axis=-1)
        spread, per_freedom = spread + square, per_freedom + square**2 / np.maximum(n - fitted, 1)
    influence = influence + (centres - value[..., None]) / rows  # strata of a file are a sample of rows, too
    variance = _by_cluster_variance(influence, sample.clusters)
    if sample.clusters is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            freedom = np.where(per_freedom > 0, spread**2 / per_freedom, np.maximum(labeled.sum(axis=-1) - fitted, 1))
    else:
        freedom = np.maximum(_labeled_clusters(sample) - fitted, 1).astype(float)
    nothing = np.full(value.shape, np.nan)
    se, expected = np.sqrt(variance), expected + centres
    return MeanEstimate(value, se, nothing, nothing, freedom, weighted, nothing, influence, expected)


@dataclass(frozen=True)
class _Part:
    """A stratum: its rows, the labeled ones, their weights, and deviations of labels and scores from their means."""

    inside: NDArray[np.bool_]
    mine: NDArray[np.bool_]
    size: Any
    n: Any
    each: Floats
    w: Floats
    y_mean: Any
    f_mean: Any
    f_all: Any
    y_off: Floats
    f_off: Floats
    all_off: Floats


def _parts(sample: PartlyLabeled, y: Floats, f: Floats) -> Iterator[_Part]:
    for inside in _strata(sample):
        size = inside.sum(axis=-1)
        own_mask = sample.labeled & inside
        n = own_mask.sum(axis=-1)
        each = _inverse_probability(sample, inside, size, n)
        w = np.where(own_mask, each, 0.0)
        w = w * (size / np.maximum(w.sum(axis=-1), 1e-300))[..., None]
        y_mean, f_mean = ((w * a).sum(axis=-1) / size for a in (y, f))
        f_all = np.where(inside, f, 0.0).sum(axis=-1) / size
        y_off, f_off = (np.where(own_mask, a - m[..., None], 0.0) for a, m in ((y, y_mean), (f, f_mean)))
        all_off = np.where(inside, f - f_all[..., None], 0.0)
        yield _Part(inside, own_mask, size, n, each, w, y_mean, f_mean, f_all, y_off, f_off, all_off)


def _common_weight(sample: PartlyLabeled, method: Method, y: Floats, f: Floats) -> tuple[Any, int]:
    """Return one λ for all strata, where one of them has too few labels for its own; and the number of strata."""
    if sample.strata is None or method != "ppi++":
        return None, 1
    top, over, strata, fewest = 0.0, 0.0, 0, np.inf
    for part in _parts(sample, y, f):
        own = _weight(sample, method, part)
        top, over, strata, fewest = top + own[0], over + own[1], strata + 1, min(fewest, int(np.min(part.n)))
    return (_ratio(top, over) if fewest < OWN_WEIGHT else None), strata


def _inverse_probability(sample: PartlyLabeled, inside: Any, size: Any, n: Any) -> Floats:
    """Return 1 / probability for every row of a stratum; equal probabilities where none are given."""
    if sample.probability is None:
        return np.where(inside, (size / np.maximum(n, 1))[..., None], 0.0)
    return np.where(inside, 1 / np.broadcast_to(sample.probability, sample.labels.shape), 0.0)


def _weight(sample: PartlyLabeled, method: Method, part: _Part) -> tuple[Any, Any]:
    """Return λ as a ratio over all rows: the one of least variance for ppi++, 1 for ppi (over unlabeled rows, as in
    PPI).
    """
    w, each, size, n = part.w, part.each, part.size, part.n
    one = np.ones(w.shape[:-1])
    if method == "labels":
        return 0 * one, one
    if method == "ppi":
        some = size > n if sample.probability is None else one < 0
        return np.where(some, size, 1.0), np.where(some, size - n, 1.0)
    top = (w * np.maximum(w - 1, 0) * part.y_off * part.f_off).sum(axis=-1)
    if np.isfinite(each).all():
        over = (np.maximum(each - 1, 0) * part.all_off**2).sum(axis=-1) * size / np.maximum(size - 1, 1)
    else:  # probabilities of the labeled rows only
        over = (w * np.maximum(w - 1, 0) * part.f_off**2).sum(axis=-1)
    return top, over


def _ratio(top: Any, over: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(over > 0, np.maximum(top / over, 0.0), 0.0)


def _by_cluster_variance(influence: Floats, clusters: NDArray[np.int64] | None) -> Any:
    if clusters is None:
        return (influence**2).sum(axis=-1)
    sums = cluster_sums(influence, clusters)
    groups = sums.shape[-1]
    return (sums**2).sum(axis=-1) * groups / max(groups - 1, 1)


def cluster_sums(influence: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Sum the influence by cluster: repetitions × clusters."""
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(int(clusters.max()) + 1))
    return np.asarray(np.add.reduceat(influence[..., order], starts, axis=-1))


def _labeled_clusters(sample: PartlyLabeled) -> Any:
    assert sample.clusters is not None
    return (cluster_sums(sample.labeled.astype(np.float64), sample.clusters) > 0).sum(axis=-1)


def _worth(sample: PartlyLabeled, found: MeanEstimate, plain: MeanEstimate) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return sample.labeled.sum(axis=-1) * np.where(found.se > 0, (plain.se / found.se) ** 2, 1.0)


def _verdict_interval(
    sample: PartlyLabeled, found: MeanEstimate, level: float, method: Method, equal_tails: bool
) -> MeanEstimate:
    """Return the interval of a proportion: that of a count for simple random labels, otherwise by shares.py."""
    n = sample.labeled.sum(axis=-1)
    value = np.clip(found.value, 0.0, 1.0)
    alone = method == "labels" and sample.clusters is None and sample.strata is None and sample.probability is None
    if alone:
        low, high = proportion_interval(value * n, n, level, one_tail=not equal_tails)
        return replace(found, low=low, high=high, worth=n.astype(float))
    units = found.influence if sample.clusters is None else cluster_sums(found.influence, sample.clusters)
    ends = share_interval(
        found.value,
        units,
        *_one_more(sample, found, value),
        _tail(sample, found.influence, level),
        count=method == "labels",
        tuned=method != "ppi",
        equal_tails=equal_tails,
    )
    return replace(found, value=value[()], low=ends.low, high=ends.high, worth=ends.worth)


def _tail(sample: PartlyLabeled, influence: Floats, level: float) -> Any:
    """Return the error rate of one limit; in clusters it is smaller, to account for Student's t.

    Its degrees of freedom are the effective number of rows by the design effect (variance by clusters over that by
    rows): where the rows of a cluster are alike, that is the number of clusters.
    """
    from scipy.special import ndtr

    if sample.clusters is None:
        return (1 - level) / 2
    together, alone = (cluster_sums(influence, sample.clusters) ** 2).sum(axis=-1), (influence**2).sum(axis=-1)
    rows, clusters = sample.labeled.sum(axis=-1), _labeled_clusters(sample)
    own = np.clip(rows * alone / np.maximum(together, 1e-300), clusters, rows)
    return ndtr(-_student(np.maximum(own - 1.0, 1.0), level))


def _one_more(sample: PartlyLabeled, found: MeanEstimate, value: Any) -> tuple[OneMore, OneMore]:
    """Return the effect of one unobserved pass among rows expected to fail, and of one fail among rows expected to
    pass.

    The rows expected to fail are those of least `expected`, as many as fail. The unobserved row has the weight of the
    heaviest label (or the mean weight of all rows, if larger) among those of its verdict; `seen` has the observed
    weights. As an error of the judge, or of the stratum, its influence is the mean of those rows. In clusters of k rows
    it counts √k times.
    """
    y = np.where(sample.labeled, sample.labels, 0.0)
    w, every = label_weights(sample, y)
    many = 1.0 if sample.clusters is None else np.sqrt(sample.labeled.sum(axis=-1) / _labeled_clusters(sample))
    expected = np.clip(found.expected, 0.0, 1.0)
    order = np.lexsort((every, expected), axis=-1)
    expected, weight = (np.take_along_axis(a, order, axis=-1) for a in (expected, every))
    rows = y.shape[-1]
    failed = np.clip(np.round((1 - value) * rows), 1, rows - 1)
    low = np.arange(rows) < failed[..., None]
    up, down = (
        np.maximum((weight * side).sum(axis=-1) * (off * side).sum(axis=-1) / count**2, 0.0)
        for side, off, count in (
            (low, value[..., None] - expected, failed),
            (~low, expected - value[..., None], rows - failed),
        )
    )
    both = []
    heavy = np.maximum(w.max(axis=-1), (every**2).sum(axis=-1) / every.sum(axis=-1))
    for extra in (heavy, 0.0):
        passes, fails = (
            many * ((w**2 * own).sum(axis=-1) + extra**2) / np.maximum((w * own).sum(axis=-1) + extra, 1e-300)
            for own in (y, np.where(sample.labeled, 1 - y, 0.0))
        )
        both.append(OneMore(passes, fails, passes * (1 - value) + up, fails * value + down))
    return both[0], both[1]


def _bounded_interval(
    sample: PartlyLabeled, found: MeanEstimate, plain: MeanEstimate, bounds: tuple[float, float], level: float
) -> MeanEstimate:
    """Compute the interval of a mean between two bounds as that of a proportion with the same variance.

    The number of rows is that of independent verdicts with the variance of the estimate (Korn and Graubard 1998), with
    the rule for counts. Near a bound, where rare low ratings determine the mean, the interval is wider on their side.
    The variance reduction by a judge is shrunk where it is estimated from few ratings far from the bound.
    """
    from scipy.special import ndtri

    start, unit = bounds[0], bounds[1] - bounds[0]
    sample = replace(sample, labels=(sample.labels - start) / unit)
    whole = found
    found, plain = (replace(e, value=(e.value - start) / unit, se=e.se / unit) for e in (found, plain))
    labeled = sample.labeled
    n = labeled.sum(axis=-1).astype(float)
    hits = np.where(labeled, sample.labels, 0.0).sum(axis=-1)
    rarer = np.minimum(hits, n - hits)
    student = (-ndtri((1 - level) / 2) / _student(found.freedom, level)) ** 2
    alone = _alone(sample, plain, n)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(plain.se > 0, found.se**2 / plain.se**2, 1.0)
    held_back = np.where(ratio < 1, 1 - (1 - ratio) * rarer / (rarer + PRIOR_FAILURES), ratio)
    counts = np.maximum(alone / held_back, 1e-9)
    value = np.clip(found.value, 0.0, 1.0)
    low, high = proportion_interval(value * counts * student, counts * student, level, "midp")
    value, low, high = (start + unit * end for end in (value, np.minimum(low, value)[()], np.maximum(high, value)[()]))
    return replace(whole, value=value, low=low, high=high, worth=n * counts / np.maximum(alone, 1e-9))


def _alone(sample: PartlyLabeled, plain: MeanEstimate, n: Any) -> Any:
    """Return the number of independent verdicts with the variance of the labels alone under this design."""
    # The variance depends on rare ratings at the far end, which few labels may miss: part of the heaviest is added.
    y = np.where(sample.labeled, sample.labels, 0.0)
    largest = label_weights(sample, y)[0].max(axis=-1)
    most = n
    if sample.clusters is not None:  # a rare rating comes with those of its cluster that are like it (design effect)
        most = np.minimum(n, _labeled_clusters(sample))
        off = label_weights(sample, y)[0] * (y - np.asarray(plain.value)[..., None])
        together, single = (cluster_sums(off, sample.clusters) ** 2).sum(axis=-1), (off**2).sum(axis=-1)
        largest = largest * np.clip(together / np.maximum(single, 1e-300), 1.0, np.maximum(n / most, 1.0))
    rare = PRIOR_FAR_RATING * (largest * np.maximum(plain.value, 1 - plain.value)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(plain.se > 0, plain.value * (1 - plain.value) / (plain.se**2 + rare), most)


def label_weights(sample: PartlyLabeled, y: Floats) -> tuple[Floats, Floats]:
    """Return the weight of each label in the mean of labels only (they sum to 1), and of every row if it were labeled.

    The latter is that of the heaviest label where a row's probability is unknown.
    """
    rows = y.shape[-1]
    labeled, every = np.zeros_like(y), np.zeros_like(y)
    for part in _parts(sample, y, y):
        labeled += part.w / rows
        total = np.where(part.mine, part.each, 0.0).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            every += np.where(part.inside, part.each * (part.size / total / rows)[..., None], 0.0)
    heaviest = labeled.max(axis=-1, keepdims=True)
    return labeled, np.where(np.isfinite(every), np.minimum(every, 1.0), heaviest)
