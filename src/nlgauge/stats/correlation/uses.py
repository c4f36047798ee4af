"""What a metric is used for, as one probability each: .5 is chance, 1 is always right.

rank: of two systems that people rate differently, it puts the better one first.
choose: of two outputs of one input that people rate differently, it prefers the better one.
flag: of a bad and another output, it gives the bad one the lower score (area under the ROC curve).
A tie of the metric counts half. `rows` (draws × systems) and `cols` (draws × inputs) say how often each counts.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.resampling.jackknife import (
    Spread,
    WithoutEach,
    input_groups,
    output_sets,
    too_few,
    unit_word,
    without_each,
)
from nlgauge.stats.resampling.rank_intervals import kendall_interval, perfect
from nlgauge.types import Array, Mask

Use = Literal["rank", "choose", "flag"]
Verdict = Literal["good", "usable", "not", "cannot tell"]
Badge = Literal["reliable", "inconclusive", "not reliable"]
CHUNK = 4_000_000  # weights of outputs that are held at once


def rank_right(metric: Array, human: Array, rows: Array, cols: Array) -> Array:
    """Share of system pairs in people's order, for each draw; NaN where no two systems differ."""
    both = np.isfinite(metric) & np.isfinite(human)
    weight = both @ cols.T  # systems × draws
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = [np.where(both, v, 0.0) for v in (metric, human)]
        means = [snap((v @ cols.T / weight).T, axis=-1, scale=largest(v, axis=1)) for v in kept]
    right, pairs = np.zeros(len(cols)), np.zeros(len(cols))
    for a, b in combinations(range(len(metric)), 2):
        m, h = (np.sign(v[:, a] - v[:, b]) for v in means)
        known = np.isfinite(m) & np.isfinite(h) & (h != 0)
        times = rows[:, a] * rows[:, b]
        pairs += np.where(known, times, 0.0)
        right += np.where(known, 0.5 * (1 + m * h) * times, 0.0)
    return _share(right, pairs)


def choose_right(metric: Array, human: Array, rows: Array, cols: Array) -> Array:
    """Share of pairs of outputs of one input in people's order."""
    first, second = np.triu_indices(len(metric), 1)
    right, pairs = np.zeros(len(cols)), np.zeros(len(cols))
    step = max(1, CHUNK // max(1, metric.shape[1]))
    for at in range(0, len(first), step):
        a, b = first[at : at + step], second[at : at + step]
        with np.errstate(invalid="ignore"):
            m, h = (np.sign(v[a] - v[b]) for v in (metric, human))
        known = np.isfinite(m) & np.isfinite(h) & (h != 0)
        times = rows[:, a] * rows[:, b]
        pairs += ((cols @ known.T.astype(np.float64)) * times).sum(axis=1)
        right += ((cols @ np.where(known, 0.5 * (1 + m * h), 0.0).T) * times).sum(axis=1)
    return _share(right, pairs)


def flag_right(metric: Array, bad: Mask, human: Array, rows: Array, cols: Array) -> Array:
    """Area under the ROC curve of the metric, turned, for bad outputs against the others that people rated."""
    known = np.isfinite(metric) & np.isfinite(human)
    system, given = np.nonzero(known)
    values, is_bad = metric[known], bad[known]
    if not len(values):
        return np.full(len(cols), np.nan)
    order = np.argsort(values, kind="stable")
    values, is_bad, system, given = values[order], is_bad[order], system[order], given[order]
    first = np.flatnonzero(np.r_[True, np.diff(values) > 0])
    out = np.empty(len(cols))
    step = max(1, CHUNK // len(values))
    for at in range(0, len(cols), step):
        weights = rows[at : at + step, system] * cols[at : at + step, given]
        bads, goods = (np.add.reduceat(weights * mask, first, axis=1) for mask in (is_bad, ~is_bad))
        above = goods.sum(axis=1, keepdims=True) - np.cumsum(goods, axis=1)
        right = (bads * (above + 0.5 * goods)).sum(axis=1)
        out[at : at + step] = _share(right, bads.sum(axis=1) * goods.sum(axis=1))
    return out


def use_interval(
    use: Use,
    metric: Array,
    human: Array,
    bad: Mask,
    over: Literal["both", "inputs"],
    level: float = 0.95,
    clusters: ArrayLike | None = None,
) -> tuple[float, float, float, str | None]:
    """(value, low, high, why there is no interval) of one metric for one use, for systems and inputs like these.

    Choosing and flagging: delete-one on the logit scale with Student's t. Ranking systems: the interval of Kendall's
    tau between systems' means, of which the share is a linear map.
    """
    shared = np.isfinite(metric) & np.isfinite(human)
    groups = input_groups(metric[None], human, clusters)
    units = groups if clusters is not None else np.arange(human.shape[1])
    systems, inputs = int(shared.any(axis=1).sum()), len(np.unique(units[shared.any(axis=0)]))
    rows, cols = without_each(human.shape, groups, over)

    def right(x: Array, r: Array, c: Array) -> Array:
        if use == "flag":
            return flag_right(x, bad, human, r, c)
        return (rank_right if use == "rank" else choose_right)(x, human, r, c)

    whole = float(right(metric, rows[:1], cols[:1])[0])
    why = too_few(
        systems, inputs, "both" if use == "rank" else over, "system" if use == "rank" else "input", unit_word(clusters)
    )
    if np.isnan(whole) or why:
        return whole, np.nan, np.nan, why
    tail = (1 - level) / 2
    if use == "rank":
        low, high = ((1 + end) / 2 for end in kendall_interval(2 * whole - 1, systems, level))
        return whole, low, high, None
    if whole in (0.0, 1.0):
        end = (1 + perfect(systems if over == "both" else inputs, level)) / 2
        return (whole, end, 1.0, None) if whole == 1.0 else (whole, 0.0, 1 - end, None)
    spread = _logit_spread(right, metric, human, rows, cols, over)
    half = float(stdtrit(spread.free, 1 - tail) * np.sqrt(spread.variance))
    if not np.isfinite(half):
        return whole, np.nan, np.nan, "too many of the values without one system or input are undefined"
    return whole, float(expit(logit(whole) - half)), float(expit(logit(whole) + half)), None


def _logit_spread(right: Any, metric: Array, human: Array, rows: Array, cols: Array, over: str) -> Spread:
    found = right(metric, rows, cols)
    outputs = None
    if over == "both":
        sets, one = output_sets(human), (np.ones((1, human.shape[0])), np.ones((1, human.shape[1])))
        outputs = np.array([right(np.where(sets == s, np.nan, metric), *one)[0] for s in range(int(sets.max()) + 1)])
    n = human.shape[0] if over == "both" else 0
    left = WithoutEach(found[0], found[1 : 1 + n] if n else None, found[1 + n :], outputs)
    return left.moved(_logit).spread()


def verdict_of(low: float, high: float, usable: float, good: float) -> Verdict:
    """A word that the whole interval supports.

    >>> [verdict_of(low, high, 0.6, 0.75) for low, high in ((0.8, 0.9), (0.62, 0.9), (0.4, 0.55), (0.5, 0.7))]
    ['good', 'usable', 'not', 'cannot tell']
    """
    if np.isnan(low) or np.isnan(high):
        return "cannot tell"
    return "good" if low >= good else "usable" if low >= usable else "not" if high < usable else "cannot tell"


def badge_of(low: float, high: float, limit: float, advantage_low: float, advantage_high: float) -> Badge | None:
    """Return the badge that a value earns: it must reach the limit and beat what no knowledge of quality would reach.

    Parameters
    ----------
    low, high
        Confidence interval of the value (recall, pairwise accuracy).
    limit
        Value from which on the use is served.
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
