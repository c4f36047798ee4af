"""Dawid and Skene (1979): estimate each annotator's confusion matrix and the most likely true labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.types import Array

SMOOTH = 0.01  # added to every count of a confusion matrix, so that no label is impossible


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """The labels, their probabilities for each unit (NaN if unrated), annotators × true × given labels, and label
    shares.
    """

    labels: Array
    posterior: Array
    confusion: Array
    prior: Array

    @property
    def consensus(self) -> Array:
        """Return the most likely label of each unit."""
        likely = self.labels[np.argmax(np.nan_to_num(self.posterior, nan=-1.0), axis=1)]
        return np.where(np.isnan(self.posterior[:, 0]), np.nan, likely)


def dawid_skene(ratings: ArrayLike, *, iterations: int = 200, tolerance: float = 1e-7) -> DawidSkene:
    """Fit the model by expectation maximization, starting at the vote shares (annotators × units); nothing is random.

    >>> result = dawid_skene([[1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]])
    >>> result.consensus.tolist()
    [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    """
    table = as_units(ratings)
    labels = np.unique(table[np.isfinite(table)])
    if not len(labels):
        raise DataError("Dawid and Skene's model needs at least one rating; all are missing")
    given = (table[:, :, None] == labels).astype(np.float64)  # raters × units × labels
    rated = given.any(axis=(0, 2))
    votes = given.sum(axis=0)
    posterior = np.where(rated[:, None], votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0), 0.0)
    for _ in range(iterations):
        counts = np.einsum("ut,rug->rtg", posterior, given) + SMOOTH
        confusion = counts / counts.sum(axis=2, keepdims=True)
        prior = (posterior.sum(axis=0) + SMOOTH) / (posterior.sum() + SMOOTH * len(labels))
        likely = np.log(prior) + np.einsum("rug,rtg->ut", given, np.log(confusion))
        likely = np.exp(likely - likely.max(axis=1, keepdims=True))
        new = np.where(rated[:, None], likely / likely.sum(axis=1, keepdims=True), 0.0)
        moved = float(np.abs(new - posterior).max())
        posterior = new
        if moved < tolerance:
            break
    return DawidSkene(labels, np.where(rated[:, None], posterior, np.nan), confusion, prior)
