"""Two-way clustering by unit and annotator: the variance that annotators with different preferences add to
strengths.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nlgauge.stats.ranking.ballots import Ballots
from nlgauge.types import Array, Ints

Terms = Callable[[Array, Array, Array], tuple[Array, Array, Array, Array, Array]]
POOLED = 0.5  # lower bound of the annotator variance of any contrast, relative to the mean; chosen by simulation
LONE = 1e-6  # share of the information that must remain without an annotator for a jackknife step


def effective_annotators(ballots: Ballots, systems: int) -> float:
    """Return the effective number of annotators of the system that has the fewest; 0 where no annotator is known.

    Notes
    -----
    With n_g choices of annotator g in which the system took part, it is (sum of n_g)^2 / sum of n_g^2 (Kish 1965): the
    number of annotators where all choose equally often, and close to 1 where one of them made nearly all choices.
    """
    if ballots.annotator is None or not (ballots.annotator >= 0).any():
        return 0.0
    named = ballots.annotator >= 0
    counts = np.zeros((systems, int(ballots.annotator.max()) + 1))
    for side in (ballots.first, ballots.second):
        np.add.at(counts, (side[named], ballots.annotator[named]), 1.0)
    counts = counts[counts.any(axis=1)]
    return float((counts.sum(axis=1) ** 2 / (counts**2).sum(axis=1)).min())


def annotator_covariance(
    ballots: Ballots, systems: int, gradient: Array, inverse: Array, information_of: Callable[[Ints], Array]
) -> Array:
    """Return the covariance of the estimates that annotators add to that of the units; 0 where none is known.

    `gradient` is the score of each choice, `inverse` the inverse of the information of all choices, `information_of`
    gives that of some of them.

    Notes
    -----
    Two-way clustering has V = V_unit + V_annotator - V_intersection (Cameron, Gelbach and Miller 2011). V_annotator is
    the jackknife over annotators, (G - 1) / G times the sum of d_g d_g', with d_g = (A - A_g)^-1 s_g one Newton step
    to the estimate without annotator g (A, A_g: information of all choices and of those of g; s_g: their score). The
    plain sandwich has A^-1 in its place, which is too small for few or unequal annotators (MacKinnon, Nielsen and Webb
    2023). Of V_annotator - V_intersection the negative eigenvalues (in units of the model's covariance, so that the
    choice of parameters does not matter) are set to 0, so that V is never below V_unit. Few annotators leave some
    contrasts of strengths with nearly no variance by chance, and the largest |t| of all pairs would pick these; the
    eigenvalues of the strengths' part are therefore at least `POOLED` times their mean.
    """
    if ballots.annotator is None:
        return np.zeros_like(inverse)
    root = np.linalg.cholesky(inverse)
    white = gradient @ root
    order = np.argsort(ballots.annotator, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(ballots.annotator[order])) + 1)
    moved = np.empty((len(groups), len(root)))
    for g, rows in enumerate(groups):
        share, axes = np.linalg.eigh(root.T @ information_of(rows) @ root)
        weight = np.divide(1.0, 1 - share, out=np.zeros_like(share), where=1 - share > LONE)
        moved[g] = axes @ (weight * (white[rows].sum(axis=0) @ axes))
    both = _summed(white, ballots.unit, ballots.annotator)
    excess = moved.T @ moved * (1 - 1 / len(groups)) - both.T @ both * len(both) / max(1, len(both) - 1)
    added = root @ _raise_eigenvalues(excess, 0.0) @ root.T
    free = systems - 1
    part = np.linalg.cholesky(inverse[:free, :free])
    inner = np.linalg.solve(part, np.linalg.solve(part, (root @ excess @ root.T)[:free, :free]).T)
    least = max(0.0, POOLED * float(np.trace(inner)) / free)
    added[:free, :free] += part @ (_raise_eigenvalues(inner, least) - _raise_eigenvalues(inner, 0.0)) @ part.T
    return np.asarray(added)


def _raise_eigenvalues(matrix: Array, least: float) -> Array:
    """Return the symmetric matrix with eigenvalues below `least` replaced by it."""
    values, axes = np.linalg.eigh(matrix)
    return np.asarray(axes * np.maximum(values, least) @ axes.T)


def _summed(values: Array, *keys: Ints) -> Array:
    """Sum the rows that share all keys."""
    _, of = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    of = of.ravel()
    total = np.zeros((int(of.max()) + 1, *values.shape[1:]))
    np.add.at(total, of, values)
    return total


def vote_information(design: Array, counts: Array, estimate: Array, weights: Array, terms: Terms) -> Array:
    """Return the information of one choice of each cell on the parameter that `weights` combines.

    `terms` are the derivatives of the log-likelihood by eta and tie, those of second order last.
    """
    width = design.shape[1]
    tie, by_tie = (float(x[width]) if len(estimate) > width else 0.0 for x in (estimate, weights))
    _, _, ee, et, tt = terms(design @ estimate[:width], np.asarray(tie), counts)
    lean = design @ weights[:width]
    return np.asarray((ee * lean**2 + 2 * et * lean * by_tie + tt * by_tie**2) / counts.sum(axis=1))


def score_excess(ballots: Ballots, score: Array, share: Array) -> float:
    """Compute the variance that annotators add to a score; 0 where all annotators agree.

    It is the jackknife variance, as in `annotator_covariance`, of what remains when each annotator gets the share of
    the whole score that is proportional to the information in their choices.
    """
    assert ballots.annotator is not None
    left = score - share * score.sum()
    whose = _summed(np.stack([left, share], axis=1), ballots.annotator)
    weight = np.divide(1.0, 1 - whose[:, 1], out=np.zeros(len(whose)), where=1 - whose[:, 1] > LONE)
    both = _summed(left, ballots.unit, ballots.annotator)
    by_annotator = ((whose[:, 0] * weight) ** 2).sum() * (1 - 1 / len(whose))
    return max(0.0, float(by_annotator - (both**2).sum() * len(both) / max(1, len(both) - 1)))
