"""Rank representations of metrics and distances between rankings (Colombo et al. 2023, Eq. 1 to 4).

Scores are K × N × M (metrics × systems × inputs), higher is better, NaN is missing. Rank 1 is best; ties share their
mean rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.correlation.coefficients import kendall, pairs, ratio, tau_13
from nlgauge.stats.correlation.panel_kernels import group_stats
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.correlation.ties import snap
from nlgauge.types import Array, Ints, Mask

Rule = Literal["tau-b", "inversions", "decided"]
Block = Literal["human–human", "automatic–automatic", "human–automatic"]
BLOCKS: tuple[Block, ...] = ("human–human", "automatic–automatic", "human–automatic")
RULES: dict[Rule, str] = {
    "tau-b": "(1 − tau-b) / 2; inputs on which one of the two ties all systems are left out",
    "inversions": "discordant pairs of systems among all pairs, so that ties are no disagreement (Eq. 3 as worded)",
    "decided": "discordant pairs among the pairs untied by both",
}


def ranks(scores: Array, axis: int) -> Array:
    """Rank along an axis, 1 for the highest score; missing scores have no rank.

    >>> ranks(np.array([0.3, 0.9, 0.9, np.nan]), 0).tolist()
    [3.0, 1.5, 1.5, nan]
    """
    return average_ranks(-np.asarray(scores, np.float64), axis)


def system_representation(scores: Array) -> Array:
    """Compute the rank sums of all systems by every metric.

    Parameters
    ----------
    scores : array of K × N × M
        Metrics × systems × inputs, higher is better, NaN where missing.

    Returns
    -------
    array of K × N
        Sum over inputs of the rank of a system by each metric, 1 for the best.

    Notes
    -----
    Eq. 1 of Colombo et al. (2023). If cells are missing, ranks are rescaled to all systems and sums to all inputs.

    Examples
    --------
    >>> system_representation(np.array([[[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]])).tolist()
    [[4.0, 4.0, 4.0]]
    """
    return _sums(np.asarray(scores, np.float64), 1)


def order_distance(first: ArrayLike, second: ArrayLike) -> float:
    """Compute the distance of two rankings of the same systems.

    Parameters
    ----------
    first, second : array of N
        A number for each system, in any units; numbers that differ only by rounding are ties.

    Returns
    -------
    float
        0 for the same order, 1 for the opposite one; NaN if one of the rankings has only ties.

    Notes
    -----
    (1 − tau-b) / 2, the normalized Kendall distance of Colombo et al. (2023), Eq. 3, with ties as in tau-b.

    Examples
    --------
    >>> round(order_distance([1, 2, 3], [1, 3, 2]), 3)
    0.333
    """
    one, two = (snap(np.asarray(v, np.float64)) for v in (first, second))
    stats = group_stats(one[None, None], two[None, None], pearson=False, spearman=False)
    return float((1 - kendall(stats)[0, 0]) / 2)


def input_representation(scores: Array) -> Array:
    """Compute Eq. 2: for each metric and input the sum over systems of its rank among the inputs (K × M)."""
    return _sums(np.asarray(scores, np.float64), 2)


def _sums(scores: Array, axis: int) -> Array:
    other = 3 - axis
    there = ~np.isnan(scores)
    count = there.sum(axis=axis, keepdims=True)
    whole = (ranks(scores, axis) - 0.5) * ratio(scores.shape[axis], count) + 0.5
    result = there.sum(axis=other)
    total: Array = np.where(there, whole, 0.0).sum(axis=other) * ratio(scores.shape[other], result)
    return total


@dataclass(frozen=True)
class BlockMean:
    """Mean distance over the pairs of a block, with a 95% interval for other inputs like these."""

    value: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class Distances:
    """Mean over inputs of the distance between rankings, by rule; `inputs` is the number of inputs averaged (tau-b)."""

    mean: dict[Rule, Array]
    inputs: dict[Rule, Ints]
    blocks: dict[Rule, dict[Block, BlockMean]]


def pair_distances(scores: Array) -> Iterator[tuple[int, dict[Rule, Array]]]:
    """Compute the distances of metric k to all later metrics, by rule: (K − k − 1) × M, NaN where undefined."""
    by_input = np.ascontiguousarray(np.asarray(scores, np.float64).transpose(0, 2, 1))
    for k in range(len(by_input) - 1):
        s = group_stats(by_input[k + 1 :], by_input[k][None], pearson=False, spearman=False)
        yield (
            k,
            {
                "tau-b": (1 - kendall(s)) / 2,
                "inversions": ratio(s.discordant, pairs(s)),
                "decided": (1 - tau_13(s)) / 2,
            },
        )


def rank_distances(scores: Array, human: Mask) -> Distances:
    """Compute the complementarity (Eq. 3) of all pairs of metrics, and its mean over blocks of human and automatic
    ones.

    `human` marks the metrics that are human ratings.
    """
    k, _, m = scores.shape
    mean = {rule: np.zeros((k, k)) for rule in RULES}
    inputs = {rule: np.full((k, k), m, np.int64) for rule in RULES}
    pulls = {rule: {block: np.zeros(m) for block in BLOCKS} for rule in RULES}
    for row, result in pair_distances(scores):
        for rule, values in result.items():
            there = np.isfinite(values)
            count = there.sum(axis=1)
            means = ratio(np.where(there, values, 0.0).sum(axis=1), count)
            mean[rule][row, row + 1 :] = mean[rule][row + 1 :, row] = means
            inputs[rule][row, row + 1 :] = inputs[rule][row + 1 :, row] = count
            pull = np.where(there, values - means[:, None], 0.0) / np.maximum(count, 1)[:, None]
            for own in (True, False):
                pulls[rule][block_of(bool(human[row]), own)] += pull[human[row + 1 :] == own].sum(axis=0)
    blocks = {rule: _block_means(mean[rule], human, pulls[rule]) for rule in RULES}
    return Distances(mean, inputs, blocks)


def block_of(first_human: bool, second_human: bool) -> Block:
    """Return the block of a pair of scores: both human, both automatic, or mixed."""
    return BLOCKS[0 if first_human and second_human else 2 if first_human or second_human else 1]


def block_values(mean: Array, human: Mask) -> dict[Block, Array]:
    """Return the distances of all pairs that have one, by block."""
    results: dict[Block, list[float]] = {block: [] for block in BLOCKS}
    for i in range(len(mean)):
        for j in range(i + 1, len(mean)):
            if np.isfinite(mean[i, j]):
                results[block_of(bool(human[i]), bool(human[j]))].append(float(mean[i, j]))
    return {block: np.array(values) for block, values in results.items()}


def _block_means(mean: Array, human: Mask, pulls: dict[Block, Array]) -> dict[Block, BlockMean]:
    """Compute block means; `pulls` is the influence of each input on a block sum, for the jackknife variance."""
    results: dict[Block, BlockMean] = {}
    for block, values in block_values(mean, human).items():
        if not len(values):
            continue
        pull = pulls[block] / len(values)
        m = len(pull)
        half = 1.96 * np.sqrt((pull**2).sum() * m / (m - 1)) if m > 1 else np.nan
        value = float(values.mean())
        results[block] = BlockMean(value, value - float(half), value + float(half), len(values))
    return results
