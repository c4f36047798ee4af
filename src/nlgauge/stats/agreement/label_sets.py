"""Agreement of any values under a distance: sets of labels (Jaccard, MASI) and classes, of annotators and of a judge.

Krippendorff's alpha for a distance (2011), and the pairwise agreement of annotators, from sums over units. So whole
clusters can be left out in turn, and intervals are those of `classes.of_disagreement`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.stats.agreement.classes import of_disagreement
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.types import Array, Ints

Distance = Literal["nominal", "jaccard", "masi", "interval"]


def set_distances(members: Array, distance: Distance) -> Array:
    """Return the distance of each pair of sets, given their members (sets × labels, 0 or 1).

    Parameters
    ----------
    members : array
    distance : {'nominal', 'jaccard', 'masi'}
        0 or 1; 1 - |A ∩ B| / |A ∪ B|; or 1 - the same share times 1 for equal sets, 2/3 for a subset, 1/3 for sets that
        overlap, 0 for others (Passonneau 2006). Two empty sets are equal.

    Examples
    --------
    >>> set_distances(np.array([[1.0, 1.0], [1.0, 0.0]]), "masi").round(3).tolist()
    [[0.0, 0.667], [0.667, 0.0]]
    """
    if distance == "nominal":
        return 1.0 - np.eye(len(members))
    common = members @ members.T
    size = members.sum(axis=1)
    union = size[:, None] + size[None, :] - common
    jaccard = np.divide(common, union, out=np.ones_like(common), where=union > 0)
    if distance == "jaccard":
        return np.asarray(1.0 - jaccard)
    subset = (common == size[:, None]) | (common == size[None, :])
    equal = subset & (size[:, None] == size[None, :])
    weight = np.where(equal, 1.0, np.where(subset, 2 / 3, np.where(common > 0, 1 / 3, 0.0)))
    return np.asarray(1.0 - jaccard * weight)


def code_counts(cube: Array, codes: int) -> Array:
    """Count the ratings of each code: units × codes, from annotators × units (NaN where missing).

    >>> code_counts(np.array([[0.0, 1.0], [0.0, np.nan]]), 2).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    units = cube.shape[1]
    annotator, unit = np.nonzero(np.isfinite(cube))
    cells = unit * codes + cube[annotator, unit].astype(np.int64)
    return np.bincount(cells, minlength=units * codes).reshape(units, codes).astype(np.float64)


def _by_cluster(sums: Array, clusters: Ints | None) -> Array:
    if clusters is None:
        return sums
    code = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    result = np.zeros((int(code.max(initial=-1)) + 1, sums.shape[1]))
    np.add.at(result, code, sums)
    return result


def alpha_of_counts(counts: Array, distances: Array, clusters: Ints | None = None, level: float = 0.95) -> Figure:
    """Return Krippendorff's alpha of annotators with its interval over clusters of units.

    Parameters
    ----------
    counts : array
        Units × codes, the ratings of each; units with fewer than two are left out.
    distances : array
        Codes × codes.
    clusters : array of int, optional
        Of each unit.
    level : float

    Examples
    --------
    >>> counts = code_counts(np.array([[0.0, 1, 2, 2] * 5, [0.0, 1, 2, 1] * 5]), 3)
    >>> round(alpha_of_counts(counts, set_distances(np.eye(3), "nominal")).value, 4)
    0.6286
    """
    many = counts.sum(axis=1)
    paired = many >= 2
    counts, many = counts[paired], many[paired]
    if not len(counts):
        return Figure(np.nan, reason="no output has two ratings")
    within = ((counts @ distances) * counts).sum(axis=1) / (many - 1)
    sums = np.column_stack([many, within, counts])
    sums = _by_cluster(sums, None if clusters is None else np.asarray(clusters)[paired])

    def parts(sums: Array) -> tuple[Array, Array]:
        n, totals = sums[..., 0], sums[..., 2:]
        return sums[..., 1] / n, ((totals @ distances) * totals).sum(axis=-1) / (n * (n - 1))

    return of_disagreement(parts, sums, len(counts), float("inf"), level)


def ac1_of_counts(counts: Array, clusters: Ints | None = None, level: float = 0.95) -> Figure:
    """Return Gwet's AC1 of several annotators (2008) with its interval over clusters of units, from units × codes.

    >>> round(ac1_of_counts(code_counts(np.array([[0.0, 1, 2, 2] * 5, [0.0, 1, 2, 1] * 5]), 3)).value, 4)
    0.6279
    """
    many = counts.sum(axis=1)
    rated = many > 0
    counts, many = counts[rated], many[rated]
    clusters = None if clusters is None else np.asarray(clusters)[rated]
    codes = int((counts.sum(axis=0) > 0).sum())
    paired = many >= 2
    if not paired.any() or codes < 2:
        return Figure(np.nan, reason="no output has two ratings" if not paired.any() else "all values are one class")
    pairs = np.where(paired, many * (many - 1), 1.0)
    apart = np.where(paired, 1 - (counts * (counts - 1)).sum(axis=1) / pairs, 0.0)
    sums = _by_cluster(np.column_stack([paired, apart, np.ones(len(many)), counts / many[:, None]]), clusters)

    def parts(sums: Array) -> tuple[Array, Array]:
        share = sums[..., 3:] / sums[..., 2:3]
        return sums[..., 1] / sums[..., 0], 1 - (share * (1 - share)).sum(axis=-1) / (codes - 1)

    return of_disagreement(parts, sums, int(paired.sum()), float("inf"), level)


def pair_agreement(counts: Array, distances: Array, clusters: Ints | None = None, level: float = 0.95) -> Figure:
    """Return the mean agreement (1 - distance) of two annotators of one unit, from units × codes."""
    many = counts.sum(axis=1)
    paired = many >= 2
    counts, many = counts[paired], many[paired]
    if not len(counts):
        return Figure(np.nan, reason="no output has two ratings")
    apart = ((counts @ distances) * counts).sum(axis=1) / (many * (many - 1))
    return _mean_agreement(apart, None if clusters is None else np.asarray(clusters)[paired], level)


def judge_agreement(
    codes: Ints, counts: Array, distances: Array, clusters: Ints | None = None, level: float = 0.95
) -> Figure:
    """Return the mean agreement (1 - distance) of a judge with single annotators, given its code for each unit."""
    many = counts.sum(axis=1)
    rated = many > 0
    apart = (distances[codes[rated]] * counts[rated]).sum(axis=1) / many[rated]
    return _mean_agreement(apart, None if clusters is None else np.asarray(clusters)[rated], level)


def _mean_agreement(apart: Array, clusters: Ints | None, level: float) -> Figure:
    sums = _by_cluster(np.column_stack([np.ones(len(apart)), apart]), clusters)
    return of_disagreement(
        lambda s: (s[..., 1] / s[..., 0], np.ones_like(s[..., 0])), sums, len(apart), float("inf"), level
    )


def judge_alpha(
    human: Ints, judge: Ints, distances: Array, clusters: Ints | None = None, level: float = 0.95
) -> Figure:
    """Return Krippendorff's alpha of one human code and one judge's code per unit."""
    counts = code_counts(np.stack([human, judge]).astype(np.float64), len(distances))
    return alpha_of_counts(counts, distances, clusters, level)
