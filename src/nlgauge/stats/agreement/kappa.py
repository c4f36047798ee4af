"""Kappa coefficients: agreement on categories beyond chance, of two annotators (Cohen), many (Fleiss), or all pairs.

Weighted kappas use the distance between the *values*: 2 and 4 are two steps apart even if no annotator used 3.
scikit-learn uses positions in the list of labels, which is the same if every step is listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError
from nlgauge.stats.agreement.rater_units import as_units
from nlgauge.types import Array

Weights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Kappa:
    """A kappa; NaN with the reason where it is undefined."""

    value: float
    units: int
    dropped_units: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PairwiseKappa:
    """Mean of Cohen's kappa over pairs of annotators; NaN with the reason where it is undefined."""

    value: float
    reason: str = ""


def cohen_kappa(a: ArrayLike, b: ArrayLike, weights: Weights = "none") -> Kappa:
    """Compute Cohen's kappa of two annotators, unweighted or weighted.

    Units that either annotator left out are dropped and counted.

    Notes
    -----
    kappa = (p_o - p_e) / (1 - p_e), with the observed agreement p_o and that expected from the marginal shares p_e
    (Cohen 1960; 1968 for weights).

    >>> round(cohen_kappa([1, 1, 2, 2, 3], [1, 2, 2, 2, 3]).value, 4)
    0.6875
    """
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if first.size != second.size:
        raise DataError(f"two raters must rate the same units; found {first.size} and {second.size}")
    both = ~(np.isnan(first) | np.isnan(second))
    x, y = first[both], second[both]
    dropped = first.size - x.size
    if x.size == 0:
        return Kappa(np.nan, 0, dropped, "no unit rated by both")
    if max(x.max(), y.max()) == min(x.min(), y.min()):
        return Kappa(np.nan, x.size, dropped, "one value only: chance agreement is total")
    seen, chance = _disagreement(x, y, weights)
    return Kappa(1.0 - seen / chance, x.size, dropped)


def fleiss_kappa(ratings: ArrayLike) -> Kappa:
    """Compute Fleiss' kappa of annotators × units; annotators need no identity.

    It requires the same number of ratings of every unit: units with another number than the most common one are dropped
    and counted.

    Notes
    -----
    kappa = (P - P_e) / (1 - P_e), with the mean share of agreeing pairs of ratings P and that expected from the shares
    of all labels P_e (Fleiss 1971).
    """
    table = as_units(ratings)
    given = ~np.isnan(table)
    sizes = given.sum(axis=0)
    pairable = sizes[sizes >= 2]
    if pairable.size == 0:
        return Kappa(np.nan, 0, table.shape[1], "no unit has two ratings")
    size = int(np.bincount(pairable).argmax())
    selected = sizes == size
    values, code = np.unique(table[:, selected][given[:, selected]], return_inverse=True)
    unit = np.nonzero(given[:, selected])[1]
    units = int(selected.sum())
    dropped = table.shape[1] - units
    cells = unit * values.size + code.reshape(-1)
    filled, counts = np.unique(cells, return_counts=True)
    pairs = float((counts * (counts - 1)).sum())
    observed = pairs / (units * size * (size - 1))
    shares = np.bincount(filled % values.size, weights=counts) / (units * size)
    expected = float((shares**2).sum())
    if values.size == 1:
        return Kappa(np.nan, units, dropped, "one value only: chance agreement is total")
    return Kappa((observed - expected) / (1.0 - expected), units, dropped)


def mean_pairwise_kappa(ratings: ArrayLike, weights: Weights = "none") -> PairwiseKappa:
    """Compute the mean of Cohen's kappa over all pairs of annotators who share at least two units."""
    pairs = [cohen_kappa(a, b, weights) for a, b in combinations(as_units(ratings), 2)]
    available = [kappa.value for kappa in pairs if kappa.units > 1 and not np.isnan(kappa.value)]
    if not available:
        return PairwiseKappa(np.nan, "no pair of raters shares 2 units with more than one value")
    return PairwiseKappa(float(np.mean(available)))


def _disagreement(x: Array, y: Array, weights: Weights) -> tuple[float, float]:
    """Return the mean distance of paired values, and that of all values of one annotator from all of the other."""
    if weights == "quadratic":
        seen = float(((x - y) ** 2).mean())
        return seen, float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    if weights == "linear":
        return float(np.abs(x - y).mean()), _mean_distance(x, y)
    if weights != "none":
        raise DataError(f"weights must be none, linear or quadratic; found {weights!r}")
    values, code = np.unique(np.concatenate([x, y]), return_inverse=True)
    code = code.reshape(-1)
    share_x = np.bincount(code[: x.size], minlength=values.size) / x.size
    share_y = np.bincount(code[x.size :], minlength=values.size) / y.size
    return float((x != y).mean()), 1.0 - float(share_x @ share_y)


def _mean_distance(x: Array, y: Array) -> float:
    """Return the mean of |x_i - y_j| over all i and j, from the two distribution functions, without forming pairs."""
    values = np.unique(np.concatenate([x, y]))
    below_x = np.searchsorted(np.sort(x), values[:-1], side="right") / x.size
    below_y = np.searchsorted(np.sort(y), values[:-1], side="right") / y.size
    return float((np.diff(values) * (below_x * (1.0 - below_y) + below_y * (1.0 - below_x))).sum())
