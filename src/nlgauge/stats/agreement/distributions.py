"""Agreement with the distribution of annotators, next to what one more annotator would reach.

Annotators who disagree may all be right (Aroyo and Welty 2015). A judge gives one value per output, compared with
the shares of the values that annotators gave. Each annotator is compared with the shares of the others, and so is
the judge, so that both face as many annotators.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from nlgauge.stats.agreement.classes import too_few_clusters
from nlgauge.stats.agreement.two_by_two import CLUSTERS, Figure
from nlgauge.types import Array, Ints

Divergence = Literal["jensen_shannon", "cross_entropy", "earth_mover"]
DIVERGENCES: tuple[Divergence, ...] = ("jensen_shannon", "cross_entropy", "earth_mover")
SMOOTHING = 0.5  # votes added to each value before a logarithm (Krichevsky and Trofimov 1981)


class Faced(NamedTuple):
    """Mean divergence per output of the judge and of one annotator from the others, and which outputs have both."""

    judge: Array
    annotator: Array
    outputs: Ints
    spread: float = 0.0  # mean over outputs: the farthest value less the nearest one


def divergences(counts: Array, divergence: Divergence) -> Array:
    """Return the divergence of each value from the shares of the votes: … × values, given votes … × values.

    Parameters
    ----------
    counts : array
        Votes for each value, in their order.
    divergence : {'jensen_shannon', 'cross_entropy', 'earth_mover'}
        Jensen-Shannon divergence in bits (0 to 1); cross-entropy in bits, with half a vote added to each value;
        earth mover's distance of ordered values as a share of the largest one.

    Examples
    --------
    >>> divergences(np.array([3.0, 1.0]), "jensen_shannon").round(3).tolist()
    [0.138, 0.549]
    >>> divergences(np.array([2.0, 1.0, 1.0]), "earth_mover").tolist()
    [0.375, 0.375, 0.625]
    """
    total = counts.sum(axis=-1, keepdims=True)
    values = counts.shape[-1]
    if divergence == "cross_entropy":
        smooth = (counts + SMOOTHING) / (total + SMOOTHING * values)
        return np.asarray(-np.log2(smooth))
    share = counts / total
    if divergence == "earth_mover":
        steps = np.abs(np.arange(values)[:, None] - np.arange(values)[None, :]) / max(1, values - 1)
        return np.asarray(share @ steps)
    # The middle of share p and a value's certainty is p / 2 for other values, (1 + p) / 2 for its own.
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(share > 0, share * np.log2(2 * share / (1 + share)), 0.0)
    return np.asarray(0.5 * np.log2(2 / (1 + share)) + 0.5 * own + 0.5 * (1 - share))


def face_others(codes: Array, judge: Array, values: int, divergence: Divergence) -> Faced:
    """Hold the judge and each annotator against the other annotators of an output.

    Parameters
    ----------
    codes : array
        Annotators × outputs: codes of the values in order, NaN where missing.
    judge : array
        Code for each output, NaN where missing.
    values : int
        Number of values.
    divergence : str

    Returns
    -------
    Faced
        Of outputs with three ratings or more and one of the judge.
    """
    there = np.isfinite(codes)
    outputs = np.flatnonzero((there.sum(axis=0) >= 3) & np.isfinite(judge))
    own, others, spread = np.zeros(len(outputs)), np.zeros(len(outputs)), np.zeros(len(outputs))
    many = there[:, outputs].sum(axis=0)
    counts = np.zeros((len(outputs), values))
    for row in codes[:, outputs]:
        rated = np.flatnonzero(np.isfinite(row))
        np.add.at(counts, (rated, row[rated].astype(np.int64)), 1.0)
    named = judge[outputs].astype(np.int64)
    for row in codes[:, outputs]:
        rated = np.flatnonzero(np.isfinite(row))
        code = row[rated].astype(np.int64)
        rest = counts[rated].copy()
        rest[np.arange(len(rated)), code] -= 1
        each = divergences(rest, divergence)
        others[rated] += each[np.arange(len(rated)), code]
        own[rated] += each[np.arange(len(rated)), named[rated]]
        spread[rated] += np.ptp(each, axis=1)
    return Faced(own / many, others / many, outputs, float((spread / many).mean()) if len(outputs) else 0.0)


def clustered_mean(values: Array, clusters: Ints | None = None, level: float = 0.95, prior: float = 0.0) -> Figure:
    """Return the mean over outputs with Student's interval over clusters, and the p-value of a mean of 0.

    `prior`: the variance is that of these outputs and of two more that lie this far from the mean on either side. Where
    few outputs differ, none may by chance, and the variance of the others would be too small (as Agresti and Min 2005).

    >>> found = clustered_mean(np.arange(20.0))
    >>> round(found.value, 1), round(found.low, 2), round(found.high, 2)
    (9.5, 6.73, 12.27)
    """
    from scipy.special import stdtr, stdtrit

    n = len(values)
    if not n:
        return Figure(np.nan, reason="no output has three ratings and one of the judge")
    code = np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1].reshape(-1)
    many = int(code.max()) + 1
    mean = float(values.mean())
    if many < CLUSTERS:
        return Figure(mean, n=n, reason=too_few_clusters(many))
    sums = np.bincount(code, values - mean)
    error = float(np.sqrt(many / (many - 1) * (sums**2).sum() + 2 * prior**2)) / n
    if not error > 1e-12:
        return Figure(mean, n=n, reason="all outputs have one value")
    half = float(stdtrit(many - 1, (1 + level) / 2)) * error
    return Figure(mean, mean - half, mean + half, n, p=2 * float(stdtr(many - 1, -abs(mean) / error)))
