"""Estimates for several systems: differences, simultaneous intervals and ranks.

Systems that answer the same inputs are not independent: the influence of an input (or its cluster) on every mean gives
their covariance. All intervals hold simultaneously with the stated probability (largest Student's t of all, by draws
from that covariance).

Labels that do not cover every system: `left_out_systems` finds the systems that the labels were not sampled from, and
`audit_transfer` tests whether the judge's mean error on one system is that on another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.stats.estimation.means import (
    MeanEstimate,
    Method,
    PartlyLabeled,
    cluster_sums,
    label_weights,
    mean_estimate,
)

Floats = NDArray[np.float64]
DRAWS = 20_000
PROBE_LABELS = 20  # labels that a system needs where they are not a random sample of all rows: with 15 the
# interval of verdicts covered 0.926 (docs/estimate_coverage.md)
IMPROBABLE = 0.01  # p below which a system has too few labels for a random draw from all systems
TRANSFER_LEVEL = (
    0.9  # level of the interval that must be inside the margin: two one-sided tests at 5% (Schuirmann 1987)
)
POWER = 0.8  # power of the recommended number of labels
COPIES = 20  # copies of the scores of labeled rows, so that their distribution counts as known
Outcome = Literal["transfers", "does not transfer", "undecided"]


@dataclass(frozen=True)
class Systems:
    """Estimates of every system and of every pair (first minus second), and the ranks consistent with the pairs."""

    each: list[MeanEstimate]  # intervals of single systems
    together: list[MeanEstimate]  # simultaneous intervals of all systems
    pairs: list[tuple[int, int]]
    difference: Floats
    low: Floats  # simultaneous intervals of the differences
    high: Floats
    best_rank: NDArray[np.int64]
    worst_rank: NDArray[np.int64]


def compare_systems(
    samples: Sequence[PartlyLabeled],
    units: Sequence[NDArray[np.int64]],
    method: Method = "ppi++",
    level: float = 0.95,
    seed: int = 0,
) -> Systems:
    """Compare systems; `samples`: one per system; `units`: the input or cluster of each row, one code across
    systems.
    """
    each, covariance = joint_means(samples, units, method, level)
    freedom = float(min(e.freedom for e in each))
    pairs = list(combinations(range(len(each)), 2))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    contrast = np.zeros((len(pairs), len(each)))
    contrast[np.arange(len(pairs)), first], contrast[np.arange(len(pairs)), second] = 1, -1
    rng = np.random.default_rng(seed)
    if not pairs:
        one = np.ones(1, np.int64)
        return Systems(each, each, [], np.empty(0), np.empty(0), np.empty(0), one, one)
    # Each limit of a difference uses one limit of either mean.
    wide, for_pairs = (
        [mean_estimate(s, method, joint, equal_tails=pairs_too) for s in samples]
        for joint, pairs_too in (
            (_joint_level(covariance, c, freedom, level, rng), c is contrast) for c in (np.eye(len(each)), contrast)
        )
    )
    difference, low, high = _recovered(for_pairs, covariance, first, second)
    better, worse = np.zeros(len(each), np.int64), np.zeros(len(each), np.int64)
    np.add.at(better, first, high < 0)  # systems significantly better than each
    np.add.at(better, second, low > 0)
    np.add.at(worse, first, low > 0)
    np.add.at(worse, second, high < 0)
    return Systems(each, wide, pairs, difference, low, high, 1 + better, len(each) - worse)


def joint_means(
    samples: Sequence[PartlyLabeled], units: Sequence[NDArray[np.int64]], method: Method, level: float
) -> tuple[list[MeanEstimate], Floats]:
    """Estimate the mean of every system, and the covariance of all of them through the inputs that they share."""
    each = [mean_estimate(s, method, level) for s in samples]
    size = max(int(u.max()) for u in units) + 1
    sums = np.stack([_padded(e.influence, u, size) for e, u in zip(each, units, strict=True)])
    return each, sums @ sums.T


def _padded(influence: Floats, units: NDArray[np.int64], size: int) -> Floats:
    result = np.zeros(size)
    np.add.at(result, units, influence)
    return result


def _joint_level(covariance: Floats, contrast: Floats, freedom: float, level: float, rng: np.random.Generator) -> float:
    """Return the level of single intervals at which all hold simultaneously, from the largest |t|."""
    from scipy.special import stdtr

    spread = contrast @ covariance @ contrast.T
    sd = np.sqrt(np.diag(spread))
    held = sd > 0
    if not held.any():
        return level
    correlation = spread[np.ix_(held, held)] / np.outer(sd[held], sd[held])
    values, vectors = np.linalg.eigh(correlation)
    # The sign of an eigenvector is arbitrary; it must not depend on the order of the systems.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    root = vectors * signs * np.sqrt(np.maximum(values, 0))
    drawn = np.abs(rng.standard_normal((DRAWS, len(values))) @ root.T).max(axis=1)
    drawn = drawn / np.sqrt(rng.chisquare(freedom, DRAWS) / freedom)
    return float(2 * stdtr(freedom, np.quantile(drawn, level)) - 1)


def _recovered(
    each: Sequence[MeanEstimate], covariance: Floats, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Compute intervals of differences from those of both means and their correlation (Zou and Donner 2008).

    They preserve the asymmetry of the interval of a proportion near 0 or 1.
    """
    value, low, high = (np.array([float(getattr(e, name)) for e in each]) for name in ("value", "low", "high"))
    sd = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.nan_to_num(covariance[first, second] / (sd[first] * sd[second]))
    down, up = value - low, high - value
    difference = value[first] - value[second]

    def half(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(a**2 + b**2 - 2 * r * a * b, 0.0)))

    return difference, difference - half(down[first], up[second]), difference + half(up[first], down[second])


def pool_means(each: Sequence[MeanEstimate], weights: Floats, correlation: Floats | None = None) -> MeanEstimate:
    """Pool the means of systems with fixed weights, for example their shares of all outputs.

    Parameters
    ----------
    each : sequence of MeanEstimate
        One per system, each from labels of its own.
    weights : array
        One per system; they sum to 1.
    correlation : array, optional
        Of the means (systems × systems), where systems answer the same inputs. Independent by default.

    Notes
    -----
    The interval comes from those of the systems (Zou and Donner 2008), so that a system with few labels or with rare
    errors of the judge makes it as long as its own interval says. Labels of one system are not used for another.

    Examples
    --------
    >>> labels = np.where(np.arange(90) < 30, np.arange(90) % 3 > 0, np.nan)
    >>> each = [mean_estimate(PartlyLabeled(part), "labels") for part in (labels, labels)]
    >>> pooled = pool_means(each, np.array([0.5, 0.5]))
    >>> bool(pooled.low > each[0].low), round(float(pooled.value), 2)
    (True, 0.67)
    """
    value, low, high, se, weight = (
        np.stack([np.asarray(getattr(e, name)) for e in each], axis=-1)
        for name in ("value", "low", "high", "se", "weight")
    )
    r = np.eye(len(each)) if correlation is None else correlation

    def combine(parts: Floats) -> Any:
        """Return the root of the quadratic form of weighted parts and their correlation."""
        parts = parts * weights
        return np.sqrt(np.maximum(np.einsum("...i,...ij,...j", parts, r, parts), 0.0))[()]

    center = (value @ weights)[()]
    below, above = combine(value - low), combine(high - value)
    nothing = np.full(np.shape(center), np.nan)[()]
    return replace(
        each[0],
        value=center,
        se=combine(se),
        low=center - below,
        high=center + above,
        weight=(weight @ weights)[()],
        freedom=nothing,
        worth=nothing,
    )


def left_out_systems(
    labels: NDArray[np.int64], rows: NDArray[np.int64], fewest: int = PROBE_LABELS
) -> NDArray[np.bool_]:
    """Mark the systems that have so few labels that these were not drawn at random from the rows of all systems.

    Parameters
    ----------
    labels, rows : arrays of int
        Number of labeled rows and of all rows of each system (or of clusters, where these were drawn).
    fewest : int, default 20
        A system with as many labels has an estimate of its own and is never marked.

    Returns
    -------
    array of bool

    Notes
    -----
    Two tests at 1%: the hypergeometric probability of so few labels of a system (Bonferroni over systems), and the
    Poisson probability of so many systems without a label. Many systems with few labels each are not marked where the
    labels are a random sample of all rows.

    Examples
    --------
    >>> left_out_systems(np.array([120, 0]), np.array([400, 400])).tolist()
    [False, True]
    >>> left_out_systems(np.array([9, 4, 7]), np.array([400, 400, 400])).tolist()
    [False, False, False]
    """
    from scipy.special import gammaln, pdtrc

    def log_choose(several: Any, chosen: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            ways = gammaln(several + 1) - gammaln(chosen + 1) - gammaln(several - chosen + 1)
        return np.where((chosen >= 0) & (chosen <= several), ways, -np.inf)

    n, total = int(labels.sum()), int(rows.sum())
    # scipy.stats.hypergeom for the few numbers of labels that count, without the second that importing it takes
    number, own = np.arange(fewest), rows[:, None]
    probability = np.exp(log_choose(own, number) + log_choose(total - own, n - number) - log_choose(total, n))
    few, empty = labels < fewest, labels == 0
    as_few = probability.cumsum(axis=1)[np.arange(len(labels)), np.minimum(labels, fewest - 1)]
    many = bool(pdtrc(empty.sum() - 1, probability[:, 0].sum()) < IMPROBABLE) if empty.any() else False
    return np.asarray(few & ((as_few * len(labels) < IMPROBABLE) | (empty & many)))


class ErrorTransfer(NamedTuple):
    """Error of a mean that uses the judge's errors on another system, with its interval and the outcome.

    difference: mean by the judge, corrected with the labels of the reference, minus mean of the system's own labels;
    above 0 the judge is more lenient toward the system. labels: of the system, about as many as would decide with 80%
    power if this were the true difference; NaN where it is decided, or no number would.
    """

    difference: Any
    low: Any
    high: Any
    outcome: Any
    labels: Any


def audit_transfer(
    samples: Mapping[str, PartlyLabeled], margin: float, level: float = TRANSFER_LEVEL
) -> tuple[str, dict[str, ErrorTransfer]]:
    """Test whether the judge's mean error transfers from the system with most labels to each other one.

    Returns the name of that system (the first of several) and the result for each other one.
    """
    counts = {name: int(sample.labeled.sum()) for name, sample in samples.items()}
    reference = max(counts, key=counts.__getitem__)
    others = {name: sample for name, sample in samples.items() if name != reference}
    return reference, {name: transfer_test(samples[reference], own, margin, level) for name, own in others.items()}


def transfer_test(
    reference: PartlyLabeled, own: PartlyLabeled, margin: float, level: float = TRANSFER_LEVEL
) -> ErrorTransfer:
    """Test the equivalence of the judge's mean error on two systems.

    Parameters
    ----------
    reference, own : PartlyLabeled
        Rows of the system whose labels would be used, and of the one that they would be used for; with axes of
        repetitions before the rows.
    margin : float
        The largest difference that does not matter, in units of the labels.
    level : float, default 0.9
        Of the interval: 0.9 is two one-sided tests at 5%.

    Returns
    -------
    ErrorTransfer
        'transfers' where the interval of the difference lies inside ±margin, 'does not transfer' where it lies outside,
        else 'undecided'.

    Notes
    -----
    The labels of the reference are regressed on the judge's score, and the line is read off at the mean score of the
    labeled rows of the other system: the prediction of the judge corrected by the labels of the reference. The
    difference from the mean of their own labels is the difference of the judge's mean errors. Its interval comes from
    those of both parts (Zou and Donner 2008), the second one given the scores (PPI++), so that rare errors of the judge
    count as in any other estimate here. The parts are taken as independent.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = rng.random((2, 900))
    >>> labels = np.where(np.arange(900) < 500, (score + 0.1 * rng.standard_normal(score.shape) > 0.5) * 1.0, np.nan)
    >>> same = [PartlyLabeled(labels[k], score[k]) for k in (0, 1)]
    >>> str(transfer_test(*same, margin=0.1).outcome)
    'transfers'
    >>> str(transfer_test(same[0], PartlyLabeled(labels[1], score[1] + 0.5), margin=0.1).outcome)
    'does not transfer'
    """
    from scipy.special import ndtri, stdtrit

    given = _given_scores(own)
    result = mean_estimate(given, "ppi++", level, equal_tails=True)
    value, se, freedom = predict_mean(reference, np.mean(_score(given), axis=-1))
    half = stdtrit(freedom, (1 + level) / 2) * se
    difference = value - result.value
    low = difference - np.sqrt(half**2 + (result.high - result.value) ** 2)
    high = difference + np.sqrt(half**2 + (result.value - result.low) ** 2)
    outside = (low >= margin) | (high <= -margin)
    outcome = np.where(outside, "does not transfer", "undecided")
    outcome = np.where((low > -margin) & (high < margin), "transfers", outcome)[()]
    # More labels of the system make its own part smaller, not that of the reference.
    z = ndtri((1 + level) / 2)
    variance = ((result.high - result.low) / 2 / z) ** 2 * own.labeled.sum(axis=-1)
    room = ((margin - np.abs(difference)) / (z + ndtri(POWER))) ** 2 - se**2
    with np.errstate(invalid="ignore", divide="ignore"):
        labels = np.where((outcome == "undecided") & (room > 0), np.ceil(variance / room), np.nan)[()]
    return ErrorTransfer(difference, low, high, outcome, labels)


def _given_scores(sample: PartlyLabeled) -> PartlyLabeled:
    """Return the labeled rows with many unlabeled rows of the same scores, so that only the labels are uncertain.

    Rows drawn by probability or stratum stay as they are: their scores alone are no sample of the system.
    """
    if sample.probability is not None or sample.strata is not None:
        return sample
    held = sample.labeled
    first = np.argsort(~held, axis=-1, kind="stable")[..., : int(held.sum(axis=-1).min())]
    y, f = (np.take_along_axis(a, first, axis=-1) for a in (sample.labels, np.broadcast_to(_score(sample), held.shape)))
    copies = np.concatenate([f] * COPIES, axis=-1)
    clusters = None
    if sample.clusters is not None:
        own = np.unique(sample.clusters[first], return_inverse=True)[1].reshape(-1)
        clusters = np.concatenate([own, own.max() + 1 + np.arange(copies.shape[-1])])
    labels = np.concatenate([y, np.full_like(copies, np.nan)], axis=-1)
    return replace(sample, labels=labels, score=np.concatenate([f, copies], axis=-1), clusters=clusters)


def _score(sample: PartlyLabeled) -> Floats:
    if sample.score is None:
        raise NlgaugeError("the transfer of a judge's error needs a score of every row.")
    return sample.score


def predict_mean(sample: PartlyLabeled, score_mean: Any) -> tuple[Any, Any, Any]:
    """Predict the mean label of other rows from their mean score: value, standard error, degrees of freedom.

    Notes
    -----
    Least squares on the labeled rows, weighted as they were drawn; the standard error is that of the rows' influence,
    summed by cluster (robust to unequal variances).

    Examples
    --------
    >>> value, se, _ = predict_mean(PartlyLabeled(np.array([1.0, 2, 3, np.nan]), np.array([1.0, 2, 3, 9])), 4.0)
    >>> round(float(value), 6), round(float(se), 6)
    (4.0, 0.0)
    """
    held = sample.labeled
    y, f = np.where(held, sample.labels, 0.0), np.where(held, _score(sample), 0.0)
    weight = label_weights(sample, y)[0]
    y_mean, f_mean = ((weight * a).sum(axis=-1) for a in (y, f))
    y_off, f_off = (np.where(held, a - m[..., None], 0.0) for a, m in ((y, y_mean), (f, f_mean)))
    spread = (weight * f_off**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope, reach = (
            np.where(spread > 1e-12, part / spread, 0.0)
            for part in ((weight * f_off * y_off).sum(axis=-1), score_mean - f_mean)
        )
    influence = weight * (1 + reach[..., None] * f_off) * (y_off - slope[..., None] * f_off)
    units = influence if sample.clusters is None else cluster_sums(influence, sample.clusters)
    count = (
        held.sum(axis=-1)
        if sample.clusters is None
        else (cluster_sums(held.astype(np.float64), sample.clusters) > 0).sum(axis=-1)
    )
    freedom = np.maximum(count - 2, 1)
    se = np.sqrt((units**2).sum(axis=-1) * count / freedom)
    return y_mean + slope * (score_mean - f_mean), se, freedom
