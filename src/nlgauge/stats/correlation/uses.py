"""Uses of a metric, each measured as one share: 0.5 is chance, 1 is always right.

rank: of two systems with unequal mean human ratings, the metric puts the better one first (`system/pairwise-accuracy`).
pairwise: of two outputs of one input with unequal human ratings, it prefers the better one (`input/pairwise-accuracy`).
flag: it gives a bad output a lower score than another output (area under the ROC curve). A tie of the metric counts one
half. Each share is compared with baselines that know nothing about quality: a constant, the length of the output, and
for `flag` the part of the metric that depends on the input alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from nlgauge.stats.correlation.evaluate_groups import arrays, plan_measures
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.resampling.contrasts import NO_ERROR, deviations, simultaneous_level
from nlgauge.stats.resampling.jackknife import (
    SYSTEMS,
    LeaveOneOut,
    generalizes_to,
    input_groups,
    intervals,
    left_out,
    output_sets,
    system_groups,
    too_few,
    unit_word,
)
from nlgauge.stats.resampling.rank_intervals import perfect
from nlgauge.types import Array, Ints, Mask

Use = Literal["rank", "pairwise", "flag"]
Badge = Literal["reliable", "inconclusive", "not reliable"]
MIN_BAD = 10  # bad outputs, and others, below which an area under the ROC curve gets no interval (docs/trust.md)
OUTLYING = 3.5  # robust standard deviations between an outlying system and the median
MIN_BAD_SYSTEMS = 3  # systems with such outputs that are needed, if there are several systems


@dataclass(frozen=True)
class UseShares:
    """One use: the share of each of K metrics with simultaneous intervals, and its advantage over the best baseline."""

    value: Array
    low: Array
    high: Array
    advantage_low: Array
    advantage_high: Array
    reason: list[str | None]
    baselines: dict[str, float]
    level: float  # level of the single intervals at which they hold simultaneously at the requested level


def outlying_systems(human: ArrayLike) -> Mask:
    """Return the systems whose mean human rating is an outlier (3.5 robust standard deviations from the median).

    At most a quarter of the systems are, and 6 others have to remain; otherwise none is called an outlier.

    >>> outlying_systems([[1.0], [2.0], [2.2], [1.8], [2.1], [1.6], [9.0]]).tolist()
    [False, False, False, False, False, False, True]
    """
    z = np.asarray(human, np.float64)
    available = np.isfinite(z).any(axis=1)
    means = np.full(len(z), np.nan)
    means[available] = np.nanmean(z[available], axis=1)
    distance = np.abs(means - np.nanmedian(means))
    outlying = distance > OUTLYING * 1.4826 * np.nanmedian(distance)
    few = 4 * outlying.sum() <= available.sum() and available.sum() - outlying.sum() >= SYSTEMS
    return outlying if few else np.zeros(len(z), bool)


def tied_pairs(human: ArrayLike) -> float:
    """Return the share of pairs of outputs within inputs whose human ratings are equal; NaN without pairs.

    >>> tied_pairs([[1, 2], [1, 3], [2, 3]])
    0.3333333333333333
    """
    z = np.asarray(human, np.float64).T
    valid = np.isfinite(z)
    rows = np.stack([np.nonzero(valid)[0], z[valid]])
    _, counts = np.unique(rows, axis=1, return_counts=True)
    sizes = valid.sum(axis=1)
    pairs = (sizes * (sizes - 1)).sum()
    return float((counts * (counts - 1)).sum() / pairs) if pairs else float("nan")


def pair_shares(
    measure: str,
    x: ArrayLike,
    human: ArrayLike,
    length: Array | None,
    clusters: ArrayLike | None = None,
    families: ArrayLike | None = None,
    level: float = 0.95,
) -> UseShares:
    """Compute a pairwise accuracy of K metrics (K × N × M) and of two baselines: a constant and output length (N ×
    M).
    """
    metrics, z = arrays(x, human)
    k, want = len(metrics), plan_measures([measure])
    over = generalizes_to("auto", int(system_groups(len(z), families).max()) + 1)
    base = _oriented_length(length, z, want.measures[0]) if length is not None else None
    stack = metrics if base is None else np.concatenate([metrics, base[None]])
    left = left_out(stack, z, want, over, clusters, None, families).transform(lambda v: v[:, 0])
    moves = left.transform(
        lambda v: want.fisher_z(v[:, None])[:, 0] if v.ndim == 1 else want.fisher_z(v[:, None, :])[:, 0]
    )
    single = simultaneous_level(deviations(moves)[:k], level)
    ends = intervals(metrics, z, want.measures, clusters=clusters, families=families, level=single)
    value, low, high = ends.value[:, 0], ends.low[:, 0], ends.high[:, 0]
    gain_low, gain_high, baselines = low - 0.5, high - 0.5, {"constant": 0.5}
    if base is not None:
        less, more = _gap_interval(left.difference(np.arange(k), np.full(k, k)), single)
        gain_low, gain_high = np.fmin(gain_low, less), np.fmin(gain_high, more)
        baselines["output length"] = float(left.value[k])
    # A metric that ties all outputs has no advantage over a constant, which rank intervals do not reflect.
    tied = (np.abs(value - 0.5) < NO_ERROR) & (np.abs(deviations(left)[:k]).max(axis=1) < NO_ERROR)
    gain_low, gain_high = (
        np.where(tied, np.fmin(gain_low, 0), gain_low),
        np.where(tied, np.fmin(gain_high, 0), gain_high),
    )
    missing = np.isnan(low)
    gain_low, gain_high = np.where(missing, np.nan, gain_low), np.where(missing, np.nan, gain_high)
    return UseShares(value, low, high, gain_low, gain_high, list(ends.reason[:, 0]), baselines, single)


def flag_shares(
    x: ArrayLike,
    human: ArrayLike,
    bad: Mask,
    length: Array | None,
    clusters: ArrayLike | None = None,
    families: ArrayLike | None = None,
    level: float = 0.95,
) -> UseShares:
    """Compute the area under the ROC curve for bad outputs, and that of length and of the metric's mean per input."""
    metrics, z = arrays(x, human)
    kin, groups = system_groups(len(z), families), input_groups(metrics, z, clusters)
    over = generalizes_to("auto", int(kin.max()) + 1)
    labels = [groups[None, :], *([kin[:, None], output_sets(z)] if over == "both" else [])]

    def left(scores: Array) -> LeaveOneOut:
        whole, inputs, *others = bad_areas(scores, bad, z, *labels)
        systems, outputs = others or (None, None)
        return LeaveOneOut(whole[0], systems, inputs, outputs)

    whole = [left(m) for m in metrics]
    length_left = None if length is None else left(_oriented(length, lambda v: _area(v, bad, z)))
    clustered = deviations(_stacked([w.transform(_logit) for w in whole]))
    single = simultaneous_level(clustered, level)
    columns: list[list[float]] = []
    reasons: list[str | None] = []
    for m, one in zip(metrics, whole, strict=True):
        inputs_only = left(_input_means(m, z)) if len(z) > 1 else None
        rivals = [b for b in (length_left, inputs_only) if b is not None]
        reasons.append(_too_few_bad(m, z, bad, kin, groups if clusters is not None else None, over))
        units = len(np.unique(kin)) if over == "both" else z.shape[1]
        columns.append(_flag_row(one, rivals, reasons[-1], single, units))
    value, low, high, gain_low, gain_high = np.array(columns).T
    baselines = {"constant": 0.5, **({} if length_left is None else {"output length": float(length_left.value)})}
    return UseShares(value, low, high, gain_low, gain_high, reasons, baselines, single)


def _flag_row(one: LeaveOneOut, rivals: list[LeaveOneOut], reason: str | None, level: float, units: int) -> list[float]:
    """Compute value, interval, and interval of the advantage over the best baseline."""
    value = float(one.value)
    if reason or np.isnan(value):
        return [value, *[np.nan] * 4]
    if value in (0.0, 1.0):
        end = (1 + perfect(units, level)) / 2
        low, high = (end, 1.0) if value else (0.0, 1 - end)
    else:
        spread = one.transform(_logit).spread()
        half = float(stdtrit(spread.free, 0.5 + level / 2) * np.sqrt(spread.variance))
        low, high = float(expit(logit(value) - half)), float(expit(logit(value) + half))
    gains = [(low - 0.5, high - 0.5)]
    for rival in rivals:
        less, more = _gap_interval(one.transform(np.subtract, rival), level)
        gains.append((float(less), float(more)))
    return [value, low, high, min(g[0] for g in gains), min(g[1] for g in gains)]


def _gap_interval(gap: LeaveOneOut, level: float) -> tuple[Array, Array]:
    spread = gap.spread(of_differences=True)
    half = stdtrit(spread.free, 0.5 + level / 2) * np.sqrt(spread.variance)
    return gap.value - half, gap.value + half


def _stacked(each: list[LeaveOneOut]) -> LeaveOneOut:
    parts = [(w.value, w.systems, w.inputs, w.outputs) for w in each]
    joined = [None if any(p is None for p in column) else np.stack(column) for column in zip(*parts, strict=True)]
    return LeaveOneOut(*joined)  # type: ignore[arg-type]


def _area(scores: Array, bad: Mask, z: Array) -> float:
    return float(bad_areas(scores, bad, z)[0][0])


def _input_means(scores: Array, z: Array) -> Array:
    """Return the metric's mean over the systems for each input, which depends on the input alone."""
    there = np.isfinite(scores) & np.isfinite(z)
    n = there.sum(axis=0)
    mean = np.where(there, scores, 0.0).sum(axis=0) / np.maximum(n, 1)
    return np.where(there, mean, np.nan)


def _oriented(length: Array, share: Any) -> Array:
    """Return length with the sign that agrees better with the ratings."""
    return length if not share(length) < 0.5 else -length


def _oriented_length(length: Array, z: Array, measure: Any) -> Array:
    return _oriented(length, lambda v: evaluate(v[None], z, [measure]).value[0, 0])


def _too_few_bad(metric: Array, z: Array, bad: Mask, kin: Any, groups: Any, over: str) -> str | None:
    """Return the reason why an area under the ROC curve has no interval; None if it has one."""
    there = np.isfinite(metric) & np.isfinite(z)
    positives, others = int((there & bad).sum()), int((there & ~bad).sum())
    if min(positives, others) < MIN_BAD:
        few, what = (positives, "bad outputs") if positives <= others else (others, "outputs that are not bad")
        return f"an interval needs at least {MIN_BAD} {what}; here are {few}"
    systems = int((there & bad).any(axis=1).sum())
    if len(z) > 1 and systems < min(MIN_BAD_SYSTEMS, len(z)):
        return f"an interval needs bad outputs of at least {MIN_BAD_SYSTEMS} systems; here are {systems}"
    units = groups if groups is not None else np.arange(z.shape[1])
    inputs = len(np.unique(units[there.any(axis=0)]))
    return too_few(len(np.unique(kin[there.any(axis=1)])), inputs, over, "input", unit_word(groups))  # type: ignore[arg-type]


def bad_areas(metric: Array, bad: Mask, human: Array, *labels: Ints) -> list[Array]:
    """Compute the area under the ROC curve for bad outputs: the share of pairs in which the bad output scores lower.

    Parameters
    ----------
    metric, bad, human : array of N × M
        Scores, which outputs are bad, and ratings; an output without a score or a rating is left out.
    *labels : array of N × M, or of a shape that is broadcast to it
        The number of the unit that each output belongs to, from 0.

    Returns
    -------
    list of arrays
        The area of all outputs (one value), then for each of `labels` the areas without each of its units.

    Notes
    -----
    Each output has a count of the outputs of the other kind that it is on the right side of, ties as one half. An area
    without a unit is the sum without the counts of its outputs, to which the pairs within the unit are added again,
    since both of their outputs were taken out.
    """
    known = np.isfinite(metric) & np.isfinite(human)
    values, is_bad = metric[known], bad[known]
    right = _right_pairs(values, is_bad, np.zeros(len(values), np.int64))
    bads, total = int(is_bad.sum()), float(right[is_bad].sum())
    areas = [_share(np.array([total]), np.array([bads * (len(values) - bads)]))]
    for each in labels:
        units = int(each.max(initial=-1)) + 1
        unit = np.broadcast_to(each, metric.shape)[known]

        def summed(weights: Array, unit: Ints = unit, units: int = units) -> Array:
            return np.bincount(unit, weights, minlength=units).astype(np.float64)

        within = summed(np.where(is_bad, _right_pairs(values, is_bad, unit), 0.0))
        own_bads, own = summed(is_bad.astype(np.float64)), summed(np.ones(len(unit)))
        pairs = (bads - own_bads) * (len(values) - bads - (own - own_bads))
        areas.append(_share(total - summed(right) + within, pairs))
    return areas


def _right_pairs(values: Array, is_bad: Mask, unit: Ints) -> Array:
    """Count for each output the outputs of the other kind in its unit that it is on the right side of; a tie is 0.5."""
    order = np.lexsort((values, unit))
    v, b, u = values[order], is_bad[order], unit[order]
    if not len(v):
        return np.empty(0)
    new_unit = np.r_[True, np.diff(u) > 0]
    new_run = new_unit | np.r_[True, np.diff(v) != 0]  # runs of equal scores
    first, run = np.flatnonzero(new_run), np.cumsum(new_run) - 1
    bads, goods = (np.add.reduceat(kind.astype(np.float64), first) for kind in (b, ~b))
    start = np.flatnonzero(new_unit[first])
    unit_of_run = np.cumsum(new_unit[first]) - 1
    bads_below, goods_to_here = (np.cumsum(c) for c in (bads, goods))
    bads_below = bads_below - bads
    bads_below -= bads_below[start][unit_of_run]
    goods_above = np.add.reduceat(goods, start)[unit_of_run] - (
        goods_to_here - (goods_to_here - goods)[start][unit_of_run]
    )
    right = np.where(b, (goods_above + 0.5 * goods)[run], (bads_below + 0.5 * bads)[run])
    counts = np.empty(len(v))
    counts[order] = right
    return counts


def badge_of(low: float, high: float, limit: float, advantage_low: float, advantage_high: float) -> Badge | None:
    """Return the badge of a value, which must reach the limit and exceed the baseline.

    Parameters
    ----------
    low, high
        Confidence interval of the value (recall, pairwise accuracy).
    limit
        Smallest value that is good enough.
    advantage_low, advantage_high
        Confidence interval of the advantage over the baseline: Youden's J of a judge, or the paired difference of a
        metric from the best baseline. A coin that passes 95% of the rows reaches any limit of recall on passes.

    Returns
    -------
    "reliable" if both intervals lie above (the limit, 0), "not reliable" if one of them lies below, else
    "inconclusive"; None if an interval is missing (NaN) and the other one does not decide.

    Examples
    --------
    >>> badge_of(0.8, 0.9, 0.75, 0.1, 0.4), badge_of(0.8, 0.9, 0.75, -0.1, 0.2), badge_of(0.8, 0.9, 0.75, -0.2, 0.0)
    ('reliable', 'inconclusive', 'not reliable')
    >>> badge_of(0.4, 0.6, 0.75, np.nan, np.nan), badge_of(0.8, 0.9, 0.75, np.nan, np.nan)
    ('not reliable', None)
    """
    if high < limit or advantage_high <= 0:
        return "not reliable"
    if np.isnan([low, high, advantage_low, advantage_high]).any():
        return None
    return "reliable" if low >= limit and advantage_low > 0 else "inconclusive"


def _logit(share: Any) -> Any:
    return logit(np.clip(share, 1e-6, 1 - 1e-6))


def _share(right: Any, all_: Any) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(all_ > 0, right / all_, np.nan), np.float64)
